//! The tools of an airline on `SQLite`, with its written policy as contracts.
//!
//! `tools.rs` reads like the policy; `policy.rs` has its conditions.

pub mod agreement;
mod airports;
pub mod arithmetic;
pub mod data;
pub mod digest;
mod fares;
pub mod golden;
pub mod live;
pub mod model;
mod policy;
pub mod recording;
pub mod replay;
pub mod report;
pub mod store;
mod tools;
mod writes;

pub use model::Edition;
pub use store::Airline;
