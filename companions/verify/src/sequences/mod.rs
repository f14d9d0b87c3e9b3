//! Runs short sequences of calls, for promises that no single call breaks.
//!
//! Each begins with a fresh state and a run of its own. Later calls often take values that earlier ones sent or returned, because
//! otherwise nothing is met that earlier calls have made.
//!
//! | file | what is in it |
//! |---|---|
//! | `call` | a call of a sequence, as data and as a line of a test |
//! | `invent` | the next call |
//! | `source` | one tool: the inputs that it takes, and what has led to it |
//! | `known` | the values that a call may take |
//! | `player` | makes the calls |
//! | `shrink` | as few calls as can be, and simple arguments |

mod call;
mod invent;
mod known;
mod player;
mod shrink;
mod source;

pub use call::SequenceCall;

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::runtime::Runtime;

use self::invent::Inventor;
use self::player::{Break, Player, Step};
use self::source::Source;
use crate::problem::{Fault, Layer, Problem};
use crate::regressions;
use crate::report::{Report, Verified};
use crate::skipped::Skipped;
use crate::subject::Subject;
use crate::{Verifier, panic_hook};

/// The most calls of a sequence.
const LONGEST: usize = 8;

/// How many calls that fail are left out for each that does not.
const FAILED: usize = 3;

/// How many times as many as are wanted are tried, while there is something that none has reached.
const MOST: u32 = 8;

/// For so many tools the number that is wanted is enough; of more tools there are more sequences, if nobody has set their number.
const FEW: u32 = 8;

/// How long sequences are tried: as many as are wanted, and further ones.
const TIME: Duration = Duration::from_secs(30);
const TIME_FOR_MORE: Duration = Duration::from_secs(15);

/// The name under which failing sequences are kept.
const KEPT: &str = "$sequences";

/// Tries sequences of those tools of a report whose bodies may run, if there is anything that earlier calls can change.
pub(super) fn run(verifier: &Verifier, runtime: &Runtime, report: &mut Report) {
    // A body that does not end would end each sequence.
    let ends = |tool: &Verified| !tool.problems.iter().any(|one| one.fault.is_final());
    let tools = report.tools.iter_mut();
    let tools = tools.filter(|tool| tool.evidence.has_run && ends(tool));
    let (subjects, inputs): (Vec<Subject<'_>>, Vec<_>) = tools
        .filter_map(|tool| {
            let subject = Subject::new(&verifier.registry, &tool.tool, runtime)?;
            let evidence = &mut tool.evidence;
            Some((
                subject,
                [&mut evidence.plausible, &mut evidence.ready].map(std::mem::take),
            ))
        })
        .unzip();
    let has_setup = subjects
        .iter()
        .any(|one| verifier.fixtures.is_fresh(one.tried));
    let changes = |one: &&Subject<'_>| {
        one.info.hints().read_only != Some(true) && (has_setup || one.tried.has_state())
    };
    let writers = subjects.iter().filter(changes);
    let tools: Vec<String> = writers.map(|one| one.name().to_owned()).collect();
    let over_history = subjects.iter().any(|one| one.info.asks_history());
    if tools.is_empty() && !over_history {
        return;
    }
    let decided = verifier.sequence_count() == 0;
    if decided || !tools.is_empty() && !has_setup {
        report.skipped.push(Skipped::Sequences { tools, decided });
        return;
    }
    let seed = report.seed;
    let sources = subjects.iter().zip(inputs);
    let sources = sources.map(|(subject, inputs)| Source::new(subject, inputs, seed));
    let inventor = Inventor::new(sources.collect(), seed);
    let mut search = Search {
        verifier,
        player: Player::new(&subjects, &verifier.fixtures),
        report,
        found: Vec::new(),
        failed: Vec::new(),
    };
    search.again();
    search.new_ones(inventor);
    let coverage = std::mem::take(&mut *search.player.coverage.lock());
    let failed = search.failed;
    if let (Some(path), false) = (&verifier.regressions, failed.is_empty())
        && let Err(why) = regressions::save(path, KEPT, &failed)
    {
        report.unsaved = Some(why);
    }
    report.take_coverage(coverage);
}

/// The search for sequences that break a promise.
struct Search<'t, 'p, 'r> {
    verifier: &'t Verifier,
    player: Player<'p, 'r>,
    report: &'t mut Report,
    /// The breaks that were found, one of each kind.
    found: Vec<Break>,
    /// The sequences to be kept.
    failed: Vec<Value>,
}

impl Search<'_, '_, '_> {
    /// Those that failed before.
    fn again(&mut self) {
        let kept = self.verifier.regressions.as_deref();
        let kept = kept.and_then(|path| regressions::load(path, KEPT).ok());
        for sequence in kept.unwrap_or_default() {
            let calls = serde_json::from_value::<Vec<SequenceCall>>(sequence).ok();
            let is_known = |call: &SequenceCall| self.player.knows(&call.tool);
            let Some(mut calls) = calls.filter(|calls| calls.iter().all(is_known)) else {
                continue;
            };
            self.report.sequences += 1;
            if let Some(broken) = self.player.play(&mut calls) {
                calls.truncate(broken.place + 1);
                self.take([calls.clone(), calls], broken);
            }
        }
    }

    /// As many as are wanted, and more while there is something that none of them has reached.
    fn new_ones(&mut self, mut inventor: Inventor<'_>) {
        let mut deadline = Instant::now() + TIME;
        let wanted = self.verifier.sequence_count();
        let enough = match self.verifier.sequences {
            Some(wanted) => wanted,
            None => wanted.saturating_mul(1 + self.player.tools() / FEW),
        };
        for done in 0..wanted.saturating_mul(MOST) {
            if done == wanted {
                deadline = Instant::now() + TIME_FOR_MORE;
            }
            if done >= enough && !self.is_open() {
                return;
            }
            if Instant::now() > deadline {
                if done < wanted {
                    self.report.skipped.push(Skipped::Budget { done, wanted });
                }
                return;
            }
            self.report.more_sequences += u32::from(done >= wanted);
            self.report.sequences += 1;
            if self.new_one(&mut inventor).is_break() {
                return;
            }
        }
    }

    /// Whether nothing is known yet of something that further sequences may reach.
    fn is_open(&self) -> bool {
        let coverage = self.player.coverage.lock();
        let mut tools = self.report.tools.iter();
        tools.any(|tool| self.player.knows(&tool.tool) && tool.is_open(&coverage))
    }

    /// One sequence; a body that does not end, and a state that cannot be reset, end all of them.
    fn new_one(&mut self, inventor: &mut Inventor<'_>) -> ControlFlow<()> {
        let mut play = match self.player.begin() {
            Ok(play) => play,
            Err(why) => {
                let mut tools = self.report.tools.iter_mut();
                if let Some(tool) = tools.find(|tool| self.player.knows(&tool.tool)) {
                    let problem = Problem::of(&tool.tool, Fault::Unjudged { why });
                    tool.problems.push(problem);
                }
                return ControlFlow::Break(());
            }
        };
        let length = inventor.begin(LONGEST);
        // Those that failed changed nothing, in most tools; if one has, the break is found again only with all of them.
        let (mut calls, mut all) = (Vec::new(), Vec::new());
        let mut failed = 0;
        while calls.len() < length {
            let mut call = inventor.next(&calls, &play.results);
            let step = self.player.call(&mut play, &mut call);
            all.push(SequenceCall {
                returned: Vec::new(),
                ..call.clone()
            });
            match step {
                Step::Succeeded => {
                    inventor.succeeded(&call.tool);
                    calls.push(call);
                }
                Step::Failed if failed < length * FAILED => {
                    failed += 1;
                    play.results.pop();
                    play.begin_turn();
                    inventor.refused(&call, &calls, &play.results);
                }
                Step::Failed => calls.push(call),
                Step::Broke(broken) => {
                    calls.push(call);
                    let is_final = broken.failure.fault.is_final();
                    self.take([calls, all], broken);
                    return if is_final {
                        ControlFlow::Break(())
                    } else {
                        ControlFlow::Continue(())
                    };
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Reports a sequence that breaks a promise, unless one like it is reported; first without the calls that failed, then with them.
    fn take(&mut self, [calls, all]: [Vec<SequenceCall>; 2], broken: Break) {
        let kind = |fault: &Fault| std::mem::discriminant(fault);
        let is_known = |problem: &Problem| {
            problem.tool == broken.tool
                && kind(&problem.fault) == kind(&broken.failure.fault)
                && problem.clause == broken.failure.clause
        };
        let is_like = |other: &Break| other.is_like(&broken);
        if self.report.problems().any(is_known) || self.found.iter().any(is_like) {
            return;
        }
        let mut smallest = None;
        if !broken.failure.fault.is_final() {
            smallest = panic_hook::suppress(|| {
                shrink::smallest(&mut self.player, calls, &broken)
                    .or_else(|| shrink::smallest(&mut self.player, all.clone(), &broken))
            });
        }
        let (calls, shown) = match &smallest {
            Some((calls, shown)) => (calls, shown),
            None => (&all, &broken),
        };
        let mut tools = self.report.tools.iter_mut();
        if let Some(tool) = tools.find(|tool| tool.tool == broken.tool) {
            let mut problem = Problem {
                layer: Layer::Promise,
                clause: shown.failure.clause.clone(),
                ..Problem::of(&broken.tool, shown.failure.fault.clone())
            };
            match calls.as_slice() {
                [call] if call.returned.is_empty() => problem.input = Some(call.arguments.clone()),
                _ => problem.calls.clone_from(calls),
            }
            tool.problems.push(problem);
            tool.lines.push(call::lines(calls, &self.verifier.registry));
        }
        self.failed.push(json!(calls));
        self.found.push(broken);
    }
}
