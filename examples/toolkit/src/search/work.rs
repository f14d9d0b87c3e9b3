//! Sharing the files among threads, and putting what they find in order.

use std::collections::BTreeMap;
use std::thread;

use parking_lot::Mutex;

use super::budget::Budget;
use super::pattern::Pattern;
use super::scan::{Bounds, End, Outcome, Scanner};
use super::walk::{Item, Walk};
use super::{Findings, Stop};

/// How many files a thread takes at once.
const BATCH: usize = 16;

/// More threads would wait for the walk, which only one of them does at a time.
const THREADS: usize = 4;

/// How much one answer holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) hits: usize,
    /// As written in JSON.
    pub(super) characters: usize,
}

/// One search, as its threads see it.
struct Work<'w> {
    walk: Mutex<(Walk, Vec<Item>, u64)>,
    merge: Mutex<Merge>,
    pattern: &'w Pattern,
    bounds: Bounds,
    budget: &'w Budget<'w>,
}

/// Searches every file of a walk; `items` is what the walk has come across before.
///
/// Each thread takes the next files of the walk and searches them, and their outcomes are put back in the order of the
/// walk. So what is found does not depend on how fast a thread is, also when it is cut short.
pub(super) fn search(
    walk: Walk,
    items: Vec<Item>,
    pattern: &Pattern,
    bounds: Bounds,
    room: Room,
    budget: &Budget<'_>,
) -> Findings {
    let work = Work {
        walk: Mutex::new((walk, items, 0)),
        merge: Mutex::new(Merge::new(room)),
        pattern,
        bounds,
        budget,
    };
    let mut scanner = Scanner::new(pattern, bounds, budget);
    // Most searches of few files are over before a thread has started.
    if work.step(&mut scanner) && work.step(&mut scanner) {
        let threads = thread::available_parallelism()
            .map_or(1, usize::from)
            .min(THREADS);
        thread::scope(|scope| {
            for _ in 1..threads {
                // Without another thread it takes longer.
                let _ = thread::Builder::new().spawn_scoped(scope, || {
                    let mut scanner = Scanner::new(work.pattern, work.bounds, work.budget);
                    while work.step(&mut scanner) {}
                });
            }
            while work.step(&mut scanner) {}
        });
    }
    let (walk, ..) = work.walk.into_inner();
    let merge = work.merge.into_inner();
    merge.finish(budget.reason().or(walk.stopped()))
}

/// The findings of one file.
pub(super) fn alone(outcome: Outcome, room: Room, budget: &Budget<'_>) -> Findings {
    let mut merge = Merge::new(room);
    merge.add(0, vec![outcome]);
    merge.finish(budget.reason())
}

impl Work<'_> {
    /// Takes some files and searches them; says whether there may be more.
    fn step(&self, scanner: &mut Scanner<'_>) -> bool {
        if self.budget.is_spent() {
            return false;
        }
        let (items, number, more) = {
            let mut walk = self.walk.lock();
            let (walk, items, number) = &mut *walk;
            let mut items = std::mem::take(items);
            let more = walk.advance(&mut items, BATCH, self.budget);
            *number += 1;
            (items, *number - 1, more)
        };
        let outcomes = items
            .into_iter()
            .map_while(|item| {
                if self.budget.is_over() {
                    return None;
                }
                Some(match item {
                    Item::File(folder, entry) => scanner.entry(&folder, entry),
                    Item::Skipped(reason) => Outcome::skipped(reason),
                })
            })
            .collect();
        if self.merge.lock().add(number, outcomes) {
            self.budget.close();
        }
        more
    }
}

/// Puts outcomes in order.
struct Merge {
    next: u64,
    /// What came before its turn; at most one for each thread.
    waiting: BTreeMap<u64, Vec<Outcome>>,
    findings: Findings,
    room: Room,
}

impl Merge {
    fn new(room: Room) -> Self {
        Self {
            next: 0,
            waiting: BTreeMap::new(),
            findings: Findings::default(),
            room,
        }
    }

    /// Says whether there is no room for more.
    fn add(&mut self, number: u64, outcomes: Vec<Outcome>) -> bool {
        self.waiting.insert(number, outcomes);
        while let Some(outcomes) = self.waiting.remove(&self.next) {
            self.next += 1;
            for outcome in outcomes {
                self.take(outcome);
            }
        }
        self.findings.stopped.is_some()
    }

    fn take(&mut self, outcome: Outcome) {
        if self.findings.stopped.is_some() {
            return;
        }
        for hit in outcome.hits {
            if self.findings.hits.len() >= self.room.hits {
                self.findings.stopped = Some(Stop::Results);
                break;
            }
            // Quotes, a comma, and what is escaped.
            let written = serde_json::to_string(&hit).map_or(0, |text| text.chars().count() + 1);
            let Some(left) = self.room.characters.checked_sub(written) else {
                self.findings.stopped = Some(Stop::Characters);
                break;
            };
            self.room.characters = left;
            self.findings.hits.push(hit);
        }
        match outcome.end {
            End::Whole => self.findings.files_searched += 1,
            End::Skipped(reason) => self.findings.skipped.count(reason),
            End::Unseen => {}
        }
    }

    fn finish(mut self, stopped: Option<Stop>) -> Findings {
        self.findings.stopped = self.findings.stopped.or(stopped);
        self.findings
    }
}
