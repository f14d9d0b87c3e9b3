use std::time::Duration;

use hyper::StatusCode;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use super::Executor;
use super::reach::{Socket, Unreached, reach, shown};
use crate::remote::token::Token;
use crate::remote::{LARGEST, RemoteError};

/// How long a backend may take to answer.
const ANSWER: Duration = Duration::from_secs(10);

/// The longest wait that a backend may ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(600);

/// Why there is no connection.
pub(super) enum Failed {
    /// It would be the same another time.
    ForGood(RemoteError),
    /// Another time it may work, after so long at least.
    Now { reason: String, wait: Duration },
}

/// Dials in once.
pub(super) async fn dial(
    executor: &Executor,
    address: &str,
    token: &Token,
) -> Result<Socket, Failed> {
    let config = WebSocketConfig::default()
        .read_buffer_size(16 << 10)
        .write_buffer_size(16 << 10)
        .max_write_buffer_size(2 * LARGEST)
        .max_message_size(Some(LARGEST))
        .max_frame_size(Some(LARGEST));
    let reached = reach(
        address,
        token,
        #[cfg(feature = "remote-tls")]
        executor.roots.as_ref(),
        config,
    );
    #[cfg(not(feature = "remote-tls"))]
    let _ = executor;
    let unreached = match timeout(ANSWER, reached).await {
        Err(_) => {
            return Err(Failed::Now {
                reason: format!("no answer came within {ANSWER:?}"),
                wait: Duration::ZERO,
            });
        }
        Ok(Ok(socket)) => return Ok(socket),
        Ok(Err(unreached)) => unreached,
    };
    let for_good = |reason| {
        Failed::ForGood(RemoteError::Connect {
            address: shown(address),
            reason,
        })
    };
    Err(match unreached {
        Unreached::ForGood(reason) => for_good(reason),
        Unreached::Broken(reason) => Failed::Now {
            reason,
            wait: Duration::ZERO,
        },
        Unreached::Refused {
            status,
            retry_after,
        } if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => Failed::Now {
            reason: format!("the backend answered {status}"),
            wait: Duration::from_secs(retry_after.unwrap_or(0)).min(LONGEST_WAIT),
        },
        Unreached::Refused { status, .. } => for_good(match status {
            StatusCode::UNAUTHORIZED => {
                "the backend has no such task, or the token is another's".to_owned()
            }
            status => format!("the backend answered {status}"),
        }),
    })
}
