//! What conditions cost, beside the same `if`s by hand.

use std::sync::Mutex;

use contract_runtime::prelude::*;

use crate::meter::Meter;
use crate::registries::{built, measure};

/// Scale a number.
#[tool(name = "scale_0")]
fn scale_none(value: i64, by: i64) -> i64 {
    value.wrapping_mul(by)
}

/// Scale a number that is not negative.
#[tool(name = "scale_1")]
#[pre(value >= 0, "value must not be negative")]
fn scale_one(value: i64, by: i64) -> i64 {
    value.wrapping_mul(by)
}

/// Scale a small number by another.
#[tool(name = "scale_5")]
#[pre(value >= 0, "value must not be negative")]
#[pre(by > 0, "by must be positive")]
#[pre(value < 1_000_000, "value is too large")]
#[pre(by < 1_000, "by is too large")]
#[post(|scaled| *scaled >= 0, "the product must not be negative")]
fn scale_five(value: i64, by: i64) -> i64 {
    value.wrapping_mul(by)
}

/// The same of a function that is not a tool.
#[pre(value >= 0, "value must not be negative")]
#[pre(by > 0, "by must be positive")]
#[pre(value < 1_000_000, "value is too large")]
#[pre(by < 1_000, "by is too large")]
#[post(|scaled| *scaled >= 0, "the product must not be negative")]
fn scale(value: i64, by: i64) -> i64 {
    value.wrapping_mul(by)
}

fn place(by: i64) -> usize {
    usize::try_from(by).unwrap_or(usize::MAX)
}

static FACTORS: Mutex<[i64; 4]> = Mutex::new([2, 3, 5, 7]);

/// Scale a number by a factor, and give the factor up.
#[tool(name = "scale_given")]
#[given(mut factors = FACTORS.lock(), else)]
#[given(factor = factors.get(place(by)).copied(), else "there are four factors")]
#[pre(factor > 0, "the factor is spent")]
fn scale_given(value: i64, by: i64) -> i64 {
    factors[place(by)] = factor;
    value.wrapping_mul(factor)
}

const TEXT: &str = r#"{"value": 41, "by": 3}"#;

pub(crate) fn none(meter: &Meter) -> f64 {
    let registry = built(Registry::builder().tool(scale_none));
    measure(meter, &registry, "scale_0", TEXT)
}

pub(crate) fn one(meter: &Meter) -> f64 {
    let registry = built(Registry::builder().tool(scale_one));
    measure(meter, &registry, "scale_1", TEXT)
}

pub(crate) fn five(meter: &Meter) -> f64 {
    let registry = built(Registry::builder().tool(scale_five));
    measure(meter, &registry, "scale_5", TEXT)
}

pub(crate) fn five_ignored(meter: &Meter) -> f64 {
    let registry = built(Registry::builder().tool(scale_five).policy(Policy::Ignore));
    measure(meter, &registry, "scale_5", TEXT)
}

pub(crate) fn given(meter: &Meter) -> f64 {
    let registry = built(Registry::builder().tool(scale_given));
    measure(meter, &registry, "scale_given", TEXT)
}

/// The conditions that a function by hand states with `if`.
mod checks {
    #[expect(
        clippy::unnecessary_wraps,
        reason = "the same type as the functions that check"
    )]
    pub(super) fn none(value: i64, by: i64) -> Result<i64, String> {
        Ok(value.wrapping_mul(by))
    }

    pub(super) fn given(value: i64, by: i64) -> Result<i64, String> {
        let mut factors = super::FACTORS.lock().map_err(|error| error.to_string())?;
        let Some(factor) = factors.get(super::place(by)).copied() else {
            return Err("there are four factors".to_owned());
        };
        if factor <= 0 {
            return Err("the factor is spent".to_owned());
        }
        factors[super::place(by)] = factor;
        Ok(value.wrapping_mul(factor))
    }

    pub(super) fn one(value: i64, by: i64) -> Result<i64, String> {
        if value < 0 {
            return Err("value must not be negative".to_owned());
        }
        Ok(value.wrapping_mul(by))
    }

    pub(super) fn five(value: i64, by: i64) -> Result<i64, String> {
        if value < 0 {
            return Err("value must not be negative".to_owned());
        }
        if by <= 0 {
            return Err("by must be positive".to_owned());
        }
        if value >= 1_000_000 {
            return Err("value is too large".to_owned());
        }
        if by >= 1_000 {
            return Err("by is too large".to_owned());
        }
        let scaled = value.wrapping_mul(by);
        if scaled < 0 {
            return Err("the product must not be negative".to_owned());
        }
        Ok(scaled)
    }
}

pub(crate) fn by_hand_none(meter: &Meter) -> f64 {
    crate::by_hand::scale(meter, TEXT, checks::none)
}

pub(crate) fn by_hand_given(meter: &Meter) -> f64 {
    crate::by_hand::scale(meter, TEXT, checks::given)
}

pub(crate) fn by_hand_one(meter: &Meter) -> f64 {
    crate::by_hand::scale(meter, TEXT, checks::one)
}

pub(crate) fn by_hand_five(meter: &Meter) -> f64 {
    crate::by_hand::scale(meter, TEXT, checks::five)
}

pub(crate) fn direct_by_hand(meter: &Meter) -> f64 {
    meter.measure(1_000, || (41, 3), |(value, by)| checks::five(value, by))
}

pub(crate) fn direct(meter: &Meter) -> f64 {
    meter.measure(1_000, || (41, 3), |(value, by)| scale_five(value, by))
}

pub(crate) fn direct_plain(meter: &Meter) -> f64 {
    meter.measure(1_000, || (41, 3), |(value, by)| scale(value, by))
}
