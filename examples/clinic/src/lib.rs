//! A clinic as a service: twelve tools over HTTP, with users, roles, approvals, limits, an audit, metrics and traces.
//!
//! - `tools.rs` has the tools with their contracts, each write in one transaction.
//! - `database.rs` opens the database and writes the audit.
//! - `users.rs` has the users, their tokens and their roles.
//! - `approvals.rs` is the page on which a doctor decides what the reception asks.
//! - `service.rs` puts them together.

mod approvals;
mod database;
mod service;
mod tools;
mod users;

pub use database::Clinic;
pub use service::serve;
pub use tools::{Bill, Patient, Record};
pub use users::{Role, User, user_of};
