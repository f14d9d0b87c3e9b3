//! Several backends that share their work: an executor is attached to one, and its task may be at home in another.
//!
//! The home of a task makes its calls and writes them down. Where the executor is attached to another backend, that one
//! is its host: it hands messages on, in both directions, and decides nothing. A letter that is lost or comes twice does
//! no harm, because the journal of the executor says what ran.
//!
//! | file | holds |
//! |---|---|
//! | `letter` | what backends write to each other |
//! | `host` | an executor that is attached here, of a task that is at home elsewhere |
//! | `home` | a task that is at home here, with an executor elsewhere |

mod home;
mod host;
mod letter;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use serde::Serialize;
use tokio::time::{interval, sleep};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use host::Hosted;
pub(super) use host::serve;
use letter::Letter;
pub(super) use letter::{Order, Reason};

use super::server::Shared;
use super::task::Open;
use crate::remote::protocol::TaskId;
use crate::remote::store::StoreError;
use crate::remote::store::ledger::{Home, Ledger};
use crate::remote::store::relay::{Carried, Office};

/// How long a backend is taken for alive after it said so.
const LEASE: Duration = Duration::from_secs(30);

/// How often backends look after what may be lost.
const LOOK: Duration = Duration::from_secs(10);

/// How long a backend waits before it asks for its letters again, when the server failed.
const PAUSE: Duration = Duration::from_secs(1);

/// What one backend needs to work with others.
#[derive(Debug)]
pub(super) struct Post {
    relay: Arc<dyn Office>,
    /// The name of this backend.
    me: Arc<str>,
    /// Tells this process from others of that name.
    run: String,
    shared: OnceLock<Weak<Shared>>,
    hosted: Mutex<HashMap<TaskId, Hosted>>,
}

/// When it is said how many messages of a connection were written: when none was for a while, and ever less often.
#[derive(Debug, Default)]
struct Quiet {
    times: u32,
}

impl Quiet {
    async fn tick(&mut self) {
        sleep(LOOK.saturating_mul(2_u32.saturating_pow(self.times))).await;
        self.times += 1;
    }
}

impl Post {
    pub(super) fn new(relay: Arc<dyn Office>, me: Arc<str>) -> Arc<Self> {
        Arc::new(Self {
            relay,
            me,
            run: Uuid::new_v4().simple().to_string(),
            shared: OnceLock::new(),
            hosted: Mutex::default(),
        })
    }

    fn hosted(&self) -> MutexGuard<'_, HashMap<TaskId, Hosted>> {
        self.hosted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn shared(&self) -> Option<Arc<Shared>> {
        self.shared.get()?.upgrade()
    }

    /// Works until it is stopped.
    ///
    /// # Errors
    ///
    /// When the server cannot be asked, or another backend runs under the same name.
    pub(super) async fn open(
        self: &Arc<Self>,
        shared: &Arc<Shared>,
        stop: &CancellationToken,
    ) -> Result<(), StoreError> {
        let _ = self.shared.set(Arc::downgrade(shared));
        if !self.relay.announce(&self.me, &self.run, LEASE).await? {
            return Err(StoreError::Conflict {
                name: format!("the name `{}` of this backend", self.me),
            });
        }
        let mut inbox = self.relay.inbox(&self.me, &self.run)?;
        let replaced = CancellationToken::new();
        let (post, ends, over) = (Arc::clone(self), stop.clone(), replaced.clone());
        tokio::spawn(async move {
            let read = async {
                loop {
                    match inbox.next().await {
                        Ok(carried) => {
                            let Carried {
                                id,
                                message,
                                count,
                                done,
                            } = carried;
                            if count > 1 {
                                tracing::debug!(id, count, "a letter has come again");
                            }
                            post.read(&message).await;
                            if let Err(error) = done.await {
                                // It comes once more.
                                tracing::debug!(%error, "a letter could not be ticked off");
                            }
                        }
                        Err(error) => {
                            tracing::warn!(%error, "letters of other backends cannot be read");
                            sleep(PAUSE).await;
                        }
                    }
                }
            };
            tokio::select! {
                () = read => {}
                () = ends.cancelled() => {}
                () = over.cancelled() => {}
            }
        });
        let (post, ends) = (Arc::clone(self), stop.clone());
        tokio::spawn(async move {
            let mut ticks = interval(LOOK);
            let mut unknown = HashMap::new();
            loop {
                tokio::select! {
                    _ = ticks.tick() => {}
                    () = ends.cancelled() => break,
                }
                match post.relay.announce(&post.me, &post.run, LEASE).await {
                    Ok(true) => {}
                    // It was silent for too long; letters are for the other one.
                    Ok(false) => {
                        tracing::warn!(name = &*post.me, "another process runs under this name");
                        replaced.cancel();
                    }
                    Err(error) => {
                        tracing::warn!(%error, "other backends cannot be told that this one is there");
                    }
                }
                unknown = post.look_after_tasks(&unknown).await;
            }
            let _ = post.relay.withdraw(&post.me, &post.run).await;
        });
        Ok(())
    }

    async fn read(self: &Arc<Self>, letter: &serde_json::Value) {
        let Ok(letter) = serde_json::from_value::<Letter>(letter.clone()) else {
            tracing::warn!("a letter of another backend cannot be read; is it of another version?");
            return;
        };
        match letter {
            Letter::Attached {
                epoch,
                host,
                handshake,
            } => self.attached(epoch, host, *handshake).await,
            Letter::Heard {
                task,
                epoch,
                number,
                message,
            } => self.heard((task, epoch, number), message).await,
            Letter::HeardUpTo {
                task,
                epoch,
                number,
            } => self.heard_up_to((task, epoch, number)).await,
            Letter::Lost { task, epoch } => self.lost(task, epoch),
            Letter::Say {
                home,
                task,
                epoch,
                number,
                message,
            } => {
                if !self.say((task, epoch, number), message) {
                    self.try_to_write(&home, &Letter::Lost { task, epoch })
                        .await;
                }
            }
            Letter::SayUpTo {
                task,
                epoch,
                number,
            } => self.say_up_to((task, epoch, number)),
            Letter::Over {
                task,
                epoch,
                reason,
            } => {
                self.over(task, epoch, reason);
                self.look_whether_at_home(task).await;
            }
        }
    }

    async fn write(&self, to: &str, letter: &impl Serialize) -> Result<(), StoreError> {
        let id = Uuid::new_v4().simple().to_string();
        let letter = serde_json::to_value(letter).unwrap_or_default();
        self.relay.publish(to, &id, &letter).await
    }

    /// A task that is at home elsewhere, for as long as one connection.
    pub(super) async fn find(
        self: &Arc<Self>,
        shared: &Shared,
        task: TaskId,
    ) -> Result<Option<Arc<Open>>, StoreError> {
        let ledger = Ledger::new(Arc::clone(&shared.store), task);
        let Some(hash) = ledger.token_hash().await? else {
            return Ok(None);
        };
        let open = Open::new(
            task,
            hash,
            Arc::clone(&shared.settings),
            ledger,
            Arc::clone(&shared.owner),
            Arc::clone(&shared.entrance),
            Some(Arc::clone(self)),
        );
        Ok(Some(open))
    }

    /// This backend is the home of a task from here on; the one before.
    pub(super) async fn moves_in(&self, ledger: &mut Ledger) -> Result<Option<Home>, StoreError> {
        ledger.claim_home(&self.me, &self.run).await
    }

    /// The task is open here: an executor that is attached elsewhere dials again, and an earlier home is told.
    pub(super) async fn moved_in(
        self: &Arc<Self>,
        ledger: &Ledger,
        before: Option<Home>,
    ) -> Result<(), StoreError> {
        let owner = ledger.owner().await?;
        let epoch = owner.as_ref().map_or(0, |owner| owner.epoch);
        let letter = Letter::Over {
            task: ledger.task(),
            epoch,
            reason: Reason::Moved,
        };
        // What has dialled in here just now may not have found its home.
        self.over(ledger.task(), epoch, Reason::Moved);
        let mut told: Vec<String> = before.map(|before| before.backend).into_iter().collect();
        told.extend(owner.map(|owner| owner.owner));
        told.sort_unstable();
        told.dedup();
        for name in told.iter().filter(|name| ***name != *self.me) {
            self.write(name, &letter).await?;
        }
        Ok(())
    }
}
