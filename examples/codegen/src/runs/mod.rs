//! Runs: the work on one request of a user, from the request to the answer.
//!
//! | file | holds |
//! |---|---|
//! | `record` | the saved state of a run, and its form for clients |
//! | `run_store` | saving runs in the store |
//! | `agent_log` | the logs of the agents of runs, in the same store |
//! | `run` | a run in memory: its record, its events, their subscribers |
//! | `engine` | all runs, and the operations on them |
//! | `refused` | why a request is refused |
//! | `work` | the worker that executes runs, and goes on with those of an earlier process |
//! | `others` | the other backends of a shared store |
//! | `turn` | one turn: the model works until it answers, asks or fails |
//! | `approval` | people asked about calls, and what they decide |
//! | `answers` | the user's answers, formatted for the model |
//! | `bootstrap` | inspection of the project before a run |
//! | `line` | the executor's connection during a turn |
//! | `translate` | agent events translated to run events |

mod agent_log;
mod answers;
mod approval;
mod bootstrap;
mod engine;
mod line;
mod others;
mod record;
mod refused;
mod run;
mod run_store;
mod translate;
mod turn;
mod work;

pub use engine::Engine;
pub use record::{Elsewhere, RunId, RunRecord, RunView, Writer};
pub use refused::Refused;
pub use run::Run;
pub use run_store::RunStore;
