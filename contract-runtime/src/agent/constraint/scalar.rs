//! Strings and numbers as tokens.

use serde_json::{Number, Value};

use super::convert::{Converter, Keywords};
use super::number::{self, Range};
use super::pattern::pattern;
use super::regular::Regular;
use super::rules::{Body, Token};
use crate::schema::Decimal;

/// So many multiples are listed one by one.
const LISTED: i128 = 512;
/// So many endings of digits are listed.
const ENDINGS: i128 = 1_000;
/// The largest step.
const EXACT: i128 = 1 << 53;

pub(super) fn any_text() -> Body {
    Body::token(quoted(Regular::Char.repeat(0, None)))
}

pub(super) fn any_number() -> Body {
    Body::token(Range::default().numbers())
}

fn quoted(inner: Regular) -> Regular {
    Regular::sequence([Regular::text("\""), inner, Regular::text("\"")])
}

/// The numbers for a list of keyword values.
pub(super) fn numbers<'k>(all: &[&'k Keywords], keyword: &str) -> Vec<&'k Number> {
    all.iter()
        .filter_map(|one| one.get(keyword)?.as_number())
        .collect()
}

/// The largest or smallest count that a keyword demands.
pub(super) fn count(all: &[&Keywords], keyword: &str, largest: bool) -> Option<usize> {
    let counts = numbers(all, keyword).into_iter();
    let counts = counts.filter_map(|number| Decimal::of(number).integer_text()?.parse().ok());
    if largest { counts.max() } else { counts.min() }
}

impl Converter<'_> {
    pub(super) fn string(&mut self, all: &[&Keywords], refused: &[&Value], at: &str) -> Body {
        let mut min = count(all, "minLength", true).unwrap_or(0);
        let max = count(all, "maxLength", false);
        for value in refused {
            if *value == "" {
                min = min.max(1);
            } else if value.is_string() {
                self.weaken(at, "not", false);
            }
        }
        self.counted(min, max, at, "maxLength");
        let mut languages = Vec::new();
        for one in all {
            let Some(Value::String(text)) = one.get("pattern") else {
                continue;
            };
            match pattern(text) {
                Some(language) => languages.push(language),
                None => self.weaken(at, "pattern", false),
            }
        }
        if languages.is_empty() || min > 0 || max.is_some() {
            languages.push(Regular::Char.repeat(min, max));
        }
        languages.dedup();
        if languages.iter().any(Regular::is_never) {
            return Body::never();
        }
        if languages.len() > 1 {
            let keyword = if min > 0 || max.is_some() {
                "minLength"
            } else {
                "pattern"
            };
            self.weaken(at, keyword, true);
        }
        Body::Token(Token {
            all: languages.into_iter().map(quoted).collect(),
        })
    }

    pub(super) fn number(
        &mut self,
        all: &[&Keywords],
        integral: bool,
        refused: &[&Value],
        at: &str,
    ) -> Body {
        let mut range = Range::default();
        for (keyword, exclusive) in [("minimum", false), ("exclusiveMinimum", true)] {
            for number in numbers(all, keyword) {
                range.at_least(number, exclusive);
            }
        }
        for (keyword, exclusive) in [("maximum", false), ("exclusiveMaximum", true)] {
            for number in numbers(all, keyword) {
                range.at_most(number, exclusive);
            }
        }
        range.refused = refused
            .iter()
            .filter_map(|value| value.as_number().cloned())
            .collect();
        let steps = numbers(all, "multipleOf");
        // Multiples of an integer are integers.
        let whole = steps.iter().any(|step| Decimal::of(step).is_integral());
        if !integral && !whole {
            if !steps.is_empty() {
                self.weaken(at, "multipleOf", false);
            }
            return Body::token(range.numbers());
        }
        let pieces = range.integers();
        if steps.is_empty() {
            return Body::token(Regular::either(
                pieces
                    .iter()
                    .map(|(low, high)| number::integers(*low, *high)),
            ));
        }
        let steps: Option<Vec<i128>> = steps
            .iter()
            .map(|step| {
                Decimal::of(step)
                    .integer_text()?
                    .parse()
                    .ok()
                    .filter(|step| *step > 0)
            })
            .collect();
        let step = steps.and_then(|steps| steps.into_iter().try_fold(1, common_multiple));
        let Some(step) = step else {
            self.weaken(at, "multipleOf", false);
            return Body::token(Regular::either(
                pieces
                    .iter()
                    .map(|(low, high)| number::integers(*low, *high)),
            ));
        };
        Body::either(
            pieces
                .into_iter()
                .map(|piece| self.multiples(step, piece, at)),
        )
    }

    /// GBNF unrolls repetitions, and its reader refuses too many of them.
    pub(super) fn counted(&mut self, min: usize, max: Option<usize>, at: &str, keyword: &str) {
        if min > super::gbnf::REPETITIONS || max.is_some_and(|max| max > super::gbnf::REPETITIONS) {
            self.weaken(at, keyword, true);
        }
    }

    fn multiples(&mut self, step: i128, (low, high): (i128, i128), at: &str) -> Body {
        let first = low.div_euclid(step) + i128::from(low.rem_euclid(step) != 0);
        let last = high.div_euclid(step);
        if last - first < LISTED {
            return Body::either(
                (first..=last).map(|times| Body::word((times * step).to_string())),
            );
        }
        if step == 1 {
            return Body::token(number::integers(low, high));
        }
        let range = number::integers(low, high);
        let Some(multiples) = last_digits(step) else {
            // Only an automaton with a state for each remainder could say it.
            self.weaken(at, "multipleOf", false);
            return Body::token(range);
        };
        self.weaken(at, "multipleOf", true);
        Body::Token(Token {
            all: vec![range, multiples],
        })
    }
}

/// The multiples of a divisor of a power of ten, which their last digits tell.
fn last_digits(step: i128) -> Option<Regular> {
    let places = (1..=12).find(|places| 10_i128.pow(*places) % step == 0)?;
    let end = 10_i128.pow(places);
    if end / step > ENDINGS {
        return None;
    }
    let multiples = || (0..end / step).map(|times| times * step);
    let width = usize::try_from(places).ok()?;
    let endings = multiples().map(|multiple| Regular::text(format!("{multiple:0width$}")));
    let long = Regular::sequence([Regular::any_digits(0, None), Regular::either(endings)]);
    let short = multiples().map(|multiple| Regular::text(multiple.to_string()));
    Some(Regular::sequence([
        Regular::text("-").optional(),
        Regular::either(short.chain([long])),
    ]))
}

fn common_multiple(left: i128, right: i128) -> Option<i128> {
    let (mut divisor, mut rest) = (left, right);
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    left.checked_div(divisor)?
        .checked_mul(right)
        .filter(|step| *step <= EXACT)
}
