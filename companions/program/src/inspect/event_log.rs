//! The last things that happened, and everybody who follows them.
//!
//! Nobody who follows can slow a call down: what a reader has not taken in time is not kept for it. It is told so and its
//! stream ends; when it asks again from where it was, it gets what is still there. The form is that of server-sent events
//! (WHATWG, "HTML", section 9.2).

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{SystemTime, UNIX_EPOCH};

use futures_core::Stream;
use serde_json::{Value, json};
use tokio::sync::mpsc;

/// Events that are kept for those who come later.
const KEPT: usize = 1_000;

/// Events that wait for one reader.
const WAITING: usize = 256;

/// Pages that may follow at a time.
const READERS: usize = 32;

/// A text that one who follows is sent.
type Frame = Arc<str>;

#[derive(Default)]
pub(super) struct Events(Mutex<Ring>);

#[derive(Default)]
struct Ring {
    last: u64,
    kept: VecDeque<(u64, Frame)>,
    readers: Vec<mpsc::Sender<Frame>>,
}

impl Events {
    /// Tells everybody; `event` is an object and gets a number and a time.
    pub(super) fn tell(&self, mut event: Value) {
        let at = SystemTime::now().duration_since(UNIX_EPOCH);
        event["at"] = json!(at.map_or(0.0, |at| at.as_secs_f64() * 1000.0));
        let mut ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ring.last += 1;
        let number = ring.last;
        let frame: Frame = format!("id: {number}\ndata: {event}\n\n").into();
        if ring.kept.len() == KEPT {
            ring.kept.pop_front();
        }
        ring.kept.push_back((number, Arc::clone(&frame)));
        ring.readers
            .retain(|reader| reader.try_send(Arc::clone(&frame)).is_ok());
    }

    /// Everything after the event of this number, and all that follows; nothing where too many follow already.
    pub(super) fn follow(&self, after: u64) -> Option<Following> {
        let mut ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ring.readers.retain(|reader| !reader.is_closed());
        if ring.readers.len() >= READERS {
            return None;
        }
        let oldest = ring.kept.front().map_or(ring.last + 1, |(first, _)| *first);
        let mut before = VecDeque::new();
        // A number from the future is that of a program which ran before this one.
        let after = if after > ring.last { 0 } else { after };
        if after + 1 < oldest {
            let missed = json!({"kind": "missed", "count": oldest - 1 - after});
            before.push_back(format!("data: {missed}\n\n").into());
        }
        let later = ring.kept.iter().filter(|(number, _)| *number > after);
        before.extend(later.map(|(_, frame)| Arc::clone(frame)));
        // So that the head of the answer is sent at once.
        before.push_back(": following\n\n".into());
        let (sender, coming) = mpsc::channel(WAITING);
        ring.readers.push(sender);
        Some(Following {
            before,
            coming,
            over: false,
        })
    }
}

/// What one reader is sent.
pub(super) struct Following {
    before: VecDeque<Frame>,
    coming: mpsc::Receiver<Frame>,
    over: bool,
}

impl Stream for Following {
    type Item = Result<String, std::convert::Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(frame) = self.before.pop_front() {
            return Poll::Ready(Some(Ok(frame.as_ref().to_owned())));
        }
        if self.over {
            return Poll::Ready(None);
        }
        let frame = ready!(self.coming.poll_recv(cx));
        let text = if let Some(frame) = frame {
            frame.as_ref().to_owned()
        } else {
            self.over = true;
            format!("data: {}\n\n", json!({"kind": "dropped"}))
        };
        Poll::Ready(Some(Ok(text)))
    }
}
