//! Why a request was refused by the session manager, passed around rmcp to the HTTP response.

use std::cell::RefCell;

use rmcp::model::RequestId;
use rmcp::transport::streamable_http_server::session::local::SessionError as RmcpSessionError;

tokio::task_local! {
    static WHY: RefCell<Option<SessionError>>;
}

/// Why a request cannot use the session that it names.
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum SessionError {
    #[error("{limit} sessions are busy, which is the limit; try again later")]
    Full { limit: usize },
    #[error("the id {id} belongs to a request that is still running; use another")]
    InUse { id: RequestId },
    #[error("the session has ended; begin again")]
    Ended,
    /// The session manager of rmcp failed, or an event is not kept.
    #[error("{0}")]
    Other(String),
}

impl From<RmcpSessionError> for SessionError {
    fn from(error: RmcpSessionError) -> Self {
        match error {
            // It ended after rmcp had looked it up.
            RmcpSessionError::SessionServiceTerminated => Self::Ended.record(),
            other => Self::Other(other.to_string()),
        }
    }
}

impl SessionError {
    /// Records the error for the response: rmcp answers every error of its session manager with status 500.
    pub(super) fn record(self) -> Self {
        // Outside of a request, such as when an idle session ends, there is no response.
        let _ = WHY.try_with(|why| why.replace(Some(self.clone())));
        self
    }
}

/// Answers a request, and returns the session error that was recorded meanwhile.
pub(super) async fn capture<T>(answering: impl Future<Output = T>) -> (T, Option<SessionError>) {
    let capturing = async {
        let answer = answering.await;
        (answer, WHY.with(RefCell::take))
    };
    WHY.scope(RefCell::default(), capturing).await
}
