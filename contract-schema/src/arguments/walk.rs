//! Judges a JSON text against the rules of a schema, in one walk over the text.
//!
//! A walk is quiet or loud. A quiet walk decides whether a value is admitted, and stops at the first problem; it allocates nothing
//! for ordinary values. A loud walk goes on behind each problem, and collects the problems and the corrections.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;

use serde_json::{Number as JsonNumber, Value};

use super::correct::{Coercion, Edit, coerced, write};
use super::describe::{describe, given};
use super::place::Path;
use super::problem::{ArgumentProblem, KEPT, ProblemKind};
use crate::decimal::integer;
use crate::lexer::{EXACT, Lexer, Number, Quoted, Unread};
use crate::{Decimal, InputSchema, Limit, NumberRule, RuleId, Rules, TextRule, Types};

/// The most steps of one walk. A megabyte of plain values needs about a million. Without a limit, alternatives inside alternatives
/// of a recursive type could need any number.
const STEPS: usize = 10_000_000;

/// The most verdicts that are remembered. Beyond it only the number of steps is limited.
const REMEMBERED: usize = 100_000;

/// How well a value fits, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    /// The value is admitted as it was given.
    Fits,
    /// The value is admitted, but has to be rewritten (`5.0` for an integer).
    Normalised,
    /// The value is admitted after a coercion, or without members that are null for absent.
    Coerced,
    /// The value is not admitted.
    Refused,
}

impl Verdict {
    /// Returns whether the schema admits the value as it was given.
    pub(super) fn is_valid(self) -> bool {
        self <= Self::Normalised
    }
}

/// Why a walk ends before the end of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// A quiet walk has met a problem.
    Refused,
    /// The text is not JSON.
    Unread,
    /// There are no steps left.
    TooComplex,
}

impl From<Unread> for Stop {
    fn from(_: Unread) -> Self {
        Self::Unread
    }
}

/// The place behind a value that was judged.
pub(super) type Judged = Result<usize, Stop>;

/// How arguments are read.
#[derive(Clone, Copy, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a question of its own, asked in one place"
)]
pub(super) struct Options {
    pub(super) coerce: bool,
    /// Whether null means an absent member where the schema does not admit null.
    pub(super) null_is_absent: bool,
    /// Whether integers are passed on as [`serde_json::Number`]s, which would round some of them.
    pub(super) as_values: bool,
    /// Whether the formats of strings are checked, to explain a refusal.
    pub(super) formats: bool,
}

/// The problems and corrections that a loud walk collects.
#[derive(Default)]
pub(super) struct Found {
    /// The first problems, in the order of the schema and then of the text.
    pub(super) problems: Vec<ArgumentProblem>,
    /// How many problems there are.
    pub(super) total: usize,
    pub(super) edits: Vec<Edit>,
    pub(super) coercions: Vec<Coercion>,
    /// The defaults of arguments that are null for absent.
    pub(super) defaults: Vec<Coercion>,
}

/// The first token of a value.
#[derive(Clone, Copy)]
pub(super) enum Token<'t> {
    Null,
    Bool(bool),
    Number(Number<'t>),
    String(Quoted<'t>),
    Array,
    Object,
}

impl Token<'_> {
    /// Returns the JSON Schema types of the value: `1.0` is an integer and a number.
    #[inline]
    pub(super) fn types(&self) -> Types {
        match self {
            Self::Null => Types::NULL,
            Self::Bool(_) => Types::BOOLEAN,
            Self::Number(number) if number.is_integral() => Types::INTEGER | Types::NUMBER,
            Self::Number(_) => Types::NUMBER,
            Self::String(_) => Types::STRING,
            Self::Array => Types::ARRAY,
            Self::Object => Types::OBJECT,
        }
    }
}

/// One walk over a text.
pub(super) struct Walk<'s, 't> {
    pub(super) rules: &'s Rules,
    /// The schema of all arguments, if they are judged together.
    pub(super) schema: Option<&'s InputSchema>,
    pub(super) lexer: Lexer<'t>,
    pub(super) options: Options,
    pub(super) verdict: Verdict,
    /// Whether a key is given twice in one object.
    pub(super) twice: bool,
    steps: usize,
    /// How many quiet walks are nested at the moment.
    trials: usize,
    /// Remembered verdicts, and the ends of their values. Nested alternatives would compute them again and again.
    known: HashMap<(RuleId, usize), (Verdict, usize), foldhash::fast::RandomState>,
    /// The findings of a loud walk; `None` in a quiet walk.
    pub(super) found: Option<Box<Found>>,
}

/// Returns the end of the value that begins at `at`, one object deep in the text, if the rule admits it as it is written.
#[inline]
pub fn end_of_admitted(text: &str, at: usize, rules: &Rules, id: RuleId) -> Option<usize> {
    let mut walk = Walk::quiet(text, rules);
    let end = walk.judge(id, at, &Path::ROOT.index(0)).ok()?;
    (walk.verdict == Verdict::Fits && !walk.twice).then_some(end)
}

impl<'s, 't> Walk<'s, 't> {
    pub(super) fn quiet(text: &'t str, rules: &'s Rules) -> Self {
        Self {
            rules,
            schema: None,
            lexer: Lexer::new(text),
            options: Options::default(),
            verdict: Verdict::Fits,
            twice: false,
            steps: 0,
            trials: 0,
            known: HashMap::default(),
            found: None,
        }
    }

    /// Judges a whole text in a loud walk.
    pub(super) fn of_text(
        text: &'t str,
        schema: &'s InputSchema,
        options: Options,
    ) -> Result<Found, Stop> {
        let mut walk = Self {
            schema: Some(schema),
            options,
            found: Some(Box::default()),
            ..Self::quiet(text, schema.rules())
        };
        let start = walk.lexer.behind_space(0);
        let end = walk.judge(schema.root(), start, &Path::ROOT)?;
        if !walk.lexer.ends(end) {
            return Err(Stop::Unread);
        }
        if walk.twice {
            walk.duplicates(start, &Path::ROOT)?;
        }
        Ok(walk.found.map(|found| *found).unwrap_or_default())
    }

    /// Creates a walk over the text that a value is read as.
    fn over<'r>(&self, text: &'r str) -> Walk<'s, 'r> {
        Walk {
            schema: self.schema,
            options: self.options,
            found: self.found.as_ref().map(|_| Box::default()),
            steps: self.steps,
            trials: self.trials,
            ..Walk::quiet(text, self.rules)
        }
    }

    pub(super) fn step(&mut self, steps: usize) -> Result<(), Stop> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > STEPS {
            return Err(Stop::TooComplex);
        }
        Ok(())
    }

    pub(super) fn has_secrets(&self) -> bool {
        self.schema
            .is_some_and(|schema| schema.secrets().next().is_some())
    }

    pub(super) fn is_secret(&self, path: &Path<'_>, name: &str) -> bool {
        path.is_root() && self.schema.is_some_and(|schema| schema.is_secret(name))
    }

    /// Returns the index behind all problems so far.
    pub(super) fn place(&self) -> usize {
        self.found.as_ref().map_or(0, |found| found.problems.len())
    }

    /// Adds a problem.
    pub(super) fn problem(
        &mut self,
        problem: impl FnOnce() -> ArgumentProblem,
    ) -> Result<(), Stop> {
        self.problem_at(self.place(), problem).map(drop)
    }

    /// Inserts a problem at an index; returns the index behind it.
    pub(super) fn problem_at(
        &mut self,
        place: usize,
        problem: impl FnOnce() -> ArgumentProblem,
    ) -> Result<usize, Stop> {
        let Some(found) = &mut self.found else {
            return Err(Stop::Refused);
        };
        found.total += 1;
        if place < KEPT {
            found.problems.insert(place, problem());
            found.problems.truncate(KEPT);
        }
        Ok((place + 1).min(KEPT))
    }

    /// Adds a problem of the value at `at`.
    pub(super) fn refuse(
        &mut self,
        kind: ProblemKind,
        path: &Path<'_>,
        at: usize,
        expected: impl FnOnce() -> String,
    ) -> Result<(), Stop> {
        self.refuse_listing(kind, path, at, expected, std::iter::empty())
    }

    /// Adds a problem of the value at `at`, with the values that would be accepted.
    pub(super) fn refuse_listing<'v>(
        &mut self,
        kind: ProblemKind,
        path: &Path<'_>,
        at: usize,
        expected: impl FnOnce() -> String,
        values: impl Iterator<Item = &'v Value> + Clone,
    ) -> Result<(), Stop> {
        let lexer = self.lexer;
        self.problem(|| {
            let got = given(lexer, at, path.is_secret());
            let mut problem = ArgumentProblem::new(path.pointer(), kind, expected(), got);
            let text = lexer.string(at).and_then(|string| string.text());
            problem.list(path, values, text.ok().as_deref());
            problem
        })
    }

    /// Reads the token that begins at `at`; returns it and the place behind it.
    // Inlined in an unoptimised build, it would take more of the stack than the deepest values leave.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn token(&self, at: usize) -> Result<(Token<'t>, usize), Unread> {
        let literal = |word, token| Ok((token, self.lexer.literal(at, word)?));
        match self.lexer.byte(at) {
            b'"' => {
                let string = self.lexer.string(at)?;
                Ok((Token::String(string), string.end))
            }
            b'{' => Ok((Token::Object, at)),
            b'[' => Ok((Token::Array, at)),
            b't' => literal("true", Token::Bool(true)),
            b'f' => literal("false", Token::Bool(false)),
            b'n' => literal("null", Token::Null),
            _ => {
                let (number, end) = self.lexer.number(at)?;
                Ok((Token::Number(number), end))
            }
        }
    }

    /// Judges the value that begins at `at` by one rule.
    pub(super) fn judge(&mut self, id: RuleId, at: usize, path: &Path<'_>) -> Judged {
        self.step(1)?;
        let rules = self.rules;
        let rule = &rules[id];
        let (token, end) = self.token(at)?;
        let types = token.types();
        if !rule.types.has(types) {
            return self.mistyped(id, &token, at, path);
        }
        if let Some(values) = &rule.values
            && !self.is_among(values, &token, at)?
        {
            return self.unlisted(id, at, path);
        }
        let mut ended = match &token {
            Token::Array if rule.array.is_some() => Some(self.array(Some(id), at, path)?),
            Token::Object if rule.object.is_some() => Some(self.object(Some(id), at, path)?),
            Token::Array | Token::Object => None,
            Token::String(string) => {
                if let Some(text) = &rule.text {
                    self.string((id, text), string, at, path)?;
                }
                Some(end)
            }
            Token::Number(number) => {
                self.number(id, number, at..end, path)?;
                Some(end)
            }
            Token::Null | Token::Bool(_) => Some(end),
        };
        if rule.combination.is_some() {
            ended = self.combination(id, ended, at, path)?;
        }
        let end = match ended {
            Some(end) => end,
            None => self.anything(at, path)?,
        };
        if let (Token::Object, Some(object)) = (&token, &rule.object)
            && let Some(unevaluated) = object.unevaluated
        {
            self.unevaluated(id, unevaluated, at, path)?;
        }
        Ok(end)
    }

    /// Refuses a value that the rule does not list.
    fn unlisted(&mut self, id: RuleId, at: usize, path: &Path<'_>) -> Judged {
        let rules = self.rules;
        let values = rules[id].values.as_deref().unwrap_or_default().iter();
        let expected = || describe(rules, id);
        self.refuse_listing(ProblemKind::Value, path, at, expected, values)?;
        self.anything(at, path)
    }

    /// Finds the end of a value for which there is no rule.
    pub(super) fn anything(&mut self, at: usize, path: &Path<'_>) -> Judged {
        self.step(1)?;
        match self.token(at)? {
            (Token::Array, _) => self.array(None, at, path),
            (Token::Object, _) => self.object(None, at, path),
            (_, end) => Ok(end),
        }
    }

    /// Judges a value in a quiet walk. Returns how well it fits, and where it ends unless it is refused.
    pub(super) fn verdict(
        &mut self,
        id: RuleId,
        at: usize,
        path: &Path<'_>,
    ) -> Result<(Verdict, usize), Stop> {
        if let Some(known) = self.known.get(&(id, at)) {
            return Ok(*known);
        }
        let found = self.found.take();
        let before = std::mem::replace(&mut self.verdict, Verdict::Fits);
        self.trials += 1;
        let judged = self.judge(id, at, path);
        self.trials -= 1;
        self.found = found;
        let verdict = std::mem::replace(&mut self.verdict, before);
        let verdict = match judged {
            Ok(end) => (verdict, end),
            Err(Stop::Refused) => (Verdict::Refused, at),
            Err(stop) => return Err(stop),
        };
        // An outermost trial is asked for only once, so its verdict is not worth the memory.
        let is_large = matches!(self.lexer.byte(at), b'{' | b'[')
            || (self.options.coerce && self.lexer.byte(at) == b'"');
        if is_large && self.trials > 0 && self.known.len() < REMEMBERED {
            self.known.insert((id, at), verdict);
        }
        Ok(verdict)
    }

    /// Corrects or refuses a value that has none of the types of the rule.
    fn mistyped(&mut self, id: RuleId, token: &Token<'t>, at: usize, path: &Path<'_>) -> Judged {
        if self.options.coerce
            && let Some(read) = self.read_as(id, token, at, path)?
        {
            let end = self.anything(at, path)?;
            self.correct(id, &read, at..end, path)?;
            return Ok(end);
        }
        let (rules, lexer) = (self.rules, self.lexer);
        if path.is_root() && !matches!(token, Token::Object) {
            // No value is shown: the text may hold all arguments, including secrets.
            self.problem(|| {
                let expected = match token {
                    Token::String(_) => "an object, not the text of one",
                    _ => "an object",
                };
                let got = given(lexer, at, !matches!(token, Token::Array));
                ArgumentProblem::new(path.pointer(), ProblemKind::NotAnObject, expected, got)
            })?;
        } else if let Some(values) = &rules[id].values {
            let expected = || describe(rules, id);
            self.refuse_listing(ProblemKind::Type, path, at, expected, values.iter())?;
        } else {
            self.refuse(ProblemKind::Type, path, at, || describe(rules, id))?;
        }
        self.anything(at, path)
    }

    /// Returns the JSON of a wanted type that the value was meant for: what its string spells, or a list of the value alone.
    fn read_as(
        &mut self,
        id: RuleId,
        token: &Token<'t>,
        at: usize,
        path: &Path<'_>,
    ) -> Result<Option<String>, Stop> {
        let rule = &self.rules[id];
        if let Token::String(string) = token {
            let text = string.text()?;
            let scalar = coerced(&text, rule.types);
            if scalar.is_some() {
                return Ok(scalar);
            }
            let wanted = match text.trim_start().as_bytes().first() {
                Some(b'n') => Types::NULL,
                Some(b'[') => Types::ARRAY,
                Some(b'{') => Types::OBJECT,
                _ => Types::NONE,
            };
            if rule.types.has(wanted) && self.is_json(&text, path)? {
                return Ok(Some(text.into_owned()));
            }
        }
        let array = rule.array.as_ref().filter(|array| array.prefix.is_empty());
        let is_one = !matches!(token, Token::Null | Token::Array) && rule.types.has(Types::ARRAY);
        let Some(item) = array.filter(|_| is_one).and_then(|array| array.items) else {
            return Ok(None);
        };
        // A value is corrected only once, so the item must fit as it was given.
        let known = std::mem::take(&mut self.known);
        self.options.coerce = false;
        let judged = self.verdict(item, at, path);
        self.options.coerce = true;
        self.known = known;
        let (verdict, end) = judged?;
        let list = || format!("[{}]", self.lexer.between(at..end));
        Ok(verdict.is_valid().then(list))
    }

    /// Returns whether a string spells one JSON value that is not nested too deeply.
    fn is_json(&mut self, text: &str, path: &Path<'_>) -> Result<bool, Stop> {
        let mut inner = self.over(text);
        let start = inner.lexer.behind_space(0);
        let end = inner.anything(start, path);
        self.steps = inner.steps;
        match end {
            Ok(end) => Ok(inner.lexer.ends(end)),
            Err(Stop::TooComplex) => Err(Stop::TooComplex),
            Err(_) => Ok(false),
        }
    }

    /// Judges the corrected value in the place of the given one.
    fn correct(
        &mut self,
        id: RuleId,
        read: &str,
        span: Range<usize>,
        path: &Path<'_>,
    ) -> Result<(), Stop> {
        let mut inner = self.over(read);
        let start = inner.lexer.behind_space(0);
        let judged = inner.judge(id, start, path);
        self.steps = inner.steps;
        judged?;
        self.verdict = self.verdict.max(Verdict::Coerced);
        let inner = inner.found;
        let has_secrets = self.has_secrets();
        if let (Some(found), Some(inner)) = (&mut self.found, inner) {
            found.total += inner.total;
            let room = KEPT.saturating_sub(found.problems.len());
            let problems = inner.problems.into_iter();
            found.problems.extend(problems.take(room));
            if inner.total == 0 {
                // Corrections inside a value follow the correction of the value itself.
                let path = path.hidden(path.is_root() && has_secrets);
                let from = self.lexer.between(span.clone());
                found.coercions.push(Coercion::new(&path, from, read));
                found.coercions.extend(inner.coercions);
                let to = Some(write(read, inner.edits));
                found.edits.push(Edit { span, to });
            }
        }
        Ok(())
    }

    #[inline]
    fn number(
        &mut self,
        id: RuleId,
        number: &Number<'_>,
        span: Range<usize>,
        path: &Path<'_>,
    ) -> Result<(), Stop> {
        let (rules, at) = (self.rules, span.start);
        let rule = &rules[id];
        if !rule.types.has(Types::NUMBER) {
            if self.options.as_values && number.is_rounded() {
                return self.refuse(ProblemKind::Range, path, at, || {
                    "an integer from -2^63 to 2^64 - 1, as others are not handed on exactly".into()
                });
            }
            self.normalise(number, span);
        }
        if rule
            .number
            .as_ref()
            .is_some_and(|limits| !is_within(limits, number))
        {
            self.refuse(ProblemKind::Range, path, at, || describe(rules, id))?;
        }
        Ok(())
    }

    /// Notes how an integer has to be rewritten so that a Rust integer reads it, if it has to be.
    fn normalise(&mut self, number: &Number<'_>, span: Range<usize>) {
        let Number::Literal { digits, .. } = number else {
            return;
        };
        let mut bytes = digits.bytes();
        if *digits != "-0" && bytes.all(|byte| byte == b'-' || byte.is_ascii_digit()) {
            return;
        }
        // An integer with more digits than are kept is left as it is: no Rust type reads it.
        if let Some(integer) = number.exact().integer_text() {
            self.edit(Verdict::Normalised, span, Some(integer));
        }
    }

    /// Notes that a part of the text is replaced, or that a member is left out.
    pub(super) fn edit(&mut self, verdict: Verdict, span: Range<usize>, to: Option<String>) {
        self.verdict = self.verdict.max(verdict);
        if let Some(found) = &mut self.found {
            found.edits.push(Edit { span, to });
        }
    }

    fn string(
        &mut self,
        (id, rule): (RuleId, &TextRule),
        string: &Quoted<'_>,
        at: usize,
        path: &Path<'_>,
    ) -> Result<(), Stop> {
        let rules = self.rules;
        let text = string.text()?;
        let kind = if (rule.min.is_some() || rule.max.is_some())
            && !is_between(text.chars().count(), rule.min, rule.max)
        {
            ProblemKind::Length
        } else if rule
            .pattern
            .as_ref()
            .is_some_and(|one| !one.is_match(&text))
        {
            ProblemKind::Pattern
        } else if self.options.formats && rule.format.is_some_and(|one| !(one.admits)(&text)) {
            ProblemKind::Format
        } else {
            return Ok(());
        };
        self.refuse(kind, path, at, || describe(rules, id))
    }
}

#[inline]
pub(super) fn is_between(count: usize, min: Option<usize>, max: Option<usize>) -> bool {
    min.is_none_or(|min| count >= min) && max.is_none_or(|max| count <= max)
}

fn is_within(rule: &NumberRule, number: &Number<'_>) -> bool {
    let holds = |limit: &Option<Limit>, test: fn(Ordering) -> bool| {
        let compared = |limit: &Limit| compare(number, &limit.written, || limit.exact);
        limit.as_ref().is_none_or(|limit| test(compared(limit)))
    };
    holds(&rule.minimum, Ordering::is_ge)
        && holds(&rule.maximum, Ordering::is_le)
        && holds(&rule.above, Ordering::is_gt)
        && holds(&rule.below, Ordering::is_lt)
        && rule
            .multiple_of
            .as_ref()
            .is_none_or(|step| number.exact().is_multiple_of(&step.exact))
}

/// Compares a number with a limit. Plain integers, and floats that were not rounded, are compared without their digits.
pub(super) fn compare(
    number: &Number<'_>,
    with: &JsonNumber,
    exact: impl Fn() -> Decimal,
) -> Ordering {
    let plain = match number {
        Number::Integer(value) => integer(with).map(|with| value.cmp(&with)),
        Number::Literal { .. } => {
            let is_exact = |float: &f64| with.is_f64() || float.abs() <= EXACT;
            let both = number.float().zip(with.as_f64().filter(is_exact));
            // The shortest decimals of two floats have the same order as the floats.
            both.and_then(|(float, with)| float.partial_cmp(&with))
        }
    };
    plain.unwrap_or_else(|| number.exact().cmp(&exact()))
}
