//! Supervisor, spawner, roles, wire framing.
