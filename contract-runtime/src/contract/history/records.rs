//! The calls of a run, as it remembers them: counts without end, and records up to a limit.

use std::any::TypeId;
use std::collections::{BTreeMap, VecDeque};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use contract_schema::input_schema::InputSchema;
use contract_schema::json_text;
use serde_json::Value;
use serde_json::value::RawValue;

use super::answer::{Question, Tool, Unanswered};
use super::place::CallEnd;
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
    /// The turn of its calls, if it has more than one, or may have: whether its first call must be the only one, once there is one.
    pub(super) turn: Option<Arc<Mutex<Option<bool>>>>,
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
    /// How many calls have begun, refused ones included.
    begun: u64,
}

/// Who reads the results of a run: a model, with its own conversation.
#[derive(Debug)]
struct Reader {
    id: u64,
    /// How many calls it has begun itself.
    begun: AtomicU64,
    /// By the index of a tool, when its first call succeeded whose result was read.
    first: Mutex<Vec<Option<u64>>>,
}

/// The calls of one tool, under one name.
#[derive(Debug)]
struct ToolRecords {
    name: String,
    function: Option<TypeId>,
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
    arguments: Arguments,
}

/// The names and values of the arguments of a call, each as text or as the hash of it.
type Arguments = Box<[(Box<str>, Box<str>)]>;

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
                begun: AtomicU64::new(0),
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
        arguments: SentArguments<'_>,
    ) -> RecordId {
        let arguments = self.records.kept(arguments);
        let reader = is_read.then_some(self.reader.id);
        let mut inner = self.records.inner();
        inner.begun += 1;
        self.reader
            .begun
            .fetch_add(u64::from(is_read), Ordering::Relaxed);
        let number = inner.tick();
        let tool = inner.tool(tool);
        if let Some(records) = inner.tools.get_mut(tool) {
            records.begin(number, reader, arguments);
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
        let mut wanted = Vec::with_capacity(narrowed.len());
        for (name, value) in narrowed {
            let Some(text) = value.as_ref().map(Value::to_string) else {
                return Err(Unanswered::NotJson {
                    tool: tool.name().to_owned(),
                    argument: name.clone(),
                });
            };
            let text = json_text::canonical(&text).unwrap_or(text);
            wanted.push((self.records.wanted(name), self.records.wanted(&text)));
        }
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
                records.knows(&wanted)?;
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

    /// Records a call that was made before, by an earlier process, and was not refused.
    pub(crate) fn remember(
        &self,
        tool: (&str, Option<TypeId>),
        arguments: SentArguments<'_>,
        end: CallEnd,
    ) {
        let id = self.begin(tool, true, arguments);
        self.end(id, end, true);
    }

    /// Whether there are calls, or may be, that were not made with this run itself.
    pub(crate) fn has_others(&self) -> bool {
        let inner = self.records.inner();
        inner.has_earlier || inner.begun != self.reader.begun.load(Ordering::Relaxed)
    }

    /// A random number, which differs from that of every other history of this process.
    pub(crate) fn id(&self) -> u64 {
        self.records.key.hash_one(())
    }

    /// The same history for calls whose model has read what succeeded by now.
    pub(crate) fn as_of_now(&self) -> Self {
        let mut run = self.clone();
        run.since = Some(self.tick());
        run
    }

    /// The same history, for the calls of one turn that begins now.
    pub(crate) fn turn(&self) -> Self {
        let mut run = self.as_of_now();
        run.turn = Some(Arc::default());
        run
    }

    /// The same history, in the turn that it is in or in one that begins now.
    pub(crate) fn in_turn(&self) -> Self {
        match self.turn {
            Some(_) => self.clone(),
            None => self.turn(),
        }
    }

    /// Takes a call into its turn. The error says why it cannot be made, and what to do.
    pub(crate) fn take_turn(&self, alone: bool) -> Result<(), &'static str> {
        let Some(turn) = &self.turn else {
            return Ok(());
        };
        let mut first = ignore_poison(turn.lock());
        match (*first, alone) {
            (Some(true), _) => Err(FOLLOWS_ONE),
            (Some(false), true) => Err(HAS_OTHERS),
            _ => {
                *first = Some(alone);
                Ok(())
            }
        }
    }
}

/// Why a call that has to be the only one of its turn cannot be made.
pub(crate) const HAS_OTHERS: &str =
    "this tool must be the only call of its turn; call it again, without any other call beside it";
const FOLLOWS_ONE: &str =
    "an earlier call of the same turn must be its only one; call this tool again in the next turn";

/// The most arguments of a call that are kept.
const MOST: usize = 64;

/// The most bytes of names and values that one record keeps as text. What does not fit is kept as a hash, so a record has some 8 kB at
/// most, and the records of one tool 8 MB.
const TEXT: usize = 4_096;

/// The arguments of a call as they were sent, and the schema of its tool.
#[derive(Clone, Copy)]
pub(crate) struct SentArguments<'r> {
    /// JSON; blank text stands for no arguments.
    pub(crate) text: &'r str,
    pub(crate) schema: &'r InputSchema,
}

impl SentArguments<'_> {
    /// Returns the arguments as the body has them, each as canonical JSON: one that is left out has its default, or else is null. Returns
    /// `None` for more than are kept.
    pub(crate) fn effective(self) -> Option<BTreeMap<String, String>> {
        let canonical = |text: &str| json_text::canonical(text).unwrap_or_else(|| text.to_owned());
        let sent: Option<BTreeMap<String, Box<RawValue>>> = match self.text.trim_ascii() {
            "" => None,
            text => serde_json::from_str(text).ok()?,
        };
        let mut all = BTreeMap::new();
        for parameter in self.schema.parameters() {
            let default = parameter
                .default()
                .map_or("null".to_owned(), Value::to_string);
            all.insert(parameter.name.to_string(), canonical(&default));
        }
        // Null is as good as left out.
        let sent = sent
            .into_iter()
            .flatten()
            .filter(|(_, value)| value.get() != "null");
        all.extend(sent.map(|(name, value)| (name, canonical(value.get()))));
        (all.len() <= MOST).then_some(all)
    }
}

/// A text that is looked for, and its hash.
struct Wanted(String, String);

impl Wanted {
    fn is(&self, kept: &str) -> bool {
        kept == self.0 || kept == self.1
    }
}

impl CallRecords {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        ignore_poison(self.inner.lock())
    }

    /// Returns what is kept instead of a text; it cannot be JSON. The key is random, so equal hashes cannot be chosen on purpose.
    fn hash(&self, text: &str) -> String {
        format!("#{:016x}", self.key.hash_one(text))
    }

    fn kept(&self, sent: SentArguments<'_>) -> Option<Arguments> {
        let mut left = TEXT;
        let mut kept = |text: String, is_secret: bool| match left.checked_sub(text.len()) {
            Some(rest) if !is_secret => {
                left = rest;
                text.into()
            }
            _ => self.hash(&text).into(),
        };
        let all = sent.effective()?.into_iter();
        let all = all.map(|(name, value)| {
            let is_secret = sent.schema.is_secret(&name);
            (kept(name, false), kept(value, is_secret))
        });
        Some(all.collect())
    }

    fn wanted(&self, text: &str) -> Wanted {
        Wanted(text.to_owned(), self.hash(text))
    }
}

impl Inner {
    fn tick(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn tool(&mut self, (name, function): (&str, Option<TypeId>)) -> usize {
        let known = |one: &ToolRecords| one.function == function && one.name == name;
        self.tools.iter().position(known).unwrap_or_else(|| {
            self.tools.push(ToolRecords {
                name: name.to_owned(),
                function,
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
    fn begin(&mut self, number: u64, reader: Option<u64>, arguments: Option<Arguments>) {
        self.counted += 1;
        let Some(arguments) = arguments else {
            self.dropped = true;
            return;
        };
        if self.kept.len() >= KEPT {
            self.kept.pop_front();
            self.dropped = true;
        }
        self.kept.push_back(Record {
            number,
            reader,
            succeeded: None,
            arguments,
        });
    }

    /// How many began before the call of this number.
    fn before(&self, number: Option<u64>) -> usize {
        let later = |record: &&Record| number.is_some_and(|number| record.number >= number);
        self.counted - self.kept.iter().rev().take_while(later).count()
    }

    /// A misspelt argument would find nothing, and so let everything pass.
    fn knows(&self, wanted: &[(Wanted, Wanted)]) -> Result<(), Unanswered> {
        let has =
            |record: &Record, name: &Wanted| record.arguments.iter().any(|(own, _)| name.is(own));
        let is_known = |name| self.kept.is_empty() || self.kept.iter().any(|one| has(one, name));
        match wanted.iter().find(|(name, _)| !is_known(name)) {
            None => Ok(()),
            Some((Wanted(argument, _), _)) => Err(Unanswered::NoArgument {
                tool: self.name.clone(),
                argument: argument.clone(),
            }),
        }
    }

    fn found(
        &self,
        position: Position,
        question: Question,
        reader: u64,
        wanted: &[(Wanted, Wanted)],
    ) -> usize {
        let is_asked = |record: &&Record| match question {
            Question::Counted => position.number.is_none_or(|own| record.number < own),
            Question::Succeeded => record.succeeded.is_some(),
            Question::Seen => {
                record.reader == Some(reader)
                    && record.succeeded.is_some_and(|at| at < position.turn)
            }
        };
        let has = |record: &Record, (name, value): &(Wanted, Wanted)| {
            let mut arguments = record.arguments.iter();
            arguments.any(|(own, sent)| name.is(own) && value.is(sent))
        };
        let has_all = |record: &&Record| wanted.iter().all(|one| has(record, one));
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
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_run_keeps_of_its_calls_is_bounded() {
        let schema = InputSchema::from_object(json!({
            "type": "object",
            "properties": {"id": {"type": "integer"}},
        }));
        let (run, schema) = (RunHistory::default(), schema.unwrap());
        for number in 0..100_000 {
            let text = format!(r#"{{"id":{number},"extra{number}":"{number}"}}"#);
            let (text, schema) = (text.as_str(), &schema);
            let id = run.begin(("find", None), true, SentArguments { text, schema });
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
        assert_eq!(tool.kept.len(), KEPT);
        assert!(tool.kept.capacity() <= 2 * KEPT);
        assert_eq!(run.reader.first.lock().unwrap().len(), 1);
    }

    #[test]
    fn long_and_secret_arguments_are_kept_as_hashes() {
        let schema = InputSchema::from_object(json!({
            "type": "object",
            "properties": {"key": {"type": "string", "writeOnly": true}},
        }));
        let (run, schema) = (RunHistory::default(), schema.unwrap());
        let long = "a".repeat(3_000);
        let mut sent =
            json!({"key": "hunter2", "a": long, "b": long, "c": "short", long.clone(): 1});
        for number in 0..50 {
            sent[format!("further{number}")] = json!(long);
        }
        let (text, schema) = (&*sent.to_string(), &schema);
        let kept = run.records.kept(SentArguments { text, schema }).unwrap();
        let value = |name: &str| {
            kept.iter()
                .find(|(own, _)| **own == *name)
                .map(|(_, value)| &**value)
        };
        assert_eq!(value("a"), Some(&*format!("\"{long}\"")));
        assert_eq!(value("b"), Some(&*run.records.hash(&format!("\"{long}\""))));
        assert_eq!(value("c"), Some("\"short\""));
        assert_eq!(value("key"), Some(&*run.records.hash("\"hunter2\"")));
        let bytes: usize = kept
            .iter()
            .map(|(name, value)| name.len() + value.len())
            .sum();
        assert!(bytes <= TEXT + 2 * MOST * 17, "{bytes}");
        run.begin(("find", None), true, SentArguments { text, schema });
        let position = Position {
            number: None,
            turn: 0,
        };
        for (name, asked, found) in [
            ("key", "hunter2", 1),
            ("key", "hunter3", 0),
            ("b", &*long, 1),
            ("c", "short", 1),
            ("c", "long", 0),
        ] {
            let narrowed = [(name.to_owned(), Some(Value::from(asked)))];
            let answer = run.answer(position, Tool::Named("find"), Question::Counted, &narrowed);
            assert_eq!(answer, Ok(found), "{name}");
        }
    }
}
