//! What conditions mean: policies, order, ways in, scope and violations.

#![allow(
    clippy::unnecessary_wraps,
    clippy::unused_async,
    clippy::too_many_arguments,
    reason = "the forms that tools may have are what is tested"
)]

#[path = "../common/mod.rs"]
mod common;

mod asking;
mod elsewhere;
mod fragments;
mod givens;
mod history;
mod nesting;
mod observers;
mod order;
mod policies;
mod postconditions;
mod predicates;
mod scope;
mod secrets;
mod thread_end;
mod together;
mod unwinding;
mod violations;
mod ways_in;
