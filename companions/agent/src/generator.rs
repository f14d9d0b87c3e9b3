//! A stream that drives the future that feeds it; dropping the stream cancels the work.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use parking_lot::Mutex;

use super::event::Event;

/// What an async block emits, as a stream; see [`stream_with`].
///
/// The block advances only while the stream is polled, and dropping the stream stops all work.
#[must_use = "nothing runs until the events are polled"]
pub struct Events<'a, T = Event> {
    future: Option<Pin<Box<dyn Future<Output = ()> + Send + 'a>>>,
    slot: Arc<Mutex<Slot<T>>>,
}

struct Slot<T> {
    item: Option<T>,
    /// Waits for the slot to be empty.
    sender: Option<Waker>,
}

/// Emits items into a stream; see [`stream_with`].
pub struct Emitter<T = Event>(Arc<Mutex<Slot<T>>>);

/// Creates a stream of the items that an async block emits.
///
/// [`Emitter::emit`] returns when the item has been taken *and* the next one is requested. So a reader of the stream can look
/// at an event and stop everything before the block continues.
///
/// ```
/// use contract_agent::stream_with;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let mut numbers = stream_with(|emitter| async move {
///     for number in 1..=3 {
///         emitter.emit(number).await;
///     }
/// });
/// assert_eq!(numbers.next().await, Some(1));
/// assert_eq!(numbers.next().await, Some(2));
/// # }
/// ```
pub fn stream_with<'a, T: Send + 'a, F>(feed: impl FnOnce(Emitter<T>) -> F) -> Events<'a, T>
where
    F: Future<Output = ()> + Send + 'a,
{
    let slot = Arc::new(Mutex::new(Slot {
        item: None,
        sender: None,
    }));
    let future = feed(Emitter(Arc::clone(&slot)));
    Events {
        future: Some(Box::pin(future)),
        slot,
    }
}

impl<T> Events<'_, T> {
    /// Returns the next item; `None` when the block has ended.
    pub async fn next(&mut self) -> Option<T> {
        poll_fn(|task| Pin::new(&mut *self).poll_next(task)).await
    }
}

impl<T> Stream for Events<'_, T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<T>> {
        let Self { future, slot } = &mut *self;
        let waiting = slot.lock().sender.take();
        if let Some(waker) = waiting {
            waker.wake();
        }
        let over = match future {
            Some(future) => future.as_mut().poll(task).is_ready(),
            None => true,
        };
        if over {
            *future = None;
        }
        match slot.lock().item.take() {
            Some(item) => Poll::Ready(Some(item)),
            None if over => Poll::Ready(None),
            None => Poll::Pending,
        }
    }
}

impl<T> Emitter<T> {
    /// Emits an item, and returns when the reader asks for the next one.
    pub async fn emit(&self, item: T) {
        let mut item = Some(item);
        let mut given = false;
        poll_fn(|task| {
            let mut slot = self.0.lock();
            if given && slot.item.is_none() {
                return Poll::Ready(());
            }
            if slot.item.is_none() {
                slot.item = item.take();
                given = true;
            }
            slot.sender = Some(task.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

impl<T> std::fmt::Debug for Events<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Events")
            .field("over", &self.future.is_none())
            .finish_non_exhaustive()
    }
}

impl<T> std::fmt::Debug for Emitter<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Emitter").finish_non_exhaustive()
    }
}
