//! Requests to `/api/chat`, their responses, and what a response may ask for.

use contract_runtime::approval::ApprovalRequest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The body of a request to `/api/chat` or `/api/chat/stream`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChatRequest {
    /// The session that the request belongs to; a request without one begins a session.
    #[serde(default)]
    pub session_id: Option<String>,
    /// The user's message; without a message and answers, the request only asks for the state of the session.
    #[serde(default)]
    pub message: String,
    /// Answers to the questions of the last response.
    #[serde(default)]
    pub answers: Vec<Answer>,
}

/// The response of `/api/chat`, and the last event of `/api/chat/stream`. Every field is always there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChatResponse {
    /// The id that the next request of this session names.
    pub session_id: String,
    /// How far the session has come.
    pub phase: Phase,
    /// The text to show to the user.
    pub message: String,
    /// Whether the session has ended; a message may begin it again.
    pub is_complete: bool,
    /// The address of the run in a browser, relative to the service.
    pub preview_url: Option<String>,
    /// A document to show in place of the address; always `null` in this version.
    pub preview_html: Option<String>,
    /// The progress, from 0 to 100.
    #[schemars(range(max = 100))]
    pub progress: u8,
    /// The questions of the model; empty unless it waits for their answers.
    pub questions: Vec<Question>,
    /// The call that waits for a person, if one does.
    pub approval: Option<Approval>,
    /// What the client can do next, if anything.
    pub action: Option<Action>,
    /// Whether a text for people was among the files that were written.
    pub product_doc_updated: bool,
    /// The files that were written, sorted by name.
    pub affected_pages: Vec<String>,
    /// The file that was written last.
    pub active_page_slug: Option<String>,
}

/// How far a session has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The session waits for its turn, or for an executor.
    Queued,
    /// The model is at work.
    Building,
    /// The model waits for answers to its questions.
    Interview,
    /// A call waits for a person's approval.
    Approval,
    /// The session has ended with an answer.
    Complete,
    /// The session has ended without an answer; the message says why.
    Failed,
    /// The session was cancelled.
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

/// One question of an interview.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// The id that answers refer to; no two questions of an interview have the same.
    pub id: String,
    /// The question.
    pub text: String,
    /// How the question is answered.
    #[serde(rename = "type")]
    pub kind: QuestionType,
    /// The options to choose from; empty for `text`.
    #[serde(default)]
    pub options: Vec<String>,
}

/// How a question is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuestionType {
    /// By one of the options.
    Radio,
    /// By any number of the options.
    Checkbox,
    /// In words.
    Text,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The id of the question.
    pub question: String,
    /// One value for `radio` and `text`, any number for `checkbox`.
    pub values: Vec<String>,
}

/// A call about which a person must decide.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Approval {
    /// The id that the decision refers to; it cannot be guessed.
    pub id: String,
    /// The id of the call.
    pub call_id: String,
    /// The name of the tool.
    pub tool: String,
    /// All of the arguments, as JSON.
    pub arguments: String,
    /// The questions that the decision answers.
    pub questions: Vec<String>,
}

/// The body of a request to `/api/runs/{id}/approval`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalAnswer {
    /// The [`id`](Approval::id) of the approval.
    pub id: String,
    /// Whether the call goes on.
    pub approve: bool,
    /// The reason for a denial, which the model is told.
    #[serde(default)]
    pub reason: String,
}

impl Question {
    /// Returns whether the question can be asked: a choice needs at least two different options, a text has none.
    #[must_use]
    pub fn is_askable(&self) -> bool {
        let options = &self.options;
        let differ = (1..options.len()).all(|at| !options[..at].contains(&options[at]));
        let fits = match self.kind {
            QuestionType::Radio | QuestionType::Checkbox => options.len() >= 2,
            QuestionType::Text => options.is_empty(),
        };
        fits && differ && !self.id.trim().is_empty() && !self.text.trim().is_empty()
    }

    /// Checks an answer.
    ///
    /// # Errors
    ///
    /// The values that are accepted.
    pub fn judge(&self, answer: &Answer) -> Result<(), String> {
        let values = &answer.values;
        let known = values.iter().all(|value| self.options.contains(value));
        let (is_answer, expected) = match self.kind {
            QuestionType::Radio => (values.len() == 1 && known, "one of"),
            QuestionType::Checkbox => (known, "any of"),
            QuestionType::Text => {
                let is_text = values.len() == 1 && !values[0].trim().is_empty();
                (is_text, "one text")
            }
        };
        if is_answer {
            return Ok(());
        }
        let options = match &*self.options {
            [] => String::new(),
            options => format!(" `{}`", options.join("`, `")),
        };
        Err(format!("`{}` is answered by {expected}{options}", self.id))
    }
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
