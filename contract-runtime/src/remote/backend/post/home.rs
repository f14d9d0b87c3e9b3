use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use super::letter::{Letter, Order, Reason};
use super::{Post, Quiet};
use crate::remote::backend::line::OVER;
use crate::remote::backend::server::Shared;
use crate::remote::backend::task::{Host, Open};
use crate::remote::line::QUEUE;
use crate::remote::protocol::{BackendMessage, ExecutorMessage, Handshake, JournalId, TaskId};
use crate::remote::store::ledger::Ledger;

impl Post {
    fn open_here(&self, task: TaskId) -> Option<Arc<Open>> {
        let open = self.shared()?.tasks().get(&task).cloned();
        open.filter(|open| !open.calls.has_moved())
    }

    /// Another backend says that it has taken a task over.
    pub(super) async fn look_whether_at_home(&self, task: TaskId) {
        if let Some(open) = self.open_here(task)
            && let Err(error) = open.calls.is_home().await
        {
            tracing::debug!(%task, %error, "it cannot be read who the home of a task is");
        }
    }

    /// An executor of a task that is at home here has dialled in elsewhere.
    pub(super) async fn attached(self: &Arc<Self>, epoch: u64, host: String, handshake: Handshake) {
        let (task, journal) = (handshake.task, handshake.journal);
        let Some(open) = self.open_here(task) else {
            return self.sent_astray(task, epoch, &host).await;
        };
        let (handshake, session) = match open.judge(handshake).await {
            Ok(judged) => judged,
            Err(why) => return self.end(&host, task, epoch, Reason::Refused(why)).await,
        };
        let (over, earlier) = match open.take_over_from_afar((epoch, journal), &host) {
            Ok(taken) => taken,
            Err(Some(reason)) => return self.end(&host, task, epoch, reason).await,
            Err(None) => return,
        };
        if let Some(earlier) = earlier.filter(|earlier| earlier.name != host) {
            let reason = Reason::taken_over(earlier.journal == journal);
            self.end(&earlier.name, task, earlier.epoch, reason).await;
        }
        let (out, queue) = mpsc::channel(QUEUE);
        if !open.attached(epoch, &handshake, session, out) {
            let reason = told(&open, journal);
            return self.end(&host, task, epoch, reason).await;
        }
        let post = Arc::clone(self);
        tokio::spawn(async move {
            tokio::select! {
                biased;
                () = over.cancelled() => post.end(&host, task, epoch, told(&open, journal)).await,
                () = open.calls.moved() => post.end(&host, task, epoch, Reason::Moved).await,
                () = post.hand_over(&host, (task, epoch), queue) => open.detached(epoch),
            }
        });
    }

    /// Says to an executor at another backend what the task has for it.
    async fn hand_over(
        &self,
        host: &str,
        (task, epoch): (TaskId, u64),
        mut queue: mpsc::Receiver<BackendMessage>,
    ) {
        let mut number = 0;
        let mut quiet = Quiet::default();
        loop {
            let message = tokio::select! {
                message = queue.recv() => message,
                () = quiet.tick() => {
                    let letter = Letter::SayUpTo { task, epoch, number };
                    self.try_to_write(host, &letter).await;
                    continue;
                }
            };
            let Some(message) = message else {
                break;
            };
            quiet = Quiet::default();
            number += 1;
            let letter = Letter::Say {
                home: self.me.to_string(),
                task,
                epoch,
                number,
                message,
            };
            if let Err(error) = self.write(host, &letter).await {
                tracing::warn!(%task, %error, "a message could not be handed to a host");
                break;
            }
        }
    }

    /// The host asked who the home was before that changed.
    async fn sent_astray(&self, task: TaskId, epoch: u64, host: &str) {
        let Some(shared) = self.shared() else {
            return;
        };
        let home = Ledger::new(Arc::clone(&shared.store), task).home().await;
        if let Ok(Some(home)) = home
            && (&*home.backend, &home.run) != (&*self.me, &self.run)
        {
            self.end(host, task, epoch, Reason::Moved).await;
        }
    }

    /// Ends a connection at another backend.
    async fn end(&self, host: &str, task: TaskId, epoch: u64, reason: Reason) {
        let letter = Letter::Over {
            task,
            epoch,
            reason,
        };
        self.try_to_write(host, &letter).await;
    }

    pub(super) async fn try_to_write(&self, to: &str, letter: &Letter) {
        if let Err(error) = self.write(to, letter).await {
            tracing::warn!(to, %error, "a letter could not be written");
        }
    }

    pub(super) async fn heard(
        &self,
        (task, epoch, number): (TaskId, u64, u64),
        message: ExecutorMessage,
    ) {
        let Some(open) = self.open_here(task) else {
            return;
        };
        match open.is_next_from_afar(epoch, number) {
            Some(Order::Next) => open.hear(message),
            Some(Order::Gap) => self.has_missed(&open, epoch).await,
            Some(Order::Again) | None => {}
        }
    }

    pub(super) async fn heard_up_to(&self, (task, epoch, number): (TaskId, u64, u64)) {
        if let Some(open) = self.open_here(task)
            && open.misses_from_afar(epoch, number)
        {
            self.has_missed(&open, epoch).await;
        }
    }

    /// Only a handshake says what it was.
    async fn has_missed(&self, open: &Open, epoch: u64) {
        if let Some(host) = open.host() {
            // Said once more later if this letter is not written.
            open.detached(epoch);
            self.end(&host.name, open.id, epoch, Reason::Moved).await;
        }
    }

    pub(super) fn lost(&self, task: TaskId, epoch: u64) {
        if let Some(open) = self.open_here(task) {
            open.detached_afar(epoch);
        }
    }

    /// Looks who is the home of each task, whether the hosts are there, and whether there is an executor that nobody
    /// hears of because a letter was lost; gives the epochs of those, and is given those of the last time.
    pub(super) async fn look_after_tasks(
        self: &Arc<Self>,
        before: &HashMap<TaskId, (u64, u32)>,
    ) -> HashMap<TaskId, (u64, u32)> {
        let mut unheard = HashMap::new();
        let Some(shared) = self.shared() else {
            return unheard;
        };
        self.look_after_hosted(&shared).await;
        let tasks: Vec<_> = shared.tasks().values().cloned().collect();
        for open in tasks {
            if let Ok(false) = open.calls.is_home().await {
                shared.drop_moved(open.id);
                continue;
            }
            if let Some(Host { name, epoch, .. }) = open.host()
                && let Ok(None) = self.relay.announced(&name).await
            {
                open.detached(epoch);
            }
            let Ok(Some(owner)) = open.calls.ledger.owner().await else {
                continue;
            };
            if open.counts(owner.epoch) {
                continue;
            }
            let times = match before.get(&open.id) {
                Some((epoch, times)) if *epoch == owner.epoch => *times + 1,
                _ => 1,
            };
            // Not the first time: the letter may be on its way. And ever less often: the executor may be gone for good.
            if times > 1 && times.is_power_of_two() {
                self.over(open.id, owner.epoch, Reason::Moved);
                if *owner.owner != *self.me {
                    self.end(&owner.owner, open.id, owner.epoch, Reason::Moved)
                        .await;
                }
            }
            unheard.insert(open.id, (owner.epoch, times));
        }
        unheard
    }
}

impl Post {
    /// Ends connections here that others have taken over from elsewhere.
    async fn look_after_hosted(&self, shared: &Shared) {
        let hosted: Vec<_> = self
            .hosted()
            .iter()
            .map(|(task, one)| (*task, one.epoch(), one.journal()))
            .collect();
        for (task, epoch, journal) in hosted {
            let owner = Ledger::new(Arc::clone(&shared.store), task).owner().await;
            if let Ok(Some(owner)) = owner
                && owner.epoch > epoch
            {
                self.over(task, epoch, Reason::taken_over(owner.journal == journal));
            }
        }
    }
}

/// Why a connection at another backend is over.
fn told(open: &Open, journal: JournalId) -> Reason {
    match open.farewell(journal) {
        (CloseCode::Away | CloseCode::Again, _) => Reason::Moved,
        (_, why) if why == OVER => Reason::taken_over(open.is_of(journal)),
        (_, why) => Reason::Refused(why.to_owned()),
    }
}
