//! The most recent events, and their subscribers.
//!
//! Subscribers cannot slow a call down: if one falls behind, it is told so and its stream ends; when it subscribes again, it gets
//! what is still in the log. The format is that of server-sent events (WHATWG, "HTML", section 9.2).

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{SystemTime, UNIX_EPOCH};

use futures_core::Stream;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::mpsc;

/// The most events that are kept for later subscribers.
const KEPT: usize = 1_000;

/// The most events that wait for one subscriber.
const WAITING: usize = 256;

/// The most subscribers at a time.
const READERS: usize = 32;

/// The text of one event.
type Frame = Arc<str>;

#[derive(Default)]
pub(super) struct EventLog(Mutex<Ring>);

#[derive(Default)]
struct Ring {
    last: u64,
    kept: VecDeque<(u64, Frame)>,
    readers: Vec<mpsc::Sender<Frame>>,
}

impl EventLog {
    /// Adds an event and sends it to all subscribers; `event` is an object, to which a number and a time are added.
    pub(super) fn push(&self, mut event: Value) {
        let at = SystemTime::now().duration_since(UNIX_EPOCH);
        event["at"] = json!(at.map_or(0.0, |at| at.as_secs_f64() * 1000.0));
        let mut ring = self.0.lock();
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

    /// Subscribes to all events after the one with this number; `None` if there are too many subscribers.
    pub(super) fn subscribe(&self, after: u64) -> Option<Subscription> {
        let mut ring = self.0.lock();
        ring.readers.retain(|reader| !reader.is_closed());
        if ring.readers.len() >= READERS {
            return None;
        }
        let oldest = ring.kept.front().map_or(ring.last + 1, |(first, _)| *first);
        let mut before = VecDeque::new();
        // A number from the future comes from an earlier run of the program.
        let after = if after > ring.last { 0 } else { after };
        if after + 1 < oldest {
            let missed = json!({"kind": "missed", "count": oldest - 1 - after});
            before.push_back(format!("data: {missed}\n\n").into());
        }
        let later = ring.kept.iter().filter(|(number, _)| *number > after);
        before.extend(later.map(|(_, frame)| Arc::clone(frame)));
        // So that the head of the response is sent at once.
        before.push_back(": following\n\n".into());
        let (sender, coming) = mpsc::channel(WAITING);
        ring.readers.push(sender);
        Some(Subscription {
            before,
            coming,
            over: false,
        })
    }
}

/// The events of one subscriber, as a stream.
pub(super) struct Subscription {
    before: VecDeque<Frame>,
    coming: mpsc::Receiver<Frame>,
    over: bool,
}

impl Stream for Subscription {
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
