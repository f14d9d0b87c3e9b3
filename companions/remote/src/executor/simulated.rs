use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_util::sync::CancellationToken;

use super::Executor;
use super::dial::Failed;
use crate::remote::RemoteError;
use crate::remote::protocol::TaskId;

impl Executor {
    /// As it works when it is connected, over lines that are made elsewhere; `None` is a backend that is away.
    pub(in crate::remote) async fn simulated<S>(
        self,
        task: TaskId,
        over: CancellationToken,
        line: impl Fn() -> Option<S>,
    ) -> Result<(), RemoteError>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let dial = || {
            let line = line();
            async move {
                let line = line.ok_or_else(|| Failed::Now {
                    reason: "the backend is away".to_owned(),
                    wait: Duration::ZERO,
                })?;
                Ok(WebSocketStream::from_raw_socket(line, Role::Client, None).await)
            }
        };
        self.over_lines(task, over, Arc::default(), dial).await
    }
}
