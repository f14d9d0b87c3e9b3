//! Number ranges.

/// The integers from `low` to `high`; none where the ends have crossed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) low: i128,
    pub(super) high: i128,
}

impl Range {
    pub(super) const EMPTY: Self = Self::new(1, 0);

    pub(super) const fn new(low: i128, high: i128) -> Self {
        Self { low, high }
    }

    pub(super) const fn only(value: i128) -> Self {
        Self::new(value, value)
    }

    pub(super) const fn is_empty(self) -> bool {
        self.low > self.high
    }

    pub(super) const fn single(self) -> Option<i128> {
        if self.low == self.high {
            Some(self.low)
        } else {
            None
        }
    }

    pub(super) const fn holds(self, other: Self) -> bool {
        self.low <= other.low && other.high <= self.high
    }

    pub(super) const fn meet(self, other: Self) -> Self {
        Self::new(
            if self.low > other.low {
                self.low
            } else {
                other.low
            },
            if self.high < other.high {
                self.high
            } else {
                other.high
            },
        )
    }

    /// Whether each number here is less than each of `other` (`Some(true)`), or none is less than any.
    ///
    /// `i128::MAX` stands for every larger `u128` as well, so two numbers there are not known to be equal.
    pub(super) const fn less(self, other: Self) -> Option<bool> {
        if self.high < other.low {
            Some(true)
        } else if self.low >= other.high && other.high != i128::MAX {
            Some(false)
        } else {
            None
        }
    }

    /// Whether each number here equals each of `other` (`Some(true)`), or none equals any.
    pub(super) const fn equal(self, other: Self) -> Option<bool> {
        if self.high < other.low || other.high < self.low {
            return Some(false);
        }
        match (self.single(), other.single()) {
            (Some(value), Some(_)) if value != i128::MAX => Some(true),
            _ => None,
        }
    }
}

/// Floats in their order as integers, one step apart where no float lies between; both zeros are 0, and there is no NaN.
///
/// The order of the bits is that of IEEE 754-2019, section 5.10, for values of one sign.
pub(super) const fn key(float: f64) -> i128 {
    let bits = float.to_bits();
    let magnitude = (bits & (u64::MAX >> 1)) as i128;
    if float.is_sign_negative() {
        -magnitude
    } else {
        magnitude
    }
}

/// Every float but NaN.
pub(super) const FLOATS: Range = Range::new(key(f64::NEG_INFINITY), key(f64::INFINITY));

/// Every float that a number in JSON can be.
pub(super) const FINITE: Range = Range::new(key(f64::MIN), key(f64::MAX));

/// The `f32` that a literal means which was read as an `f64`: one of these.
///
/// Rounding twice differs from rounding once only half-way between two of them, and where they get coarser near zero.
pub(super) const fn rounded(float: f64) -> Range {
    const LOW_BITS: u64 = (1 << 29) - 1;
    const HALF: u64 = 1 << 28;
    #[allow(clippy::cast_possible_truncation, reason = "it is what is asked for")]
    let near = float as f32;
    let back = near as f64;
    if key(back) == key(float) {
        return Range::only(key(back));
    }
    let small = f32::MIN_POSITIVE as f64;
    if -small <= float && float <= small {
        return Range::new(key(-small), key(small));
    }
    if !near.is_finite() {
        return FLOATS;
    }
    if float.to_bits() & LOW_BITS == HALF {
        return Range::new(key(float) - 1 - HALF as i128, key(float) + 1 + HALF as i128);
    }
    Range::only(key(back))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn keys_are_in_the_order_of_the_floats(bits in any::<u64>(), other in any::<u64>()) {
            let (a, b) = (f64::from_bits(bits), f64::from_bits(other));
            prop_assume!(!a.is_nan() && !b.is_nan());
            prop_assert_eq!(a < b, key(a) < key(b));
            prop_assert_eq!(a.partial_cmp(&b).is_some_and(std::cmp::Ordering::is_eq), key(a) == key(b));
        }

        #[test]
        fn a_literal_of_f32_is_among_what_it_is_rounded_to(bits in any::<u32>(), digits in 1..30_usize) {
            let float = f32::from_bits(bits);
            prop_assume!(float.is_finite());
            let text = format!("{float:.digits$e}");
            let (single, double): (f32, f64) = (text.parse().unwrap(), text.parse().unwrap());
            prop_assume!(single.is_finite());
            prop_assert!(rounded(double).holds(Range::only(key(f64::from(single)))), "{text}");
        }
    }

    #[test]
    fn the_next_float_is_one_step_away() {
        for float in [-1.5_f64, -0.0, 0.0, 1.0, f64::MAX, f64::MIN] {
            assert_eq!(key(float.next_up()), key(float) + 1, "{float}");
        }
        assert_eq!(key(-0.0), key(0.0));
    }

    #[test]
    fn half_way_between_two_floats_both_are_possible() {
        let half = 1.0 + f64::from(f32::EPSILON) / 2.0;
        let range = rounded(half);
        assert!(range.low <= key(1.0) && range.high >= key(1.0 + f64::from(f32::EPSILON)));
    }
}
