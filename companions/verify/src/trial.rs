//! Verifies one tool: which inputs are tried, in which order, and what is remembered of them.

use std::collections::HashSet;
use std::mem::Discriminant;
use std::path::Path;

use contract_runtime::ConditionKind;
use contract_runtime::Policy;
use contract_runtime::{Registry, Status};
use serde_json::Value;

use super::agree::{Judges, Verdicts};
use super::boundaries::{self, Boundaries};
use super::fixtures::{self, Fixtures};
use super::generate::{Generator, malformed};
use super::problem::{Fault, Problem};
use super::report::Verified;
use super::skipped::Skipped;
use super::subject::Subject;
use super::vacuity::Vacuity;
use super::{panic_hook, postconditions, shrink};

/// How many inputs are tried to find an accepted one, into which boundary values are then put.
const BASES: u32 = 400;

/// How many times as many further inputs are tried while a precondition has only been true or only been false.
const PERSISTENCE: u32 = 4;

/// The configuration of a trial.
pub(super) struct Effort<'e> {
    pub(super) cases: u32,
    pub(super) seed: u64,
    pub(super) fixtures: &'e Fixtures,
    pub(super) runtime: &'e tokio::runtime::Runtime,
    /// Where the boundaries of the tool are recorded.
    pub(super) record: Option<&'e Path>,
}

/// Verifies one tool; `remembered` are inputs that failed before, `recorded` its recorded boundaries.
pub(super) fn run(
    registry: &Registry,
    name: &str,
    remembered: &[Value],
    recorded: &Boundaries,
    effort: &Effort<'_>,
) -> Verified {
    let mut verified = Verified {
        tool: name.to_owned(),
        ..Verified::default()
    };
    let registry = match fixtures::registry_for(registry, name, effort.fixtures) {
        Ok(registry) => registry,
        Err(problem) => {
            verified.problems.push(*problem);
            return verified;
        }
    };
    let Some(subject) = Subject::new(&registry, name, effort.runtime) else {
        return verified;
    };
    let tried_first: Vec<&Value> = remembered.iter().chain(recorded.all()).collect();
    let accepted = panic_hook::suppress(|| {
        verified.problems = recorded.moved(&subject);
        without_bodies(&subject, &tried_first, effort, &mut verified)
    });
    let conditions = subject.info.conditions().iter();
    let promised = conditions.filter(|one| one.condition().kind() == ConditionKind::Post);
    let promised: Vec<String> = promised.map(|one| one.id().to_owned()).collect();
    let read_only = subject.info.hints().read_only == Some(true);
    if effort.fixtures.may_run(subject.tried, read_only) {
        postconditions::run(&subject, effort.fixtures, &accepted, &mut verified);
    } else {
        verified.skipped.push(Skipped::Body {
            tool: name.to_owned(),
            postconditions: promised.len(),
            decided: effort.fixtures.decided(subject.tried).is_some(),
        });
    }
    verified.evidence.postconditions = promised;
    if let Some(path) = effort.record {
        let found = panic_hook::suppress(|| boundaries::find(&subject, remembered));
        if let Err(why) = found.save(path, name) {
            let problem = Problem::of(name, Fault::Unrecorded { why });
            verified.problems.push(problem);
        }
    }
    let problems = verified.problems.iter();
    let inputs = problems.filter_map(|problem| problem.input.as_ref());
    verified.lines = inputs.map(|input| subject.line(input)).collect();
    verified
}

/// Runs the first two layers, and returns the accepted inputs.
fn without_bodies(
    subject: &Subject<'_>,
    tried_first: &[&Value],
    effort: &Effort<'_>,
    verified: &mut Verified,
) -> Vec<Value> {
    let judges = Judges::new(subject, &mut verified.problems);
    let mut generator = Generator::of(subject, effort.seed);
    let mut trial = Trial {
        vacuity: Vacuity::new(&judges),
        judges: &judges,
        verified,
        seen: HashSet::new(),
        accepted: Vec::new(),
        known: HashSet::new(),
    };
    for input in tried_first {
        trial.judge(input, &mut generator);
    }
    let mut base = generator.typed();
    for _ in 0..BASES {
        let input = generator.right();
        if trial.judge(&input, &mut generator).accepted {
            base = input;
            break;
        }
    }
    for boundary in generator.boundaries(&base) {
        trial.judge(&boundary, &mut generator);
    }
    for text in malformed(&base) {
        trial.refuse(text);
    }
    for _ in 0..effort.cases {
        let input = generator.next();
        trial.judge(&input, &mut generator);
    }
    // What a body does is seen with accepted inputs alone.
    let enough = usize::try_from(effort.cases).unwrap_or(usize::MAX);
    for _ in 0..effort.cases {
        if trial.accepted.len() >= enough {
            break;
        }
        let input = generator.varied();
        trial.judge(&input, &mut generator);
    }
    let mut more = effort.cases.max(250).saturating_mul(PERSISTENCE);
    while more > 0 && trial.vacuity.is_open(&judges) {
        more -= 1;
        let input = generator.next();
        trial.judge(&input, &mut generator);
    }
    let Trial {
        verified,
        vacuity,
        accepted,
        ..
    } = trial;
    verified.accepted = u32::try_from(accepted.len()).unwrap_or(u32::MAX);
    let ids = judges.clauses.iter().map(|clause| clause.id.clone());
    verified.evidence.preconditions = ids.collect();
    vacuity.cover(&judges, &mut verified.evidence.coverage);
    verified.problems.extend(vacuity.problems(&judges));
    accepted
}

/// Identifies a kind of fault: the clause, the fault, and its direction.
type Key = (Option<usize>, Discriminant<Fault>, Option<bool>);

fn key(place: Option<usize>, fault: &Fault) -> Key {
    let direction = match fault {
        Fault::Types { schema, .. } | Fault::Schema { schema, .. } => Some(*schema),
        Fault::Rule { says, .. } => Some(*says),
        Fault::Published { published } => Some(*published),
        _ => None,
    };
    (place, std::mem::discriminant(fault), direction)
}

struct Trial<'t, 's, 'r> {
    judges: &'t Judges<'s, 'r>,
    verified: &'t mut Verified,
    vacuity: Vacuity,
    seen: HashSet<String>,
    accepted: Vec<Value>,
    known: HashSet<Key>,
}

impl Trial<'_, '_, '_> {
    /// Judges an input, unless it was judged before.
    fn judge(&mut self, input: &Value, generator: &mut Generator<'_>) -> Verdicts {
        if !self.seen.insert(input.to_string()) {
            return Verdicts::default();
        }
        let mut verdicts = self.judges.judge(input);
        self.verified.judged = self.verified.judged.saturating_add(1);
        self.vacuity.note(input, &verdicts);
        if verdicts.allowed || verdicts.lacks_given {
            generator.accepted(input);
            self.verified.evidence.plausible.push(input.clone());
        }
        if verdicts.ready {
            self.verified.evidence.ready.push(input.clone());
        }
        if verdicts.accepted {
            self.accepted.push(input.clone());
        }
        for (place, fault) in std::mem::take(&mut verdicts.faults) {
            if self.known.insert(key(place, &fault)) {
                let problem = self.smallest(input, place, fault);
                self.verified.problems.push(problem);
            }
        }
        verdicts
    }

    /// The problem with the smallest input that shows it.
    fn smallest(&self, input: &Value, place: Option<usize>, fault: Fault) -> Problem {
        let wanted = key(place, &fault);
        let mut shown = fault;
        let input = shrink::smallest(input.clone(), |candidate| {
            let faults = self.judges.judge(candidate).faults;
            let same = faults
                .into_iter()
                .find(|(place, fault)| key(*place, fault) == wanted);
            if let Some((_, fault)) = same {
                shown = fault;
                return true;
            }
            false
        });
        Problem {
            clause: place.and_then(|place| Some(self.judges.clauses.get(place)?.id.clone())),
            input: Some(input),
            ..Problem::of(self.judges.subject.name(), shown)
        }
    }

    /// Sends text that is not a JSON object with unique keys.
    fn refuse(&mut self, sent: String) {
        let outcome = self
            .judges
            .subject
            .check_text(sent.clone(), Policy::Enforce);
        if outcome.status() == Status::InvalidArguments {
            return;
        }
        let fault = Fault::Text { sent };
        if self.known.insert(key(None, &fault)) {
            let problem = Problem::of(self.judges.subject.name(), fault);
            self.verified.problems.push(problem);
        }
    }
}
