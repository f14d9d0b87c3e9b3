//! An executor over simulated connections, without a network.

use std::sync::Arc;
use std::time::Duration;

use contract_runtime::CancellationToken;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::Role;

use super::Executor;
use super::connect::ConnectError;
use crate::RemoteError;
use crate::protocol::TaskId;

impl Executor {
    /// Runs the executor over the given streams; `None` is a backend that cannot be reached.
    pub(crate) async fn simulated<S>(
        self,
        task: TaskId,
        stop: CancellationToken,
        line: impl Fn() -> Option<S>,
    ) -> Result<(), RemoteError>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let connect = || {
            let line = line();
            async move {
                let line = line.ok_or_else(|| ConnectError::Transient {
                    reason: "the backend is away".to_owned(),
                    wait: Duration::ZERO,
                })?;
                Ok(WebSocketStream::from_raw_socket(line, Role::Client, None).await)
            }
        };
        self.run_connections(task, stop, Arc::default(), connect)
            .await
    }
}
