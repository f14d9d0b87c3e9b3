//! A thread that runs bodies, and can be abandoned when one does not end.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use contract_runtime::__family::try_call;
use contract_runtime::Policy;
use contract_runtime::{CheckEvent, Context, Outcome, Registry, Run, ToolCall};
use parking_lot::Mutex;

use super::panic_hook::LastPanic;

/// Additional time, so that a call that its own timer can end is ended by it.
const GRACE: Duration = Duration::from_millis(500);

/// How a call of a body ended.
pub(super) enum CallEnd {
    Ended(Box<Outcome>),
    /// It did not end; its thread is abandoned.
    Never,
    /// There is no thread for it.
    NoThread(String),
}

/// Runs one body after the other.
pub(super) struct Worker {
    thread: Option<Thread>,
    last: LastPanic,
    run: Run,
    judged: Arc<Mutex<BTreeSet<String>>>,
}

struct Thread {
    jobs: Sender<Job>,
    outcomes: Receiver<Outcome>,
}

struct Job {
    registry: Registry,
    run: Run,
    call: ToolCall,
    time: Duration,
}

impl Worker {
    pub(super) fn new() -> Self {
        let judged = Arc::<Mutex<BTreeSet<String>>>::default();
        let heard = Arc::clone(&judged);
        let run = Run::new().watch(move |watched| {
            if let CheckEvent::Check(check) = watched {
                let mut judged = heard.lock();
                judged.insert(check.contract);
            }
        });
        Self {
            thread: None,
            last: LastPanic::default(),
            run,
            judged,
        }
    }

    /// Makes a call with every condition enforced, and with a time limit.
    pub(super) fn call(&mut self, registry: &Registry, call: ToolCall, time: Duration) -> CallEnd {
        self.last.take();
        let thread = match self.thread.take().map_or_else(|| start(&self.last), Ok) {
            Ok(thread) => thread,
            Err(why) => return CallEnd::NoThread(why),
        };
        let job = Job {
            registry: registry.clone(),
            run: self.run.clone(),
            call,
            time,
        };
        if thread.jobs.send(job).is_err() {
            return CallEnd::NoThread("the thread for bodies has ended".to_owned());
        }
        match thread.outcomes.recv_timeout(time.saturating_add(GRACE)) {
            Ok(outcome) => {
                self.thread = Some(thread);
                CallEnd::Ended(Box::new(outcome))
            }
            Err(RecvTimeoutError::Timeout) => CallEnd::Never,
            Err(RecvTimeoutError::Disconnected) => {
                CallEnd::NoThread("the thread for bodies has ended".to_owned())
            }
        }
    }

    /// The conditions that were evaluated, of any function.
    pub(super) fn judged(&self) -> BTreeSet<String> {
        let judged = self.judged.lock();
        judged.clone()
    }

    /// The message of the last panic.
    pub(super) fn last_panic(&self) -> Option<String> {
        self.last.take()
    }
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
        for Job {
            registry,
            run,
            call,
            time,
        } in asked
        {
            let context = Context::new().timeout(time);
            let running = try_call(&registry, call, context, &run, Policy::Enforce);
            if answers.send(runtime.block_on(running)).is_err() {
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
