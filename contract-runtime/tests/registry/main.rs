//! Which tools a registry holds, how it is built, and how calls of one turn run together.

#[path = "../common/mod.rs"]
mod common;

mod batch;
mod before;
mod builder;
mod composition;
mod depth;
mod kinds;
mod nested;
mod types;
mod visible;
