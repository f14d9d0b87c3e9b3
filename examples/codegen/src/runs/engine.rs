//! All runs, and the operations on them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use contract_remote::store::{Store, StoreError};
use contract_remote::{Task, Toolbelt};
use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::answers;
use super::record::{RunId, RunRecord};
use super::run::{Run, now_ms};
use super::work::{cancel, work};
use crate::contract::{Answer, ApprovalAnswer, ChatResponse, Happening, Problem, RunState, Step};
use crate::model::Models;

/// All runs. One at a time is at work, because one executor works in one folder; the others wait for their turn.
pub struct Engine {
    shared: Arc<Shared>,
    runs: Mutex<BTreeMap<RunId, Arc<Run>>>,
    queue: mpsc::Sender<Arc<Run>>,
    worker: Mutex<Option<JoinHandle<()>>>,
}

/// What the worker needs.
pub(super) struct Shared {
    pub(super) store: Arc<dyn Store>,
    pub(super) models: Models,
    pub(super) task: Task,
    /// Cancelled when no more runs are begun.
    pub(super) closing: CancellationToken,
}

/// The number of runs that may wait for their turn.
const WAITING: usize = 32;

/// The number of runs that are kept; with more, the oldest of those that are over is forgotten.
const KEPT: usize = 500;

impl Engine {
    /// Continues the runs in the store, with the executor of a task.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub async fn open(
        store: Arc<dyn Store>,
        models: Models,
        task: Task,
    ) -> Result<Self, StoreError> {
        let mut runs = BTreeMap::new();
        for id in store.tasks().await? {
            if let Some(run) = Run::load(Arc::clone(&store), id).await? {
                runs.insert(id, Arc::new(run));
            }
        }
        let mut due: Vec<_> = runs.values().filter(|run| !run.rests()).collect();
        // One that was at work goes on first.
        due.sort_by_key(|run| (run.state() != RunState::Running, run.record().began_ms));
        let (queue, coming) = mpsc::channel(WAITING + due.len());
        for run in due {
            // There is room for each.
            let _ = queue.try_send(Arc::clone(run));
        }
        let shared = Arc::new(Shared {
            store,
            models,
            task,
            closing: CancellationToken::new(),
        });
        let worker = tokio::spawn(work(Arc::clone(&shared), coming));
        Ok(Self {
            shared,
            runs: Mutex::new(runs),
            queue,
            worker: Mutex::new(Some(worker)),
        })
    }

    /// Returns a run.
    ///
    /// # Errors
    ///
    /// [`Problem`] if there is none with this id.
    pub fn run(&self, id: RunId) -> Result<Arc<Run>, Problem> {
        let run = self.runs.lock().get(&id).cloned();
        run.ok_or_else(Problem::unknown)
    }

    /// Returns all runs, the latest first.
    #[must_use]
    pub fn runs(&self) -> Vec<Arc<Run>> {
        let mut runs: Vec<_> = self.runs.lock().values().cloned().collect();
        runs.sort_by_key(|run| std::cmp::Reverse(run.record().began_ms));
        runs
    }

    /// Returns the response to a client about a run.
    #[must_use]
    pub fn response(&self, run: &Run) -> ChatResponse {
        run.record().response(run.calls())
    }

    /// Returns the tools of the executor, and whether one is connected at this moment.
    ///
    /// The tools are `None` until the first executor has connected; they do not change after that.
    #[must_use]
    pub fn executor(&self) -> (Option<Arc<Toolbelt>>, bool) {
        let task = &self.shared.task;
        (task.toolbelt(), task.is_attached())
    }

    /// Begins a run, and returns it before it is over.
    ///
    /// # Errors
    ///
    /// [`Problem`].
    pub async fn begin(&self, task: &str) -> Result<Arc<Run>, Problem> {
        answers::judge(task)?;
        let place = self.place()?;
        let record = RunRecord::new(task, now_ms());
        let run = Arc::new(Run::new(Arc::clone(&self.shared.store), record));
        run.change(|_| Ok(Vec::new())).await?;
        self.runs.lock().insert(run.id(), Arc::clone(&run));
        place.send(Arc::clone(&run));
        self.forget_oldest().await;
        Ok(run)
    }

    /// Answers the questions of a run, or says something else to one that has completed or failed. Of several answers at once, one
    /// is taken.
    ///
    /// # Errors
    ///
    /// [`Problem`].
    pub async fn answer(
        &self,
        id: RunId,
        message: &str,
        answers: &[Answer],
    ) -> Result<(), Problem> {
        let run = self.run(id)?;
        let place = self.place()?;
        let answered = run.change(|record| {
            let state = record.life.state();
            let asked: &[_] = match state {
                RunState::WaitingInput if record.next.is_none() => &record.questions,
                RunState::Completed | RunState::Failed if answers.is_empty() => &[],
                _ => {
                    let advice = match state {
                        RunState::WaitingApproval => "approve or deny the call first",
                        RunState::Cancelled => "leave `session_id` out to begin another",
                        state if state.is_over() => {
                            "nothing was asked; send a message without answers"
                        }
                        _ => "wait until it asks or ends, or cancel it",
                    };
                    return Err(Problem::not_waiting(state, advice));
                }
            };
            let text = answers::text(asked, message, answers)?;
            answers::judge(&text)?;
            record.next = Some(text);
            if state.is_over() {
                record.life.take(Step::Continue)?;
            }
            Ok(Vec::new())
        });
        answered.await?;
        place.send(run);
        Ok(())
    }

    /// Decides on the call that a run asks about; of several decisions at once, one is taken.
    ///
    /// # Errors
    ///
    /// [`Problem`].
    pub async fn decide(&self, id: RunId, answer: &ApprovalAnswer) -> Result<(), Problem> {
        let run = self.run(id)?;
        let place = self.place()?;
        let mut answer = answer.clone();
        if !answer.approve {
            if answer.reason.trim().is_empty() {
                "a person said no".clone_into(&mut answer.reason);
            }
            answers::judge(&answer.reason)?;
        }
        let decided = run.change(|record| {
            let asked = record.approval.as_ref().filter(|_| record.asks());
            if asked.is_none_or(|asked| asked.id != answer.id) {
                let message = "no call waits for this decision; look at the run again";
                return Err(Problem::new(409, "not_asked", message));
            }
            record.decided = Some(answer.clone());
            Ok(vec![Happening::ApprovalAnswered {
                id: answer.id,
                approved: answer.approve,
                reason: answer.reason,
            }])
        });
        decided.await?;
        place.send(run);
        Ok(())
    }

    /// Ends a run as cancelled; one that is over stays as it is. The worker ends a run that is at work.
    ///
    /// # Errors
    ///
    /// [`Problem`].
    pub async fn cancel(&self, id: RunId) -> Result<(), Problem> {
        let run = self.run(id)?;
        let state = run.state();
        if !state.is_over() {
            run.stop.cancel();
        }
        if state != RunState::Running {
            cancel(&self.shared.task, &run).await;
        }
        Ok(())
    }

    /// Begins no more runs, and cancels the one at work after this time.
    pub async fn shut_down(&self, drain: Duration) {
        self.shared.closing.cancel();
        let worker = self.worker.lock().take();
        let Some(mut worker) = worker else { return };
        if tokio::time::timeout(drain, &mut worker).await.is_err() {
            for run in self.runs() {
                if run.state() == RunState::Running {
                    run.stop.cancel();
                }
            }
            // The time to store how the run ended.
            let _ = tokio::time::timeout(Duration::from_secs(5), &mut worker).await;
            worker.abort();
        }
    }

    /// Returns a place in the queue, before anything is stored.
    fn place(&self) -> Result<mpsc::Permit<'_, Arc<Run>>, Problem> {
        if self.shared.closing.is_cancelled() {
            let message = "the backend is about to end; try again later";
            return Err(Problem::new(503, "closing", message));
        }
        self.queue.try_reserve().map_err(|_| {
            let message = format!("{WAITING} sessions wait already; try again later");
            Problem::new(503, "busy", message)
        })
    }

    async fn forget_oldest(&self) {
        let oldest = {
            let mut runs = self.runs.lock();
            let over = runs.values().filter(|run| run.state().is_over());
            let oldest = over.min_by_key(|run| run.record().began_ms);
            let oldest = oldest.map(|run| run.id()).filter(|_| runs.len() > KEPT);
            oldest.and_then(|id| runs.remove(&id))
        };
        if let Some(run) = oldest {
            // The store forgets it by itself if this fails.
            let _ = self.shared.store.forget(run.id()).await;
        }
    }
}
