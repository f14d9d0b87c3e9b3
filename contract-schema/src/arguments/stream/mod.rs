//! Validates a JSON text against a schema in one pass, without a tree.
//!
//! It decides only what is plain: that a value is admitted as it is written, or that it is certainly not admitted. Whatever
//! needs more, such as a number to be normalised or an equal key, is left to the walk over a tree, which also says what is
//! wrong. So both always agree on what is accepted.

mod keys;
mod object;
mod scalar;

use crate::lexer::{Lexer, Unread};
use crate::{ArrayRule, InputSchema, Rule, RuleId, Rules, Types};

/// Why a value is not said to be admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The schema certainly does not admit it.
    Refused,
    /// Only the walk over a tree can tell.
    Undecided,
}

impl From<Unread> for Stop {
    fn from(_: Unread) -> Self {
        Self::Undecided
    }
}

/// The place behind a value that is admitted.
type Admitted = Result<usize, Stop>;

/// How many arrays and objects may stand inside each other, as for `serde_json`.
const DEEPEST: usize = 127;

/// Values looked at, some of them several times by alternatives. The walk over a tree gives up at ten times as many, and must
/// not be reached by what is admitted here.
const STEPS: usize = 1_000_000;

/// Whether the text is one value that is admitted as it is written; `false` leaves it open.
pub(super) fn admits(text: &str, schema: &InputSchema) -> bool {
    judge(text, schema).is_ok()
}

/// Judges a whole text.
pub(super) fn judge(text: &str, schema: &InputSchema) -> Result<(), Stop> {
    let mut validator = Validator::new(text, schema.rules());
    let start = validator.lexer.behind_space(0);
    let end = validator.value(schema.root(), start, 0)?;
    if validator.lexer.ends(end) {
        return Ok(());
    }
    Err(Stop::Undecided)
}

/// Where the value ends that begins at `at`, one object deep in the text, if the rule admits it as it is written.
#[inline]
pub fn end_of_admitted(text: &str, at: usize, rules: &Rules, id: RuleId) -> Option<usize> {
    Validator::new(text, rules).value(id, at, 1).ok()
}

struct Validator<'s, 't> {
    rules: &'s Rules,
    lexer: Lexer<'t>,
    steps: usize,
}

impl<'s, 't> Validator<'s, 't> {
    fn new(text: &'t str, rules: &'s Rules) -> Self {
        Self {
            rules,
            lexer: Lexer::new(text),
            steps: 0,
        }
    }

    fn step(&mut self, steps: usize) -> Result<(), Stop> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > STEPS {
            return Err(Stop::Undecided);
        }
        Ok(())
    }

    /// Judges the value that begins at `at` by one rule, `depth` arrays and objects deep.
    fn value(&mut self, id: RuleId, at: usize, depth: usize) -> Admitted {
        self.step(1)?;
        let rule = &self.rules[id];
        let end = match self.lexer.byte(at) {
            b'"' => self.string(rule, at)?,
            b'{' => {
                of_type(rule, Types::OBJECT)?;
                unlisted(rule)?;
                match &rule.object {
                    // What is applied to the same value finds the end of it.
                    None if rule.combination.is_some() => {
                        return self.combined(rule, None, at, depth);
                    }
                    object => self.object(object.as_deref(), at, depth)?,
                }
            }
            b'[' => {
                of_type(rule, Types::ARRAY)?;
                unlisted(rule)?;
                match &rule.array {
                    None if rule.combination.is_some() => {
                        return self.combined(rule, None, at, depth);
                    }
                    array => self.array(array.as_deref(), at, depth)?,
                }
            }
            b't' => self.boolean(rule, at, true)?,
            b'f' => self.boolean(rule, at, false)?,
            b'n' => self.null(rule, at)?,
            _ => self.number(rule, at)?,
        };
        if rule.combination.is_some() {
            return self.combined(rule, Some(end), at, depth);
        }
        Ok(end)
    }

    /// A value of which nothing is said.
    fn anything(&mut self, at: usize, depth: usize) -> Admitted {
        self.step(1)?;
        match self.lexer.byte(at) {
            b'"' => Ok(self.lexer.string(at)?.end),
            b'{' => self.object(None, at, depth),
            b'[' => self.array(None, at, depth),
            b't' => Ok(self.lexer.literal(at, "true")?),
            b'f' => Ok(self.lexer.literal(at, "false")?),
            b'n' => Ok(self.lexer.literal(at, "null")?),
            _ => Ok(self.lexer.number(at)?.1),
        }
    }

    fn array(&mut self, rule: Option<&'s ArrayRule>, at: usize, depth: usize) -> Admitted {
        if depth == DEEPEST || rule.is_some_and(|rule| rule.unique || rule.contains.is_some()) {
            return Err(Stop::Undecided);
        }
        let mut at = self.lexer.behind_space(at + 1);
        let mut count = 0;
        if self.lexer.byte(at) != b']' {
            loop {
                let by = rule.and_then(|rule| rule.prefix.get(count).copied().or(rule.items));
                at = match by {
                    Some(by) => self.value(by, at, depth + 1)?,
                    None => self.anything(at, depth + 1)?,
                };
                count += 1;
                at = self.lexer.behind_space(at);
                match self.lexer.byte(at) {
                    b',' => at = self.lexer.behind_space(at + 1),
                    b']' => break,
                    _ => return Err(Stop::Undecided),
                }
            }
        }
        let fits = rule.is_none_or(|rule| within(count, rule.min, rule.max));
        if fits { Ok(at + 1) } else { Err(Stop::Refused) }
    }

    /// Judges a value by the schemas that its rule applies to it too; `end` is where it ends, where that is known.
    fn combined(
        &mut self,
        rule: &'s Rule,
        end: Option<usize>,
        at: usize,
        depth: usize,
    ) -> Admitted {
        let Some(parts) = &rule.combination else {
            return end.ok_or(Stop::Undecided);
        };
        let mut end = end;
        for by in parts.reference.iter().chain(&parts.all) {
            end = Some(self.value(*by, at, depth)?);
        }
        if !parts.any.is_empty() {
            end = Some(self.any(&parts.any, at, depth)?);
        }
        if !parts.one.is_empty() {
            end = Some(self.one(&parts.one, at, depth)?);
        }
        if let Some(not) = parts.not
            && self.trial(not, at, depth)?.is_some()
        {
            return Err(Stop::Refused);
        }
        if let Some(condition) = parts.condition {
            let branch = if self.trial(condition, at, depth)?.is_some() {
                parts.then
            } else {
                parts.otherwise
            };
            if let Some(branch) = branch {
                end = Some(self.value(branch, at, depth)?);
            }
        }
        end.map_or_else(|| self.anything(at, depth), Ok)
    }

    /// Where the value ends, if the rule admits it; nothing, if it certainly does not.
    fn trial(&mut self, id: RuleId, at: usize, depth: usize) -> Result<Option<usize>, Stop> {
        match self.value(id, at, depth) {
            Ok(end) => Ok(Some(end)),
            Err(Stop::Refused) => Ok(None),
            Err(Stop::Undecided) => Err(Stop::Undecided),
        }
    }

    fn any(&mut self, branches: &[RuleId], at: usize, depth: usize) -> Admitted {
        for branch in branches {
            if let Some(end) = self.trial(*branch, at, depth)? {
                return Ok(end);
            }
        }
        Err(Stop::Refused)
    }

    fn one(&mut self, branches: &[RuleId], at: usize, depth: usize) -> Admitted {
        let mut only = None;
        for branch in branches {
            if let Some(end) = self.trial(*branch, at, depth)?
                && only.replace(end).is_some()
            {
                return Err(Stop::Refused);
            }
        }
        only.ok_or(Stop::Refused)
    }
}

#[inline]
fn of_type(rule: &Rule, types: Types) -> Result<(), Stop> {
    if rule.types.has(types) {
        Ok(())
    } else {
        Err(Stop::Refused)
    }
}

/// Arrays and objects are compared with listed ones as trees.
#[inline]
fn unlisted(rule: &Rule) -> Result<(), Stop> {
    if rule.values.is_none() {
        Ok(())
    } else {
        Err(Stop::Undecided)
    }
}

#[inline]
fn within(count: usize, min: Option<usize>, max: Option<usize>) -> bool {
    min.is_none_or(|min| count >= min) && max.is_none_or(|max| count <= max)
}
