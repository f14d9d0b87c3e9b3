//! The token that cancels calls.

use std::future::poll_fn;
use std::task::Poll;

use tokio::sync::watch;

/// Cancels calls. [`Context::cancellation`](crate::Context::cancellation) takes a token, and a `#[context]` parameter of this type
/// is a child of it.
///
/// A clone is the same token. A child is cancelled with its parent, and not the other way round.
///
/// ```
/// use contract_runtime::CancellationToken;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let all = CancellationToken::new();
/// let one = all.child_token();
/// all.cancel();
/// one.cancelled().await;
/// assert!(one.is_cancelled());
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct CancellationToken {
    own: watch::Sender<bool>,
    parents: Vec<watch::Sender<bool>>,
}

impl CancellationToken {
    /// Creates a token that is not cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels the token, its clones and its children, for good.
    pub fn cancel(&self) {
        self.own.send_replace(true);
    }

    /// Returns whether the token or one of its parents was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.all().any(|flag| *flag.borrow())
    }

    /// Waits until the token or one of its parents is cancelled.
    pub async fn cancelled(&self) {
        let wait = |mut flag: watch::Receiver<bool>| async move {
            // An error says that no sender is left, and `self` has them.
            let _ = flag.wait_for(|cancelled| *cancelled).await;
        };
        let waits = self.all().map(|flag| Box::pin(wait(flag.subscribe())));
        let mut waits: Vec<_> = waits.collect();
        poll_fn(|task| {
            let mut polled = waits.iter_mut().map(|wait| wait.as_mut().poll(task));
            polled.find(Poll::is_ready).unwrap_or(Poll::Pending)
        })
        .await;
    }

    /// Creates a token that is cancelled with this one, and can be cancelled alone.
    #[must_use]
    pub fn child_token(&self) -> Self {
        Self {
            own: watch::Sender::new(false),
            parents: self.all().cloned().collect(),
        }
    }

    fn all(&self) -> impl Iterator<Item = &watch::Sender<bool>> {
        std::iter::once(&self.own).chain(&self.parents)
    }
}

/// Cancels a token when it is dropped.
pub(crate) struct CancelOnDrop(pub(crate) Option<CancellationToken>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(token) = &self.0 {
            token.cancel();
        }
    }
}
