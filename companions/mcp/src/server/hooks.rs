use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hyper::http::request::Parts;

use crate::contract::panics::guard;
use crate::{Context, Outcome, Run, ToolCall};

/// A call that has arrived, before it is made: what a context can be chosen by.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    pub(super) tool: &'a str,
    pub(super) id: &'a str,
    pub(super) http: Option<&'a Parts>,
}

impl Asked<'_> {
    /// The name of the tool as it was sent; there may be no such tool.
    #[must_use]
    pub fn tool(&self) -> &str {
        self.tool
    }

    /// The client's id of the request; two clients may use the same one.
    #[must_use]
    pub fn id(&self) -> &str {
        self.id
    }

    /// A header of the HTTP request, if it came over HTTP and the value is visible ASCII.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.http?.headers.get(name)?.to_str().ok()
    }
}

impl fmt::Debug for Asked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Headers carry credentials.
        f.debug_struct("Asked")
            .field("tool", &self.tool)
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// A call of a server, as it begins and as it ends.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum CallEvent<'a> {
    /// A call has arrived and is about to be made.
    Began {
        /// Which call of this server: ids of clients may repeat, this does not.
        number: u64,
        /// The tool and its arguments, as they were sent.
        call: &'a ToolCall,
    },
    /// A call has ended.
    Ended {
        /// Which call of this server.
        number: u64,
        /// What came of it.
        outcome: &'a Outcome,
    },
}

type Choose = dyn Fn(&Asked<'_>) -> Context + Send + Sync;
type Hear = dyn Fn(CallEvent<'_>) + Send + Sync;

/// What a program adds to the calls of its server.
#[derive(Clone, Default)]
pub(super) struct Hooks {
    pub(super) context: Option<Arc<Choose>>,
    pub(super) run: Option<Run>,
    pub(super) hear: Option<Arc<Hear>>,
    numbers: Arc<AtomicU64>,
}

impl Hooks {
    /// The context of a call; the error is for the model, where the program's closure panicked.
    pub(super) fn context(&self, asked: &Asked<'_>) -> Result<Context, &'static str> {
        let context = match &self.context {
            None => Context::new(),
            Some(choose) => guard(|| choose(asked)).map_err(
                |_| "the server could not prepare the call; this is a fault of the server",
            )?,
        };
        Ok(match &self.run {
            None => context,
            Some(run) => context.run(run),
        })
    }

    /// Tells of a call that begins, and gives its number to tell of its end.
    pub(super) fn began(&self, call: &ToolCall) -> Option<u64> {
        let hear = self.hear.as_ref()?;
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let _ = guard(|| hear(CallEvent::Began { number, call }));
        Some(number)
    }

    pub(super) fn ended(&self, number: Option<u64>, outcome: &Outcome) {
        if let (Some(hear), Some(number)) = (&self.hear, number) {
            let _ = guard(|| hear(CallEvent::Ended { number, outcome }));
        }
    }
}
