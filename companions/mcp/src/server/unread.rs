//! Tracks how much output the client has not read yet.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// The bytes of unread answers beyond which no further requests are read.
const UNREAD: usize = 16 << 20;

/// The approximate memory of a waiting answer beyond its bytes, mostly its task.
pub(super) const EACH: usize = 4 << 10;

/// The amount of output that the client has not read.
#[derive(Default)]
pub(super) struct Unread {
    bytes: AtomicUsize,
    /// The client has read something.
    pub(super) read: Notify,
    /// Little is left.
    few: Notify,
}

impl Unread {
    pub(super) fn more(&self, answer: &[u8]) {
        self.bytes.fetch_add(answer.len() + EACH, Ordering::Relaxed);
    }

    pub(super) fn less(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.read.notify_one();
        if !self.is_much() {
            self.few.notify_one();
        }
    }

    /// Whether it exceeds the limit: a client that sends requests and reads nothing could otherwise fill the memory.
    pub(super) fn is_much(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > UNREAD
    }

    pub(super) async fn few(&self) {
        while self.is_much() {
            self.few.notified().await;
        }
    }
}
