//! Judges the items of arrays, and compares values.

use std::collections::HashSet;
use std::ops::ControlFlow;

use serde_json::Value;

use super::describe::{describe, given};
use super::place::Path;
use super::problem::{ArgumentProblem, ProblemKind};
use super::walk::{Judged, Stop, Token, Walk, compare, is_between};
use crate::json_text::{self, DEEPEST};
use crate::lexer::{Lexer, Unread};
use crate::{ArrayRule, Decimal, RuleId};

impl Walk<'_, '_> {
    /// Returns whether the value is equal to one of these, by the rules of JSON Schema: `1` equals `1.0`.
    pub(super) fn is_among(
        &self,
        values: &[Value],
        token: &Token<'_>,
        at: usize,
    ) -> Result<bool, Unread> {
        Ok(match token {
            Token::Null => values.contains(&Value::Null),
            Token::Bool(flag) => values.iter().any(|value| value.as_bool() == Some(*flag)),
            Token::Number(number) => {
                let mut listed = values.iter().filter_map(Value::as_number);
                listed.any(|listed| compare(number, listed, || Decimal::of(listed)).is_eq())
            }
            Token::String(string) => {
                let text = string.text()?;
                values.iter().any(|value| value.as_str() == Some(&*text))
            }
            Token::Array | Token::Object => {
                let given = json_text::key(self.lexer, at)?;
                let own = |value: &Value| json_text::key(Lexer::new(&value.to_string()), 0);
                values.iter().any(|value| own(value).as_ref() == Ok(&given))
            }
        })
    }

    pub(super) fn array(&mut self, id: Option<RuleId>, begins: usize, path: &Path<'_>) -> Judged {
        if path.depth() >= DEEPEST {
            return Err(Stop::Unread);
        }
        let rule = id.and_then(|id| self.rules[id].array.as_ref());
        let before = self.place();
        let (mut count, mut is_over) = (0, false);
        let mut next = self.lexer.first(begins, b']');
        let end = loop {
            let at = match next {
                ControlFlow::Continue(at) => at,
                ControlFlow::Break(end) => break end,
            };
            let by = rule.and_then(|rule| rule.prefix.get(count).copied().or(rule.items));
            let here = path.index(count);
            let end = match by.filter(|_| !is_over) {
                Some(by) if self.rules[by].is_never() => {
                    // All surplus items are one problem.
                    is_over = true;
                    let expected = || format!("an array of at most {count} items");
                    self.refuse(ProblemKind::Length, path, begins, expected)?;
                    self.anything(at, &here)?
                }
                Some(by) => self.judge(by, at, &here)?,
                None => self.anything(at, &here)?,
            };
            count += 1;
            next = self.lexer.next(end, b']')?;
        };
        if let (Some(id), Some(rule)) = (id, rule) {
            let place = self.length(id, count, (rule.min, rule.max), before, begins, path)?;
            if rule.unique || rule.contains.is_some() {
                self.together(rule, place, begins, path)?;
            }
        }
        Ok(end)
    }

    /// Judges the items of an array together: `uniqueItems` and `contains`.
    fn together(
        &mut self,
        rule: &ArrayRule,
        mut place: usize,
        begins: usize,
        path: &Path<'_>,
    ) -> Result<(), Stop> {
        let (rules, lexer) = (self.rules, self.lexer);
        let (items, _) = self.items(begins, path)?;
        let mut seen = HashSet::new();
        for (index, at) in items.iter().enumerate().filter(|_| rule.unique) {
            if !seen.insert(json_text::key(lexer, *at)?) {
                let path = path.index(index);
                place = self.problem_at(place, || {
                    let got = given(lexer, *at, path.is_secret()) + " once more";
                    let expected = "an item unlike all before it";
                    ArgumentProblem::new(path.pointer(), ProblemKind::NoMatch, expected, got)
                })?;
            }
        }
        let Some(wanted) = rule.contains else {
            return Ok(());
        };
        let mut held = 0;
        for (index, at) in items.into_iter().enumerate() {
            let (verdict, _) = self.verdict(wanted, at, &path.index(index))?;
            held += usize::from(verdict.is_valid());
        }
        let mut wrong = |limit: String| {
            let expected = || format!("an array with {limit} of: {}", describe(rules, wanted));
            self.refuse(ProblemKind::NoMatch, path, begins, expected)
        };
        let least = rule.min_contains.unwrap_or(1);
        if held < least {
            wrong(format!("{least} or more"))?;
        }
        if let Some(most) = rule.max_contains.filter(|most| held > *most) {
            wrong(format!("at most {most}"))?;
        }
        Ok(())
    }

    /// Returns where the items of the array at `at` begin, and the place behind the array.
    pub(super) fn items(
        &mut self,
        at: usize,
        path: &Path<'_>,
    ) -> Result<(Vec<usize>, usize), Stop> {
        let mut items = Vec::new();
        let mut next = self.lexer.first(at, b']');
        loop {
            let at = match next {
                ControlFlow::Continue(at) => at,
                ControlFlow::Break(end) => return Ok((items, end)),
            };
            let end = self.anything(at, &path.index(items.len()))?;
            items.push(at);
            next = self.lexer.next(end, b']')?;
        }
    }

    /// Judges the number of items or keys; returns the index behind its problem.
    #[inline]
    pub(super) fn length(
        &mut self,
        id: RuleId,
        count: usize,
        (min, max): (Option<usize>, Option<usize>),
        place: usize,
        at: usize,
        path: &Path<'_>,
    ) -> Judged {
        if is_between(count, min, max) {
            return Ok(place);
        }
        let (rules, lexer) = (self.rules, self.lexer);
        self.problem_at(place, || {
            let got = given(lexer, at, path.is_secret());
            ArgumentProblem::new(
                path.pointer(),
                ProblemKind::Length,
                describe(rules, id),
                got,
            )
        })
    }
}
