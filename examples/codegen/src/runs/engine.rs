//! Queues and manages the runs.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use contract_remote::store::StoreError;
use contract_remote::{Session, Task, Toolbelt};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::answers;
use super::approval;
use super::others::{self, Others};
use super::record::{Elsewhere, RunId, RunRecord, RunView};
use super::refused::{Refused, WAITING, judge};
use super::run::{Run, now_ms};
use super::run_store::RunStore;
use super::work::work;
use crate::contract::{Answer, ApprovalAnswer, ChatResponse, Happening, RunState, Step};
use crate::model::Models;

/// All runs. One at a time is at work, because one executor works in one folder; the others wait for their turn.
#[derive(Debug)]
pub struct Engine {
    shared: Arc<Shared>,
    worker: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) run_store: RunStore,
    pub(super) models: Models,
    pub(super) task: Task,
    runs: Mutex<BTreeMap<RunId, Arc<Run>>>,
    queue: mpsc::Sender<Arc<Run>>,
    /// No more runs are begun.
    pub(super) closing: CancellationToken,
    there: OnceLock<Session>,
    pub(super) others: Others,
}

/// Runs that are kept; with more, the oldest of those that are over goes.
const KEPT: usize = 500;

impl Engine {
    /// Goes on with what the store holds, for the executor of a task.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub async fn open(run_store: RunStore, models: Models, task: Task) -> Result<Self, StoreError> {
        let mut runs = BTreeMap::new();
        let mut again = Vec::new();
        let others = Others::open(&run_store).await?;
        for id in run_store.runs().await? {
            let Some(run) = Run::load(id, &run_store).await? else {
                continue;
            };
            let record = run.record();
            let run = Arc::new(run);
            if record.owner == run_store.name() {
                let state = record.life.state();
                if state.is_at_work() || !state.is_over() && record.next.is_some() {
                    again.push(Arc::clone(&run));
                }
            }
            runs.insert(id, run);
        }
        // Those that wait already were let in before.
        let (queue, coming) = mpsc::channel(WAITING + again.len());
        let shared = Arc::new(Shared {
            run_store,
            models,
            task,
            runs: Mutex::new(runs),
            queue,
            closing: CancellationToken::new(),
            there: OnceLock::new(),
            others,
        });
        // One that was at work goes on first.
        again.sort_by_key(|run| (!run.state().is_at_work(), run.record().began_ms));
        for run in again {
            // There is room for each.
            let _ = shared.queue.try_send(run);
        }
        tokio::spawn(meet(Arc::clone(&shared)));
        if shared.run_store.is_shared() {
            tokio::spawn(others::watch(Arc::downgrade(&shared)));
        }
        let working = Arc::clone(&shared);
        let worker = tokio::spawn(work(working, coming));
        Ok(Self {
            shared,
            worker: Mutex::new(Some(worker)),
        })
    }

    /// Returns a run as it is now, including one of another backend that shares the store.
    ///
    /// # Errors
    ///
    /// [`Refused::Unknown`], and [`Refused::Store`] where the store cannot be read.
    pub async fn run(&self, id: RunId) -> Result<Arc<Run>, Refused> {
        let there = self.shared.runs().get(&id).cloned();
        if self.shared.run_store.is_shared() {
            let read = match &there {
                Some(run) => run.refresh(&self.shared.run_store).await.map(drop),
                None => self.shared.note(id).await,
            };
            read.map_err(|error| Refused::Store(error.to_string()))?;
        }
        let run = self.shared.runs().get(&id).cloned();
        run.ok_or(Refused::Unknown)
    }

    /// Returns all runs, the latest first.
    #[must_use]
    pub fn runs(&self) -> Vec<RunView> {
        let runs: Vec<_> = self.shared.runs().values().cloned().collect();
        let view = |run: &Arc<Run>| {
            let record = run.record();
            record.view(self.shared.elsewhere(&record).as_ref())
        };
        let mut views: Vec<_> = runs.iter().map(view).collect();
        views.sort_by_key(|view| std::cmp::Reverse(view.began_ms));
        views
    }

    /// Returns what a client of the service sees of a run.
    #[must_use]
    pub fn response(&self, run: &Run) -> ChatResponse {
        let record = run.record();
        record.response(run.calls(), self.shared.elsewhere(&record).as_ref())
    }

    /// Returns the tools of the executor, and whether one is connected at this moment.
    ///
    /// The tools are `None` until the first executor has connected; they do not change after that.
    #[must_use]
    pub fn executor(&self) -> (Option<Arc<Toolbelt>>, bool) {
        let Shared { task, there, .. } = &*self.shared;
        (task.toolbelt(), there.get().is_some() && task.is_attached())
    }

    /// Begins a run, and gives it before it is over.
    ///
    /// # Errors
    ///
    /// [`Refused`].
    pub async fn begin(&self, task: &str) -> Result<Arc<Run>, Refused> {
        judge(task)?;
        let place = self.shared.place()?;
        let run_store = &self.shared.run_store;
        let run = Arc::new(Run::new(RunRecord::new(run_store.name(), task, now_ms())));
        run.change(run_store, |_| Ok(Vec::new())).await?;
        if run_store.is_shared() {
            // Without it the others find it when they are asked for it, or when they are started again.
            let _ = run_store.announce(run.id()).await;
        }
        self.shared.runs().insert(run.id(), Arc::clone(&run));
        place.send(Arc::clone(&run));
        self.shared.forget_oldest().await;
        Ok(run)
    }

    /// Answers the questions of a run, or says something else to it, also after it was completed or has failed. Where another backend has asked them, this one has the run
    /// from then on; of several that are answered at once, one takes the step.
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
        let run = self.run(id).await?;
        let place = self.shared.place()?;
        let run_store = &self.shared.run_store;
        let answered = run.change(run_store, |record| {
            let state = record.life.state();
            let is_here = record.owner == run_store.name();
            let has_ended = matches!(state, RunState::Completed | RunState::Failed);
            let is_sentence = has_ended && answers.is_empty();
            let is_answer = state == RunState::WaitingInput && record.next.is_none();
            if !is_sentence && !is_answer {
                if !is_here && !state.is_over() {
                    let owner = record.owner.clone();
                    return Err(Refused::Elsewhere { owner, state });
                }
                let advice = match state {
                    RunState::WaitingApproval => "approve or deny the call first",
                    RunState::Cancelled => "leave `session_id` out to begin another",
                    state if state.is_over() => "nothing was asked; send a message without answers",
                    _ => "wait until it asks or ends, or cancel it",
                };
                return Err(Refused::NotWaiting { state, advice });
            }
            if !is_here && self.shared.there.get().is_none() {
                let owner = record.owner.clone();
                return Err(Refused::NoExecutor { owner });
            }
            let text = answers::text(&record.questions, message, answers)?;
            judge(&text)?;
            record.next = Some(text);
            if is_sentence {
                record.life.take(Step::Continue)?;
            }
            run_store.name().clone_into(&mut record.owner);
            Ok(Vec::new())
        });
        answered.await?;
        place.send(run);
        Ok(())
    }

    /// Decides on the call that a run asks about; of several decisions at once, one counts.
    ///
    /// # Errors
    ///
    /// [`Refused`].
    pub async fn decide(&self, id: RunId, answer: &ApprovalAnswer) -> Result<(), Refused> {
        let run = self.run(id).await?;
        approval::answer(&run, &self.shared.run_store, answer).await
    }

    /// Ends a run, of another backend too; one that is over stays as it is.
    ///
    /// # Errors
    ///
    /// [`Refused`].
    pub async fn cancel(&self, id: RunId) -> Result<(), Refused> {
        let run = self.run(id).await?;
        let run_store = &self.shared.run_store;
        let own = run.record().owner == run_store.name();
        if own {
            run.stop.cancel();
        }
        let cancelled = run.change(run_store, |record| {
            let state = record.life.state();
            // A run at work here is cancelled by its worker, through `stop`.
            if state.is_over() || (own && state.is_at_work()) {
                return Ok(Vec::new());
            }
            record.cancel()?;
            if own || !state.is_at_work() {
                return Ok(Vec::new());
            }
            let owner = std::mem::replace(&mut record.owner, run_store.name().to_owned());
            record.message = format!(
                "it was cancelled at the backend `{}` while the backend `{owner}` was running it; calls that have no end in this log may have run",
                run_store.name()
            );
            let text = record.message.clone();
            let ends = run.open_calls().into_iter().map(|(call_id, tool)| {
                Happening::ToolResult {
                    call_id,
                    tool,
                    status: "unknown".to_owned(),
                    text: "the run was cancelled at another backend than its own; this call may have run".to_owned(),
                    travelled: true,
                }
            });
            Ok([Happening::Notice { text }].into_iter().chain(ends).collect())
        });
        cancelled.await
    }

    /// Begins no more runs, gives the one at work this long, and cancels it then.
    pub async fn shut_down(&self, drain: Duration) {
        self.shared.closing.cancel();
        let worker = {
            let mut worker = self.worker.lock();
            worker.take()
        };
        let Some(mut worker) = worker else { return };
        if tokio::time::timeout(drain, &mut worker).await.is_err() {
            for run in self.shared.all() {
                let record = run.record();
                if record.life.state().is_at_work() && record.owner == self.shared.run_store.name()
                {
                    run.stop.cancel();
                }
            }
            // What is left is to write it down.
            let _ = tokio::time::timeout(Duration::from_secs(5), &mut worker).await;
            worker.abort();
        }
    }
}

impl Shared {
    pub(super) fn runs(&self) -> MutexGuard<'_, BTreeMap<RunId, Arc<Run>>> {
        self.runs.lock()
    }

    pub(super) fn all(&self) -> Vec<Arc<Run>> {
        self.runs().values().cloned().collect()
    }

    /// Notes a run that another backend has begun.
    pub(super) async fn note(&self, id: RunId) -> Result<(), StoreError> {
        if self.runs().contains_key(&id) {
            return Ok(());
        }
        if let Some(run) = Run::load(id, &self.run_store).await? {
            // Another task may have inserted it meanwhile, and may be working on it.
            self.runs().entry(id).or_insert_with(|| Arc::new(run));
        }
        Ok(())
    }

    /// The backend that has a run, where it is another one.
    fn elsewhere(&self, record: &RunRecord) -> Option<Elsewhere> {
        let owner = &record.owner;
        (owner != self.run_store.name()).then(|| Elsewhere {
            owner: owner.clone(),
            silent_s: self.others.silent_s(owner),
        })
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
                .min_by_key(|run| run.record().began_ms)
                .map(|run| run.id());
            oldest.filter(|id| runs.len() > KEPT && runs.remove(id).is_some())
        };
        if let Some(id) = oldest {
            // The store forgets it later by itself.
            let _ = self.run_store.forget(id).await;
        }
    }
}

/// Notes the executor, for readers.
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
