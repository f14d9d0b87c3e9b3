use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{mpsc, oneshot};

use crate::remote::protocol::{BackendMessage, CallId, CallKey, RunTool, ToolProgress, ToolReply};
use crate::tool::Progress;

/// The calls of one session that are under way: the first valid result of each wins, everything later is counted.
#[derive(Debug)]
pub(super) struct Pending {
    waiting: Mutex<HashMap<CallKey, Waiting>>,
    out: mpsc::Sender<BackendMessage>,
}

#[derive(Debug)]
struct Waiting {
    reply: oneshot::Sender<ToolReply>,
    progress: Progress,
}

/// How a call that was sent away came back.
pub(super) enum Came {
    Reply(Box<ToolReply>),
    /// The line broke, and nothing says whether the call ran.
    Unknown,
}

impl Pending {
    pub(super) fn new(out: mpsc::Sender<BackendMessage>) -> Arc<Self> {
        Arc::new(Self {
            waiting: Mutex::default(),
            out,
        })
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, HashMap<CallKey, Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a call away and waits for its end; dropping the future cancels it there.
    pub(super) async fn call(
        self: &Arc<Self>,
        tool_name: String,
        parameters: serde_json::Value,
        deadline_ms: Option<u64>,
        progress: Progress,
    ) -> Came {
        let key = CallKey {
            tool_id: CallId::next(),
            attempt: 1,
        };
        let (reply, replied) = oneshot::channel();
        self.waiting().insert(key, Waiting { reply, progress });
        let mut guard = Guard {
            pending: Arc::clone(self),
            key,
            open: true,
        };
        let call = BackendMessage::RunTool(Box::new(RunTool {
            key,
            tool_name,
            generation_id: 0,
            parameters,
            deadline_ms,
        }));
        if self.out.send(call).await.is_err() {
            return Came::Unknown;
        }
        let came = replied.await;
        guard.open = false;
        match came {
            Ok(reply) => {
                let _ = self.out.send(BackendMessage::Ack(key)).await;
                Came::Reply(Box::new(reply))
            }
            Err(_) => Came::Unknown,
        }
    }

    /// A result has come; `false` if nobody waits for it.
    pub(super) fn replied(&self, reply: ToolReply) -> bool {
        let waiting = self.waiting().remove(&reply.key);
        waiting.is_some_and(|waiting| waiting.reply.send(reply).is_ok())
    }

    pub(super) fn reported(&self, told: ToolProgress) {
        let progress = self
            .waiting()
            .get(&told.key)
            .map(|waiting| waiting.progress.clone());
        if let Some(progress) = progress {
            progress.report(told.done, told.total, told.message);
        }
    }

    /// The line is gone: every call that is under way ends as unknown.
    pub(super) fn lost(&self) {
        self.waiting().clear();
    }
}

/// Cancels a call that nobody waits for any more.
struct Guard {
    pending: Arc<Pending>,
    key: CallKey,
    open: bool,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.open && self.pending.waiting().remove(&self.key).is_some() {
            // A full queue is no reason to wait here; the deadline ends the call there.
            let _ = self
                .pending
                .out
                .try_send(BackendMessage::CancelTool(self.key));
        }
    }
}
