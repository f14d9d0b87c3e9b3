use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use contract_runtime::remote::store::StoreError;
use contract_runtime::remote::{Session, Task};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::answers;
use super::keep::Keep;
use super::record::{RunId, RunRecord};
use super::run::{Run, now_ms};
use super::turn::{Ending, turn};
use crate::contract::{Answer, Happening, IllegalStep, RunState, Step};
use crate::model::Models;

/// All runs. One at a time is at work, because one executor works in one folder; the others wait for their turn.
#[derive(Debug)]
pub struct Engine {
    shared: Arc<Shared>,
    worker: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug)]
struct Shared {
    keep: Keep,
    models: Models,
    task: Task,
    runs: Mutex<BTreeMap<RunId, Arc<Run>>>,
    queue: mpsc::Sender<Arc<Run>>,
    /// No more runs are begun.
    closing: CancellationToken,
    there: OnceLock<Session>,
}

/// Runs that may wait for their turn.
const WAITING: usize = 32;

/// Runs that are kept; with more, the oldest of those that are over goes.
const KEPT: usize = 500;

/// The longest message, in bytes: a task, not a file.
const LONGEST: usize = 20_000;

/// Why a run has failed that was at work when the backend ended.
const ENDED: &str = "the backend ended while the model was at work; begin again";

/// Why something is not done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// There is nothing to do.
    #[error("the message is empty; say what to do")]
    Empty,
    /// The message is too long.
    #[error(
        "the message has {bytes} bytes, and {LONGEST} are the limit; put long texts into files of the project"
    )]
    Long {
        /// How long it is.
        bytes: usize,
    },
    /// There is no such run.
    #[error("there is no such session; leave `session_id` out to begin one")]
    Unknown,
    /// The run is not waiting for anything.
    #[error("the session is {}; {advice}", state.name())]
    NotWaiting {
        /// Where it is.
        state: RunState,
        /// What to do.
        advice: &'static str,
    },
    /// The answers do not fit the questions.
    #[error("{0}")]
    Answers(String),
    /// Too many wait already.
    #[error("{WAITING} sessions wait already; try again later")]
    Busy,
    /// The backend is about to end.
    #[error("the backend is about to end; try again later")]
    Closing,
    /// The run has moved on meanwhile.
    #[error(transparent)]
    Step(#[from] IllegalStep),
    /// The store does not take it.
    #[error("the store does not take it: {0}")]
    Store(String),
}

impl Engine {
    /// Goes on with what the store holds, for the executor of a task.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub async fn open(keep: Keep, models: Models, task: Task) -> Result<Self, StoreError> {
        let mut runs = BTreeMap::new();
        let mut again = Vec::new();
        for (record, events) in keep.load().await? {
            let run = Arc::new(Run::new(record, events));
            let waits = run.locked().record.next.is_some();
            match run.state() {
                RunState::Running => fail(&run, &keep, ENDED).await,
                RunState::Queued | RunState::WaitingInput if waits => again.push(Arc::clone(&run)),
                _ => {}
            }
            runs.insert(run.id(), run);
        }
        // Those that wait already were let in before.
        let (queue, coming) = mpsc::channel(WAITING + again.len());
        let shared = Arc::new(Shared {
            keep,
            models,
            task,
            runs: Mutex::new(runs),
            queue,
            closing: CancellationToken::new(),
            there: OnceLock::new(),
        });
        again.sort_by_key(|run| run.view().began_ms);
        for run in again {
            // There is room for each.
            let _ = shared.queue.try_send(run);
        }
        tokio::spawn(meet(Arc::clone(&shared)));
        let worker = tokio::spawn(work(Arc::clone(&shared), coming));
        Ok(Self {
            shared,
            worker: Mutex::new(Some(worker)),
        })
    }

    /// A run.
    #[must_use]
    pub fn run(&self, id: RunId) -> Option<Arc<Run>> {
        self.shared.runs().get(&id).cloned()
    }

    /// All runs, the latest first.
    #[must_use]
    pub fn runs(&self) -> Vec<Arc<Run>> {
        let mut runs: Vec<_> = self.shared.runs().values().cloned().collect();
        runs.sort_by_key(|run| std::cmp::Reverse(run.view().began_ms));
        runs
    }

    /// The executor, once one has dialled in.
    #[must_use]
    pub fn session(&self) -> Option<Session> {
        self.shared.there.get().cloned()
    }

    /// Begins a run, and gives it before it is over.
    ///
    /// # Errors
    ///
    /// [`Refused`].
    pub async fn begin(&self, task: &str) -> Result<Arc<Run>, Refused> {
        judge(task)?;
        let place = self.shared.place()?;
        let run = Arc::new(Run::new(RunRecord::new(task, now_ms()), Vec::new()));
        run.change(&self.shared.keep, |_| Ok(Vec::new())).await?;
        self.shared.runs().insert(run.id(), Arc::clone(&run));
        place.send(Arc::clone(&run));
        self.shared.forget_oldest().await;
        Ok(run)
    }

    /// Answers the questions of a run, or says something else to it.
    ///
    /// # Errors
    ///
    /// [`Refused`].
    pub async fn answer(
        &self,
        id: RunId,
        message: &str,
        answers: &[Answer],
    ) -> Result<(), Refused> {
        let run = self.run(id).ok_or(Refused::Unknown)?;
        let place = self.shared.place()?;
        let answered = run.change(&self.shared.keep, |record| {
            let state = record.life.state();
            if state != RunState::WaitingInput || record.next.is_some() {
                let advice = if state.is_over() {
                    "leave `session_id` out to begin another"
                } else {
                    "wait until it asks or ends, or cancel it"
                };
                return Err(Refused::NotWaiting { state, advice });
            }
            let text = answers::text(&record.questions, message, answers)?;
            judge(&text)?;
            record.next = Some(text);
            Ok(Vec::new())
        });
        answered.await?;
        place.send(run);
        Ok(())
    }

    /// Ends a run; one that is over stays as it is.
    ///
    /// # Errors
    ///
    /// [`Refused`].
    pub async fn cancel(&self, id: RunId) -> Result<(), Refused> {
        let run = self.run(id).ok_or(Refused::Unknown)?;
        run.stop.cancel();
        // Whoever works on it cancels it otherwise.
        let cancelled = run.change(&self.shared.keep, |record| {
            if matches!(
                record.life.state(),
                RunState::Queued | RunState::WaitingInput
            ) {
                record.life.take(Step::Cancel)?;
            }
            Ok(Vec::new())
        });
        cancelled.await
    }

    /// Begins no more runs, gives the one at work this long, and cancels it then.
    pub async fn shut_down(&self, drain: Duration) {
        self.shared.closing.cancel();
        let worker = {
            let mut worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
            worker.take()
        };
        let Some(mut worker) = worker else { return };
        if tokio::time::timeout(drain, &mut worker).await.is_err() {
            for run in self.runs() {
                if run.state() == RunState::Running {
                    run.stop.cancel();
                }
            }
            // What is left is to write it down.
            let _ = tokio::time::timeout(Duration::from_secs(5), &mut worker).await;
            worker.abort();
        }
    }
}

fn judge(text: &str) -> Result<(), Refused> {
    if text.trim().is_empty() {
        return Err(Refused::Empty);
    }
    if text.len() > LONGEST {
        return Err(Refused::Long { bytes: text.len() });
    }
    Ok(())
}

async fn fail(run: &Run, keep: &Keep, why: &str) {
    let failed = run.change_anyway(keep, |record| {
        record.life.take(Step::Fail)?;
        why.clone_into(&mut record.message);
        let message = why.to_owned();
        Ok(vec![Happening::Error { message }])
    });
    // One that is over stays as it is.
    let _ = failed.await;
}

impl Shared {
    fn runs(&self) -> MutexGuard<'_, BTreeMap<RunId, Arc<Run>>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place in the queue, before anything is written down.
    fn place(&self) -> Result<mpsc::Permit<'_, Arc<Run>>, Refused> {
        if self.closing.is_cancelled() {
            return Err(Refused::Closing);
        }
        self.queue.try_reserve().map_err(|_| Refused::Busy)
    }

    async fn forget_oldest(&self) {
        let oldest = {
            let mut runs = self.runs();
            let over = runs.values().filter(|run| run.state().is_over());
            let oldest = over
                .min_by_key(|run| run.view().began_ms)
                .map(|run| run.id());
            oldest.filter(|id| runs.len() > KEPT && runs.remove(id).is_some())
        };
        if let Some(id) = oldest {
            // The store forgets it later by itself.
            let _ = self.keep.forget(id).await;
        }
    }
}

/// Notes the executor, for those who look.
async fn meet(shared: Arc<Shared>) {
    tokio::select! {
        () = shared.closing.cancelled() => {}
        session = shared.task.attached() => {
            if let Ok(session) = session {
                // The tools of a task do not change.
                let _ = shared.there.set(session);
            }
        }
    }
}

async fn work(shared: Arc<Shared>, mut coming: mpsc::Receiver<Arc<Run>>) {
    loop {
        let run = tokio::select! {
            biased;
            () = shared.closing.cancelled() => return,
            run = coming.recv() => match run {
                Some(run) => run,
                None => return,
            },
        };
        let session = tokio::select! {
            biased;
            () = shared.closing.cancelled() => return,
            () = run.stop.cancelled() => continue,
            session = shared.task.attached() => session,
        };
        match session {
            Ok(session) => one(&shared, &run, &session).await,
            Err(error) => fail(&run, &shared.keep, &error.to_string()).await,
        }
    }
}

/// One turn of one run.
async fn one(shared: &Shared, run: &Arc<Run>, session: &Session) {
    let (mut said, mut text) = (Vec::new(), String::new());
    let started = run.change_anyway(&shared.keep, |record| {
        record.life.take(Step::Start)?;
        text = record.next.take().unwrap_or_default();
        said.clone_from(&record.said);
        Ok(Vec::new())
    });
    if started.await.is_err() {
        // It was cancelled while it waited.
        return;
    }
    let model = shared.models.model();
    let done = tokio::select! {
        biased;
        () = run.stop.cancelled() => None,
        done = turn(session, model, said, text, |what| run.tell(what)) => Some(done),
    };
    let ended = run.change_anyway(&shared.keep, |record| {
        let Some(done) = done else {
            record.life.take(Step::Cancel)?;
            return Ok(Vec::new());
        };
        record.said = done.said;
        record.written.extend(done.written);
        record.last_written = done.last_written.or(record.last_written.take());
        Ok(match done.ending {
            Ending::Answered(text) => {
                record.life.take(Step::Complete)?;
                record.message.clone_from(&text);
                vec![Happening::Answer { text }]
            }
            Ending::Asked(questions, text) => {
                record.life.take(Step::Ask)?;
                record.message = text;
                record.questions.clone_from(&questions);
                vec![Happening::Questions { questions }]
            }
            Ending::Failed(message) => {
                record.life.take(Step::Fail)?;
                record.message.clone_from(&message);
                vec![Happening::Error { message }]
            }
        })
    });
    // A run that is at work takes every one of these steps.
    let _ = ended.await;
}
