//! What clients of the service rely on: these forms may grow, and lose nothing.
//!
//! | file | holds |
//! |---|---|
//! | `request` | what is sent to `/api/chat` |
//! | `response` | its answer, twelve fields |
//! | `question` | a question of an interview, and what answers it |
//! | `state` | the states of a run, and the steps between them |
//! | `event` | everything that can happen in a run |
//!
//! The schemas in `contracts/` are these forms as they were published; a test holds one against the other.

mod event;
mod question;
mod request;
mod response;
mod state;

pub use event::{Finder, Happening, RunEvent};
pub use question::{Answer, Question, QuestionType};
pub use request::ChatRequest;
pub use response::{Action, ChatResponse, Phase};
pub use state::{IllegalStep, Lifecycle, RunState, Step};
