//! Finds boundaries: along each argument, where a condition changes its answer.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::Boundaries;
use super::bisect::{Direction, direction, neighbours, order};
use crate::agree::Judges;
use crate::generate::Generator;
use crate::shrink;
use crate::subject::Subject;

/// A fixed seed, so that every recording tries the same inputs.
const SEED: u64 = 0;

/// How many inputs are tried to find an accepted one.
const BASES: u32 = 400;

/// The random inputs, for conditions that no single argument breaks.
const CHANCE: u32 = 2_000;

/// The most changes of one condition along one argument that are examined.
const LOOKS: usize = 24;

/// How many of them are recorded in each direction: several for numbers, for which a condition may have several bounds,
/// otherwise the simplest.
const NUMBERS: usize = 8;
const OTHERS: usize = 1;

/// The answer to one input.
#[derive(Clone, Debug, PartialEq)]
enum Answer {
    /// It is not an input of the tool, or could not be judged.
    None,
    Accepted,
    /// By these conditions.
    Refused(Vec<usize>),
}

struct Finder<'f, 's, 'r> {
    judges: &'f Judges<'s, 'r>,
    boundaries: Boundaries,
    known: HashSet<String>,
    /// The conditions that have a boundary.
    met: HashSet<usize>,
}

/// Two neighbouring inputs, of which one is accepted, and the condition that refuses the other.
struct Pair {
    accepted: Value,
    refused: Value,
    clause: usize,
}

/// Finds the boundaries of a tool. No body runs.
pub(crate) fn find(subject: &Subject<'_>) -> Boundaries {
    let judges = Judges::new(subject, &mut Vec::new());
    let mut finder = Finder {
        judges: &judges,
        boundaries: Boundaries::default(),
        known: HashSet::new(),
        met: HashSet::new(),
    };
    let mut generator = Generator::of(subject, SEED);
    if judges.clauses.is_empty() {
        return finder.boundaries;
    }
    let mut bases = (0..BASES).map(|_| generator.right());
    let Some(base) = bases.find(|input| finder.accepts(input)) else {
        return finder.boundaries;
    };
    let base = shrink::smallest(base, |input| finder.accepts(input));
    finder.along(&base, generator.boundaries(&base));
    finder.by_chance(&base, &mut generator);
    finder.boundaries
}

impl Finder<'_, '_, '_> {
    fn ask(&self, input: &Value) -> Answer {
        let verdicts = self.judges.judge(input);
        if !verdicts.typed {
            return Answer::None;
        }
        if verdicts.accepted {
            return Answer::Accepted;
        }
        let mut failed = Vec::new();
        for (clause, verdict) in verdicts.predicates.iter().enumerate() {
            match verdict {
                Some(true) => {}
                Some(false) => failed.push(clause),
                None => return Answer::None,
            }
        }
        Answer::Refused(failed)
    }

    fn accepts(&self, input: &Value) -> bool {
        self.ask(input) == Answer::Accepted
    }

    /// Whether this condition alone refuses the input, so that no other hides a change of it.
    fn only(&self, input: &Value, clause: usize) -> bool {
        self.ask(input) == Answer::Refused(vec![clause])
    }

    /// Examines inputs that differ from the base in one argument, in the order of that argument.
    fn along(&mut self, base: &Value, boundaries: Vec<Value>) {
        let mut lines: HashMap<String, Vec<(Value, Value, Answer)>> = HashMap::new();
        let mut names = Vec::new();
        for input in boundaries {
            let Some(name) = differing(base, &input) else {
                continue;
            };
            let answer = self.ask(&input);
            let alone = match &answer {
                Answer::None => false,
                Answer::Accepted => true,
                Answer::Refused(by) => by.len() == 1,
            };
            if !alone {
                continue;
            }
            let value = input.get(&name).cloned().unwrap_or_default();
            let line = lines.entry(name.clone()).or_insert_with(|| {
                let own = base.get(&name).cloned().unwrap_or_default();
                names.push(name);
                vec![(own, base.clone(), Answer::Accepted)]
            });
            line.push((value, input, answer));
        }
        for name in names {
            let Some(mut line) = lines.remove(&name) else {
                continue;
            };
            line.sort_by(|(one, ..), (other, ..)| order(one, other));
            self.changes(&name, &line);
        }
    }

    /// Records where the answer changes along one argument.
    fn changes(&mut self, name: &str, line: &[(Value, Value, Answer)]) {
        let mut looks: HashMap<usize, usize> = HashMap::new();
        let mut pairs = Vec::new();
        for beside in line.windows(2) {
            let ([
                (_, accepted, Answer::Accepted),
                (_, refused, Answer::Refused(by)),
            ]
            | [
                (_, refused, Answer::Refused(by)),
                (_, accepted, Answer::Accepted),
            ]) = beside
            else {
                continue;
            };
            let Some(clause) = by.first().copied() else {
                continue;
            };
            let looks = looks.entry(clause).or_default();
            *looks += 1;
            if *looks <= LOOKS {
                pairs.push(self.nearest(accepted, refused, clause));
            }
        }
        pairs.sort_by_cached_key(|pair| {
            let texts = [&pair.accepted, &pair.refused].map(Value::to_string);
            (texts.concat().len(), texts)
        });
        let mut counts: HashMap<(usize, Direction), usize> = HashMap::new();
        for pair in pairs {
            let [one, other] = [&pair.accepted, &pair.refused].map(|input| input.get(name));
            let nothing = Value::Null;
            let (one, other) = (one.unwrap_or(&nothing), other.unwrap_or(&nothing));
            let most = if one.is_number() { NUMBERS } else { OTHERS };
            let count = counts
                .entry((pair.clause, direction(one, other)))
                .or_default();
            if *count < most && self.record(pair) {
                *count += 1;
            }
        }
    }

    /// For conditions that no single argument of the base breaks alone, such as one over two of them.
    fn by_chance(&mut self, base: &Value, generator: &mut Generator<'_>) {
        for _ in 0..CHANCE {
            if self.met.len() == self.judges.clauses.len() {
                break;
            }
            let input = generator.next();
            match self.ask(&input) {
                Answer::Accepted => generator.accepted(&input),
                Answer::Refused(by) => {
                    if let [clause] = by.as_slice()
                        && !self.met.contains(clause)
                    {
                        let refused = shrink::smallest(input, |input| self.only(input, *clause));
                        let pair = self.nearest(base, &refused, *clause);
                        self.record(pair);
                    }
                }
                Answer::None => {}
            }
        }
    }

    fn nearest(&self, accepted: &Value, refused: &Value, clause: usize) -> Pair {
        let (kept, lost) = neighbours(accepted, refused, &mut |input| self.accepts(input));
        // Bisection may have ended at another condition.
        let is_near = self.only(&lost, clause);
        let (accepted, refused) = if is_near {
            (kept, lost)
        } else {
            (accepted.clone(), refused.clone())
        };
        Pair {
            accepted,
            refused,
            clause,
        }
    }

    /// Whether the refused one is new.
    fn record(&mut self, pair: Pair) -> bool {
        self.met.insert(pair.clause);
        if self.known.insert(pair.accepted.to_string()) {
            self.boundaries.accepts.push(pair.accepted);
        }
        let is_new = self.known.insert(pair.refused.to_string());
        if is_new {
            self.boundaries.refuses.push(pair.refused);
        }
        is_new
    }
}

/// The one argument in which they differ.
fn differing(base: &Value, input: &Value) -> Option<String> {
    let (base, input) = (base.as_object()?, input.as_object()?);
    let mut names: Vec<&String> = base
        .keys()
        .chain(input.keys())
        .filter(|name| base.get(*name) != input.get(*name))
        .collect();
    names.dedup();
    match names.as_slice() {
        [name] => Some((*name).clone()),
        [one, other] if one == other => Some((*one).clone()),
        _ => None,
    }
}
