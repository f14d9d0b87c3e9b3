//! A coding agent in two processes: a backend with the model and an HTTP service, an executor with the files.
//!
//! | module | holds |
//! |---|---|
//! | [`contract`] | the public API of the service |
//! | [`service`] | the HTTP service and its page |
//! | [`runs`] | the runs: queued, executed and stored |
//! | [`model`] | a real model, or recorded conversations |
//! | [`tools`], [`changes`] | the executor's tools |
//! | [`roles`] | backend and executor as processes |
//! | [`demo`] | everything in one process |

pub mod changes;
pub mod contract;
pub mod demo;
pub mod model;
pub mod roles;
pub mod runs;
pub mod service;
pub mod tools;
