//! Why a request is refused.

use contract_remote::store::StoreError;

use super::{IllegalStep, RunState};

/// A refusal, which clients read as `{"error": {"code", "message"}}`. The message says what to do, and repeats nothing of the
/// request but names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Problem {
    /// The status of the HTTP response (RFC 9110, section 15, 2022).
    pub status: u16,
    /// The name of the refusal, for programs.
    pub code: &'static str,
    /// The sentence for people.
    pub message: String,
}

impl Problem {
    pub(crate) fn new(status: u16, code: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            status,
            code,
            message,
        }
    }

    pub(crate) fn unknown() -> Self {
        let message = "there is no such session; leave `session_id` out to begin one";
        Self::new(404, "unknown_session", message)
    }

    pub(crate) fn not_waiting(state: RunState, advice: &str) -> Self {
        let message = format!("the session is {}; {advice}", state.name());
        Self::new(409, "not_waiting", message)
    }
}

impl From<IllegalStep> for Problem {
    fn from(illegal: IllegalStep) -> Self {
        Self::not_waiting(illegal.from, "look at it again")
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let message = format!("the store does not take it: {error}");
        Self::new(503, "store", message)
    }
}
