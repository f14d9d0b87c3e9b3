//! The calls of a run, as it remembers them: counts without end, and records up to a limit.

use std::any::TypeId;
use std::collections::VecDeque;
use std::hash::RandomState;
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::Value;

use super::answer::{Question, Tool, Unanswered};
use super::digest::{self, CallArguments, Digest};
use super::place::CallEnd;
use super::turn::Turn;
use crate::contract::panics::ignore_poison;

/// How many calls of each tool a run keeps a record of.
pub(super) const KEPT: usize = 1_000;

/// The history of a run, as its calls hold it.
#[derive(Clone, Debug)]
pub(crate) struct RunHistory {
    records: Arc<CallRecords>,
    reader: Arc<Reader>,
    /// When the turn began that its calls are of; without one, each call is a turn.
    pub(super) since: Option<u64>,
    pub(super) turn: Option<Arc<Turn>>,
}

/// The calls of a run and of all runs within it.
#[derive(Debug, Default)]
struct CallRecords {
    inner: Mutex<Inner>,
    key: RandomState,
}

#[derive(Debug, Default)]
struct Inner {
    /// The next number: of a call that begins, a call that succeeds, or a turn. So it says what was first.
    next: u64,
    tools: Vec<ToolRecords>,
    /// Calls were made that nothing is known about.
    has_earlier: bool,
}

/// Who reads the results of a run: a model, with its own conversation.
#[derive(Debug)]
struct Reader {
    id: u64,
    /// By the index of a tool, when its first call succeeded whose result was read.
    first: Mutex<Vec<Option<u64>>>,
}

/// The calls of one tool, under one name.
#[derive(Debug)]
struct ToolRecords {
    name: String,
    function: Option<TypeId>,
    /// The names of its arguments, as numbers.
    arguments: Vec<u64>,
    /// How many have begun and were not refused.
    counted: usize,
    succeeded: usize,
    /// Some records are not kept any more.
    dropped: bool,
    kept: VecDeque<Record>,
}

/// A call that was not refused.
#[derive(Debug)]
struct Record {
    number: u64,
    /// Whose conversation has the result, if one has.
    reader: Option<u64>,
    succeeded: Option<u64>,
    pairs: Box<[u64]>,
}

/// Where a call stands in the records.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordId {
    pub(super) number: u64,
    tool: usize,
}

/// From where in the history a question is asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    /// The number of the call that asks; none if it is only checked.
    pub(super) number: Option<u64>,
    /// When its turn began.
    pub(super) turn: u64,
}

impl Default for RunHistory {
    fn default() -> Self {
        Self::of(Arc::default())
    }
}

impl RunHistory {
    fn of(records: Arc<CallRecords>) -> Self {
        let id = records.inner().tick();
        Self {
            records,
            reader: Arc::new(Reader {
                id,
                first: Mutex::default(),
            }),
            since: None,
            turn: None,
        }
    }

    /// The history of a run inside this one.
    pub(crate) fn within(&self) -> Self {
        Self::of(Arc::clone(&self.records))
    }

    pub(super) fn tick(&self) -> u64 {
        self.records.inner().tick()
    }

    /// Records that a call begins.
    pub(super) fn begin(
        &self,
        tool: (&str, Option<TypeId>),
        is_read: bool,
        arguments: &dyn CallArguments,
    ) -> RecordId {
        let digest = digest::digest(&self.records.key, arguments);
        let reader = is_read.then_some(self.reader.id);
        let mut inner = self.records.inner();
        let number = inner.tick();
        let tool = inner.tool(tool, arguments, &self.records.key);
        if let Some(records) = inner.tools.get_mut(tool) {
            records.begin(number, reader, digest);
        }
        RecordId { number, tool }
    }

    /// Records how a call ended.
    pub(super) fn end(&self, id: RecordId, end: CallEnd, is_read: bool) {
        let mut inner = self.records.inner();
        let at = inner.tick();
        let Some(records) = inner.tools.get_mut(id.tool) else {
            return;
        };
        let index = records
            .kept
            .binary_search_by_key(&id.number, |one| one.number);
        match (end, index) {
            (CallEnd::Refused, index) => {
                records.counted -= 1;
                if let Ok(index) = index {
                    records.kept.remove(index);
                }
            }
            (CallEnd::MayHaveRun, _) => {}
            (CallEnd::Succeeded, index) => {
                records.succeeded += 1;
                let record = index.ok().and_then(|index| records.kept.get_mut(index));
                if let Some(record) = record {
                    record.succeeded = Some(at);
                }
                if is_read {
                    self.reader.read(id.tool, at);
                }
            }
        }
    }

    pub(super) fn answer(
        &self,
        position: Position,
        tool: Tool<'_>,
        question: Question,
        narrowed: &[(String, Option<Value>)],
    ) -> Result<usize, Unanswered> {
        let wanted = self.wanted(tool, narrowed)?;
        let inner = self.records.inner();
        let has_earlier = inner.has_earlier;
        let asked = inner.tools.iter().enumerate();
        let asked = asked.filter(|(_, records)| tool.is(&records.name, records.function));
        let mut sum = 0;
        for (index, records) in asked {
            sum += if narrowed.is_empty() {
                match question {
                    Question::Seen => usize::from(self.reader.has_read(index, position.turn)),
                    Question::Succeeded => records.succeeded,
                    Question::Counted => records.before(position.number),
                }
            } else {
                records.knows(narrowed, &self.records.key)?;
                let found = records.found(position, question, self.reader.id, &wanted);
                let is_decided = question != Question::Counted && found > 0;
                if records.dropped && !is_decided {
                    let tool = records.name.clone();
                    return Err(Unanswered::Dropped { tool });
                }
                found
            };
        }
        if has_earlier && (question == Question::Counted || sum == 0) {
            let tool = tool.name().to_owned();
            return Err(Unanswered::Earlier { tool });
        }
        Ok(sum)
    }

    pub(super) fn was_called(&self, name: &str) -> bool {
        let inner = self.records.inner();
        inner.tools.iter().any(|tool| tool.name == name)
    }

    /// From here on questions fail that calls could decide which are not known.
    pub(crate) fn expect_earlier(&self) {
        self.records.inner().has_earlier = true;
    }

    /// The same history for calls whose model has read what succeeded by now.
    pub(crate) fn as_of_now(&self) -> Self {
        let mut run = self.clone();
        run.since = Some(self.tick());
        run
    }

    fn wanted(
        &self,
        tool: Tool<'_>,
        narrowed: &[(String, Option<Value>)],
    ) -> Result<Vec<u64>, Unanswered> {
        let key = &self.records.key;
        let wanted = narrowed.iter().map(|(name, value)| match value {
            Some(value) => Ok(digest::pair(key, name, &value.to_string())),
            None => Err(Unanswered::NotJson {
                tool: tool.name().to_owned(),
                argument: name.clone(),
            }),
        });
        wanted.collect()
    }
}

impl CallRecords {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        ignore_poison(self.inner.lock())
    }
}

impl Inner {
    fn tick(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn tool(
        &mut self,
        (name, function): (&str, Option<TypeId>),
        arguments: &dyn CallArguments,
        key: &RandomState,
    ) -> usize {
        let known = |one: &ToolRecords| one.function == function && one.name == name;
        self.tools.iter().position(known).unwrap_or_else(|| {
            let mut names = Vec::new();
            arguments.each_parameter(&mut |name, _| names.push(digest::name(key, name)));
            self.tools.push(ToolRecords {
                name: name.to_owned(),
                function,
                arguments: names,
                counted: 0,
                succeeded: 0,
                dropped: false,
                kept: VecDeque::new(),
            });
            self.tools.len() - 1
        })
    }
}

impl ToolRecords {
    fn begin(&mut self, number: u64, reader: Option<u64>, digest: Option<Digest>) {
        self.counted += 1;
        let Some(Digest { pairs, further }) = digest else {
            self.dropped = true;
            return;
        };
        for name in further {
            if self.arguments.len() < KEPT && !self.arguments.contains(&name) {
                self.arguments.push(name);
            }
        }
        if self.kept.len() >= KEPT {
            self.kept.pop_front();
            self.dropped = true;
        }
        self.kept.push_back(Record {
            number,
            reader,
            succeeded: None,
            pairs,
        });
    }

    /// How many began before the call of this number.
    fn before(&self, number: Option<u64>) -> usize {
        let later = |record: &&Record| number.is_some_and(|number| record.number >= number);
        self.counted - self.kept.iter().rev().take_while(later).count()
    }

    /// A misspelt argument would find nothing, and so let everything pass.
    fn knows(
        &self,
        narrowed: &[(String, Option<Value>)],
        key: &RandomState,
    ) -> Result<(), Unanswered> {
        let unknown = narrowed
            .iter()
            .find(|(name, _)| !self.arguments.contains(&digest::name(key, name)));
        match unknown {
            None => Ok(()),
            Some((argument, _)) => Err(Unanswered::NoArgument {
                tool: self.name.clone(),
                argument: argument.clone(),
            }),
        }
    }

    fn found(&self, position: Position, question: Question, reader: u64, wanted: &[u64]) -> usize {
        let is_asked = |record: &&Record| match question {
            Question::Counted => position.number.is_none_or(|own| record.number < own),
            Question::Succeeded => record.succeeded.is_some(),
            Question::Seen => {
                record.reader == Some(reader)
                    && record.succeeded.is_some_and(|at| at < position.turn)
            }
        };
        let has_all = |record: &&Record| wanted.iter().all(|pair| record.pairs.contains(pair));
        self.kept.iter().filter(is_asked).filter(has_all).count()
    }
}

impl Reader {
    fn read(&self, tool: usize, at: u64) {
        let mut first = ignore_poison(self.first.lock());
        if first.len() <= tool {
            first.resize(tool + 1, None);
        }
        if let Some(first) = first.get_mut(tool) {
            first.get_or_insert(at);
        }
    }

    fn has_read(&self, tool: usize, turn: u64) -> bool {
        let first = ignore_poison(self.first.lock());
        first
            .get(tool)
            .copied()
            .flatten()
            .is_some_and(|at| at < turn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One argument of a schema, and one that no schema names.
    struct Sent(String);

    impl CallArguments for Sent {
        fn text(&self) -> &str {
            &self.0
        }

        fn each_parameter(&self, visit: &mut dyn FnMut(&str, Option<&Value>)) {
            visit("id", None);
        }
    }

    #[test]
    fn what_a_run_keeps_of_its_calls_is_bounded() {
        let run = RunHistory::default();
        for number in 0..100_000 {
            let sent = Sent(format!(r#"{{"id":{number},"extra{number}":"{number}"}}"#));
            let id = run.begin(("find", None), true, &sent);
            let end = match number % 3 {
                0 => CallEnd::Succeeded,
                1 => CallEnd::MayHaveRun,
                _ => CallEnd::Refused,
            };
            run.end(id, end, true);
        }
        let inner = run.records.inner();
        let [tool] = inner.tools.as_slice() else {
            panic!("one tool was called");
        };
        assert_eq!((tool.counted, tool.succeeded), (66_667, 33_334));
        assert_eq!((tool.kept.len(), tool.arguments.len()), (KEPT, KEPT));
        assert!(tool.kept.capacity() <= 2 * KEPT);
        assert_eq!(run.reader.first.lock().unwrap().len(), 1);
    }
}
