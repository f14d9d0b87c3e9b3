//! A thread for bodies, which can be left behind when one of them does not end.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use super::quiet::Last;
use crate::contract::policy::Policy;
use crate::{Context, Outcome, Registry, ToolCall};

/// A little more than a call is given, so that one that can be ended by its own timer is.
const GRACE: Duration = Duration::from_millis(500);

/// How a call of a body came back.
pub(super) enum Back {
    Ended(Box<Outcome>),
    /// It did not; its thread is lost.
    Never,
    /// There is no thread for it.
    NoThread(String),
}

/// Runs one body after the other.
pub(super) struct Worker {
    thread: Option<Thread>,
    last: Last,
}

struct Thread {
    jobs: Sender<Job>,
    outcomes: Receiver<Outcome>,
}

struct Job {
    registry: Registry,
    call: ToolCall,
    time: Duration,
}

impl Worker {
    pub(super) fn new() -> Self {
        Self {
            thread: None,
            last: Last::default(),
        }
    }

    /// A whole call, with every condition enforced and this much time.
    pub(super) fn call(&mut self, registry: &Registry, call: ToolCall, time: Duration) -> Back {
        self.last.take();
        let thread = match self.thread.take().map_or_else(|| start(&self.last), Ok) {
            Ok(thread) => thread,
            Err(why) => return Back::NoThread(why),
        };
        let job = Job {
            registry: registry.clone(),
            call,
            time,
        };
        if thread.jobs.send(job).is_err() {
            return Back::NoThread("the thread for bodies has ended".to_owned());
        }
        match thread.outcomes.recv_timeout(time.saturating_add(GRACE)) {
            Ok(outcome) => {
                self.thread = Some(thread);
                Back::Ended(Box::new(outcome))
            }
            Err(RecvTimeoutError::Timeout) => Back::Never,
            Err(RecvTimeoutError::Disconnected) => {
                Back::NoThread("the thread for bodies has ended".to_owned())
            }
        }
    }

    /// What the last body that panicked said.
    pub(super) fn last_words(&self) -> Option<String> {
        self.last.take()
    }
}

fn start(last: &Last) -> Result<Thread, String> {
    let (jobs, asked) = channel::<Job>();
    let (answers, outcomes) = channel();
    let (here, there) = (last.clone(), last.clone());
    let work = move || {
        here.keep();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .on_thread_start(move || there.keep())
            .build();
        let Ok(runtime) = runtime else { return };
        for Job {
            registry,
            call,
            time,
        } in asked
        {
            let context = Context::new().timeout(time);
            let running = registry.try_call(call, context, Policy::Enforce, false);
            if answers.send(runtime.block_on(running)).is_err() {
                break;
            }
        }
        // Dropping it would wait for `blocking` bodies that were given up.
        runtime.shutdown_background();
    };
    thread::Builder::new()
        .name("verify".to_owned())
        .spawn(work)
        .map(|_| Thread { jobs, outcomes })
        .map_err(|error| format!("no thread could be started for the body: {error}"))
}
