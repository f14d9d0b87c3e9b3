//! A call that waits for a person, and the decision.

use contract_runtime::approval::ApprovalRequest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A call about which a person must decide.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Approval {
    /// What the decision refers to; nobody guesses it.
    pub id: String,
    /// Which call.
    pub call_id: String,
    /// The tool.
    pub tool: String,
    /// All of the arguments, as JSON.
    pub arguments: String,
    /// What there is to decide.
    pub questions: Vec<String>,
}

impl From<&ApprovalRequest> for Approval {
    fn from(request: &ApprovalRequest) -> Self {
        let questions = request.questions.iter();
        Self {
            id: request.id.clone(),
            call_id: request.call_id.clone(),
            tool: request.tool.clone(),
            arguments: request.arguments.to_string(),
            questions: questions.map(|one| one.text.clone()).collect(),
        }
    }
}

/// What is sent to `/api/runs/{id}/approval`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalAnswer {
    /// The `id` of what was asked.
    pub id: String,
    /// Whether the call goes on.
    pub approve: bool,
    /// Why it does not; the model is told.
    #[serde(default)]
    pub reason: String,
}
