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
use std::time::Duration;

use serde_json::Value;
use tokio::runtime::Runtime;

use self::invent::Inventor;
pub(super) use self::player::Tally;
use self::player::{Break, Clock, Play, Player, Step};
use self::source::Source;
use crate::problem::{Fault, Layer, Problem};
use crate::regressions;
use crate::report::Report;
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
    let seed = report.seed;
    let subjects: Vec<Subject<'_>> = report
        .tools
        .iter()
        .filter(|tool| tool.evidence.postconditions.is_some())
        // A body that does not end would end each sequence.
        .filter(|tool| !tool.problems.iter().any(|one| one.fault.is_final()))
        .filter_map(|tool| Subject::new(&verifier.registry, &tool.tool, runtime))
        .collect();
    let changes = |subject: &Subject<'_>| subject.info.hints().read_only != Some(true);
    let has_setup = subjects
        .iter()
        .any(|one| verifier.fixtures.is_fresh(one.tried));
    let writers: Vec<&Subject<'_>> = subjects
        .iter()
        .filter(|one| changes(one) && (has_setup || one.tried.has_state()))
        .collect();
    let over_history = subjects.iter().any(|one| one.info.asks_history());
    if writers.is_empty() && !over_history {
        return;
    }
    let unreset = writers.iter().map(|one| one.name().to_owned());
    let decided = verifier.sequence_count() == 0;
    if decided || !writers.is_empty() && !has_setup {
        let tools = unreset.collect();
        report.skipped.push(Skipped::Sequences { tools, decided });
        return;
    }
    let sources = subjects.iter().map(|subject| {
        let mut tools = report.tools.iter_mut();
        let own = tools.find(|tool| tool.tool == subject.name());
        let inputs = own.map(|tool| {
            let evidence = &mut tool.evidence;
            [&mut evidence.plausible, &mut evidence.ready].map(std::mem::take)
        });
        Source::new(subject, inputs.unwrap_or_default(), seed)
    });
    let inventor = Inventor::new(sources.collect(), seed);
    let mut player = Player::new(&subjects, &verifier.fixtures);
    let mut trial = Trial {
        player: &mut player,
        report,
        found: Vec::new(),
        failed: Vec::new(),
    };
    trial.again(verifier);
    trial.new_ones(verifier, inventor);
    let failed = trial.failed;
    if let (Some(path), false) = (&verifier.regressions, failed.is_empty())
        && let Err(why) = regressions::save(path, KEPT, &failed)
    {
        report.unsaved = Some(why);
    }
    report.take_tally(&player.tally.lock());
}

struct Trial<'t, 'p, 'r> {
    player: &'t mut Player<'p, 'r>,
    report: &'t mut Report,
    /// The breaks that were found, one of each kind.
    found: Vec<Break>,
    /// The sequences to be kept.
    failed: Vec<Value>,
}

impl Trial<'_, '_, '_> {
    /// Those that failed before.
    fn again(&mut self, verifier: &Verifier) {
        let kept = verifier.regressions.as_deref();
        let kept = kept.and_then(|path| regressions::load(path, KEPT).ok());
        for sequence in kept.unwrap_or_default() {
            let calls = sequence.as_array().map_or(&[][..], Vec::as_slice);
            let calls: Option<Vec<SequenceCall>> = calls.iter().map(SequenceCall::read).collect();
            let Some(mut calls) =
                calls.filter(|calls| calls.iter().all(|call| self.player.knows(&call.tool)))
            else {
                continue;
            };
            self.report.sequences += 1;
            if let Some(broken) = self.player.play(&mut calls) {
                calls.truncate(broken.place + 1);
                self.take([calls.clone(), calls], broken, verifier);
            }
        }
    }

    /// As many as are wanted, and more while there is something that none of them has reached.
    fn new_ones(&mut self, verifier: &Verifier, mut inventor: Inventor<'_>) {
        let mut clock = Clock::new(TIME);
        let wanted = verifier.sequence_count();
        let enough = match verifier.sequences {
            Some(wanted) => wanted,
            None => wanted.saturating_mul(1 + self.player.tools() / FEW),
        };
        for done in 0..wanted.saturating_mul(MOST) {
            if done == wanted {
                clock = Clock::new(TIME_FOR_MORE);
            }
            if clock.is_over() {
                if done < wanted {
                    self.report.skipped.push(Skipped::Budget { done, wanted });
                }
                return;
            }
            if done >= wanted {
                if done >= enough && !self.is_open() {
                    return;
                }
                self.report.more_sequences += 1;
            }
            let mut play = match self.player.begin() {
                Ok(play) => play,
                Err(why) => {
                    let mut tools = self.report.tools.iter_mut();
                    if let Some(tool) = tools.find(|tool| self.player.knows(&tool.tool)) {
                        let problem = Problem::of(&tool.tool, Fault::Unjudged { why });
                        tool.problems.push(problem);
                    }
                    return;
                }
            };
            self.report.sequences += 1;
            if self.new_one(&mut inventor, &mut play, verifier).is_break() {
                return;
            }
        }
    }

    /// Whether nothing is known yet of something that further sequences may reach.
    fn is_open(&self) -> bool {
        let tally = self.player.tally.lock();
        let mut tools = self.report.tools.iter();
        tools.any(|tool| self.player.knows(&tool.tool) && tool.is_open(&tally))
    }

    /// One sequence; a break ends all of them.
    fn new_one(
        &mut self,
        inventor: &mut Inventor<'_>,
        play: &mut Play,
        verifier: &Verifier,
    ) -> ControlFlow<()> {
        let length = inventor.begin(LONGEST);
        // Those that failed changed nothing, in most tools; if one has, the break is found again only with all of them.
        let (mut calls, mut all) = (Vec::new(), Vec::new());
        let mut failed = 0;
        while calls.len() < length {
            let mut call = inventor.next(&calls, &play.results);
            let step = self.player.call(play, &mut call);
            all.push(SequenceCall {
                returned: Vec::new(),
                ..call.clone()
            });
            match step {
                Step::Succeeded => {
                    calls.push(call);
                    inventor.succeeded(&calls);
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
                    let is_final = broken.failure.is_final();
                    self.take([calls, all], broken, verifier);
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
    fn take(&mut self, [calls, all]: [Vec<SequenceCall>; 2], broken: Break, verifier: &Verifier) {
        let is_known = |problem: &Problem| {
            let of_kind = std::mem::discriminant(&problem.fault)
                == std::mem::discriminant(&broken.failure.fault);
            problem.tool == broken.tool && of_kind && problem.clause == broken.failure.clause
        };
        if self.report.problems().any(is_known)
            || self.found.iter().any(|other| other.is_like(&broken))
        {
            return;
        }
        let mut last = None;
        let mut shown_calls = all.clone();
        for calls in [calls, all] {
            if last.is_none() && !broken.failure.is_final() {
                let smallest = || shrink::smallest(self.player, calls, &broken);
                if let Some((calls, broken)) = panic_hook::suppress(smallest) {
                    (shown_calls, last) = (calls, Some(broken));
                }
            }
        }
        let calls = shown_calls;
        let shown = last.as_ref().unwrap_or(&broken);
        let tool = self
            .report
            .tools
            .iter_mut()
            .find(|tool| tool.tool == broken.tool);
        if let Some(tool) = tool {
            let mut problem = Problem {
                tool: broken.tool.clone(),
                layer: Layer::Promise,
                clause: shown.failure.clause.clone(),
                input: None,
                calls: calls.clone(),
                fault: shown.failure.fault.clone(),
            };
            if let ([call], false) = (
                calls.as_slice(),
                calls.iter().any(|call| !call.returned.is_empty()),
            ) {
                problem.input = Some(call.arguments.clone());
                problem.calls = Vec::new();
            }
            tool.problems.push(problem);
            tool.lines.push(call::lines(&calls, &verifier.registry));
        }
        self.failed
            .push(calls.iter().map(SequenceCall::write).collect());
        self.found.push(broken);
    }
}
