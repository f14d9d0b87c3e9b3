//! A transport that handles progress notifications in order and falls back to older revisions.

use rmcp::model::{
    ErrorCode, ErrorData, ProgressNotificationParam, ProtocolVersion, ServerJsonRpcMessage,
    ServerNotification, ServerResult,
};
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Deserialize as _;

use super::connection::Listener;

/// A transport that handles progress reports in order, and whose server may support only older revisions.
///
/// rmcp handles each message in its own task, so the last reports of a call could come after its result.
pub(super) struct Ordered<T> {
    inner: T,
    listener: Listener,
    /// The server has sent its first response.
    begun: bool,
    /// A report that is not handled yet, because the future of `receive` may be dropped while it waits.
    held: Option<ProgressNotificationParam>,
}

impl<T> Ordered<T> {
    pub(super) fn new(inner: T, listener: Listener) -> Self {
        Self {
            inner,
            listener,
            begun: false,
            held: None,
        }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Ordered<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            if let Some(report) = &self.held {
                self.listener.report(report).await;
                self.held = None;
            }
            match self.inner.receive().await? {
                ServerJsonRpcMessage::Notification(message) => match message.notification {
                    ServerNotification::ProgressNotification(report) => {
                        self.held = Some(report.params);
                    }
                    _ => return Some(ServerJsonRpcMessage::Notification(message)),
                },
                request @ ServerJsonRpcMessage::Request(_) => return Some(request),
                answer if !self.begun => {
                    self.begun = true;
                    return Some(falling_back(answer));
                }
                answer => return Some(answer),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

/// Replaces the first response of a server that supports only older revisions by "method not found".
///
/// rmcp falls back to the older handshake only after that error. It gives up on a server that knows the method and refuses it,
/// and on one that answers unknown methods with an empty result.
fn falling_back(answer: RxJsonRpcMessage<RoleClient>) -> RxJsonRpcMessage<RoleClient> {
    let id = match answer {
        ServerJsonRpcMessage::Response(answer) => match &answer.result {
            ServerResult::DiscoverResult(found) if is_new(&found.supported_versions) => {
                return ServerJsonRpcMessage::Response(answer);
            }
            _ => Some(answer.id),
        },
        ServerJsonRpcMessage::Error(answer) if refuses_new(&answer.error) => answer.id,
        other => return other,
    };
    let why = "the server supports only older revisions";
    ServerJsonRpcMessage::error(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, why, None), id)
}

fn is_new(versions: &[ProtocolVersion]) -> bool {
    versions.contains(&ProtocolVersion::V_2026_07_28)
}

fn refuses_new(error: &ErrorData) -> bool {
    let supported = error.data.as_ref().and_then(|data| data.get("supported"));
    let supported = supported.and_then(|all| Vec::<ProtocolVersion>::deserialize(all).ok());
    error.code == ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
        && supported.is_some_and(|all| !is_new(&all))
}
