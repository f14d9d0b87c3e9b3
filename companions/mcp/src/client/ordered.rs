use rmcp::model::{
    ErrorCode, ErrorData, ProgressNotificationParam, ProtocolVersion, ServerJsonRpcMessage,
    ServerNotification, ServerResult,
};
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Deserialize as _;

use super::connection::Listener;

/// A transport whose reports of progress are heard where they stand, and whose server may speak an older revision alone.
///
/// rmcp handles each message on a task of its own, so that the last reports of a call would come after its result.
pub(super) struct Ordered<T> {
    inner: T,
    listener: Listener,
    /// The first answer of the server has come.
    begun: bool,
    /// A report that is not heard yet: the future of `receive` may be dropped while it waits.
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

/// The first answer, or, where a server of older revisions alone gave it, that of one that does not know the question.
///
/// rmcp falls back to the older handshake only then. It gives up a server that knows the question and says no, and one that
/// answers whatever it does not know with an empty result.
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
    let why = "the server speaks older revisions alone";
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
