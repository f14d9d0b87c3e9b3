//! The constants that the conditions of a tool mention.

use contract_runtime::__family::Expression;
use contract_runtime::__family::guard;
use contract_runtime::PublishedCondition;
use serde_json::Value;

use super::source::{self, Token};

/// The most that is kept of each kind: what a generator gets must stay concentrated.
const MOST: usize = 24;

/// Constants of predicates: values near them are where a predicate changes its mind.
#[derive(Debug, Default)]
pub(super) struct Constants {
    pub(super) integers: Vec<i128>,
    pub(super) floats: Vec<f64>,
    pub(super) texts: Vec<String>,
    pub(super) patterns: Vec<String>,
    /// Divisors whose multiples a predicate asks for.
    pub(super) moduli: Vec<i128>,
}

impl Constants {
    /// Those of the conditions, and of the functions that they call, which stand in the file of this place.
    pub(super) fn of(conditions: &[PublishedCondition], location: &str) -> Self {
        let mut found = Self::default();
        for condition in conditions {
            if let Some(expression) = condition.condition().expression() {
                found.expression(expression);
            }
            found.words(condition.condition().predicate());
        }
        let predicates = || conditions.iter().map(|one| one.condition().predicate());
        for predicate in predicates() {
            found.moduli(&source::tokens(predicate));
        }
        let called = source::called(location, predicates());
        found.moduli(&called);
        for token in called {
            match token {
                Token::Integer(value) => found.integers.push(value),
                Token::Float(value) => found.floats.push(value),
                Token::Text(text) if !text.is_empty() => found.texts.push(text),
                _ => {}
            }
        }
        found.texts.retain(|text| text.len() <= 200);
        distinct(&mut found.texts);
        distinct(&mut found.patterns);
        distinct(&mut found.integers);
        found.floats.truncate(MOST);
        found
    }

    /// What is divided by, where the rest matters.
    fn moduli(&mut self, tokens: &[Token]) {
        for pair in tokens.windows(2) {
            if let [Token::Sign('%'), Token::Integer(by)] = pair
                && *by > 1
                && !self.moduli.contains(by)
            {
                self.moduli.push(*by);
            }
        }
    }

    fn expression(&mut self, expression: &Expression) {
        match expression {
            Expression::Integer(value) => self.integers.push(*value),
            Expression::Float(value) => self.floats.push(*value),
            Expression::Text(text) => self.texts.push((*text).to_owned()),
            Expression::Named { value, .. } => {
                if let Ok(Some(value)) = guard(value) {
                    self.value(&value);
                }
            }
            Expression::Matches(of, Expression::Text(pattern)) => {
                self.patterns.push((*pattern).to_owned());
                self.expression(of);
                return;
            }
            _ => {}
        }
        for part in expression.parts() {
            self.expression(part);
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.texts.push(text.clone()),
            Value::Array(items) => items.iter().take(MOST).for_each(|item| self.value(item)),
            Value::Number(number) => {
                self.integers.extend(number.as_i128());
                self.floats.extend(number.as_f64());
            }
            _ => {}
        }
    }

    /// Numbers and texts as they are typed, where nothing more is known of a predicate.
    fn words(&mut self, predicate: &str) {
        let mut quoted = predicate.split('"');
        let mut is_text = false;
        for part in quoted.by_ref() {
            if is_text && !part.is_empty() {
                self.texts.push(part.to_owned());
            }
            if !is_text {
                let plain = part.replace('_', "");
                let words = plain.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
                for word in words.filter(|word| word.starts_with(|c: char| c.is_ascii_digit())) {
                    self.integers.extend(word.parse::<i128>());
                    self.floats
                        .extend(word.parse::<f64>().ok().filter(|value| value.is_finite()));
                }
            }
            is_text = !is_text;
        }
        // Conditions of dynamic tools are words of people, who quote so.
        let words = predicate.split('`').skip(1).step_by(2);
        self.texts.extend(words.map(str::to_owned));
        let mut characters = predicate.split('\'').skip(1).step_by(2);
        self.texts.extend(
            characters
                .by_ref()
                .filter(|text| text.chars().count() == 1)
                .map(str::to_owned),
        );
    }

    /// Those that may be a count of something that is not too long to be made.
    pub(super) fn counts(&self, most: usize) -> impl Iterator<Item = usize> + '_ {
        let counts = self
            .integers
            .iter()
            .filter_map(|value| usize::try_from(*value).ok());
        counts.filter(move |count| *count <= most)
    }
}

fn distinct<T: PartialEq>(list: &mut Vec<T>) {
    let mut kept: Vec<T> = Vec::new();
    for one in std::mem::take(list) {
        if kept.len() < MOST && !kept.contains(&one) {
            kept.push(one);
        }
    }
    *list = kept;
}
