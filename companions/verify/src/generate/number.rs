//! Generates numbers: every bound, just past it, and between bounds.

use serde_json::{Value, json};

use super::Maker;
use super::constants::Constants;
use super::layers::Layers;
use crate::integer;

/// Integers up to here are the same in every reader of JSON (RFC 8259, section 6).
const EXACT: i128 = 1 << 53;

/// From here the bounds of a type are no longer exact.
const WIDE: f64 = 1e38;

/// What may stand in the place of a number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    low: Option<f64>,
    high: Option<f64>,
    /// The bounds themselves are refused.
    above: bool,
    below: bool,
    /// The same for integers, where a double is too coarse.
    first: i128,
    last: i128,
    step: Option<i128>,
}

impl Range {
    pub(super) fn of(layers: &Layers<'_>) -> Self {
        let bounds = |closed, open| -> Vec<(f64, bool, &Value)> {
            let closed = layers.all(closed).map(|bound| (bound, false));
            let all = closed.chain(layers.all(open).map(|bound| (bound, true)));
            all.filter_map(|(bound, is_open)| Some((bound.as_f64()?, is_open, bound)))
                .collect()
        };
        let lows = bounds("minimum", "exclusiveMinimum");
        let highs = bounds("maximum", "exclusiveMaximum");
        let past = |at: f64, is_open| i128::from(is_open && at.fract() == 0.0);
        let first = lows.iter().map(|(at, is_open, bound)| {
            to_integer(bound, at.ceil()).saturating_add(past(*at, *is_open))
        });
        let last = highs.iter().map(|(at, is_open, bound)| {
            to_integer(bound, at.floor()).saturating_sub(past(*at, *is_open))
        });
        // Of two equal bounds the open one is tighter.
        let low = lows
            .iter()
            .max_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        let high = highs
            .iter()
            .min_by(|one, other| one.0.total_cmp(&other.0).then(other.1.cmp(&one.1)));
        let steps = layers.all("multipleOf").filter_map(Value::as_i64);
        let steps = steps.map(i128::from).filter(|step| *step > 1);
        Self {
            low: low.map(|low| low.0),
            high: high.map(|high| high.0),
            above: low.is_some_and(|low| low.1),
            below: high.is_some_and(|high| high.1),
            first: first.max().unwrap_or(i128::MIN),
            last: last.min().unwrap_or(i128::MAX),
            step: steps.reduce(i128::saturating_mul),
        }
    }

    /// The bounds, as integers; none where there is none.
    pub(super) fn ends(&self) -> Vec<Value> {
        let low = self.low.map(|_| self.aligned(self.first));
        let high = self.high.map(|_| self.aligned(self.last));
        low.into_iter().chain(high).map(integer::write).collect()
    }

    /// The constants of predicates that are in range, and their opposites: a minus sign is not always part of them.
    pub(super) fn known_constants(&self, constants: &Constants) -> Vec<Value> {
        let known = constants.integers.iter();
        let both = known.flat_map(|at| [*at, at.saturating_neg()]);
        both.filter(|at| self.has(*at) && self.aligned(*at) == *at)
            .map(integer::write)
            .collect()
    }

    /// The least integer, if there is one, and this one may stand in the same place.
    pub(super) fn least_below(&self, value: i128) -> Option<Value> {
        let least = self.low.map(|_| self.aligned(self.first))?;
        (least < value && self.has(value) && self.aligned(value) == value)
            .then(|| integer::write(least))
    }

    fn has(&self, value: i128) -> bool {
        (self.first..=self.last).contains(&value)
    }

    fn has_float(&self, value: f64) -> bool {
        let low = self
            .low
            .is_none_or(|low| value > low || value >= low && !self.above);
        let high = self
            .high
            .is_none_or(|high| value < high || value <= high && !self.below);
        low && high
    }

    /// The multiple of the step that is not above the value, where that is in range; else the one after it.
    fn aligned(&self, value: i128) -> i128 {
        let Some(step) = self.step else { return value };
        let below = value.saturating_sub(value.rem_euclid(step));
        if self.has(below) {
            below
        } else {
            below.saturating_add(step)
        }
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "a cast of a float stops at the ends"
)]
fn to_integer(bound: &Value, rounded: f64) -> i128 {
    integer::read(bound).unwrap_or(rounded as i128)
}

/// The numbers of 32 bits next to one: a neighbour of 64 bits is the same to a reader of 32.
fn beside_single(at: f64) -> [f64; 2] {
    #[allow(clippy::cast_possible_truncation, reason = "that is what is asked for")]
    let single = at as f32;
    [single.next_up().into(), single.next_down().into()]
}

impl Maker<'_> {
    /// An integer that the layers admit, as far as they are understood.
    pub(super) fn integer(&mut self, layers: &Layers<'_>) -> Value {
        let range = Range::of(layers);
        let value = range.aligned(self.integer_in(&range));
        #[allow(clippy::cast_precision_loss, reason = "it is small enough")]
        if value.unsigned_abs() < EXACT.unsigned_abs() && self.rng.one_in(24) {
            // The same number, as some models write it.
            json!(value as f64)
        } else {
            integer::write(value)
        }
    }

    fn integer_in(&mut self, range: &Range) -> i128 {
        let usual = [range.first, range.last, 0, 1, -1, 2, 7, 10, 100];
        let around = [0, 0, 1, -1, 2, -2];
        let at = match self.rng.below(8) {
            0..=2 => self.rng.pick(&usual).copied().unwrap_or_default(),
            3 | 4 if !self.constants.moduli.is_empty() && self.rng.one_in(2) => {
                let by = self.rng.pick(&self.constants.moduli).copied();
                let times = i128::try_from(self.rng.below(500)).unwrap_or_default();
                let value = by.unwrap_or_default().saturating_mul(times);
                if range.has(value) {
                    return value;
                }
                value
            }
            3 | 4 => {
                let known = &self.constants.integers;
                let at = self.rng.pick(known).copied().unwrap_or_default();
                if self.rng.one_in(6) {
                    at.saturating_neg()
                } else {
                    at
                }
            }
            5 => {
                let far = [
                    EXACT,
                    -EXACT,
                    1 << 31,
                    1 << 32,
                    i64::MAX.into(),
                    i64::MIN.into(),
                    u64::MAX.into(),
                ];
                self.rng.pick(&far).copied().unwrap_or_default()
            }
            6 => {
                let near = if range.has(0) { 0 } else { range.first };
                return self.rng.integer(
                    range.first.max(near.saturating_sub(50)),
                    range.last.min(near.saturating_add(200)),
                );
            }
            _ => {
                return self.rng.integer(
                    range.first.max(i64::MIN.into()),
                    range.last.min(u64::MAX.into()),
                );
            }
        };
        let by = self.rng.pick(&around).copied().unwrap_or_default();
        let value = at.saturating_add(by);
        if range.has(value) {
            value
        } else {
            let (low, high) = (
                range.first.max(at.saturating_sub(3)),
                range.last.min(at.saturating_add(3)),
            );
            if low <= high {
                self.rng.integer(low, high)
            } else {
                self.rng.integer(range.first, range.last.max(range.first))
            }
        }
    }

    /// A number that the layers admit, as far as they are understood.
    pub(super) fn number(&mut self, layers: &Layers<'_>) -> Value {
        let range = Range::of(layers);
        if range.step.is_some() || self.rng.one_in(5) && range.first <= range.last {
            return self.integer(layers);
        }
        for _ in 0..8 {
            let value = self.float();
            let bounds = [range.low, range.high]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>();
            let value = match self.rng.below(4) {
                0 => self.rng.pick(&bounds).copied().unwrap_or(value),
                1 => self.rng.float(
                    range.low.unwrap_or(-1e3).max(-1e6),
                    range.high.unwrap_or(1e3).min(1e6),
                ),
                _ => value,
            };
            let value = match self.rng.below(8) {
                0 => value.next_up(),
                1 => value.next_down(),
                2 => value + 1.0,
                3 => value - 1.0,
                _ => value,
            };
            if range.has_float(value) && value.is_finite() {
                return json!(value);
            }
        }
        let low = range
            .low
            .map(|low| if range.above { low.next_up() } else { low });
        let high = range
            .high
            .map(|high| if range.below { high.next_down() } else { high });
        json!(low.or(high).unwrap_or_default())
    }

    fn float(&mut self) -> f64 {
        let usual = [
            0.0, -0.0, 0.1, 0.5, 1.0, -1.0, 1.5, 2.5, 100.0, 1e10, 1e-9, 1e300, -1e300, 5e-324,
            1.7e308, 3.4e38,
        ];
        let known = &self.constants.floats;
        match self.rng.below(2) {
            0 if !known.is_empty() => self.rng.pick(known).copied().unwrap_or_default(),
            _ => self.rng.pick(&usual).copied().unwrap_or_default(),
        }
    }

    /// The bounds and what is just past them, the constants of the predicates, and the ends of what JSON and Rust hold.
    pub(super) fn number_boundaries(&self, layers: &Layers<'_>, whole: bool) -> Vec<Value> {
        let range = Range::of(layers);
        let step = range.step.unwrap_or(1);
        let ends = [range.first, range.last];
        let ends = ends
            .into_iter()
            .filter(|end| *end != i128::MIN && *end != i128::MAX);
        let known = self
            .constants
            .integers
            .iter()
            .flat_map(|at| [*at, at.saturating_neg()]);
        let mut boundaries: Vec<Value> = ends
            .flat_map(|at| {
                [
                    at,
                    at.saturating_sub(1),
                    at.saturating_add(1),
                    range.aligned(at),
                    range.aligned(at).saturating_add(step),
                ]
            })
            .chain(known.flat_map(|at| [at.saturating_sub(1), at, at.saturating_add(1)]))
            .chain([0, 1, -1, EXACT, EXACT + 1, -EXACT - 1])
            .map(integer::write)
            .collect();
        boundaries.push(json!(0.5));
        if whole {
            // Wider than what is counted in here: the ends of `u128`.
            let wide = [range.low, range.high].into_iter().flatten();
            let wide = wide.filter(|end| end.abs() > WIDE);
            boundaries.extend(
                wide.flat_map(|end| {
                    [end, end.next_down(), end.next_up(), end / 2.0].map(Value::from)
                }),
            );
        } else {
            let known = self.constants.floats.iter().copied();
            let ends = [range.low, range.high].into_iter().flatten();
            let single = ends.clone().chain(known.clone());
            let singles = single.flat_map(beside_single);
            let floats = ends
                .chain(known)
                .flat_map(|at| [at, at.next_up(), at.next_down(), -at])
                .chain(singles);
            boundaries.extend(
                floats
                    .chain([-0.0, 5e-324, 1e300, -1e300, f64::MAX, f64::MIN])
                    .map(Value::from),
            );
        }
        boundaries
    }
}
