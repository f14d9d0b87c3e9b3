//! Finds boundaries: along each argument, where a condition changes its answer.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;

use super::Boundaries;
use super::bisect::{neighbours, order};
use crate::agree::Judges;
use crate::generate::Generator;
use crate::json::walk;
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

/// The most changes of one condition along one argument that are examined, and how many of them are recorded in each direction,
/// because a condition may have several bounds.
const LOOKS: usize = 24;
const MOST: usize = 4;

/// A letter of each kind that conditions tell apart.
const LETTERS: [char; 6] = ['z', 'Z', '9', '-', ' ', 'é'];

/// The most variants of one argument that are recorded.
const VARIANTS: usize = 16;

/// The answer to one input, apart from conditions over earlier calls, which no single call fulfils.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Answer {
    Accepted,
    /// By this condition alone, so that no other hides a change of it.
    Refused(usize),
    /// By several conditions, or it could not be judged.
    Other,
}

/// Inputs that differ in one argument.
type Line = Vec<(Value, Answer)>;

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
    let kept = kept.iter().filter(|input| {
        let answer = finder.ask(input);
        finder.record(input, answer);
        answer == Answer::Accepted
    });
    let kept = kept.cloned();
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
        if verdicts.ready {
            return Answer::Accepted;
        }
        let mut answer = Answer::Other;
        let clauses = self.judges.clauses.iter().zip(&verdicts.predicates);
        for (place, (clause, verdict)) in clauses.enumerate() {
            match verdict {
                Some(true) => {}
                Some(false) if clause.condition.asks_history() => {}
                Some(false) if answer == Answer::Other => answer = Answer::Refused(place),
                _ => return Answer::Other,
            }
        }
        answer
    }

    fn accepts(&self, input: &Value) -> bool {
        self.ask(input) == Answer::Accepted
    }

    /// Records the answer to an input; returns whether it is new.
    fn record(&mut self, input: &Value, answer: Answer) -> bool {
        let list = match answer {
            Answer::Accepted => &mut self.boundaries.accepts,
            Answer::Refused(_) => &mut self.boundaries.refuses,
            Answer::Other => return false,
        };
        let is_new = self.known.insert(input.to_string());
        if is_new {
            list.push(input.clone());
        }
        is_new
    }

    /// Records both; returns whether the refused one is new.
    fn record_pair(&mut self, pair: &Pair) -> bool {
        self.met.insert(pair.clause);
        self.record(&pair.accepted, Answer::Accepted);
        self.record(&pair.refused, Answer::Refused(pair.clause))
    }

    /// Examines inputs that differ from the base in one argument, in the order of that argument.
    fn along(&mut self, base: &Value, boundaries: Vec<Value>) {
        let mut lines: BTreeMap<String, Line> = BTreeMap::new();
        for input in boundaries {
            let answer = self.ask(&input);
            let Some(name) = differing(base, &input).filter(|_| answer != Answer::Other) else {
                continue;
            };
            let line = lines.entry(name);
            let line = line.or_insert_with(|| vec![(base.clone(), Answer::Accepted)]);
            line.push((input, answer));
        }
        for (name, mut line) in lines {
            line.sort_by(|(one, _), (other, _)| order(one, other));
            self.along_variants(&name, &line);
            self.along_bounds(&line);
            self.letters(&name, base);
        }
    }

    /// Records the answer to each variant, where not all have the same: they have no order in which it would change once.
    fn along_variants(&mut self, name: &str, line: &Line) {
        let is_variant = |input: &Value| {
            let text = input.get(name).and_then(Value::as_str);
            text.is_some_and(|text| self.variants.contains(text))
        };
        let all: Line = line
            .iter()
            .filter(|(input, _)| is_variant(input))
            .cloned()
            .collect();
        let refused = all.iter().find_map(|(_, answer)| match answer {
            Answer::Refused(clause) => Some(*clause),
            _ => None,
        });
        let Some(clause) = refused else { return };
        for (input, answer) in all.iter().take(VARIANTS) {
            self.record(input, *answer);
        }
        self.met.insert(clause);
    }

    /// Records where the answer changes.
    fn along_bounds(&mut self, line: &Line) {
        let mut pairs = Vec::new();
        for clause in 0..self.judges.clauses.len() {
            // What others refuse stands between no two of its neighbours.
            let is_own =
                |answer: Answer| [Answer::Accepted, Answer::Refused(clause)].contains(&answer);
            let own: Vec<_> = line.iter().filter(|(_, answer)| is_own(*answer)).collect();
            let changes = own.windows(2).filter_map(|beside| match beside {
                [(accepted, Answer::Accepted), (refused, Answer::Refused(_))]
                | [(refused, Answer::Refused(_)), (accepted, Answer::Accepted)] => {
                    Some((accepted, refused))
                }
                _ => None,
            });
            for (accepted, refused) in changes.take(LOOKS) {
                pairs.push(self.nearest(accepted, refused, clause));
            }
        }
        pairs.sort_by_cached_key(|pair| {
            let text = pair.accepted.to_string() + &pair.refused.to_string();
            (text.len(), text)
        });
        let mut counts: HashMap<(usize, Ordering, bool), usize> = HashMap::new();
        for pair in pairs {
            let [one, other] = [&pair.accepted, &pair.refused];
            let is_longer = one.to_string().len() != other.to_string().len();
            let direction = (pair.clause, order(one, other), is_longer);
            let count = counts.entry(direction).or_default();
            if *count < MOST && self.record_pair(&pair) {
                *count += 1;
            }
        }
    }

    /// Records which kinds of letters may be added to a text, where it matters which.
    fn letters(&mut self, name: &str, base: &Value) {
        let Some(own) = base.get(name).and_then(Value::as_str) else {
            return;
        };
        let answers = LETTERS.map(|letter| {
            let mut input = base.clone();
            if let Some(slot) = input.get_mut(name) {
                *slot = Value::from(format!("{own}{letter}"));
            }
            let answer = self.ask(&input);
            (input, answer)
        });
        let is_refused = |(_, answer): &(Value, Answer)| matches!(answer, Answer::Refused(_));
        if answers.iter().any(is_refused) && !answers.iter().all(is_refused) {
            for (input, answer) in &answers {
                self.record(input, *answer);
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
                Answer::Refused(clause) if !self.met.contains(&clause) => {
                    let refused = Answer::Refused(clause);
                    let input = shrink::smallest(input, |input| self.ask(input) == refused);
                    let pair = self.nearest(base, &input, clause);
                    self.record_pair(&pair);
                }
                _ => {}
            }
        }
    }

    fn nearest(&self, accepted: &Value, refused: &Value, clause: usize) -> Pair {
        let (kept, lost) = neighbours(accepted, refused, &mut |input| self.accepts(input));
        // Bisection may have ended at another condition.
        let is_near = self.ask(&lost) == Answer::Refused(clause);
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
}

/// The texts that a schema lists.
fn variants(schema: &Value) -> HashSet<String> {
    let mut found = HashSet::new();
    walk(schema, "", &mut |_, part| {
        let listed = part.get("enum").and_then(Value::as_array);
        let listed = listed.into_iter().flatten().chain(part.get("const"));
        found.extend(listed.filter_map(Value::as_str).map(str::to_owned));
    });
    found
}

/// The one argument in which they differ.
fn differing(base: &Value, input: &Value) -> Option<String> {
    let (base, input) = (base.as_object()?, input.as_object()?);
    let names = base.keys().chain(input.keys());
    let names = names.filter(|name| base.get(*name) != input.get(*name));
    let names: HashSet<&String> = names.collect();
    let mut names = names.into_iter().cloned();
    names.next().filter(|_| names.next().is_none())
}
