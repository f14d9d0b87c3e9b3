//! The state shared by a registry's clones.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use tokio::sync::Semaphore;

use super::approval::OpenRequests;
use super::body::before_body;
use super::entry::Entry;
use super::statistics::Shards;
use crate::contract::approval;
use crate::contract::history::{Asker, CallEnd, HistoryTool, SentArguments};
use crate::contract::observer::Audience;
use crate::contract::panics::guard;
use crate::contract::scope::{ContractScope, Scope};
use crate::schema::arguments::{by_words, nearest, own_names, read};
use crate::schema::{Dialect, StoredSchema};
use crate::tool::CallInput;
use crate::tool::Status;
use crate::tool::context::{Context, Values};
use crate::tool::failure::FailureKind;
use crate::tool::observe::Observer;
use crate::tool::run::CallHooks;

pub(crate) struct Inner {
    pub(super) entries: Vec<Entry>,
    /// The index of each tool among the entries, by name.
    pub(super) places: HashMap<Box<str>, usize, foldhash::fast::RandomState>,
    pub(super) shared: Values,
    pub(super) shards: Shards,
    pub(super) observer: Observer,
    pub(super) limits: Limits,
    pub(super) program: Option<Program>,
    pub(super) before: CallHooks,
    pub(super) visibility: Visibility,
    /// How many calls may begin, if that is limited.
    pub(super) calls: Option<Semaphore>,
    /// How many blocking bodies may begin.
    pub(super) blocking: Arc<Semaphore>,
    /// Whether a tool has properties that are exported under other names.
    pub(super) renames: bool,
    pub(super) gate: tokio::sync::RwLock<()>,
    /// Each export that was asked for, made once.
    pub(super) exports: Exports,
    pub(super) open_requests: OpenRequests,
    /// The tools, as conditions over a history name them.
    pub(super) history_tools: OnceLock<Arc<[HistoryTool]>>,
    /// A number that no other registry of the process has.
    pub(super) id: u64,
}

pub(super) type Exports = [OnceLock<StoredSchema>; Dialect::ALL.len()];

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.entries.iter().map(|entry| entry.tool.name()))
            .finish()
    }
}

type Show = Arc<dyn Fn(&Context, &Entry) -> bool + Send + Sync>;

/// The functions that must all show a tool.
#[derive(Clone, Default)]
pub(super) struct Visibility(pub(super) Vec<Show>);

/// The tools that a caller sees, by their places in the registry, and their exports.
#[derive(Default)]
pub(super) struct View {
    pub(super) places: Vec<usize>,
    pub(super) exports: Exports,
}

impl std::fmt::Debug for View {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(&self.places, f)
    }
}

impl Visibility {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The program that offers the tools of a registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Program {
    /// The name of its package.
    pub name: &'static str,
    /// The version of its package.
    pub version: &'static str,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) argument_bytes: usize,
    pub(super) output_chars: usize,
    pub(super) parallel: usize,
    pub(super) calls: Option<usize>,
    pub(super) blocking: usize,
    pub(super) depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            argument_bytes: 1 << 20,
            output_chars: 100_000,
            parallel: 4,
            calls: None,
            blocking: 64,
            depth: 16,
        }
    }
}

impl Inner {
    #[inline]
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    pub(super) fn find(&self, name: &str) -> Option<&Entry> {
        self.entries.get(self.position(name)?)
    }

    /// Replaces exported names of properties by the names that the tool declares.
    #[cold]
    pub(super) fn give_own_names(&self, index: usize, call: &mut CallInput<'_>) {
        let schema = &self.entries[index].inputs.schema;
        if !schema.renames().is_empty()
            && call.arguments.len() <= self.limits.argument_bytes
            && let Some(own) = own_names(&call.arguments, schema)
        {
            call.arguments = own.into();
        }
    }

    /// Returns the tool at this index as the asker of a history.
    pub(super) fn asker(&self, index: usize) -> Asker {
        let tool = |entry: &Entry| HistoryTool {
            name: entry.tool.name().to_owned(),
            original: entry.tool.contract_name().to_owned(),
            set: entry.tool.set,
            state: entry.tool.state,
            function: entry.tool.function,
        };
        let tools = self
            .history_tools
            .get_or_init(|| self.entries.iter().map(tool).collect());
        Asker {
            tools: Arc::clone(tools),
            index,
        }
    }

    /// Records a call that was made before in the history of a context.
    pub(super) fn remember(&self, mut call: CallInput<'_>, context: &Context, succeeded: bool) {
        let Some(history) = context.history() else {
            return;
        };
        let Some(index) = self.position(&call.name) else {
            return history.expect_earlier();
        };
        self.give_own_names(index, &mut call);
        let entry = &self.entries[index];
        // A tool that must be the only one of its turn was.
        let _ = history.take_turn(entry.tool.alone);
        let end = if succeeded {
            CallEnd::Succeeded
        } else {
            CallEnd::MayHaveRun
        };
        let tool = (entry.tool.name(), entry.tool.function);
        with_sent(entry, &call, context.coerces(), |sent| {
            history.remember(tool, sent, end);
        });
    }

    /// Returns whether a caller sees the tool at this place. A function that panics does not show it, nor does one that is asked inside
    /// of another, which could go on without end.
    #[cold]
    pub(super) fn shows(&self, place: usize, context: &Context) -> bool {
        thread_local! {
            static IS_ASKING: Cell<bool> = const { Cell::new(false) };
        }
        if IS_ASKING.replace(true) {
            return false;
        }
        let mut scope = Scope::aside(ContractScope::current().get());
        // What the functions call is not called from outside.
        scope.depth += 1;
        scope.observers.audience = Audience::None;
        let entry = &self.entries[place];
        let all = || self.visibility.0.iter().all(|show| show(context, entry));
        let shown = ContractScope::new(scope).enter(|| guard(all));
        IS_ASKING.set(false);
        shown.unwrap_or(false)
    }

    /// Returns whether a call at this depth is hidden from its caller. A call that a body makes by itself is not.
    #[inline]
    pub(super) fn hides(&self, place: usize, context: &Context, depth: usize) -> bool {
        let is_from_outside = || depth == 0 || context.own_run().is_some();
        !self.visibility.is_empty() && is_from_outside() && !self.shows(place, context)
    }

    #[cold]
    pub(super) fn unknown(&self, tool: &str, context: &Context, depth: usize) -> FailureKind {
        let known = self.entries.iter().enumerate();
        let known = known.filter(|(place, _)| !self.hides(*place, context, depth));
        let known: Vec<&str> = known.map(|(_, entry)| entry.tool.name()).collect();
        let known = || known.iter().copied();
        let nearest = nearest(tool, known()).or_else(|| by_words(tool, known()));
        let instead = match nearest {
            Some(nearest) => format!("; did you mean `{nearest}`?"),
            None => listed(known()),
        };
        FailureKind::UnknownTool(instead)
    }
}

/// The most names of tools that a refusal lists.
const NAMES: usize = 10;

/// `; the tools are `a`, `b` and 3 others`, or nothing if there are none.
fn listed<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    let count = names.len();
    let shown: Vec<String> = names.take(NAMES).map(|name| format!("`{name}`")).collect();
    match (shown.as_slice(), count.saturating_sub(NAMES)) {
        ([], _) => String::new(),
        ([one], _) => format!("; the only tool is {one}"),
        (shown, 0) => format!("; the tools are {}", shown.join(", ")),
        (shown, rest) => format!("; the tools are {} and {rest} others", shown.join(", ")),
    }
}

/// Counts a call among the running ones until it ends or its future is dropped.
pub(super) struct CallPermit<'r> {
    inner: &'r Inner,
    open: bool,
}

impl<'r> CallPermit<'r> {
    #[inline]
    pub(super) fn take(inner: &'r Inner) -> Option<Self> {
        if let Some(calls) = &inner.calls {
            calls.try_acquire().ok()?.forget();
        }
        Some(Self { inner, open: true })
    }

    #[inline]
    pub(super) fn conclude(mut self, status: Status) {
        self.open = false;
        // A call that asks is counted when all its rounds are over.
        if status != Status::Asked {
            self.inner.shards.count(status);
        }
    }
}

impl Drop for CallPermit<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(calls) = &self.inner.calls {
            calls.add_permits(1);
        }
        if self.open {
            self.inner.shards.count(Status::Cancelled);
        }
    }
}

/// The refusal of a call whose hook panicked, so that it is not known whether the call is allowed.
const PANICKED: &str = "the call was not run: a check before the call panicked; this is a fault of the program, not of the arguments";

impl Inner {
    /// Returns whether a call waits for hooks before it begins.
    #[inline]
    pub(super) fn has_hooks(&self, context: &Context) -> bool {
        let of_run = context.own_run();
        !self.before.0.is_empty() || of_run.is_some_and(|run| !run.before.0.is_empty())
    }

    /// Asks the hooks one after the other, those of the run last, until one refuses. A call may have passed those of the registry.
    pub(super) async fn ask_hooks(
        &self,
        call: &CallInput<'_>,
        context: &Context,
        has_passed: bool,
    ) -> Result<(), FailureKind> {
        let outer = ContractScope::current();
        let of_run = context.own_run().map_or(&[][..], |run| &run.before.0);
        let own = if has_passed { &[] } else { &self.before.0[..] };
        for ask in own.iter().chain(of_run) {
            let scope = outer.deeper();
            let begin = || ask(call.to_call(), context.clone());
            let answer = before_body(context, approval::answer(scope.clone(), begin)).await?;
            if let (Some(broken), Some(outer)) =
                (scope.get().and_then(Scope::recorded), outer.get())
            {
                outer.record(broken);
            }
            // A hook that panics has not agreed.
            let (status, error) = match answer {
                Ok(Ok(())) => continue,
                Ok(Err(reason)) => (Status::Refused, reason),
                Err(_) => (Status::Panicked, PANICKED.to_owned()),
            };
            return Err(FailureKind::before_body(status, &error));
        }
        Ok(())
    }
}

/// Passes the arguments of a call on as the tool would read them, or as they are if it cannot.
pub(super) fn with_sent<T>(
    entry: &Entry,
    call: &CallInput<'_>,
    coerces: bool,
    then: impl FnOnce(SentArguments<'_>) -> T,
) -> T {
    let inputs = &entry.inputs;
    let read = read(&call.arguments, &inputs.schema, inputs.coerce || coerces).ok();
    then(SentArguments {
        text: read.as_ref().map_or(&*call.arguments, |read| &read.text),
        schema: &inputs.schema,
    })
}
