//! Judges the members of objects, and the keys that no property names.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::ControlFlow;

use serde_json::Value;

use super::correct::Coercion;
use super::describe::describe;
use super::place::Path;
use super::problem::{ArgumentProblem, ProblemKind, by_words, nearest};
use super::walk::{Judged, Stop, Token, Verdict, Walk};
use crate::json_text::DEEPEST;
use crate::lexer::{Lexer, Unread};
use crate::{InputSchema, ObjectRule, RuleId, Rules};

/// One member of an object: its name, and where its key and its value begin.
pub(super) struct Member<'t> {
    pub(super) name: Cow<'t, str>,
    /// The index of its name among the properties of the rule.
    property: Option<usize>,
    pub(super) key: usize,
    pub(super) value: usize,
}

impl<'s, 't> Walk<'s, 't> {
    pub(super) fn object(&mut self, id: Option<RuleId>, begins: usize, path: &Path<'_>) -> Judged {
        if path.depth() >= DEEPEST {
            return Err(Stop::Unread);
        }
        let before = self.place();
        let rules = self.rules;
        let rule = id.and_then(|id| rules[id].object.as_deref());
        let mut keys = Keys::new(rule);
        let is_quiet = self.found.is_none() && !self.options.null_is_absent;
        let mut count = 0;
        let mut next = self.lexer.first(begins, b'}');
        let end = loop {
            let key = match next {
                ControlFlow::Continue(at) => at,
                ControlFlow::Break(end) => break end,
            };
            let end = if is_quiet && let Some((name, by, value)) = keys.expected(self.lexer, key) {
                self.judge(by, value, &path.key(name))?
            } else {
                let member = keys.read(self.lexer, key)?;
                match rule {
                    Some(rule) => self.member(rule, &member, path)?,
                    None => self.anything(member.value, &path.key(&member.name))?,
                }
            };
            count += 1;
            next = self.lexer.next(end, b'}')?;
        };
        self.twice |= keys.twice;
        if let (Some(id), Some(rule)) = (id, rule) {
            let place = self.length(id, count, (rule.min, rule.max), before, begins, path)?;
            let required = rule.required_bits;
            if required.is_none_or(|bits| keys.seen & bits != bits) {
                self.required(rule, &keys, place, path)?;
            }
            if !(rule.dependent_required.is_empty() && rule.dependent_schemas.is_empty()) {
                self.dependent(rule, &keys, begins, path)?;
            }
        }
        Ok(end)
    }

    fn required(
        &mut self,
        rule: &ObjectRule,
        keys: &Keys<'_, '_>,
        mut place: usize,
        path: &Path<'_>,
    ) -> Result<(), Stop> {
        for name in rule.required.iter().filter(|name| !keys.has(name)) {
            place = self.missing(rule, name, place, path)?;
        }
        Ok(())
    }

    fn dependent(
        &mut self,
        rule: &ObjectRule,
        keys: &Keys<'_, '_>,
        begins: usize,
        path: &Path<'_>,
    ) -> Result<(), Stop> {
        let given = rule.dependent_required.iter();
        let given = given.filter(|(name, _)| keys.has(name));
        for other in given
            .flat_map(|(_, needed)| needed)
            .filter(|other| !keys.has(other))
        {
            self.missing(rule, other, self.place(), path)?;
        }
        for (_, by) in rule
            .dependent_schemas
            .iter()
            .filter(|(name, _)| keys.has(name))
        {
            self.judge(*by, begins, path)?;
        }
        Ok(())
    }

    /// Judges the value of one member by every part of the rule that applies to it.
    fn member(&mut self, rule: &'s ObjectRule, member: &Member<'t>, path: &Path<'_>) -> Judged {
        let (name, at) = (&*member.name, member.value);
        let property = member.property.and_then(|place| rule.properties.get(place));
        let property = property.map(|(_, by)| *by);
        let is_secret = self.is_secret(path, name);
        let here = path.member(name, property.is_some(), is_secret);
        if let Some(names) = rule.names
            && !self.is_name(names, member, &here)?
        {
            return self.anything(at, &here);
        }
        let mut ended = None;
        if let Some(by) = property {
            if self.options.null_is_absent
                && self.lexer.byte(at) == b'n'
                && !rule.required.iter().any(|required| required == name)
                && !self.verdict(by, at, &here)?.0.is_valid()
            {
                return self.absent(member, &here);
            }
            ended = Some(self.judge(by, at, &here)?);
        }
        for (pattern, by) in &rule.patterns {
            if pattern.is_match(name) {
                ended = Some(self.judge(*by, at, &here)?);
            }
        }
        match (ended, rule.additional) {
            (Some(end), _) => Ok(end),
            (None, Some(by)) => self.other(by, member, &here, || Known::of(rule)),
            (None, None) => self.anything(at, &here),
        }
    }

    /// Judges a key by the rule for names; returns whether it is admitted.
    fn is_name(
        &mut self,
        names: RuleId,
        member: &Member<'t>,
        here: &Path<'_>,
    ) -> Result<bool, Stop> {
        // A name is always a string, so it is not coerced.
        let coerce = std::mem::replace(&mut self.options.coerce, false);
        let judged = self.verdict(names, member.key, here);
        self.options.coerce = coerce;
        if judged?.0.is_valid() {
            return Ok(true);
        }
        // A hidden key cannot be named as unknown.
        let kind = if here.is_hidden() {
            ProblemKind::NoMatch
        } else {
            ProblemKind::Unknown
        };
        let rules = self.rules;
        let expected = || format!("a key that is {}", describe(rules, names));
        self.refuse(kind, here, member.key, expected)?;
        Ok(false)
    }

    /// Leaves out an optional member that is null, because the schema admits no null there.
    fn absent(&mut self, member: &Member<'t>, here: &Path<'_>) -> Judged {
        let end = self.lexer.literal(member.value, "null")?;
        if let Some(found) = &mut self.found {
            // The default of an argument is recorded with its value. The default of a deeper member is known only to its type.
            let default = self.schema.and_then(|one| one.default_of(&member.name));
            if !here.is_argument() {
                let left_out = Coercion::left_out(here, "null", false);
                found.coercions.push(left_out);
            } else if let Some(default) = default {
                let default = Coercion::to_default(here, default);
                let is_same = |known: &Coercion| known.pointer == default.pointer;
                if !found.defaults.iter().any(is_same) {
                    found.defaults.push(default);
                }
            }
        }
        self.edit(Verdict::Coerced, member.key..end, None);
        Ok(end)
    }

    /// Judges a member that only `additionalProperties` or `unevaluatedProperties` applies to.
    fn other<'n>(
        &mut self,
        by: RuleId,
        member: &Member<'t>,
        here: &Path<'_>,
        known: impl FnOnce() -> Known<'n>,
    ) -> Judged {
        if !self.rules[by].is_never() {
            return self.judge(by, member.value, here);
        }
        let schema = self.schema;
        if schema.is_some_and(InputSchema::ignores_unknown_keys) {
            let end = self.anything(member.value, here)?;
            let has_secrets = self.has_secrets();
            if let Some(found) = &mut self.found {
                let value = self.lexer.between(member.value..end);
                let left_out = Coercion::left_out(here, value, has_secrets);
                found.coercions.push(left_out);
            }
            self.edit(Verdict::Coerced, member.key..end, None);
            return Ok(end);
        }
        self.problem(|| {
            let pointer = here.pointer();
            if here.is_hidden() {
                let got = "another key (not shown)";
                return ArgumentProblem::new(pointer, ProblemKind::NoMatch, "only known keys", got);
            }
            let known = known();
            let mut problem =
                ArgumentProblem::new(pointer, ProblemKind::Unknown, known.expected(), "this name");
            // Below a secret nothing is listed, not even names of the schema.
            if !here.is_secret() {
                let (name, names) = (&*member.name, || known.names.iter().copied());
                let meant = nearest(name, names()).or_else(|| by_words(name, names()));
                let described =
                    || described(schema?, name).filter(|name| known.names.contains(name));
                problem.nearest = meant.or_else(described).map(str::to_owned);
                problem.allowed = known.names.into_iter().map(Value::from).collect();
            }
            problem
        })?;
        self.anything(member.value, here)
    }

    fn missing(&mut self, rule: &ObjectRule, name: &str, place: usize, path: &Path<'_>) -> Judged {
        let (rules, here) = (self.rules, path.key(name));
        self.problem_at(place, || {
            let expected = rule
                .property(name)
                .map_or_else(|| "a value".to_owned(), |by| describe(rules, by));
            ArgumentProblem::new(here.pointer(), ProblemKind::Missing, expected, "nothing")
        })
    }

    /// Returns all members of the object that begins at `at`, and the place behind it.
    pub(super) fn members(
        &mut self,
        at: usize,
        path: &Path<'_>,
    ) -> Result<(Vec<Member<'t>>, usize), Stop> {
        let mut members = Vec::new();
        let mut next = self.lexer.first(at, b'}');
        loop {
            let key = match next {
                ControlFlow::Continue(at) => at,
                ControlFlow::Break(end) => return Ok((members, end)),
            };
            let member = Keys::new(None).read(self.lexer, key)?;
            let end = self.anything(member.value, &path.key(&member.name))?;
            members.push(member);
            next = self.lexer.next(end, b'}')?;
        }
    }

    pub(super) fn unevaluated(
        &mut self,
        id: RuleId,
        by: RuleId,
        at: usize,
        path: &Path<'_>,
    ) -> Result<(), Stop> {
        let rules = self.rules;
        let (members, _) = self.members(at, path)?;
        let mut evaluated = vec![false; members.len()];
        self.evaluate(id, (at, path), &members, false, &mut evaluated)?;
        for (member, _) in members.iter().zip(&evaluated).filter(|(_, seen)| !**seen) {
            let name = &*member.name;
            let here = path.member(name, false, self.is_secret(path, name));
            let known = || {
                let mut known = Known::default();
                known.collect(rules, id);
                known
            };
            self.other(by, member, &here, known)?;
        }
        Ok(())
    }

    /// Marks the keys that a schema evaluates, by itself or by the schemas that it applies to the same object.
    fn evaluate(
        &mut self,
        id: RuleId,
        object: (usize, &Path<'_>),
        members: &[Member<'t>],
        nested: bool,
        evaluated: &mut [bool],
    ) -> Result<(), Stop> {
        let rules = self.rules;
        self.step(members.len())?;
        if let Some(rule) = &rules[id].object {
            let all = rule.additional.is_some() || (nested && rule.unevaluated.is_some());
            for (Member { name, .. }, seen) in members.iter().zip(evaluated.iter_mut()) {
                let mut patterns = rule.patterns.iter();
                *seen |= all
                    || rule.property(name).is_some()
                    || patterns.any(|(pattern, _)| pattern.is_match(name));
            }
            for (name, by) in &rule.dependent_schemas {
                if members.iter().any(|member| member.name == *name) {
                    self.evaluate(*by, object, members, true, evaluated)?;
                }
            }
        }
        let Some(combination) = &rules[id].combination else {
            return Ok(());
        };
        for by in combination.reference.iter().chain(&combination.all) {
            self.evaluate(*by, object, members, true, evaluated)?;
        }
        let (at, path) = object;
        for by in combination.any.iter().chain(&combination.one) {
            if self.verdict(*by, at, path)?.0.is_valid() {
                self.evaluate(*by, object, members, true, evaluated)?;
            }
        }
        if let Some(condition) = combination.condition {
            let branch = if self.verdict(condition, at, path)?.0.is_valid() {
                self.evaluate(condition, object, members, true, evaluated)?;
                combination.then
            } else {
                combination.otherwise
            };
            if let Some(branch) = branch {
                self.evaluate(branch, object, members, true, evaluated)?;
            }
        }
        Ok(())
    }

    /// Refuses keys that are given more than once, at any depth: parsers differ in which value they keep.
    pub(super) fn duplicates(&mut self, at: usize, path: &Path<'_>) -> Judged {
        let (token, end) = self.token(at)?;
        match token {
            Token::Array => {
                let (items, end) = self.items(at, path)?;
                for (index, item) in items.into_iter().enumerate() {
                    self.duplicates(item, &path.index(index))?;
                }
                Ok(end)
            }
            Token::Object => {
                let (members, end) = self.members(at, path)?;
                let mut seen = HashSet::new();
                for Member { name, value, .. } in &members {
                    let here = path.member(name, false, self.is_secret(path, name));
                    if !seen.insert(name) {
                        self.problem(|| {
                            let (kind, got) = if here.is_hidden() {
                                (ProblemKind::NoMatch, "one of them again (not shown)")
                            } else {
                                (ProblemKind::Duplicate, "this key again")
                            };
                            ArgumentProblem::new(here.pointer(), kind, "each key once", got)
                        })?;
                    }
                    self.duplicates(*value, &here)?;
                }
                Ok(end)
            }
            _ => Ok(end),
        }
    }
}

/// Returns the argument whose description has this name in backquotes, for callers who know the argument by that name.
fn described<'s>(schema: &'s InputSchema, name: &str) -> Option<&'s str> {
    let quoted = format!("`{name}`");
    let words = |schema: &'s Value| schema["description"].as_str().unwrap_or_default();
    let mut properties = schema.json()["properties"].as_object()?.iter();
    let (argument, _) = properties.find(|(_, schema)| words(schema).contains(&quoted))?;
    Some(argument)
}

/// The keys of one object that have been read.
struct Keys<'r, 't> {
    rule: Option<&'r ObjectRule>,
    /// The first 64 properties of the rule, one bit for each.
    seen: u64,
    /// The property that most callers give next.
    next: usize,
    few: [&'t str; FEW],
    count: usize,
    /// All other keys, if there are many or if they are written with escapes.
    many: HashSet<Cow<'t, str>, foldhash::fast::RandomState>,
    /// Whether a key was read twice.
    twice: bool,
}

/// Up to this many keys, comparing each with each is faster than a set.
const FEW: usize = 8;

impl<'r, 't> Keys<'r, 't> {
    fn new(rule: Option<&'r ObjectRule>) -> Self {
        Self {
            rule,
            seen: 0,
            next: 0,
            few: [""; FEW],
            count: 0,
            many: HashSet::default(),
            twice: false,
        }
    }

    /// Reads the key that begins here, if it is the next property in the order of the schema and nothing else applies to it.
    #[inline]
    fn expected(&mut self, lexer: Lexer<'t>, key: usize) -> Option<(&'r str, RuleId, usize)> {
        let rule = self.rule.filter(|rule| rule.is_plain && self.next < 64)?;
        let (name, by) = rule.properties.get(self.next)?;
        let value = lexer.behind_key(key, name)?;
        self.saw(self.next);
        Some((name, *by, value))
    }

    /// Notes one of the first 64 properties.
    fn saw(&mut self, place: usize) {
        let bit = 1 << place;
        self.twice |= self.seen & bit != 0;
        self.seen |= bit;
        self.next = place + 1;
    }

    /// Reads the key that begins here, up to its value.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn read(&mut self, lexer: Lexer<'t>, key: usize) -> Result<Member<'t>, Unread> {
        if lexer.byte(key) != b'"' {
            return Err(Unread);
        }
        let string = lexer.string(key)?;
        let name = string.text()?;
        let property = self.rule.and_then(|rule| rule.position(&name));
        match property {
            Some(place) if place < 64 => self.saw(place),
            _ => self.add(name.clone()),
        }
        Ok(Member {
            name,
            property,
            key,
            value: lexer.behind_space(lexer.behind(string.end, b':')?),
        })
    }

    fn add(&mut self, name: Cow<'t, str>) {
        let known = self.few.get(..self.count).unwrap_or_default();
        self.twice |= known.contains(&&*name);
        match (name, self.few.get_mut(self.count)) {
            (Cow::Borrowed(name), Some(place)) if self.many.is_empty() => {
                *place = name;
                self.count += 1;
            }
            (name, _) => self.twice |= !self.many.insert(name),
        }
    }

    fn has(&self, name: &str) -> bool {
        let position = self.rule.and_then(|rule| rule.position(name));
        if let Some(place) = position.filter(|place| *place < 64) {
            return self.seen & (1 << place) != 0;
        }
        let known = self.few.get(..self.count).unwrap_or_default();
        known.contains(&name) || self.many.contains(name)
    }
}

/// The keys of a closed object.
#[derive(Default)]
struct Known<'r> {
    names: Vec<&'r str>,
    pattern: Option<&'r str>,
}

impl<'r> Known<'r> {
    fn of(rule: &'r ObjectRule) -> Self {
        let names = rule.properties.iter().map(|(name, _)| name.as_str());
        Self {
            names: names.collect(),
            pattern: rule.patterns.first().map(|(pattern, _)| pattern.as_str()),
        }
    }

    /// Adds the keys of a rule and of those it applies to the same object.
    fn collect(&mut self, rules: &'r Rules, id: RuleId) {
        if let Some(object) = &rules[id].object {
            let known = Self::of(object);
            for name in known.names {
                if !self.names.contains(&name) {
                    self.names.push(name);
                }
            }
            self.pattern = self.pattern.or(known.pattern);
        }
        let Some(inner) = &rules[id].combination else {
            return;
        };
        let lists = [&inner.all, &inner.any, &inner.one].into_iter().flatten();
        let parts = inner.reference.iter().chain(lists);
        parts.for_each(|part| self.collect(rules, *part));
    }

    fn expected(&self) -> String {
        match (self.names.is_empty(), self.pattern) {
            (_, Some(pattern)) => format!("a key matching the pattern `{pattern}`"),
            (true, None) => "none".to_owned(),
            (false, None) => "a known key".to_owned(),
        }
    }
}
