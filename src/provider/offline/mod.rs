//! `offline/planner`: a deterministic planner behind the same trait as any model.
