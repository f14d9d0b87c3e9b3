//! Records accepted and refused arguments at each boundary, and compares later runs with them.
//!
//! The forms of a condition agree on a bound that is wrong in all of them, and a bound that became tighter refuses the very inputs
//! that would have shown a broken postcondition. A record of what was accepted and refused before detects both.
//!
//! | file | what is in it |
//! |---|---|
//! | `find` | which arguments are worth recording |
//! | `bisect` | from an accepted input and a refused one to two neighbours |

mod bisect;
mod find;

use std::path::Path;

use serde_json::{Map, Value, json};

pub(super) use find::find;

use super::problem::{Fault, Layer, Problem};
use super::regressions;
use super::subject::Subject;

/// The most newly accepted inputs that are reported for one tool, because the condition that changed is unknown.
const SHOWN: usize = 3;

/// Longer texts are written by the characters that they repeat: `{"$repeat": [["a", 4095], ["é", 1]]}`.
const LONG: usize = 100;
const REPEAT: &str = "$repeat";

/// Longer lists are written by the items that they repeat: `{"$items": [[0, 64]]}`.
const MANY: usize = 8;
const ITEMS: &str = "$items";

/// The most repetitions of one part, whatever the file says.
const LONGEST: usize = 1 << 20;

/// The accepted and the refused inputs at the boundaries of a tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Boundaries {
    pub(super) accepts: Vec<Value>,
    pub(super) refuses: Vec<Value>,
}

impl Boundaries {
    /// Loads those of one tool, if they were recorded.
    ///
    /// # Errors
    ///
    /// What is wrong with the file, if it is there and cannot be read.
    pub(super) fn load(path: &Path, tool: &str) -> Result<Self, String> {
        let file = regressions::file(path, tool);
        let all = regressions::read(&file)?;
        let Some(own) = all.get(tool) else {
            return Ok(Self::default());
        };
        let list = |name| {
            let inputs = own.get(name).and_then(Value::as_array);
            let missing = || format!("{}: `{tool}` has no list `{name}`", file.display());
            Ok::<_, String>(inputs.ok_or_else(missing)?.iter().map(long).collect())
        };
        Ok(Self {
            accepts: list("accepts")?,
            refuses: list("refuses")?,
        })
    }

    /// Replaces the recorded ones. An input that itself has a member `$repeat` or `$items` is left out.
    ///
    /// # Errors
    ///
    /// Why the file cannot be written.
    pub(super) fn save(&self, path: &Path, tool: &str) -> Result<(), String> {
        let is_plain = |input: &&Value| {
            let text = input.to_string();
            ![REPEAT, ITEMS].iter().any(|key| text.contains(key))
        };
        let list = |inputs: &[Value]| inputs.iter().filter(is_plain).map(short).collect::<Value>();
        let own = json!({"accepts": list(&self.accepts), "refuses": list(&self.refuses)});
        let is_empty = self.all().next().is_none();
        if is_empty && !regressions::file(path, tool).exists() {
            return Ok(());
        }
        regressions::update(path, tool, render, |_, all| {
            if is_empty {
                all.shift_remove(tool);
            } else {
                all.insert(tool.to_owned(), own);
            }
            Ok(())
        })
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Value> {
        self.accepts.iter().chain(&self.refuses)
    }

    /// The changes since they were recorded: for each condition one input that it now refuses, and some that are now accepted.
    pub(super) fn moved(&self, subject: &Subject<'_>) -> Vec<Problem> {
        let mut problems: Vec<Problem> = Vec::new();
        let problem = |clause, input: &Value, fault| Problem {
            layer: Layer::Meaning,
            clause,
            input: Some(input.clone()),
            ..Problem::of(subject.name(), fault)
        };
        for input in &self.accepts {
            let Some((clause, message)) = subject.refusal(input) else {
                continue;
            };
            if problems.iter().all(|known| known.clause != clause) {
                problems.push(problem(clause, input, Fault::NowRefused { message }));
            }
        }
        let refuses = self.refuses.iter();
        let let_in = refuses.filter(|input| subject.refusal(input).is_none());
        let let_in = let_in.take(SHOWN);
        problems.extend(let_in.map(|input| problem(None, input, Fault::NowAccepted)));
        problems
    }
}

/// Members of each tool on lines of their own, and each input on one.
fn render(all: &Map<String, Value>) -> String {
    let lines = |inputs: &Value| {
        let inputs = inputs.as_array().map_or(&[][..], Vec::as_slice);
        let lines = inputs.iter().map(|input| format!("\n      {input}"));
        lines.collect::<Vec<_>>().join(",")
    };
    let tools = all.iter().map(|(tool, boundaries)| {
        let lists = boundaries.as_object().into_iter().flatten();
        let lists =
            lists.map(|(name, list)| format!("\n    {}: [{}\n    ]", json!(name), lines(list)));
        let lists = lists.collect::<Vec<_>>().join(",");
        format!("\n  {}: {{{lists}\n  }}", json!(tool))
    });
    format!("{{{}\n}}\n", tools.collect::<Vec<_>>().join(","))
}

fn short(value: &Value) -> Value {
    match value {
        Value::String(text) if text.chars().nth(LONG).is_some() => {
            json!({ REPEAT: runs(text.chars()) })
        }
        Value::Array(items) if items.len() > MANY => {
            json!({ ITEMS: runs(items.iter().map(short)) })
        }
        Value::Array(items) => items.iter().map(short).collect(),
        Value::Object(members) => {
            let each = |(name, member): (&String, &Value)| (name.clone(), short(member));
            members.iter().map(each).collect()
        }
        other => other.clone(),
    }
}

/// Each item with the number of times that it follows itself.
fn runs<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<(T, usize)> {
    let mut runs: Vec<(T, usize)> = Vec::new();
    for item in items {
        match runs.last_mut() {
            Some((last, count)) if *last == item => *count += 1,
            _ => runs.push((item, 1)),
        }
    }
    runs
}

fn long(value: &Value) -> Value {
    let run = |run: &Value| {
        let count = usize::try_from(run.get(1)?.as_u64()?).ok()?;
        Some(vec![long(run.get(0)?); count.min(LONGEST)])
    };
    let repeated = |runs: &Value| -> Vec<Value> {
        let runs = runs.as_array().into_iter().flatten();
        runs.filter_map(run).flatten().collect()
    };
    match value {
        Value::Array(items) => items.iter().map(long).collect(),
        Value::Object(members) => {
            if let Some(runs) = members.get(ITEMS) {
                return repeated(runs).into();
            }
            if let Some(runs) = members.get(REPEAT) {
                let letters = repeated(runs);
                return letters
                    .iter()
                    .filter_map(Value::as_str)
                    .collect::<String>()
                    .into();
            }
            let each = |(name, member): (&String, &Value)| (name.clone(), long(member));
            members.iter().map(each).collect()
        }
        other => other.clone(),
    }
}
