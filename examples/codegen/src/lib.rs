//! A coding agent in two halves: a backend that decides, an executor that acts, and a service in front of them.
//!
//! | module | holds |
//! |---|---|
//! | [`contract`] | what clients rely on |
//! | [`runs`] | what users asked for, from the first word to the answer |
//! | [`model`] | a provider, or recorded conversations |
//! | [`changes`] | what a run has changed |
//! | [`tools`] | what the executor offers |
//! | [`service`] | HTTP in front of the runs, and a page |
//! | [`demo`] | everything in one process |

pub mod changes;
pub mod contract;
pub mod demo;
pub mod halves;
pub mod model;
pub mod runs;
pub mod service;
pub mod tools;
