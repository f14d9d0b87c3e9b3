use std::cell::RefCell;

use rmcp::model::RequestId;

tokio::task_local! {
    static WHY: RefCell<Option<Declined>>;
}

/// Why a request cannot have the session that it asks for.
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum Declined {
    #[error("{limit} sessions are busy, which is the limit; try again later")]
    Full { limit: usize },
    #[error("the id {id} belongs to a request that is still running; use another")]
    InUse { id: RequestId },
    #[error("the session has ended; begin again")]
    Ended,
}

impl Declined {
    /// Tells it to whoever answers the request: rmcp makes the status 500 of every error of sessions.
    pub(super) fn noted(self) -> Self {
        // Sessions that end of themselves answer nobody.
        let _ = WHY.try_with(|why| why.replace(Some(self.clone())));
        self
    }
}

/// Answers a request, and tells what it was declined for.
pub(super) async fn hearing<T>(answering: impl Future<Output = T>) -> (T, Option<Declined>) {
    let hearing = async {
        let answer = answering.await;
        (answer, WHY.with(RefCell::take))
    };
    WHY.scope(RefCell::default(), hearing).await
}
