//! The place of one call in the history of its run: what came before it, and its own record.

use std::any::TypeId;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

use serde_json::Value;

use super::answer::{Asker, Question, Tool, Unanswered};
use super::records::{Position, RecordId, RunHistory, SentArguments};
use crate::contract::panics::ignore_poison;

/// How a call ended, as far as its effect goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallEnd {
    /// Nothing of its body ran.
    Refused,
    MayHaveRun,
    Succeeded,
}

/// The place of a call in the history of its run, if it has one.
#[derive(Debug)]
pub(crate) struct CallPlace {
    run: Result<RunHistory, Unanswered>,
    tool: String,
    function: Option<TypeId>,
    /// The tool and its registry; `None` for code that has no call of its own.
    asker: Option<Asker>,
    /// When its turn began.
    turn: u64,
    /// A model reads its result: the run made the call itself.
    is_read: bool,
    record: OnceLock<RecordId>,
    entered: AtomicBool,
    ended: AtomicBool,
    /// A condition is being judged that may ask.
    is_asked: AtomicBool,
    unanswered: Mutex<Option<Unanswered>>,
    /// The condition asked what no call could answer, which is its author's fault.
    is_misnamed: AtomicBool,
}

impl CallPlace {
    pub(crate) fn new(
        run: RunHistory,
        (tool, function): (&str, Option<TypeId>),
        is_read: bool,
        asker: Asker,
    ) -> Self {
        let turn = run.since.unwrap_or_else(|| run.tick());
        let mut place = Self::without(Ok(run), tool);
        place.turn = turn;
        place.is_read = is_read;
        place.function = function;
        place.asker = Some(asker);
        place
    }

    /// The place of a call where a question has no answer.
    pub(crate) fn nowhere(why: Unanswered) -> Self {
        Self::without(Err(why), "")
    }

    fn without(run: Result<RunHistory, Unanswered>, tool: &str) -> Self {
        Self {
            run,
            tool: tool.to_owned(),
            function: None,
            asker: None,
            turn: 0,
            is_read: false,
            record: OnceLock::new(),
            entered: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            is_asked: AtomicBool::new(false),
            unanswered: Mutex::new(None),
            is_misnamed: AtomicBool::new(false),
        }
    }

    /// The history for a call that this one makes by name: its model reads nothing between the two.
    pub(crate) fn inherited(&self) -> Option<RunHistory> {
        let mut run = self.run.as_ref().ok()?.clone();
        run.since = Some(self.turn);
        run.turn = None;
        Some(run)
    }

    /// The place of code inside the call, which has no record of its own.
    pub(crate) fn below(&self) -> Option<Self> {
        let run = self.run.as_ref().ok()?.clone();
        let mut below = Self::without(Ok(run), &self.tool);
        below.turn = self.turn;
        Some(below)
    }

    /// Records that the call begins.
    pub(crate) fn begin(&self, arguments: SentArguments<'_>) {
        let Ok(run) = &self.run else { return };
        let tool = (self.tool.as_str(), self.function);
        self.record
            .get_or_init(|| run.begin(tool, self.is_read, arguments));
    }

    /// The body begins.
    pub(crate) fn enter(&self) {
        self.entered.store(true, Ordering::Release);
    }

    pub(crate) fn has_entered(&self) -> bool {
        self.entered.load(Ordering::Acquire)
    }

    /// Records how the call ended; only the first time counts.
    pub(crate) fn end(&self, end: CallEnd) {
        if let (Ok(run), Some(record)) = (&self.run, self.record.get())
            && !self.ended.swap(true, Ordering::AcqRel)
        {
            run.end(*record, end, self.is_read);
        }
    }

    pub(super) fn is_asked(&self) -> bool {
        self.is_asked.load(Ordering::Relaxed)
    }

    /// From here on a condition may ask.
    pub(crate) fn ask(&self) {
        self.is_asked.store(true, Ordering::Relaxed);
        self.is_misnamed.store(false, Ordering::Relaxed);
    }

    /// The condition is judged; the error says that a question of it had no answer.
    pub(crate) fn asked(&self) -> Result<(), String> {
        self.is_asked.store(false, Ordering::Relaxed);
        let unanswered = ignore_poison(self.unanswered.lock()).take();
        let is_misnamed = matches!(unanswered, Some(Unanswered::NoTool { .. }));
        self.is_misnamed.store(is_misnamed, Ordering::Relaxed);
        unanswered.map_or(Ok(()), |why| Err(why.to_string()))
    }

    /// The condition that was judged last asked about a tool that there is not.
    pub(crate) fn is_misnamed(&self) -> bool {
        self.is_misnamed.load(Ordering::Relaxed)
    }

    #[cold]
    pub(super) fn note(&self, why: Unanswered) -> usize {
        ignore_poison(self.unanswered.lock()).get_or_insert(why);
        0
    }

    pub(super) fn answer(
        &self,
        tool: Tool<'_>,
        question: Question,
        narrowed: &[(String, Option<Value>)],
    ) -> Result<usize, Unanswered> {
        let run = self.run.as_ref().map_err(Unanswered::clone)?;
        let position = Position {
            number: self.record.get().map(|record| record.number),
            turn: self.turn,
        };
        let tool = match &self.asker {
            Some(asker) => asker.resolve(tool, question, |name| run.was_called(name))?,
            None => tool,
        };
        run.answer(position, tool, question, narrowed)
    }
}

/// Ends the record of a call that was given up.
impl Drop for CallPlace {
    fn drop(&mut self) {
        let end = if self.has_entered() {
            CallEnd::MayHaveRun
        } else {
            CallEnd::Refused
        };
        self.end(end);
    }
}
