//! A seeded random number generator for numbers and texts.

use std::collections::HashMap;

use proptest::prelude::{Rng as _, Strategy as _};
use proptest::strategy::ValueTree as _;
use proptest::string::{RegexGeneratorStrategy, string_regex};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// A random number generator.
pub(crate) struct Rng {
    runner: TestRunner,
    patterns: HashMap<String, Option<Pattern>>,
}

/// A regular expression without its anchors, and which of them it had.
struct Pattern {
    texts: RegexGeneratorStrategy<String>,
    starts: bool,
    ends: bool,
}

impl Rng {
    /// Creates the generator of one tool: it yields the same values whatever other tools there are.
    pub(crate) fn new(seed: u64, tool: &str) -> Self {
        let mut bytes = [0_u8; 32];
        let salted = tool.bytes().chain(seed.to_le_bytes());
        // The generator spreads its seed; here the bytes only must not cancel each other.
        for (place, byte) in salted.enumerate() {
            if let Some(slot) = bytes.get_mut(place % 32) {
                *slot = slot.rotate_left(3) ^ byte;
            }
        }
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        Self {
            runner: TestRunner::new_with_rng(Config::default(), rng),
            patterns: HashMap::new(),
        }
    }

    /// A number below `end`; 0 where there is none.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let drawn = self.runner.rng().next_u64() >> 1;
        let drawn = usize::try_from(drawn).unwrap_or(usize::MAX);
        drawn.checked_rem(end).unwrap_or(0)
    }

    pub(crate) fn one_in(&mut self, end: usize) -> bool {
        self.below(end) == 0
    }

    pub(crate) fn pick<'t, T>(&mut self, list: &'t [T]) -> Option<&'t T> {
        let place = self.below(list.len());
        list.get(place)
    }

    /// An integer from `low` to `high`, as likely as any other.
    pub(crate) fn integer(&mut self, low: i128, high: i128) -> i128 {
        let rng = self.runner.rng();
        let drawn = (u128::from(rng.next_u64()) << 64) | u128::from(rng.next_u64());
        let span = high.wrapping_sub(low).cast_unsigned();
        match span.checked_add(1) {
            _ if high < low => low,
            Some(count) => low.wrapping_add((drawn % count).cast_signed()),
            None => drawn.cast_signed(),
        }
    }

    /// A number from `low` to `high`.
    pub(crate) fn float(&mut self, low: f64, high: f64) -> f64 {
        #[allow(
            clippy::cast_precision_loss,
            reason = "53 bits are what a double holds"
        )]
        let part = (self.runner.rng().next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        (low * (1.0 - part) + high * part).clamp(low, high)
    }

    /// A text that the regular expression matches, where that can be made.
    pub(crate) fn matching(&mut self, pattern: &str) -> Option<String> {
        let known = self.patterns.entry(pattern.to_owned());
        let pattern = known.or_insert_with(|| Pattern::read(pattern)).as_ref()?;
        let (starts, ends) = (pattern.starts, pattern.ends);
        let core = pattern.texts.new_tree(&mut self.runner).ok()?.current();
        let around = ["", "", "", "a", " ", "0", "é"];
        let before = if starts { "" } else { self.pick(&around)? };
        let after = if ends { "" } else { self.pick(&around)? };
        Some(format!("{before}{core}{after}"))
    }
}

impl Pattern {
    /// proptest makes texts that match from end to end, and knows no anchors.
    fn read(pattern: &str) -> Option<Self> {
        let (core, starts) = match pattern.strip_prefix('^') {
            Some(rest) => (rest, true),
            None => (pattern, false),
        };
        let (core, ends) = match core.strip_suffix('$') {
            Some(rest) if !rest.ends_with('\\') => (rest, true),
            _ => (core, false),
        };
        let texts = string_regex(core).ok()?;
        Some(Self {
            texts,
            starts,
            ends,
        })
    }
}
