//! One attempt to connect to the backend.

use std::time::Duration;

use hyper::StatusCode;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use super::Executor;
use crate::token::Token;
use crate::ws_connect::{Socket, WsConnectError, redact, ws_connect};
use crate::{MAX_MESSAGE_BYTES, RemoteError};

/// How long a backend may take to answer.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The longest delay that a backend may request.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(600);

/// Why a connection attempt failed.
pub(super) enum ConnectError {
    /// Retrying would not help.
    Permanent(RemoteError),
    /// A retry may succeed, after at least `wait`.
    Transient { reason: String, wait: Duration },
}

/// Connects once.
pub(super) async fn connect(
    executor: &Executor,
    address: &str,
    token: &Token,
) -> Result<Socket, ConnectError> {
    let config = WebSocketConfig::default()
        .read_buffer_size(16 << 10)
        .write_buffer_size(16 << 10)
        .max_write_buffer_size(2 * MAX_MESSAGE_BYTES)
        .max_message_size(Some(MAX_MESSAGE_BYTES))
        .max_frame_size(Some(MAX_MESSAGE_BYTES));
    let reached = ws_connect(
        address,
        token,
        #[cfg(feature = "tls")]
        executor.roots.as_ref(),
        config,
    );
    #[cfg(not(feature = "tls"))]
    let _ = executor;
    let unreached = match timeout(CONNECT_TIMEOUT, reached).await {
        Err(_) => {
            return Err(ConnectError::Transient {
                reason: format!("no answer came within {CONNECT_TIMEOUT:?}"),
                wait: Duration::ZERO,
            });
        }
        Ok(Ok(socket)) => return Ok(socket),
        Ok(Err(unreached)) => unreached,
    };
    let for_good = |reason| {
        ConnectError::Permanent(RemoteError::Connect {
            address: redact(address),
            reason,
        })
    };
    Err(match unreached {
        WsConnectError::Permanent(reason) => for_good(reason),
        WsConnectError::Transient(reason) => ConnectError::Transient {
            reason,
            wait: Duration::ZERO,
        },
        WsConnectError::Rejected { status, .. } if status == StatusCode::UNAUTHORIZED => {
            for_good("the backend has no such task, or the token is for another task".to_owned())
        }
        WsConnectError::Rejected { status, .. } if status == StatusCode::FORBIDDEN => {
            for_good(format!("the backend answered {status}"))
        }
        // A proxy answers 404, 408, 421 or a redirect while the backend behind it is away.
        WsConnectError::Rejected {
            status,
            retry_after,
        } => ConnectError::Transient {
            reason: format!("the backend answered {status}"),
            wait: Duration::from_secs(retry_after.unwrap_or(0)).min(MAX_RETRY_AFTER),
        },
    })
}
