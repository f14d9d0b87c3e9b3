//! Writes, damages and reopens a journal, and checks that what it says is true.
//!
//! All of it is read from bytes, so that a fuzzer can look for the worst; see `fuzz_targets/journal_recovery.rs`.

use super::medium::{Event, Medium, apply};
use super::model::{ATTEMPTS, CALLS, LIMITS, Model, Step, TASKS, heard, is_durable, take};
use super::{Admission, JournalError, State, hash, key, open, task, wait};
use crate::protocol::{CallKey, JournalId};

const PAGE: usize = 4096;
const SECTOR: usize = 512;
/// What is written is a few hundred kilobytes; a header that lies may not make it grow.
const LARGEST: usize = 16 << 20;

/// After how many events on the disk a step was over, and what was true then.
pub(super) struct Mark {
    pub(super) events: usize,
    pub(super) is_durable: bool,
    pub(super) model: Model,
}

/// What may be left when power goes after so many events.
pub(super) fn possible(marks: &[Mark], events: usize) -> Vec<Model> {
    let over = over(marks, events);
    let first = marks[..over].iter().rposition(|mark| mark.is_durable);
    from(marks, first.unwrap_or(0), over)
}

/// How many steps were over after so many events.
fn over(marks: &[Mark], events: usize) -> usize {
    let over = marks.iter().take_while(|mark| mark.events <= events);
    over.count()
}

fn from(marks: &[Mark], first: usize, over: usize) -> Vec<Model> {
    // One more step may have been under way.
    let last = marks.len().min(over + 1);
    let models = marks[first..last].iter();
    models.map(|mark| mark.model.clone().orphan()).collect()
}

/// The sectors of one write of which each is on the disk or is not.
pub(super) fn sectors(
    bytes: &mut [u8],
    offset: u64,
    data: &[u8],
    mut is_there: impl FnMut() -> bool,
) {
    let mut at = usize::try_from(offset).unwrap();
    let mut rest = data;
    while !rest.is_empty() {
        let (sector, left) = rest.split_at(rest.len().min(SECTOR - at % SECTOR));
        if is_there()
            && let Some(place) = bytes.get_mut(at..at + sector.len())
        {
            place.copy_from_slice(sector);
        }
        at += sector.len();
        rest = left;
    }
}

/// Choices, from bytes that come to an end; then they are all the first one.
struct Choices<'b>(&'b [u8]);

impl Choices<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    fn below(&mut self, end: usize) -> usize {
        let number = u16::from_le_bytes([self.byte(), self.byte()]);
        usize::from(number) % end.max(1)
    }

    fn place(&mut self) -> (u8, CallKey) {
        let byte = self.byte();
        let number = u32::from(byte >> 2) % CALLS;
        let attempt = 1 + u32::from(byte >> 6) % ATTEMPTS;
        (byte % TASKS, key(number, attempt))
    }

    /// Most steps are of the call of the step before: few others would follow from what there is.
    fn step(&mut self, last: &mut (u8, CallKey)) -> Step {
        let kind = self.byte();
        if self.byte().is_multiple_of(4) {
            *last = self.place();
        }
        let (task, key) = *last;
        match kind % 9 {
            0..=2 => Step::Accept(task, key, kind >> 7),
            3 | 4 => Step::Start(task, key),
            5 | 6 => Step::Finish(task, key, 2 * u16::from(self.byte())),
            7 => Step::Acknowledge(task, key),
            _ => Step::SetEpoch(task, 1 + u64::from(kind >> 4)),
        }
    }

    /// A place that something was written to.
    fn written(&mut self, events: &[Event], length: usize) -> usize {
        let writes = || {
            events.iter().filter_map(|event| match event {
                Event::Write(offset, data) => Some((usize::try_from(*offset).unwrap(), data.len())),
                _ => None,
            })
        };
        // The header, which most writes do not touch, and the latest ones weigh more.
        let (start, long) = match self.byte() {
            0..=63 => (0, 320),
            back @ 64..=191 => writes()
                .rev()
                .nth(usize::from(back - 64))
                .unwrap_or((0, 320)),
            _ => writes()
                .nth(self.below(writes().count()))
                .unwrap_or((0, 320)),
        };
        (start + self.below(long)) % length.max(1)
    }
}

/// What a process wrote until it was gone.
struct Written {
    id: JournalId,
    events: Vec<Event>,
    marks: Vec<Mark>,
    /// Which of the marks are of steps that made a commit.
    commits: Vec<usize>,
    /// Which calls had begun, and after how many events that was said.
    begun: Vec<(usize, u8, CallKey)>,
}

fn written(choices: &mut Choices<'_>) -> Written {
    let medium = Medium::default();
    let events = || medium.lock().events.len();
    let mut journal = open(&medium, LIMITS).unwrap();
    let id = journal.id();
    let mut model = Model::default();
    let (mut begun, mut commits) = (Vec::new(), Vec::new());
    let mark = |is_durable, model: &Model| Mark {
        events: events(),
        is_durable,
        model: model.clone(),
    };
    let mut marks = vec![mark(true, &model)];
    let mut last = (0, key(0, 1));
    for _ in 0..choices.byte() % 48 {
        if choices.byte() > 245 {
            drop(journal);
            model = model.orphan();
            marks.push(mark(true, &model));
            journal = open(&medium, LIMITS).unwrap();
            continue;
        }
        let (step, before) = (choices.step(&mut last), events());
        let may = model.step(step);
        assert_eq!(take(&journal, step), Ok(may), "{step:?}");
        if let (Step::Start(task, key), true) = (step, may) {
            begun.push((events(), task, key));
        }
        if is_durable(step, may) && events() > before {
            commits.push(marks.len());
        }
        marks.push(mark(is_durable(step, may), &model));
    }
    let killed = events();
    drop(journal);
    let mut events = medium.lock().events.clone();
    if choices.byte().is_multiple_of(2) {
        events.truncate(killed);
    } else {
        marks.push(mark(true, &model));
    }
    Written {
        id,
        events,
        marks,
        commits,
        begun,
    }
}

/// What is on the disk when power goes after so many events.
fn torn(events: &[Event], choices: &mut Choices<'_>) -> Vec<u8> {
    let last = events.iter().rposition(|event| *event == Event::Sync);
    let (durable, pending) = events.split_at(last.map_or(0, |last| last + 1));
    let mut bytes = Vec::new();
    for event in durable {
        apply(&mut bytes, event);
    }
    for event in pending {
        match event {
            Event::Write(offset, data) => {
                sectors(&mut bytes, *offset, data, || {
                    !choices.byte().is_multiple_of(4)
                });
            }
            _ => apply(&mut bytes, event),
        }
    }
    bytes
}

/// Changes the file; whether it did.
fn damage(bytes: &mut Vec<u8>, events: &[Event], choices: &mut Choices<'_>) -> bool {
    let before = bytes.clone();
    let length = bytes.len();
    let kind = choices.byte();
    let at = choices.written(events, length);
    let page = at / PAGE * PAGE;
    match kind % 8 {
        0..=2 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= choices.byte();
            }
        }
        3 => bytes.truncate(at),
        4 => bytes.resize(length + choices.below(4 * PAGE), 0),
        5 => bytes[page..length.min(page + PAGE)].fill(0),
        6 => {
            let other = choices.written(events, length) / PAGE * PAGE;
            if page + PAGE <= length && other + PAGE <= length {
                let moved = bytes[page..page + PAGE].to_vec();
                bytes.copy_within(other..other + PAGE, page);
                bytes[other..other + PAGE].copy_from_slice(&moved);
            }
        }
        _ => {
            let sector = at / SECTOR * SECTOR;
            bytes[sector..length.min(sector + SECTOR)].fill(choices.byte());
        }
    }
    *bytes != before
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Found {
    /// It is refused.
    Refused,
    /// It is another journal, which knows of nothing, and says so by its id.
    Other,
    /// It is as it was, or one step behind, with no call that could run again.
    True,
}

/// Writes, damages and opens a journal as the bytes say.
///
/// # Panics
///
/// When what is found is neither refused nor true, or when a call that had begun would be begun again.
pub fn recovered(bytes: &[u8]) -> Found {
    let mut choices = Choices(bytes);
    let written = written(&mut choices);
    let all = written.events.len();
    let events = match choices.byte() {
        0..=127 => all,
        _ => all - choices.below(all.min(64)),
    };
    let mut disk = torn(&written.events[..events], &mut choices);
    let mut damaged = 0;
    for _ in 0..choices.byte() % 4 {
        let changed = damage(&mut disk, &written.events[..events], &mut choices);
        damaged += usize::from(changed);
    }

    let medium = Medium::holding(disk);
    let found = judged(&medium, &written, events, damaged > 0, written.id);
    assert!(medium.lock().bytes.len() <= LARGEST, "the file has grown");
    match found {
        Ok(found) => found,
        Err(JournalError::Damaged { .. } | JournalError::NotAJournal { .. }) if damaged > 0 => {
            Found::Refused
        }
        Err(error) => panic!("after {damaged} damages: {error}"),
    }
}

fn judged(
    medium: &Medium,
    written: &Written,
    events: usize,
    is_damaged: bool,
    id: JournalId,
) -> Result<Found, JournalError> {
    let journal = open(medium, LIMITS)?;
    if journal.id() != id {
        let is_made = written.marks[0].events <= events;
        assert!(is_damaged || !is_made, "its id is another");
        return Ok(Found::Other);
    }
    let told = heard(&journal)?;
    let possible = if is_damaged {
        // The store goes back by one commit.
        let over = over(&written.marks, events);
        let mut commits = written.commits.iter().rev().filter(|at| **at < over);
        from(&written.marks, commits.nth(1).copied().unwrap_or(0), over)
    } else {
        possible(&written.marks, events)
    };
    assert!(
        possible.iter().any(|model| model.heard() == told),
        "after {events} of {} events: {told:#?}\nis none of {possible:#?}",
        written.events.len(),
    );
    for (when, number, key) in &written.begun {
        let again = (0..2).map(|arguments| journal.accept(task(*number), *key, hash(arguments)));
        for admission in again {
            let admission = wait(admission)?;
            let known = match &admission {
                Admission::New | Admission::Known(State::Accepted | State::Started) => false,
                Admission::Known(_) | Admission::Different | Admission::TooOld => true,
            };
            assert!(known || *when > events, "{key} had begun: {admission:?}");
        }
    }
    Ok(Found::True)
}
