//! Runs: what a user asked for, from the first word to the answer.
//!
//! | file | holds |
//! |---|---|
//! | `record` | all that is kept of a run, and what clients are told of it |
//! | `keep` | the store, as runs use it |
//! | `run` | a run in memory: its record, its events, those who follow them |
//! | `engine` | all runs, and what users do with them |
//! | `refused` | why something is not done |
//! | `work` | the one that is at work, and what an earlier process has left of one |
//! | `others` | what other backends do, where they share a store |
//! | `turn` | the model at work, until it answers, asks or fails |
//! | `answers` | what the user answers, as the model is told |
//! | `bootstrap` | what the model is shown before it begins |
//! | `line` | the connection to the executor, as a turn sees it |
//! | `heard` | the events of the agent as those of a run |

mod answers;
mod bootstrap;
mod engine;
mod heard;
mod keep;
mod line;
mod others;
mod record;
mod refused;
mod run;
mod turn;
mod work;

pub use engine::Engine;
pub use keep::Keep;
pub use record::{Elsewhere, RunId, RunRecord, RunView, Writer};
pub use refused::Refused;
pub use run::Run;
