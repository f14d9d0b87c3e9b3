//! A coding agent in two processes: a backend with the model and an HTTP service, an executor with the files.
//!
//! | module | holds |
//! |---|---|
//! | [`contract`] | the public API of the service |
//! | [`runs`] | the runs: queued, executed and stored |
//! | [`model`] | a real model, or recorded conversations |
//! | [`changes`] | the changes a run has made |
//! | [`tools`] | the executor's tools |
//! | [`service`] | the HTTP service and its page |
//! | [`demo`] | everything in one process |

pub mod changes;
pub mod contract;
pub mod demo;
pub mod model;
pub mod roles;
pub mod runs;
pub mod service;
pub mod tools;
