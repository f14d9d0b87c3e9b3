//! One call of an imported tool.

use std::sync::Arc;

use contract_runtime::{Content, Progress, Validator};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, ElicitRequestParams, InputRequest,
    InputRequiredResult, ProgressToken, ServerResult,
};
use rmcp::service::{PeerRequestOptions, RequestHandle, RoleClient, ServiceError};
use serde_json::{Map, Value};

use super::cause;
use super::connection::Connection;
use super::names::shortened;
use super::result::content;

/// A tool on another server.
#[derive(Debug)]
pub(super) struct Remote {
    /// Its name on that server.
    pub(super) name: String,
    /// Validates its results.
    pub(super) output: Option<Validator>,
    pub(super) connection: Connection,
}

impl Remote {
    /// Makes the call and waits for its result; if the future is dropped before, the server is notified.
    pub(super) async fn call(
        self: Arc<Self>,
        arguments: Map<String, Value>,
        progress: Progress,
    ) -> Result<Content, String> {
        let params = CallToolRequestParams::new(self.name.clone()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let sending = self.connection.listener().sending().await;
        let handle = self
            .connection
            .peer()
            .send_cancellable_request(request, PeerRequestOptions::no_options())
            .await
            .map_err(|error| message(&error))?;
        sending.register(&handle.progress_token, progress);
        let mut pending = Pending {
            token: handle.progress_token.clone(),
            connection: self.connection.clone(),
            handle: Some(handle),
        };
        let result = pending.result().await.map_err(|error| message(&error))?;
        match result {
            ServerResult::CallToolResult(result) => content(result, self.output.as_ref()),
            ServerResult::InputRequiredResult(asked) => Err(unanswered(&asked)),
            ServerResult::CreateTaskResult(_) => Err(
                "the server made a task of the call instead of answering it, which is not supported"
                    .to_owned(),
            ),
            _ => Err("the server answered with something that is not a tool result".to_owned()),
        }
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

/// A call that asks for more input, which this client has nobody to ask for.
fn unanswered(asked: &InputRequiredResult) -> String {
    let requests = asked.input_requests.iter().flat_map(|all| all.values());
    let questions: Vec<&str> = requests
        .filter_map(|request| match request {
            InputRequest::Elicitation(request) => match &request.params {
                ElicitRequestParams::FormElicitationParams { message, .. }
                | ElicitRequestParams::UrlElicitationParams { message, .. } => Some(&**message),
                _ => None,
            },
            _ => None,
        })
        .collect();
    let why = "not started, because the server asks for more input, and there is nobody to ask";
    if questions.is_empty() {
        why.to_owned()
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
            format!("the server refused the call: {message} (code {code})")
        }
        other => shortened(&format!("the call failed: {other}")),
    }
}
