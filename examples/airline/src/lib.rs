//! The tools of an airline on `SQLite`, with its written policy as contracts.
//!
//! `tools.rs` reads like the policy; `policy.rs` has its conditions.

pub mod airports;
pub mod arithmetic;
pub mod consent;
mod fares;
pub mod model;
mod policy;
pub mod store;
mod tools;
mod writes;

pub use model::Edition;
pub use store::Airline;
