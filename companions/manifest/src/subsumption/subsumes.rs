//! Checks each keyword of the outer schema against every branch of the inner one.

use std::collections::HashSet;

use serde_json::Value;

use super::Defaults;
use super::accepts::{accepts, equal};
use super::branch::{Branch, branches};
use super::finding::Finding;
use super::node::{Node, is_note};
use super::scalar;
use super::structural_eq::same;

/// Claims are given up beyond these, so that no schema can make a diff endless.
const MOST_STEPS: usize = 100_000;
const DEEPEST: usize = 64;

/// The places of the inner schemas and of the outer one.
type Claim = (Vec<usize>, usize);

pub(super) struct Prover {
    pub(super) defaults: Defaults,
    steps: usize,
    depth: usize,
    /// What is being shown, and what was shown with its help.
    claims: HashSet<Claim>,
    trail: Vec<Claim>,
}

impl Prover {
    pub(super) fn new(defaults: Defaults) -> Self {
        Self {
            defaults,
            steps: 0,
            depth: 0,
            claims: HashSet::new(),
            trail: Vec::new(),
        }
    }

    /// Shows that `outer` accepts what all of `inner` accept.
    pub(super) fn subsumes(&mut self, inner: &[Node<'_>], outer: Node<'_>) -> Result<(), Finding> {
        if outer.is_anything() {
            return Ok(());
        }
        if self.depth >= DEEPEST || !self.may_go_on() {
            return Err(Finding::unclear("the schema is too large to judge"));
        }
        let mut places: Vec<_> = inner.iter().map(|node| node.address()).collect();
        places.sort_unstable();
        let claim = (places, outer.address());
        // It is about a smaller value here: no schema applies itself to the same value (see `readable`).
        if !self.claims.insert(claim.clone()) {
            return Ok(());
        }
        let mark = self.trail.len();
        self.trail.push(claim);
        self.depth += 1;
        let result = self.every_case(inner, outer);
        self.depth -= 1;
        if result.is_err() {
            for claim in self.trail.drain(mark..) {
                self.claims.remove(&claim);
            }
        }
        result
    }

    /// Shows it of a part of the value, which is one step below.
    pub(super) fn subsumes_at(
        &mut self,
        step: &str,
        inner: &[Node<'_>],
        outer: Node<'_>,
    ) -> Result<(), Finding> {
        let shown = self.subsumes(inner, outer);
        shown.map_err(|finding| finding.below(step))
    }

    pub(super) fn may_go_on(&mut self) -> bool {
        self.steps += 1;
        self.steps <= MOST_STEPS
    }

    fn every_case(&mut self, inner: &[Node<'_>], outer: Node<'_>) -> Result<(), Finding> {
        let branches = branches(inner)
            .ok_or_else(|| Finding::unclear("the schema has too many alternatives"))?;
        for branch in branches {
            if !self.impossible(&branch) {
                self.covered(&branch, outer)?;
            }
        }
        Ok(())
    }

    fn covered(&mut self, branch: &Branch<'_>, outer: Node<'_>) -> Result<(), Finding> {
        if !self.may_go_on() {
            return Err(Finding::unclear("the schema is too large to judge"));
        }
        let Some(keywords) = outer.keywords() else {
            return match outer.schema {
                Value::Bool(true) => Ok(()),
                _ => Err(Finding::refused("accepted", "not accepted")),
            };
        };
        let by_value = self.every_value(branch, outer);
        if let Some(Ok(())) = by_value {
            return Ok(());
        }
        let by_keyword = keywords
            .iter()
            .try_for_each(|(keyword, value)| self.keyword(branch, outer, keyword, value));
        let Err(finding) = by_keyword else {
            return Ok(());
        };
        if branch
            .nodes
            .iter()
            .any(|node| same(*node, outer, self.defaults))
        {
            return Ok(());
        }
        match by_value {
            Some(Err(refused)) if branch.is_listed() => Err(refused),
            _ => Err(finding),
        }
    }

    /// Judges a branch of few values by trying each; `None` if there are many, or one could not be judged.
    fn every_value(&mut self, branch: &Branch<'_>, outer: Node<'_>) -> Option<Result<(), Finding>> {
        for value in self.values(branch)? {
            if !accepts(outer, &value)? {
                return Some(Err(Finding::refused(
                    format!("may be `{value}`"),
                    format!("never `{value}`"),
                )));
            }
        }
        Some(Ok(()))
    }

    fn keyword(
        &mut self,
        branch: &Branch<'_>,
        outer: Node<'_>,
        keyword: &str,
        value: &Value,
    ) -> Result<(), Finding> {
        if is_note(keyword) {
            return Ok(());
        }
        match keyword {
            "type" if branch.kind.is_named(value) => Ok(()),
            "type" => Err(Finding::refused(
                format!("may be {}", branch.kind.name()),
                format!("never {}", branch.kind.name()),
            )),
            "enum" | "const" => self.listed(branch, keyword, value),
            "$ref" => match outer.target() {
                Some(target) => self.covered(branch, target),
                None => Err(Finding::unclear("a reference does not resolve")),
            },
            "allOf" => outer
                .list(keyword)
                .try_for_each(|one| self.covered(branch, one)),
            "anyOf" => self.alternative(branch, outer.list("anyOf")).map(drop),
            "oneOf" => self.one_of(branch, outer),
            "not" => self.not(branch, outer.at(value)),
            "if" => self.conditional(branch, outer),
            "then" | "else" => Ok(()),
            _ => self.of_one_type(branch, outer, keyword, value),
        }
    }

    fn of_one_type(
        &mut self,
        branch: &Branch<'_>,
        outer: Node<'_>,
        keyword: &str,
        value: &Value,
    ) -> Result<(), Finding> {
        match keyword {
            "minimum" | "exclusiveMinimum" | "maximum" | "exclusiveMaximum" | "multipleOf" => {
                scalar::number(branch, outer, keyword)
            }
            "minLength" | "maxLength" | "pattern" => scalar::text(branch, outer, keyword),
            "minItems" | "maxItems" | "uniqueItems" | "prefixItems" | "items" | "contains"
            | "minContains" | "maxContains" => self.array(branch, outer, keyword),
            "properties"
            | "required"
            | "patternProperties"
            | "additionalProperties"
            | "propertyNames"
            | "minProperties"
            | "maxProperties"
            | "dependentRequired"
            | "dependentSchemas" => self.object(branch, outer, keyword),
            _ => Self::kept(branch, keyword, value),
        }
    }

    /// A keyword that is not understood, or only understood together with others, must have been there before.
    fn kept(branch: &Branch<'_>, keyword: &str, value: &Value) -> Result<(), Finding> {
        // It depends on the keywords beside it, so the whole schema would have to be the same.
        let alone = !keyword.starts_with("unevaluated") || value == &Value::Bool(true);
        if alone && branch.all(keyword).any(|before| equal(before, value)) {
            return Ok(());
        }
        Err(Finding::unclear(format!(
            "`{keyword}` is new or has changed"
        )))
    }

    fn listed(&mut self, branch: &Branch<'_>, keyword: &str, value: &Value) -> Result<(), Finding> {
        let listed = match value {
            Value::Array(values) if keyword == "enum" => values.as_slice(),
            only => std::slice::from_ref(only),
        };
        let Some(values) = self.values(branch) else {
            return Err(Finding::refused("any value", "only listed values"));
        };
        let is_listed = |value: &Value| listed.iter().any(|one| equal(one, value));
        match values.iter().find(|value| !is_listed(value)) {
            None => Ok(()),
            Some(value) => Err(Finding::refused(
                format!("may be `{value}`"),
                format!("never `{value}`"),
            )),
        }
    }

    /// The place of an alternative that covers the branch.
    fn alternative<'s>(
        &mut self,
        branch: &Branch<'_>,
        alternatives: impl Iterator<Item = Node<'s>>,
    ) -> Result<usize, Finding> {
        let mut findings = Vec::new();
        for (place, one) in alternatives.enumerate() {
            match self.covered(branch, one) {
                Ok(()) => return Ok(place),
                // An alternative for another type says nothing of this branch.
                Err(finding) if !self.is_empty_with(branch, one) => findings.push(finding),
                Err(_) => {}
            }
        }
        match findings.len() {
            0 => Err(Finding::refused(
                format!("may be {}", branch.kind.name()),
                "no alternative for it",
            )),
            1 => Err(findings.swap_remove(0)),
            _ => Err(Finding::unclear(format!(
                "no single alternative accepts all that is {}",
                branch.kind.name()
            ))),
        }
    }

    fn one_of(&mut self, branch: &Branch<'_>, outer: Node<'_>) -> Result<(), Finding> {
        let chosen = self.alternative(branch, outer.list("oneOf"))?;
        for (place, other) in outer.list("oneOf").enumerate() {
            if place != chosen && !self.is_empty_with(branch, other) {
                return Err(Finding::unclear(
                    "more than one alternative of `oneOf` may hold",
                ));
            }
        }
        Ok(())
    }

    fn not(&mut self, branch: &Branch<'_>, refused: Node<'_>) -> Result<(), Finding> {
        if self.is_empty_with(branch, refused) {
            return Ok(());
        }
        for node in &branch.nodes {
            // What was refused before covers what is refused now: the sides change places.
            if let Some(before) = node.child("not")
                && self.subsumes(&[refused], before).is_ok()
            {
                return Ok(());
            }
        }
        if self.steps > MOST_STEPS {
            return Err(Finding::unclear("the schema is too large to judge"));
        }
        Err(Finding::unclear("`not` refuses more"))
    }

    fn conditional(&mut self, branch: &Branch<'_>, outer: Node<'_>) -> Result<(), Finding> {
        ["then", "else"]
            .into_iter()
            .filter_map(|keyword| outer.child(keyword))
            .try_for_each(|then| self.covered(branch, then))
            .map_err(|_| Finding::unclear("`if` is new or has changed"))
    }
}
