//! The public API of the service: these types may grow, and lose nothing.
//!
//! | file | holds |
//! |---|---|
//! | `request` | the request body of `/api/chat` |
//! | `response` | the response body, thirteen fields |
//! | `question` | a question of an interview, and its answer |
//! | `approval` | a call that waits for a person, and the decision |
//! | `state` | the states of a run, and the transitions between them |
//! | `event` | the events of a run |
//!
//! The schemas in `contracts/` are the published form of these types; a test compares the two.

mod approval;
mod event;
mod question;
mod request;
mod response;
mod state;

pub use approval::{Approval, ApprovalAnswer};
pub use event::{Finder, Happening, RunEvent};
pub use question::{Answer, Question, QuestionType};
pub use request::ChatRequest;
pub use response::{Action, ChatResponse, Phase};
pub use state::{IllegalStep, Lifecycle, RunState, Step};
