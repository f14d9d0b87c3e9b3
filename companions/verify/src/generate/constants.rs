//! The constants that the conditions of a tool mention, and those in the functions that they call.
//!
//! A predicate such as `is_known(code)` shows nothing of the values between which its function tells. As fuzzers fill their
//! dictionaries from a program, they are looked up in the source file of the tool; without the file there are none.

use std::collections::HashSet;

use contract_runtime::__family::Expression;
use contract_runtime::__family::guard;
use contract_runtime::PublishedCondition;
use serde_json::Value;

/// The most functions that are followed from one tool.
const FUNCTIONS: usize = 20;

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
            found.code(condition.condition().predicate());
        }
        let predicates = conditions.iter().map(|one| one.condition().predicate());
        let file = source(location).unwrap_or_default();
        for body in called(&file, predicates) {
            found.code(body);
        }
        found.texts.retain(|text| text.len() <= 200);
        distinct(&mut found.texts);
        distinct(&mut found.patterns);
        distinct(&mut found.integers);
        distinct(&mut found.moduli);
        found.floats.truncate(MOST);
        found
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

    /// Numbers and texts as they are typed, where nothing more is known of a condition.
    fn code(&mut self, code: &str) {
        for (place, part) in code.split('"').enumerate() {
            if place % 2 == 1 {
                self.texts
                    .extend(Some(part.to_owned()).filter(|text| !text.is_empty()));
                continue;
            }
            let plain = part.replace('_', "");
            for word in plain.split(|c: char| !c.is_ascii_alphanumeric() && c != '.') {
                let number = word.trim_matches('.').split(['i', 'u', 'f']).next();
                let number = number.filter(|word| word.starts_with(|c: char| c.is_ascii_digit()));
                self.integers
                    .extend(number.and_then(|word| word.parse::<i128>().ok()));
                let float = number.and_then(|word| word.parse::<f64>().ok());
                self.floats.extend(float.filter(|value| value.is_finite()));
            }
            // What is divided by, where the rest matters.
            for divisor in plain.split('%').skip(1) {
                let divisor = divisor
                    .trim_start()
                    .split(|c: char| !c.is_ascii_digit())
                    .next();
                let divisor = divisor.and_then(|digits| digits.parse::<i128>().ok());
                self.moduli.extend(divisor.filter(|by| *by > 1));
            }
        }
        // Conditions of dynamic tools are words of people, who quote so.
        let words = code.split('`').skip(1).step_by(2);
        self.texts.extend(words.map(str::to_owned));
        let letters: Vec<char> = code.chars().collect();
        let quoted = letters
            .windows(3)
            .filter(|three| matches!(three, ['\'', _, '\'']));
        self.texts
            .extend(quoted.filter_map(|three| Some(three.get(1)?.to_string())));
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

/// The text of the file of `src/tools.rs:12:4`, without its comments. It is named from the folder that was built, somewhere above
/// the one where tests run.
fn source(location: &str) -> Option<String> {
    let named = location.rsplitn(3, ':').nth(2)?;
    let here = std::env::current_dir().ok()?;
    let mut places = here.ancestors().map(|folder| folder.join(named));
    let text = std::fs::read_to_string(places.find(|place| place.is_file())?).ok()?;
    let lines = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default());
    Some(lines.collect::<Vec<_>>().join("\n"))
}

/// The bodies of the functions of a file that these predicates call, and that those call.
fn called<'f>(file: &'f str, predicates: impl Iterator<Item = &'f str>) -> Vec<&'f str> {
    let mut names: Vec<&str> = predicates.flat_map(calls).collect();
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    while let Some(name) = names.pop() {
        if seen.len() >= FUNCTIONS || !seen.insert(name) {
            continue;
        }
        if let Some(body) = body(file, name) {
            names.extend(calls(body));
            found.push(body);
        }
    }
    found
}

/// The names in front of a bracket.
fn calls(code: &str) -> impl Iterator<Item = &str> {
    let brackets = code.match_indices('(');
    let names = brackets.filter_map(|(place, _)| words(code.get(..place)?).last());
    names.filter(|name| !name.is_empty())
}

/// The words of a piece of code; some are empty.
pub(crate) fn words(code: &str) -> impl DoubleEndedIterator<Item = &str> {
    code.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
}

/// The body of a function of that name.
fn body<'f>(file: &'f str, name: &str) -> Option<&'f str> {
    let head = format!("fn {name}");
    let is_head = |rest: &&str| rest.starts_with(['(', '<']);
    let mut heads = file
        .match_indices(&head)
        .filter_map(|(place, head)| file.get(place + head.len()..));
    let rest = heads.find(is_head)?;
    let mut depth = 0_usize;
    let start = rest.find('{')?;
    let end = rest.get(start..)?.find(|letter| {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        depth == 0
    })?;
    rest.get(start..start + end)
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

#[cfg(test)]
mod tests {
    use super::{Constants, called};

    #[test]
    fn literals_of_a_function_are_read_and_those_of_others_are_not() {
        let file = r#"
            fn is_known_too(code: u32) -> bool { code == 77 }
            fn is_known<'a>(code: u32) -> bool {
                matches!(code, 1_007 | 42u32 | 0..=3) && code as f64 <= 2.5 && 'x' == "yz" && code % 4_271 == 1
            }
            fn other() { 9 }
        "#;
        let mut found = Constants::default();
        for body in called(file, ["is_known(code)"].into_iter()) {
            found.code(body);
        }
        assert_eq!(found.integers, [1_007, 42, 0, 3, 4_271, 1]);
        assert!(found.floats.contains(&2.5));
        assert_eq!(found.texts, ["yz", "x"]);
        assert_eq!(found.moduli, [4_271]);
    }
}
