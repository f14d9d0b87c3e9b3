//! What a call by name does with any input and any body: exactly one outcome.

#![allow(
    clippy::unnecessary_wraps,
    clippy::unused_async,
    clippy::too_many_arguments,
    reason = "the forms that tools may have are what is tested"
)]

#[path = "../common/mod.rs"]
mod common;

mod anything;
mod arguments;
mod before_body;
mod floats;
mod formats;
mod forms;
mod judge;
mod limits;
mod outcomes;
mod panics;
mod parameters;
mod results;
mod schemas;
mod texts;
mod time;
mod wire;
