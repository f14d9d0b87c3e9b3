//! Cost estimates of rule evaluation.

use std::ops::{Add, Mul};

/// The cost of an evaluation in steps: a polynomial in the size of the arguments, by degree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cost([u64; 4]);

/// The most that one rule may cost: tenths of a second on a slow machine.
const MOST: u64 = 1 << 24;

impl Cost {
    /// One step.
    pub(super) const ONE: Self = Self([1, 0, 0, 0]);

    /// One pass over all of the arguments.
    pub(super) const EVERYTHING: Self = Self([0, 1, 0, 0]);

    pub(super) fn times(count: usize) -> Self {
        Self([u64::try_from(count).unwrap_or(u64::MAX), 0, 0, 0])
    }

    /// Whether the cost is within the limit for arguments of this size, in bytes.
    pub(super) fn is_affordable(self, size: usize) -> bool {
        let size = u64::try_from(size).unwrap_or(u64::MAX);
        let terms = self.0.iter().rev();
        let sum = terms.fold(0_u64, |sum, term| {
            sum.saturating_mul(size).saturating_add(*term)
        });
        sum <= MOST
    }
}

impl Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let mut sum = self.0;
        for (sum, term) in sum.iter_mut().zip(other.0) {
            *sum = sum.saturating_add(term);
        }
        Self(sum)
    }
}

impl Mul for Cost {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let mut product = [0_u64; 4];
        for (one, factor) in self.0.iter().enumerate() {
            for (two, term) in other.0.iter().enumerate() {
                let term = factor.saturating_mul(*term);
                if term == 0 {
                    continue;
                }
                match product.get_mut(one + two) {
                    Some(sum) => *sum = sum.saturating_add(term),
                    // Of a higher degree than any that is affordable.
                    None => product[3] = u64::MAX,
                }
            }
        }
        Self(product)
    }
}
