//! Validates keywords that combine schemas, and chooses the alternative that a refusal describes.

use serde_json::Value;

use super::describe::{describe, one_of};
use super::place::Path;
use super::problem::{ArgumentProblem, ProblemKind};
use super::walk::{Judged, Stop, Token, Verdict, Walk};
use crate::{ObjectRule, RuleId, Rules, Types};

impl Walk<'_, '_> {
    /// Judges a value by the schemas that its rule applies to it as well. Returns where the value ends, if that is known.
    pub(super) fn combination(
        &mut self,
        id: RuleId,
        mut ended: Option<usize>,
        at: usize,
        path: &Path<'_>,
    ) -> Result<Option<usize>, Stop> {
        let rules = self.rules;
        let Some(rule) = &rules[id].combination else {
            return Ok(ended);
        };
        if let Some(by) = rule.reference {
            ended = Some(self.judge(by, at, path)?);
        }
        for by in &rule.all {
            ended = Some(self.judge(*by, at, path)?);
        }
        if !rule.any.is_empty() {
            ended = Some(self.choose(id, (&rule.any, false), at, path)?);
        }
        if !rule.one.is_empty() {
            ended = Some(self.choose(id, (&rule.one, true), at, path)?);
        }
        if let Some(not) = rule.not {
            self.not(not, at, path)?;
        }
        if let Some(condition) = rule.condition {
            let fits = self.verdict(condition, at, path)?.0.is_valid();
            let branch = if fits { rule.then } else { rule.otherwise };
            if let Some(branch) = branch {
                ended = Some(self.judge(branch, at, path)?);
            }
        }
        Ok(ended)
    }

    fn not(&mut self, not: RuleId, at: usize, path: &Path<'_>) -> Result<(), Stop> {
        if !self.verdict(not, at, path)?.0.is_valid() {
            return Ok(());
        }
        let rules = self.rules;
        let kind = match rules[not].values {
            Some(_) => ProblemKind::Value,
            None => ProblemKind::NoMatch,
        };
        let expected = || format!("anything but {}", describe(rules, not));
        self.refuse(kind, path, at, expected)
    }

    /// Judges `anyOf` and `oneOf`: at least one of the alternatives has to fit, or exactly one.
    fn choose(
        &mut self,
        id: RuleId,
        (branches, exactly_one): (&[RuleId], bool),
        at: usize,
        path: &Path<'_>,
    ) -> Judged {
        let mut best = (Verdict::Refused, None, at);
        let (mut valid, mut coerced) = (0, 0);
        for branch in branches {
            let (verdict, end) = self.verdict(*branch, at, path)?;
            valid += usize::from(verdict.is_valid());
            coerced += usize::from(verdict == Verdict::Coerced);
            if verdict < best.0 {
                best = (verdict, Some(*branch), end);
            }
            if verdict == Verdict::Fits && !exactly_one {
                break;
            }
        }
        // A string that can be coerced in two ways is ambiguous.
        if exactly_one && (valid > 1 || (valid == 0 && coerced > 1)) {
            self.refuse(ProblemKind::NoMatch, path, at, || {
                "a value that fits only one of the accepted forms".to_owned()
            })?;
            return Ok(best.2);
        }
        match best {
            (_, None, _) if self.found.is_none() => Err(Stop::Refused),
            (_, None, _) => match self.meant(id, branches, at, path)? {
                Some(branch) => self.judge(branch, at, path),
                None => self.anything(at, path),
            },
            (verdict, Some(branch), _) if self.found.is_some() && verdict > Verdict::Fits => {
                self.judge(branch, at, path)
            }
            (verdict, Some(_), end) => {
                self.verdict = self.verdict.max(verdict);
                Ok(end)
            }
        }
    }

    /// Returns the alternative that a value was probably meant for, whose problems explain the refusal. Returns `None` if the value is
    /// refused as a whole.
    fn meant(
        &mut self,
        id: RuleId,
        branches: &[RuleId],
        at: usize,
        path: &Path<'_>,
    ) -> Result<Option<RuleId>, Stop> {
        let rules = self.rules;
        let types = self.token(at)?.0.types();
        let mut suited = branches.to_vec();
        suited.retain(|branch| admits(rules, *branch, types));
        if let [only] = suited.as_slice() {
            return Ok(Some(*only));
        }
        let expected = || describe(rules, id);
        if suited.is_empty() {
            self.refuse(ProblemKind::Type, path, at, expected)?;
            return Ok(None);
        }
        if let Some(tag) = tag(rules, &suited) {
            return self.tagged(tag, &suited, at, path);
        }
        let lists = suited.iter().map(|branch| rules[*branch].values.as_ref());
        if let Some(lists) = lists.collect::<Option<Vec<_>>>() {
            let values = lists.into_iter().flatten();
            self.refuse_listing(ProblemKind::Value, path, at, expected, values)?;
            return Ok(None);
        }
        let scores = suited.iter().map(|branch| self.score(*branch, at, path));
        let scores = scores.collect::<Result<Vec<i64>, Stop>>()?;
        let best = scores.iter().max().copied().unwrap_or(0);
        let with_scores = suited.iter().zip(&scores);
        let mut furthest = with_scores.filter(|(_, score)| **score == best);
        if let (Some((branch, _)), None) = (furthest.next(), furthest.next()) {
            return Ok(Some(*branch));
        }
        self.refuse(ProblemKind::NoMatch, path, at, expected)?;
        Ok(None)
    }

    /// Returns the alternative that is selected by the value under a key that all of them require, as in tagged enums.
    fn tagged(
        &mut self,
        tag: &str,
        branches: &[RuleId],
        at: usize,
        path: &Path<'_>,
    ) -> Result<Option<RuleId>, Stop> {
        let rules = self.rules;
        let values = branches.iter();
        let tags = values.filter_map(|branch| tag_value(rules, *branch, tag));
        let here = path.member(tag, true, self.is_secret(path, tag));
        let expected = || {
            let values: Vec<_> = tags.clone().map(Value::to_string).collect();
            one_of(&values)
        };
        let (members, _) = self.members(at, path)?;
        let Some(given) = members.iter().find(|member| member.name == tag) else {
            self.problem(|| {
                let kind = ProblemKind::Missing;
                let mut problem = ArgumentProblem::new(here.pointer(), kind, expected(), "nothing");
                problem.list(&here, tags.clone(), None);
                problem
            })?;
            return Ok(None);
        };
        let (token, _) = self.token(given.value)?;
        for branch in branches {
            if let Some(value) = tag_value(rules, *branch, tag)
                && self.is_among(std::slice::from_ref(value), &token, given.value)?
            {
                return Ok(Some(*branch));
            }
        }
        self.refuse_listing(
            ProblemKind::Value,
            &here,
            given.value,
            expected,
            tags.clone(),
        )?;
        Ok(None)
    }

    /// Scores an alternative: keys that are known and fit, minus those that are unknown or missing.
    fn score(&mut self, branch: RuleId, at: usize, path: &Path<'_>) -> Result<i64, Stop> {
        let rules = self.rules;
        let Some(rule) = object(rules, branch) else {
            return Ok(0);
        };
        if !matches!(self.token(at)?.0, Token::Object) {
            return Ok(0);
        }
        let (members, _) = self.members(at, path)?;
        let mut score = 0;
        for member in &members {
            score += match rule.property(&member.name) {
                Some(by)
                    if self
                        .verdict(by, member.value, &path.key(&member.name))?
                        .0
                        .is_valid() =>
                {
                    3
                }
                Some(_) => 2,
                None if rule.additional.is_some_and(|by| rules[by].is_never()) => -1,
                None => 0,
            };
        }
        for name in &rule.required {
            score -= i64::from(!members.iter().any(|member| member.name == *name));
        }
        Ok(score)
    }
}

/// Returns whether a rule, or the rule that it refers to, admits one of these types.
fn admits(rules: &Rules, id: RuleId, types: Types) -> bool {
    let rule = &rules[id];
    let inner = rule.combination.as_ref();
    rule.types.has(types)
        && inner
            .and_then(|inner| inner.reference)
            .is_none_or(|id| admits(rules, id, types))
        && inner.is_none_or(|inner| {
            inner.all.iter().all(|id| admits(rules, *id, types))
                && (inner.any.is_empty() || inner.any.iter().any(|id| admits(rules, *id, types)))
                && (inner.one.is_empty() || inner.one.iter().any(|id| admits(rules, *id, types)))
        })
}

/// Returns the object keywords of a rule, or of the rule that it refers to.
fn object(rules: &Rules, id: RuleId) -> Option<&ObjectRule> {
    let rule = &rules[id];
    rule.object
        .as_deref()
        .or_else(|| object(rules, rule.combination.as_ref()?.reference?))
}

/// Returns the key that every alternative requires with a fixed value, as internally tagged enums do.
fn tag<'r>(rules: &'r Rules, branches: &[RuleId]) -> Option<&'r str> {
    let first = object(rules, *branches.first()?)?;
    first
        .properties
        .iter()
        .map(|(name, _)| name.as_str())
        .find(|name| {
            branches
                .iter()
                .all(|branch| tag_value(rules, *branch, name).is_some())
        })
}

fn tag_value<'r>(rules: &'r Rules, branch: RuleId, name: &str) -> Option<&'r Value> {
    let rule = object(rules, branch)?;
    let required = rule.required.iter().any(|required| required == name);
    match rules[rule.property(name)?].values.as_deref()? {
        [only] if required => Some(only),
        _ => None,
    }
}
