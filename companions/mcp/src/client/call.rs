//! One call of an imported tool.

use std::sync::Arc;

use contract_runtime::dynamic::DynamicContext;
use contract_runtime::{Content, Validator};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, ErrorCode, InputRequest, InputRequests,
    ProgressToken, ServerResult,
};
use rmcp::service::{PeerRequestOptions, RequestHandle, RoleClient, ServiceError};
use serde_json::{Map, Value};

use super::connection::Connection;
use super::names::shortened;
use super::result::content;
use super::{cause, elicitation};

/// How often a server may ask for more input before it answers.
const ROUNDS: usize = 10;

const TASK: &str =
    "the server made a task of the call instead of answering it, which is not supported";
const NO_RESULT: &str = "the server answered with something that is not a tool result";

/// A tool on another server.
#[derive(Debug)]
pub(super) struct Remote {
    /// Its name on that server.
    pub(super) name: String,
    /// The server, as people are told of it.
    pub(super) server: Arc<str>,
    /// Validates its results.
    pub(super) output: Option<Validator>,
    pub(super) connection: Connection,
}

impl Remote {
    /// Makes the call and waits for its result; if the future is dropped before, the server is notified.
    pub(super) async fn call(
        self: Arc<Self>,
        arguments: Map<String, Value>,
        context: DynamicContext,
    ) -> Result<Content, String> {
        let mut params = CallToolRequestParams::new(self.name.clone()).with_arguments(arguments);
        let mut questions = 0;
        for _ in 0..ROUNDS {
            let asked = match self.result(params.clone(), &context).await? {
                ServerResult::CallToolResult(result) => {
                    return content(result, self.output.as_ref());
                }
                ServerResult::InputRequiredResult(asked) => asked,
                ServerResult::CreateTaskResult(_) => return Err(TASK.to_owned()),
                _ => return Err(NO_RESULT.to_owned()),
            };
            let requests = asked.input_requests.as_ref();
            let Some(requests) = requests.filter(|requests| !requests.is_empty()) else {
                return Err(unanswered("there is nobody to ask", &InputRequests::new()));
            };
            if !self.connection.listener().may_ask() {
                return Err(unanswered("it was not told that it may", requests));
            }
            questions += requests.len();
            if questions > elicitation::QUESTIONS {
                let why = format!("it has more than {} questions", elicitation::QUESTIONS);
                return Err(unanswered(&why, requests));
            }
            let answers = elicitation::answer_each(requests, &self.server, &context).await;
            let answers = answers.map_err(|why| unanswered(&why, requests))?;
            params = params.with_input_responses(answers);
            params.request_state = asked.request_state;
        }
        Err(format!("the server asked {ROUNDS} times for more input"))
    }

    /// Sends one request, and waits for what the server answers.
    async fn result(
        &self,
        params: CallToolRequestParams,
        context: &DynamicContext,
    ) -> Result<ServerResult, String> {
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let sending = self.connection.listener().sending().await;
        let handle = self
            .connection
            .peer()
            .send_cancellable_request(request, PeerRequestOptions::no_options())
            .await
            .map_err(|error| message(&error))?;
        let asked = sending.register(&handle.progress_token, context);
        let mut pending = Pending {
            token: handle.progress_token.clone(),
            connection: self.connection.clone(),
            handle: Some(handle),
        };
        let result = tokio::select! {
            biased;
            result = pending.result() => result,
            never = elicitation::answer_all(asked, &self.server, context) => match never {},
        };
        result.map_err(|error| message(&error))
    }
}

/// A request that has been sent; if it is dropped before its response, it is cancelled on the server.
struct Pending {
    handle: Option<RequestHandle<RoleClient>>,
    token: ProgressToken,
    connection: Connection,
}

impl Pending {
    async fn result(&mut self) -> Result<ServerResult, ServiceError> {
        let Some(handle) = &mut self.handle else {
            return Err(ServiceError::TransportClosed);
        };
        let answered = (&mut handle.rx).await;
        self.handle = None;
        self.connection.listener().forget(&self.token).await;
        answered.unwrap_or(Err(ServiceError::TransportClosed))
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        let Some(handle) = self.handle.take() else {
            return;
        };
        let (connection, token) = (self.connection.clone(), self.token.clone());
        // The thread that drops a call may have no runtime, or a different one.
        self.connection.runtime().spawn(async move {
            connection.listener().forget(&token).await;
            let reason = "the caller no longer waits for the result".to_owned();
            // If the server has disconnected, there is nothing to cancel.
            let _ = handle.cancel(Some(reason)).await;
        });
    }
}

/// A call that asks for more input than anybody here gives.
fn unanswered(why: &str, requests: &InputRequests) -> String {
    let questions: Vec<&str> = requests
        .values()
        .filter_map(|request| match request {
            InputRequest::Elicitation(request) => Some(elicitation::message(&request.params)),
            _ => None,
        })
        .collect();
    let why = format!("not started, because the server asks for more input, and {why}");
    if questions.is_empty() {
        why
    } else {
        format!("{why}: {}", shortened(&questions.join(" ")))
    }
}

fn message(error: &ServiceError) -> String {
    match error {
        ServiceError::TransportClosed => {
            "the server has disconnected; connect again and import its tools once more".to_owned()
        }
        ServiceError::TransportSend(error) => {
            format!(
                "the call did not reach the server: {}",
                cause::of_transport(error)
            )
        }
        ServiceError::McpError(error) => {
            let (code, message) = (error.code.0, shortened(&error.message));
            // What revision 2025-11-25 has servers answer where they make a call only as a task. That a tool is such a one stands in
            // their list, but rmcp 3.11 does not hand it on.
            let hint = if error.code == ErrorCode::METHOD_NOT_FOUND {
                "; it may make this call only as a task, which is not supported"
            } else {
                ""
            };
            format!("the server refused the call: {message} (code {code}){hint}")
        }
        other => shortened(&format!("the call failed: {other}")),
    }
}
