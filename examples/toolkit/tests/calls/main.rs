//! One call or many: how they end, what they leave, what is logged of them, and how they get along.
//!
//! Some tests count what the whole process has open, logs or gets done. They take `alone`, and all others `beside`.

#[path = "../common/mod.rs"]
mod common;
mod dispatch;
mod secrets;
mod side_by_side;
