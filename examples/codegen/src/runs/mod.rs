//! Runs: the work on one session of a user, from the request to the answer.
//!
//! | file | holds |
//! |---|---|
//! | `record` | the saved state of a run, and its forms for clients |
//! | `run` | a run in memory: its record, its events and the log of both |
//! | `agent_log` | the logs of the agents of runs, in the same store |
//! | `engine` | all runs, and the operations on them |
//! | `answers` | the user's answers, formatted for the model |
//! | `work` | the worker that executes runs, and continues those of an earlier process |
//! | `project` | calls of the backend's own: inspection of the project, and what a run has changed |
//! | `turn` | one turn: the model works until it answers, asks or fails |
//! | `translate` | agent and session events translated to run events |

mod agent_log;
mod answers;
mod engine;
mod project;
mod record;
mod run;
mod translate;
mod turn;
mod work;

pub use engine::Engine;
pub use record::{RunId, RunRecord};
pub use run::Run;
