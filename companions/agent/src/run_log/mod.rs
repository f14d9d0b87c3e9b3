//! The log of a run: its records, the state that they give, and the stores that keep them.

mod call;
mod file_store;
mod past;
mod rejected;
mod store;

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::Arc;
use std::time::Duration;

use contract_runtime::approval::{Approval, ApprovalRequest, Decided, Decision};
use contract_runtime::{IdempotencyKey, ToolCall};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

pub(crate) use self::call::{CallEnd, CallState};
pub use self::file_store::FileStore;
pub(crate) use self::past::{Attempts, PastCall};
pub(crate) use self::rejected::{REFUSED, Rejected, published};
pub use self::store::{MemoryStore, RunStore, StoreError, Stored};
use crate::event::RunError;
use crate::message::{Message, with_open_calls_answered, written_call};
use crate::model::Usage;

/// The format of the records below, which each log begins with.
const FORMAT: u32 = 1;

/// One entry in the log of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub(crate) enum Record {
    /// The first record.
    Opened {
        format: u32,
        /// Random, as a part of the keys of the run's calls: another store may have a run of the same name.
        #[serde(default)]
        id: String,
    },
    /// New messages of the conversation: a task, a reply, or the outcomes of calls.
    Messages {
        messages: Vec<Message>,
        progress: Progress,
        /// The form in which the inner agent reads replies.
        form: String,
        /// Unix time, in milliseconds.
        #[serde(default)]
        at: u64,
    },
    /// The body of a call of the last reply may run from here on.
    Began {
        index: usize,
        #[serde(deserialize_with = "written_call")]
        call: ToolCall,
        /// What allowed to make it again then; see [`ToolInfo::repeatable`](contract_runtime::ToolInfo::repeatable).
        #[serde(default)]
        repeatable: Option<String>,
    },
    /// A call is waiting for a person. Its body has not begun.
    Asked {
        index: usize,
        request: ApprovalRequest,
    },
    /// The person has decided. The body may run only after another [`Began`](Self::Began).
    Decided {
        index: usize,
        #[serde(flatten)]
        decided: Decided,
    },
    Ended {
        index: usize,
        #[serde(deserialize_with = "written_call")]
        call: ToolCall,
        #[serde(flatten)]
        end: CallEnd,
        /// Whether the log has every call of the run so far; bodies and other runs may have made some that it has not.
        #[serde(default)]
        is_whole: bool,
    },
    /// The model may try again after it broke a condition.
    Attempt { contract: String, step: u64 },
    /// The last reply was an answer that only the model may read.
    Rejected { rejected: Rejected },
    /// The last reply was the answer, and every condition on it held.
    Answered { answer: String, progress: Progress },
    /// The task has failed for good, by a call that may be one of those that end with it.
    Failed {
        error: RunError,
        progress: Progress,
        #[serde(default)]
        ends: Vec<Record>,
    },
}

/// What a run has spent.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Progress {
    pub(crate) iterations: u64,
    pub(crate) asked_again: u64,
    pub(crate) nested_requests: u64,
    pub(crate) tool_calls: u64,
    pub(crate) errors: u64,
    pub(crate) elapsed: Duration,
    pub(crate) usage: Usage,
}

/// A run as its log tells it: the conversation, the calls of the last reply, and what has been spent.
///
/// [`RunResult::state`](crate::RunResult::state) is the state of a run that has ended, and [`open`](Self::open) reads that of a run
/// whose process has ended. [`ContractAgent::resume`](crate::ContractAgent::resume) continues its last task;
/// [`run_after`](crate::ContractAgent::run_after) begins another task.
///
/// Calls are made once where a store has the log: the same state without a store can be resumed twice, and then they are made twice. A
/// state that is read from JSON has no store.
///
/// ```
/// use std::sync::Arc;
///
/// use contract_agent::{ContractAgent, MemoryStore, RunState, Scripted, ToolCallingAgent};
/// use contract_runtime::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = Arc::new(MemoryStore::new());
/// let agent = |model| {
///     let registry = Registry::builder().build()?;
///     Ok::<_, BuildError>(ContractAgent::builder(ToolCallingAgent::new(model, registry)).build())
/// };
/// let run = RunState::open(store.clone(), "chat-1").await?;
/// agent(Scripted::new().text("It is noon."))?.run_after(run, "What time is it?").await;
///
/// // Another process.
/// let run = RunState::open(store, "chat-1").await?;
/// assert_eq!(run.answer(), Some("It is noon."));
/// let result = agent(Scripted::new().text("Two o'clock."))?.run_after(run, "And in two hours?").await;
/// assert_eq!(result.messages.len(), 4);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct RunState {
    /// The random part of the keys of its calls; empty if none was made yet.
    id: String,
    messages: Vec<Message>,
    /// The calls of the last reply that began or ended, by their place in it.
    calls: BTreeMap<usize, CallState>,
    /// The calls of earlier replies: those of the last task, and those of earlier tasks whose bodies may have run.
    past: Vec<PastCall>,
    /// Calls were made that are not known.
    is_partial: bool,
    attempts: Attempts,
    /// Calls of the task whose decisions reach further than this one call.
    decided: Vec<CallState>,
    pub(crate) progress: Progress,
    answer: Option<String>,
    error: Option<RunError>,
    rejected: Vec<Rejected>,
    form: String,
    /// The time of the last message.
    at: u64,
    /// The messages come from a program, and nothing else is known of their calls.
    is_foreign: bool,
    /// The [`id`](Run::history_id) of the history that has the calls of the run in this process.
    #[serde(skip)]
    history: Option<u64>,
    /// Messages that precede the next task, and are recorded with it.
    added: Vec<Message>,
    #[serde(skip)]
    place: Option<StorePlace>,
}

/// Where the log of a run is kept, and how many records it has.
#[derive(Clone)]
struct StorePlace {
    store: Arc<dyn RunStore>,
    run: String,
    length: u64,
    /// A random number in each record, so that an equal record of another process is told apart.
    by: String,
    /// A record of which it is not known whether it was appended.
    in_flight: Option<String>,
}

impl std::fmt::Debug for StorePlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut place = f.debug_struct("StorePlace");
        place
            .field("run", &self.run)
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}

impl RunState {
    /// Reads the log of a run from a store, which then keeps what follows; a run that the store does not know is a new one.
    ///
    /// # Errors
    ///
    /// If the log cannot be read, is damaged, or was written by a newer version.
    pub async fn open(
        store: Arc<dyn RunStore>,
        run: impl Into<String>,
    ) -> Result<Self, StoreError> {
        let run = run.into();
        let mut state = Self::default();
        let records = store.read(&run).await?;
        let length = records.len() as u64;
        for (place, text) in (0..).zip(records) {
            let record = record_of(&run, place, &text);
            // The first record tells of a format whose records are not known.
            if let Ok(Record::Opened { format, .. }) = record
                && format > FORMAT
            {
                let known = FORMAT;
                return Err(StoreError::Newer { run, format, known });
            }
            state.apply(record?);
        }
        state.place = Some(StorePlace {
            store,
            run,
            length,
            by: random(),
            in_flight: None,
        });
        Ok(state)
    }

    /// Adds messages before the next task, such as instructions of the program. They are recorded together with that task.
    ///
    /// ```
    /// use contract_agent::{Message, RunState};
    ///
    /// let text = "You water plants.".to_owned();
    /// let run = RunState::default().with_messages([Message::System { text, by_agent: false }]);
    /// ```
    #[must_use]
    pub fn with_messages(mut self, messages: impl IntoIterator<Item = Message>) -> Self {
        self.added.extend(messages);
        self
    }

    /// Returns the conversation so far, without rejected answers and without the instructions of an agent.
    #[must_use]
    pub fn messages(&self) -> Vec<Message> {
        self.published(&self.messages, 0)
    }

    /// Returns whether the last task is neither answered nor failed, so that [`resume`](crate::ContractAgent::resume) works on it.
    #[must_use]
    pub fn is_open(&self) -> bool {
        !self.messages.is_empty() && self.answer.is_none() && self.error.is_none()
    }

    /// Returns the answer, if the last task has one.
    #[must_use]
    pub fn answer(&self) -> Option<&str> {
        self.answer.as_deref()
    }

    /// Returns what the calls of the last reply ask a person, without what is answered. The answers go to
    /// [`resume`](crate::ContractAgent::resume) with its context.
    pub fn approval_requests(&self) -> impl Iterator<Item = &ApprovalRequest> {
        self.calls.values().filter_map(CallState::open_request)
    }

    fn apply(&mut self, record: Record) {
        match record {
            Record::Opened { id, .. } => self.id = id,
            Record::Messages {
                messages,
                progress,
                form,
                at,
            } => {
                self.messages.extend(messages);
                self.progress = progress;
                self.form = form;
                self.at = at;
                self.end_step();
                if progress.iterations == 0 {
                    self.end_task();
                }
                (self.answer, self.error) = (None, None);
            }
            Record::Rejected { rejected } => self.rejected.push(rejected),
            Record::Failed {
                error,
                progress,
                ends,
            } => {
                for end in ends {
                    self.apply(end);
                }
                self.error = Some(error);
                self.progress = progress;
            }
            Record::Began {
                index,
                call,
                repeatable,
            } => {
                let began = CallState::of(call, repeatable);
                self.insert(index, began);
            }
            Record::Asked { index, request } => {
                if let Some(call) = self.calls.get_mut(&index) {
                    (call.request, call.decision) = (Some(request), None);
                    call.began = false;
                }
            }
            Record::Decided { index, decided } => self.decide(index, decided),
            Record::Attempt { contract, step } => self.attempts.note(contract, step),
            Record::Ended {
                index,
                call,
                end,
                is_whole,
            } => {
                self.is_partial |= !is_whole;
                let mut ended = CallState::of(call, None);
                ended.end = Some(end);
                self.insert(index, ended);
            }
            Record::Answered { answer, progress } => {
                // A condition may have refused it in an earlier process.
                let place = self.messages.len().checked_sub(1);
                self.rejected
                    .retain(|rejected| rejected.place.is_none() || rejected.place != place);
                self.answer = Some(answer);
                self.progress = progress;
            }
        }
    }

    /// Sets how far a call has come, and keeps what it has asked.
    fn insert(&mut self, index: usize, mut call: CallState) {
        if let Some(before) = self.calls.remove(&index) {
            (call.request, call.decision) = (before.request, before.decision);
        }
        self.calls.insert(index, call);
    }

    fn decide(&mut self, index: usize, decided: Decided) {
        let Some(call) = self.calls.get_mut(&index) else {
            return;
        };
        let is_open = decided.decision == Decision::Unanswered;
        let is_for_others = decided.decision != Decision::Approved(Approval::Once);
        call.decision = Some(decided);
        if is_for_others {
            self.decided.push(call.clone());
        }
        call.decision.take_if(|_| is_open);
    }

    /// Takes the calls of the task whose decisions reach further than this one call.
    pub(crate) fn take_decided(&mut self) -> Vec<CallState> {
        std::mem::take(&mut self.decided)
    }

    /// The model is told of the calls of the last reply.
    fn end_step(&mut self) {
        self.is_partial |= std::mem::take(&mut self.is_foreign);
        for known in std::mem::take(&mut self.calls).into_values() {
            self.is_partial |= known.is_lost();
            let step = self.progress.iterations;
            let call = known.call;
            self.past
                .extend(known.end.map(|end| PastCall { step, call, end }));
        }
    }

    /// Another task begins, of which the history of the run knows the calls before it.
    fn end_task(&mut self) {
        self.decided.clear();
        self.attempts = Attempts::default();
        self.past.retain_mut(|past| {
            past.step = 0;
            past.end.text.clear();
            past.end.counts()
        });
    }

    /// Begins another task, which has budgets of its own. The model is told what is known of the calls of the last reply.
    pub(crate) fn begin_task(&mut self) {
        // Copies of a state may begin different tasks, whose calls have nothing in common.
        self.id.clear();
        let known = self.calls.clone();
        // What a program brings is a conversation, and its calls are not of this run.
        self.is_foreign = false;
        self.end_step();
        self.end_task();
        self.progress = Progress::default();
        self.messages = self.messages();
        self.rejected.clear();
        let Some(Message::Assistant { calls, .. }) = self.messages.last() else {
            return;
        };
        let ends: Vec<_> = if calls.is_empty() {
            let told = known.values().map(|known| Message::User {
                text: format!("Observation: {}", known.last_end().text()),
            });
            told.collect()
        } else if known.is_empty() {
            // Where nothing is known, nothing is said to be not started.
            return;
        } else {
            let ends = calls.iter().enumerate().map(|(index, call)| {
                let known = known.get(&index).filter(|known| known.is_of(call));
                known
                    .map_or_else(CallEnd::not_started, CallState::last_end)
                    .message(call)
            });
            ends.collect()
        };
        self.messages.extend(ends);
    }

    /// Takes the messages that precede the next task and are not recorded yet.
    pub(crate) fn take_added(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.added)
    }

    pub(crate) fn into_messages(self) -> Vec<Message> {
        self.messages
    }

    /// Takes how the last task ended, if it has ended.
    pub(crate) fn take_end(&mut self) -> Option<Result<String, RunError>> {
        let error = self.error.take().map(Err);
        error.or_else(|| self.answer.take().map(Ok))
    }

    /// Takes the last reply, if the model has not been told what came of it, with the calls of it that are known.
    pub(crate) fn take_reply(&mut self) -> Option<(Message, BTreeMap<usize, CallState>)> {
        let is_reply = matches!(self.messages.last(), Some(Message::Assistant { .. }));
        let reply = is_reply.then(|| self.messages.pop()).flatten()?;
        if let (Message::Assistant { calls, .. }, true) = (&reply, self.is_foreign) {
            let unknown = |call: &ToolCall| CallState::of(call.clone(), None);
            self.calls = calls.iter().map(unknown).enumerate().collect();
        }
        Some((reply, std::mem::take(&mut self.calls)))
    }

    /// Makes a conversation that no store keeps one without open calls before its last reply.
    pub(crate) fn complete(&mut self) {
        if self.place.is_some() {
            // A log has none.
            return;
        }
        let reply = self
            .messages
            .pop_if(|last| matches!(last, Message::Assistant { .. }));
        self.messages = with_open_calls_answered(&self.messages);
        self.messages.extend(reply);
    }

    /// Takes the calls of earlier replies, with whether there were others.
    pub(crate) fn take_past(&mut self) -> (Vec<PastCall>, bool) {
        let is_partial = self.is_partial || self.is_foreign;
        (std::mem::take(&mut self.past), is_partial)
    }

    pub(crate) const fn history(&self) -> Option<u64> {
        self.history
    }

    pub(crate) const fn is_stored(&self) -> bool {
        self.place.is_some()
    }

    pub(crate) fn form(&self) -> &str {
        &self.form
    }

    /// Returns messages without the rejected answers. The first `instructions` of them are not in the log.
    pub(crate) fn published(&self, messages: &[Message], instructions: usize) -> Vec<Message> {
        published(messages, instructions, &self.rejected)
    }
}

impl From<Vec<Message>> for RunState {
    /// Begins with an earlier conversation, which no store keeps.
    fn from(mut messages: Vec<Message>) -> Self {
        messages.retain(|message| !message.is_by_agent());
        Self {
            messages,
            is_foreign: true,
            ..Self::default()
        }
    }
}

impl<const N: usize> From<[Message; N]> for RunState {
    fn from(messages: [Message; N]) -> Self {
        Vec::from(messages).into()
    }
}

/// The log of a run while it is written; clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunLog {
    state: Arc<Mutex<RunState>>,
    /// Held while a record is appended, so that each is appended behind the one before it.
    place: Arc<tokio::sync::Mutex<Option<StorePlace>>>,
}

impl RunLog {
    pub(crate) fn new(mut state: RunState) -> Self {
        let place = state.place.take();
        if state.id.is_empty() && place.as_ref().is_none_or(|place| place.length == 0) {
            state.id = random() + &random();
        }
        Self {
            state: Arc::new(Mutex::new(state)),
            place: Arc::new(tokio::sync::Mutex::new(place)),
        }
    }

    /// Appends a record to the store, if there is one, and then to the state.
    pub(crate) async fn append(&self, record: Record) -> Result<(), StoreError> {
        let mut place = self.place.lock().await;
        if let Some(place) = &mut *place {
            self.settle_at(place).await?;
            if place.length == 0 {
                let (format, id) = (FORMAT, self.state.lock().id.clone());
                place.append(&Record::Opened { format, id }).await?;
            }
            place.append(&record).await?;
        }
        self.state.lock().apply(record);
        Ok(())
    }

    /// Reads whether the record in doubt was appended, and applies it to the state if it was.
    pub(crate) async fn settle(&self) -> Result<(), StoreError> {
        match &mut *self.place.lock().await {
            Some(place) => self.settle_at(place).await,
            None => Ok(()),
        }
    }

    async fn settle_at(&self, place: &mut StorePlace) -> Result<(), StoreError> {
        if let Some(record) = place.settled().await? {
            self.state.lock().apply(record);
        }
        Ok(())
    }

    /// Notes which history has the calls of the run.
    pub(crate) fn set_history(&self, id: Option<u64>) {
        self.state.lock().history = id;
    }

    pub(crate) fn attempts(&self) -> Attempts {
        self.state.lock().attempts.clone()
    }

    /// The state so far.
    pub(crate) fn state(&self) -> RunState {
        let mut state = self.state.lock().clone();
        state.place = self.place.try_lock().ok().and_then(|place| place.clone());
        state
    }

    /// Returns the key of a call of the last reply, which is the same when the run is resumed. A log of a version without keys has none.
    ///
    /// It begins with the time of the reply, so that a journal can forget old keys and still refuse them.
    pub(crate) fn idempotency_key(&self, index: usize, call: &ToolCall) -> Option<IdempotencyKey> {
        let state = self.state.lock();
        // A stored reply repeats the arguments byte by byte, so they need no canonical form.
        let parts = (
            &state.id,
            state.messages.len(),
            index,
            &call.name,
            &call.arguments,
        );
        let digest = Sha256::digest(serde_json::to_vec(&parts).ok()?);
        let digest = u128::from_be_bytes(*digest.first_chunk()?);
        // RFC 9562 (2024), section 5.7: a UUID of version 7, whose random bits are those of the digest.
        let bits = u128::from(state.at) << 80 | digest >> 48;
        let bits = bits & !(0xF << 76 | 0x3 << 62) | 0x7 << 76 | 0x2 << 62;
        let hex = format!("{bits:032x}");
        let key = [0..8, 8..12, 12..16, 16..20, 20..32].map(|place| &hex[place]);
        (!state.id.is_empty()).then(|| IdempotencyKey::new(key.join("-")))
    }

    /// How many messages the log has.
    pub(crate) fn messages(&self) -> usize {
        self.state.lock().messages.len()
    }
}

/// Returns 64 random bits.
fn random() -> String {
    format!("{:016x}", RandomState::new().build_hasher().finish())
}

/// A record as it is stored.
#[derive(Serialize)]
struct Line<'r> {
    by: &'r str,
    #[serde(flatten)]
    record: &'r Record,
}

impl StorePlace {
    async fn append(&mut self, record: &Record) -> Result<(), StoreError> {
        let line = Line {
            by: &self.by,
            record,
        };
        let text = serde_json::to_string(&line).map_err(|error| StoreError::Failed {
            run: self.run.clone(),
            action: "written",
            reason: error.to_string(),
        })?;
        // Where the future of an append is dropped, or the store fails, the record may be appended all the same.
        self.in_flight = Some(text.clone());
        self.store.append(&self.run, self.length, &text).await?;
        self.in_flight = None;
        self.length += 1;
        Ok(())
    }

    /// Returns the record that was in doubt, if it was appended.
    async fn settled(&mut self) -> Result<Option<Record>, StoreError> {
        let Some(last) = &self.in_flight else {
            return Ok(None);
        };
        let records = self.store.read(&self.run).await?;
        let known = usize::try_from(self.length).unwrap_or(usize::MAX);
        let settled = match records.get(known..) {
            Some([]) => None,
            Some([record]) if record == last => {
                self.length += 1;
                Some(record_of(&self.run, self.length - 1, record)?)
            }
            _ => return Err(store::conflict(&self.run, self.length)),
        };
        self.in_flight = None;
        Ok(settled)
    }
}

/// Reads a record that stands at this place in the log of a run.
fn record_of(run: &str, place: u64, text: &str) -> Result<Record, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::Damaged {
        run: run.to_owned(),
        record: place,
        reason: error.to_string(),
    })
}
