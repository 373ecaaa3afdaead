//! The loop against scripted models; every run's events and history are checked by [`check`].

mod abort;
mod budget;
mod check;
mod dispatch;
mod order;
mod property;
mod rig;
mod serving;
