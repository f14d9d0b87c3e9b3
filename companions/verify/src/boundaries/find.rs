//! Finds boundaries: along each argument, where a condition changes its answer.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::Boundaries;
use super::bisect::{Direction, direction, neighbours, order};
use super::readable::readable;
use crate::agree::Judges;
use crate::generate::Generator;
use crate::shrink;
use crate::subject::Subject;

/// A fixed seed, so that every recording tries the same inputs.
const SEED: u64 = 0;

/// How many inputs are tried to find an accepted one.
const BASES: u32 = 400;

/// The most kept inputs around which boundaries are looked for.
const KEPT: usize = 8;

/// The random inputs, for conditions that no single argument breaks.
const CHANCE: u32 = 2_000;

/// The most changes of one condition along one argument that are examined.
const LOOKS: usize = 24;

/// How many of them are recorded in each direction: several for numbers, for which a condition may have several bounds, and for
/// texts of another form, otherwise the simplest.
const NUMBERS: usize = 8;
const TEXTS: usize = 3;
const OTHERS: usize = 1;

/// A letter of each kind that conditions tell apart.
const LETTERS: [char; 6] = ['z', 'Z', '9', '-', ' ', 'é'];

/// The most variants of one argument that are recorded.
const VARIANTS: usize = 16;

/// The answer to one input.
#[derive(Clone, Debug, PartialEq)]
enum Answer {
    /// It is not an input of the tool, or could not be judged.
    None,
    /// By all but conditions over earlier calls, which no single call fulfils.
    Accepted,
    /// By these conditions.
    Refused(Vec<usize>),
}

struct Finder<'f, 's, 'r> {
    judges: &'f Judges<'s, 'r>,
    boundaries: Boundaries,
    known: HashSet<String>,
    /// The names of the variants of all types.
    variants: HashSet<String>,
    /// The conditions that have a boundary.
    met: HashSet<usize>,
}

/// Two neighbouring inputs, of which one is accepted, and the condition that refuses the other.
struct Pair {
    accepted: Value,
    refused: Value,
    clause: usize,
}

/// Finds the boundaries of a tool, around a small accepted input and around those that are kept. No body runs.
pub(crate) fn find(subject: &Subject<'_>, kept: &[Value]) -> Boundaries {
    let judges = Judges::new(subject, &mut Vec::new());
    let mut finder = Finder {
        judges: &judges,
        boundaries: Boundaries::default(),
        known: HashSet::new(),
        variants: variants(subject.tried.types()),
        met: HashSet::new(),
    };
    let mut generator = Generator::of(subject, SEED);
    if judges.clauses.is_empty() {
        return finder.boundaries;
    }
    let mut inputs = (0..BASES).map(|_| generator.right());
    let base = inputs.find(|input| finder.accepts(input));
    let base = base.map(|base| shrink::smallest(base, |input| finder.accepts(input)));
    let kept = kept.iter().filter(|input| finder.keep(input)).cloned();
    let bases: Vec<Value> = kept.take(KEPT).collect();
    let bases: Vec<Value> = base.into_iter().chain(bases).collect();
    for base in &bases {
        finder.along(base, generator.boundaries(base));
    }
    if let Some(base) = bases.first() {
        finder.by_chance(base, &mut generator);
    }
    finder.boundaries
}

impl Finder<'_, '_, '_> {
    fn ask(&self, input: &Value) -> Answer {
        let verdicts = self.judges.judge(input);
        if !verdicts.typed {
            return Answer::None;
        }
        if verdicts.ready {
            return Answer::Accepted;
        }
        let mut failed = Vec::new();
        let clauses = self.judges.clauses.iter().zip(&verdicts.predicates);
        for (place, (clause, verdict)) in clauses.enumerate() {
            match verdict {
                Some(true) => {}
                Some(false) if clause.condition.asks_history() => {}
                Some(false) => failed.push(place),
                None => return Answer::None,
            }
        }
        if failed.is_empty() {
            Answer::None
        } else {
            Answer::Refused(failed)
        }
    }

    fn accepts(&self, input: &Value) -> bool {
        self.ask(input) == Answer::Accepted
    }

    /// Records the answer to an input that somebody has kept, unless several conditions refuse it; returns whether it is accepted.
    fn keep(&mut self, input: &Value) -> bool {
        let answer = self.ask(input);
        let list = match &answer {
            Answer::Accepted => &mut self.boundaries.accepts,
            Answer::Refused(by) if by.len() == 1 => &mut self.boundaries.refuses,
            _ => return false,
        };
        if self.known.insert(input.to_string()) {
            list.push(input.clone());
        }
        answer == Answer::Accepted
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
            self.variants(&line);
            self.changes(&name, &line);
            self.shapes(&name, base, &line);
        }
    }

    /// Records which kinds of letters a text may have, where its letters matter and not its length alone.
    fn shapes(&mut self, name: &str, base: &Value, line: &[(Value, Value, Answer)]) {
        let Some(own) = base.get(name).and_then(Value::as_str) else {
            return;
        };
        let length = |value: &Value| value.as_str().map(|text| text.chars().count());
        let is_accepted = |count| {
            let mut all = line.iter();
            all.any(|(value, _, answer)| length(value) == count && *answer == Answer::Accepted)
        };
        let matters = line.iter().any(|(value, _, answer)| {
            matches!(answer, Answer::Refused(_)) && value.is_string() && is_accepted(length(value))
        });
        if !matters {
            return;
        }
        let answers = LETTERS.map(|letter| {
            let mut input = base.clone();
            if let Some(slot) = input.get_mut(name) {
                *slot = Value::from(format!("{own}{letter}"));
            }
            let answer = self.ask(&input);
            (input, answer)
        });
        let is_refused = |answer: &Answer| matches!(answer, Answer::Refused(by) if by.len() == 1);
        if !answers.iter().any(|(_, answer)| is_refused(answer)) {
            return;
        }
        for (input, answer) in answers {
            let list = match answer {
                Answer::Accepted => &mut self.boundaries.accepts,
                answer if is_refused(&answer) => &mut self.boundaries.refuses,
                _ => continue,
            };
            if self.known.insert(input.to_string()) {
                list.push(input);
            }
        }
    }

    /// Records the answer to each variant, where not all have the same: they have no order in which it would change once.
    fn variants(&mut self, line: &[(Value, Value, Answer)]) {
        let is_variant = |value: &Value| {
            value
                .as_str()
                .is_some_and(|text| self.variants.contains(text))
        };
        let all: Vec<&(Value, Value, Answer)> = line
            .iter()
            .filter(|(value, ..)| is_variant(value))
            .collect();
        let clauses = all.iter().filter_map(|(_, _, answer)| match answer {
            Answer::Refused(by) => by.first().copied(),
            _ => None,
        });
        let Some(clause) = clauses.min() else { return };
        for (_, input, answer) in all.into_iter().take(VARIANTS) {
            let list = match answer {
                Answer::Accepted => &mut self.boundaries.accepts,
                Answer::Refused(_) => &mut self.boundaries.refuses,
                Answer::None => continue,
            };
            if self.known.insert(input.to_string()) {
                list.push(input.clone());
            }
        }
        self.met.insert(clause);
    }

    /// Records where the answer changes along one argument.
    fn changes(&mut self, name: &str, line: &[(Value, Value, Answer)]) {
        let mut pairs = Vec::new();
        for clause in 0..self.judges.clauses.len() {
            // What others refuse stands between no two of its neighbours.
            let own: Vec<(&Value, bool)> = line
                .iter()
                .filter_map(|(_, input, answer)| match answer {
                    Answer::Accepted => Some((input, true)),
                    Answer::Refused(by) if *by == [clause] => Some((input, false)),
                    _ => None,
                })
                .collect();
            let changes = own.windows(2).filter_map(|beside| match beside {
                [(accepted, true), (refused, false)] | [(refused, false), (accepted, true)] => {
                    Some((*accepted, *refused))
                }
                _ => None,
            });
            for (accepted, refused) in changes.take(LOOKS) {
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
            let direction = direction(one, other);
            let most = match direction {
                Direction::Size { number: true, .. } => NUMBERS,
                Direction::Other if one.is_string() => TEXTS,
                _ => OTHERS,
            };
            let count = counts.entry((pair.clause, direction)).or_default();
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
        let (accepted, refused) = readable(accepted, refused, &mut |accepted, refused| {
            self.accepts(accepted) && self.only(refused, clause)
        });
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

/// The texts that a schema lists.
fn variants(schema: &Value) -> HashSet<String> {
    let mut found = HashSet::new();
    let own = ["enum", "const"]
        .into_iter()
        .filter_map(|word| schema.get(word));
    for listed in own {
        let values = listed
            .as_array()
            .map_or(std::slice::from_ref(listed), Vec::as_slice);
        found.extend(values.iter().filter_map(Value::as_str).map(str::to_owned));
    }
    let parts: Vec<&Value> = match schema {
        Value::Array(items) => items.iter().collect(),
        Value::Object(members) => members.values().collect(),
        _ => Vec::new(),
    };
    found.extend(parts.into_iter().flat_map(variants));
    found
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
