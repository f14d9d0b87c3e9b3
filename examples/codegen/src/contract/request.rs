//! The request body of `/api/chat`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Answer;

/// What is sent to `/api/chat` and `/api/chat/stream`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChatRequest {
    /// The session that it belongs to; without one, a session begins.
    #[serde(default)]
    pub session_id: Option<String>,
    /// What the user says; empty where there is nothing to add, as when one only asks how far a session has come.
    #[serde(default)]
    pub message: String,
    /// Answers to the questions of the last response.
    #[serde(default)]
    pub answers: Vec<Answer>,
}
