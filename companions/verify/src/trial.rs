//! The trial of one tool: which inputs are tried, in which order, and what is remembered of them.

use std::collections::HashSet;
use std::mem::Discriminant;

use serde_json::Value;

use super::agree::{Judges, Look};
use super::double::{self, Doubles};
use super::edges::{self, Edges};
use super::generate::{Generator, malformed};
use super::meaning::Meaning;
use super::problem::{Fault, Layer, Problem};
use super::report::Verified;
use super::subject::Subject;
use super::{kept, quiet, reduce};
use crate::contract::policy::Policy;
use crate::{Registry, Status};

/// The inputs that are tried for one that is accepted, which the edges are then put into.
const BASES: u32 = 400;

/// How many more inputs are tried than were asked for, while a precondition has not been seen from both sides.
const PERSISTENCE: u32 = 4;

/// What a trial needs besides the tool.
pub(super) struct Effort<'e> {
    pub(super) cases: u32,
    pub(super) seed: u64,
    pub(super) doubles: &'e Doubles,
    pub(super) runtime: &'e tokio::runtime::Runtime,
}

/// Tries one tool; `remembered` are inputs that failed before, `recorded` those that lay at its edges.
pub(super) fn run(
    registry: &Registry,
    name: &str,
    remembered: &[Value],
    recorded: &Edges,
    effort: &Effort<'_>,
) -> Verified {
    let mut verified = Verified {
        tool: name.to_owned(),
        ..Verified::default()
    };
    let registry = match double::registry_for(registry, name, effort.doubles) {
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
    let accepted = quiet::here(|| {
        verified.problems = recorded.moved(&subject);
        without_bodies(&subject, &tried_first, effort, &mut verified)
    });
    if !accepted.is_empty() {
        let kept = kept::run(&subject, effort.doubles, &accepted);
        verified.ran = kept.ran;
        verified.problems.extend(kept.problems);
    }
    let inputs = verified
        .problems
        .iter()
        .filter_map(|problem| problem.input.as_ref());
    verified.lines = inputs.map(|input| subject.line(input)).collect();
    verified
}

/// What lies at the edges of a tool, if it can be tried at all.
pub(super) fn edges(registry: &Registry, name: &str, effort: &Effort<'_>) -> Option<Edges> {
    let registry = double::registry_for(registry, name, effort.doubles).ok()?;
    let subject = Subject::new(&registry, name, effort.runtime)?;
    Some(quiet::here(|| edges::find(&subject)))
}

/// The first two layers; the inputs that were accepted.
fn without_bodies(
    subject: &Subject<'_>,
    tried_first: &[&Value],
    effort: &Effort<'_>,
    verified: &mut Verified,
) -> Vec<Value> {
    let judges = Judges::new(subject, &mut verified.problems);
    let mut generator = Generator::new(
        subject.name(),
        subject.entry.inputs.schema.json(),
        subject.info.input_schema(),
        subject.info.conditions(),
        effort.seed,
    );
    let mut trial = Trial::new(&judges);
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
    for edge in generator.edges(&base) {
        trial.judge(&edge, &mut generator);
    }
    for text in malformed(&base) {
        trial.refuse(text);
    }
    for _ in 0..effort.cases {
        let input = generator.next();
        trial.judge(&input, &mut generator);
    }
    let mut more = effort.cases.max(250).saturating_mul(PERSISTENCE);
    while more > 0 && trial.meaning.is_open(&judges) {
        more -= 1;
        let input = generator.next();
        trial.judge(&input, &mut generator);
    }
    verified.judged = trial.judged;
    verified.accepted = u32::try_from(trial.accepted.len()).unwrap_or(u32::MAX);
    verified.problems.extend(trial.problems);
    verified.problems.extend(trial.meaning.problems(&judges));
    trial.accepted
}

/// The same thing gone wrong: which clause, what, and in which direction.
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
    meaning: Meaning,
    judged: u32,
    seen: HashSet<String>,
    accepted: Vec<Value>,
    known: HashSet<Key>,
    problems: Vec<Problem>,
}

impl<'t, 's, 'r> Trial<'t, 's, 'r> {
    fn new(judges: &'t Judges<'s, 'r>) -> Self {
        Self {
            judges,
            meaning: Meaning::new(judges),
            judged: 0,
            seen: HashSet::new(),
            accepted: Vec::new(),
            known: HashSet::new(),
            problems: Vec::new(),
        }
    }

    /// Looks at an input, unless it was looked at before.
    fn judge(&mut self, input: &Value, generator: &mut Generator<'_>) -> Look {
        if !self.seen.insert(input.to_string()) {
            return Look::default();
        }
        let mut look = self.judges.look(input);
        self.judged = self.judged.saturating_add(1);
        self.meaning.note(input, &look);
        if look.accepted {
            generator.accepted(input);
            self.accepted.push(input.clone());
        }
        for (place, fault) in std::mem::take(&mut look.faults) {
            if self.known.insert(key(place, &fault)) {
                let problem = self.smallest(input, place, fault);
                self.problems.push(problem);
            }
        }
        look
    }

    /// The problem with the smallest input that shows it.
    fn smallest(&self, input: &Value, place: Option<usize>, fault: Fault) -> Problem {
        let wanted = key(place, &fault);
        let mut shown = fault;
        let input = reduce::smallest(input.clone(), |candidate| {
            let faults = self.judges.look(candidate).faults;
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
            tool: self.judges.subject.name().to_owned(),
            layer: Layer::Agreement,
            clause: place.and_then(|place| Some(self.judges.clauses.get(place)?.id.clone())),
            input: Some(input),
            fault: shown,
        }
    }

    /// Sends what is no JSON object with each key once.
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
            self.problems.push(Problem {
                tool: self.judges.subject.name().to_owned(),
                layer: Layer::Agreement,
                clause: None,
                input: None,
                fault,
            });
        }
    }
}
