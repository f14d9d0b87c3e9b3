//! A thread that runs bodies, and can be abandoned when one does not end.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use contract_runtime::Policy;
use contract_runtime::approval::{Approval, ApprovalRequest, Decision};
use contract_runtime::{Context, Outcome, Registry, Run, Status, ToolCall};

use super::panic_hook::LastPanic;
use super::problem::Fault;

/// Additional time, so that a call that its own timer can end is ended by it.
const GRACE: Duration = Duration::from_millis(500);

/// Runs one body after the other.
#[derive(Default)]
pub(super) struct Worker {
    thread: Option<Thread>,
    last: LastPanic,
}

struct Thread {
    jobs: Sender<Job>,
    outcomes: Receiver<Outcome>,
}

/// A call, and how it is made.
pub(super) struct Job {
    pub(super) registry: Registry,
    pub(super) run: Run,
    pub(super) call: ToolCall,
    /// How long it may take.
    pub(super) time: Duration,
    /// As a program makes it, with every question approved; else each condition is enforced, and nobody is asked.
    pub(super) is_real: bool,
}

impl Worker {
    /// Makes a call. The thread of a call that does not end is abandoned.
    ///
    /// # Errors
    ///
    /// The call did not end in time, or there is no thread for it.
    pub(super) fn call(&mut self, job: Job) -> Result<Outcome, Fault> {
        self.last.take();
        let unjudged = |why| Fault::Unjudged { why };
        let thread = self.thread.take().map_or_else(|| start(&self.last), Ok);
        let thread = thread.map_err(unjudged)?;
        let time = job.time;
        let timed_out = || Fault::TimedOut {
            milliseconds: u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
        };
        let ended = || unjudged("the thread for bodies has ended".to_owned());
        thread.jobs.send(job).map_err(|_| ended())?;
        match thread.outcomes.recv_timeout(time.saturating_add(GRACE)) {
            Ok(outcome) => {
                self.thread = Some(thread);
                if outcome.status() == Status::TimedOut {
                    return Err(timed_out());
                }
                Ok(outcome)
            }
            Err(RecvTimeoutError::Timeout) => Err(timed_out()),
            Err(RecvTimeoutError::Disconnected) => Err(ended()),
        }
    }

    /// The message of the last panic.
    pub(super) fn last_panic(&self) -> Option<String> {
        self.last.take()
    }
}

async fn made(job: Job) -> Outcome {
    let context = Context::new().timeout(job.time).run(&job.run);
    let call = job.registry.call(job.call);
    if !job.is_real {
        return call.context(context).under(Policy::Enforce).await;
    }
    let approve = |_: ApprovalRequest| async { Decision::Approved(Approval::Once) };
    call.context(context.approver(approve)).await
}

fn start(last: &LastPanic) -> Result<Thread, String> {
    let (jobs, asked) = channel::<Job>();
    let (answers, outcomes) = channel();
    let (here, there) = (last.clone(), last.clone());
    let work = move || {
        here.install();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .on_thread_start(move || there.install())
            .build();
        let Ok(runtime) = runtime else { return };
        for job in asked {
            if answers.send(runtime.block_on(made(job))).is_err() {
                break;
            }
        }
        // Dropping it would wait for `blocking` bodies that were abandoned.
        runtime.shutdown_background();
    };
    thread::Builder::new()
        .name("verify".to_owned())
        .spawn(work)
        .map(|_| Thread { jobs, outcomes })
        .map_err(|error| format!("no thread could be started for the body: {error}"))
}
