use std::sync::Arc;

use tokio::sync::mpsc;

use super::Post;
use super::letter::{Letter, Reason};
use crate::remote::backend::task::{Host, Open};
use crate::remote::line::QUEUE;
use crate::remote::protocol::{ExecutorMessage, Handshake, TaskId};

impl Post {
    fn open_here(&self, task: TaskId) -> Option<Arc<Open>> {
        self.shared()?.tasks().get(&task).cloned()
    }

    /// An executor of a task that is at home here has dialled in elsewhere.
    pub(super) async fn attached(self: &Arc<Self>, epoch: u64, host: String, handshake: Handshake) {
        let Some(open) = self.open_here(handshake.task) else {
            return;
        };
        let session = match open.take(&handshake) {
            Ok(session) => session,
            Err(why) => {
                let letter = Letter::Over {
                    task: open.id,
                    epoch,
                    reason: Reason::Refused(why),
                };
                return self.try_to_write(&host, &letter).await;
            }
        };
        let Some((over, earlier)) = open.take_over_from_afar(epoch, &host) else {
            return;
        };
        if let Some(earlier) = earlier.filter(|earlier| earlier.name != host) {
            let letter = Letter::Over {
                task: open.id,
                epoch: earlier.epoch,
                reason: Reason::TakenOver,
            };
            self.try_to_write(&earlier.name, &letter).await;
        }
        let (out, mut queue) = mpsc::channel(QUEUE);
        if !open.attached(epoch, &handshake, session, out) {
            return;
        }
        let (post, task) = (Arc::clone(self), open.id);
        tokio::spawn(async move {
            let send = async {
                while let Some(message) = queue.recv().await {
                    let letter = Letter::Say {
                        task,
                        epoch,
                        message,
                    };
                    if let Err(error) = post.write(&host, &letter).await {
                        tracing::warn!(%task, %error, "a message could not be handed to a host");
                        break;
                    }
                }
            };
            tokio::select! {
                () = send => open.detached(epoch),
                () = over.cancelled() => {
                    let reason = Reason::TakenOver;
                    let letter = Letter::Over { task, epoch, reason };
                    post.try_to_write(&host, &letter).await;
                }
            }
        });
    }

    async fn try_to_write(&self, to: &str, letter: &Letter) {
        if let Err(error) = self.write(to, letter).await {
            tracing::warn!(to, %error, "a letter could not be written");
        }
    }

    pub(super) fn heard(&self, task: TaskId, epoch: u64, message: ExecutorMessage) {
        if let Some(open) = self.open_here(task).filter(|open| open.epoch() == epoch) {
            open.hear(message);
        }
    }

    pub(super) fn lost(&self, task: TaskId, epoch: u64) {
        if let Some(open) = self.open_here(task) {
            open.detached(epoch);
        }
    }

    /// Executors whose host is gone without a word are lost.
    pub(super) async fn look_after_hosts(&self) {
        let Some(shared) = self.shared() else {
            return;
        };
        let open: Vec<_> = shared.tasks().values().cloned().collect();
        for open in open {
            let Some(Host { name, epoch }) = open.host() else {
                continue;
            };
            if let Ok(None) = self.relay.announced(&name).await {
                open.detached(epoch);
            }
        }
    }
}
