//! The public API of the service: these types may grow, and lose nothing.
//!
//! The schemas in `contracts/` are the published form of these types; a test compares the two.

mod chat;
mod event;
mod problem;
mod state;

pub use chat::{
    Action, Answer, Approval, ApprovalAnswer, ChatRequest, ChatResponse, Phase, Question,
    QuestionType,
};
pub use event::{Finder, Happening, RunEvent};
pub use problem::Problem;
pub use state::{IllegalStep, Lifecycle, RunState, Step};
