use rmcp::model::{ProgressNotificationParam, ServerJsonRpcMessage, ServerNotification};
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

use super::connection::Listener;

/// A transport whose reports of progress are heard where they stand.
///
/// rmcp handles each message on a task of its own, so that the last reports of a call would come after its result.
pub(super) struct Ordered<T> {
    inner: T,
    listener: Listener,
    /// A report that is not heard yet: the future of `receive` may be dropped while it waits.
    held: Option<ProgressNotificationParam>,
}

impl<T> Ordered<T> {
    pub(super) fn new(inner: T, listener: Listener) -> Self {
        Self {
            inner,
            listener,
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
                other => return Some(other),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
