//! The response body of `/api/chat`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Approval, Question};

/// The answer of `/api/chat`, and the last event of `/api/chat/stream`. Every field is always there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChatResponse {
    /// What the next request of this session names.
    pub session_id: String,
    /// How far the session has come.
    pub phase: Phase,
    /// What to show to the user.
    pub message: String,
    /// Nothing more will happen in this session unless another message is sent.
    pub is_complete: bool,
    /// Where a browser can look at the run, relative to the service.
    pub preview_url: Option<String>,
    /// Something to show in its place; there is none in this version.
    pub preview_html: Option<String>,
    /// From 0 to 100.
    #[schemars(range(max = 100))]
    pub progress: u8,
    /// What the model wants to know; empty unless it waits for an answer.
    pub questions: Vec<Question>,
    /// The call that waits for a person, if one does.
    pub approval: Option<Approval>,
    /// What the client can do next, if anything.
    pub action: Option<Action>,
    /// A text for people was among the files that were written.
    pub product_doc_updated: bool,
    /// The files that were written, as the executor names them, in the order of their names.
    pub affected_pages: Vec<String>,
    /// The file that was written last.
    pub active_page_slug: Option<String>,
}

/// How far a session has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// It waits for its turn, or for an executor.
    Queued,
    /// The model is at work.
    Building,
    /// The model asks.
    Interview,
    /// A call waits for a person's approval.
    Approval,
    /// It has ended with an answer.
    Complete,
    /// It has ended without one; the message says why.
    Failed,
    /// Somebody has ended it.
    Cancelled,
}

/// What a client can do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Ask again later, with the session and no message.
    Wait,
    /// Answer the questions.
    Answer,
    /// Approve the call, or deny it.
    Approve,
    /// Begin another session.
    Restart,
}
