//! Generates texts: lengths around every bound, patterns and near misses, and difficult Unicode.

use serde_json::{Value, json};

use super::layers::Layers;
use super::{Maker, around};

/// The longest text that is made to reach a bound, in characters: a call takes 1 MiB, and there may be other arguments.
pub(crate) const FARTHEST: usize = 1_040_000;

/// The longest text that is made by chance.
const LONGEST: usize = 150_000;

/// Longer than this, a text is made seldom.
const LONG: usize = 2_000;

/// Letters by how they are hard: plain, two bytes, combining, four bytes, right to left, control, beside the surrogates.
const ALPHABETS: [&[char]; 8] = [
    &['a', 'b', 'c', 'x', 'y', 'z', '0', '1', '9'],
    &['A', 'b', '-', '_', '.', '/', ' ', '7', '@', ':'],
    &['é', 'ß', 'ñ', 'ı', 'Ω'],
    &['e', '\u{301}', 'a', '\u{308}'],
    &['😀', '𝒳', '🦀'],
    &['א', 'ب', '\u{202e}', '\u{200f}', '\u{200d}'],
    &['\0', '\n', '\t', '\r', '\u{7f}', '\u{85}', '\\', '"'],
    &['\u{d7ff}', '\u{e000}', '\u{fffd}', '\u{ffff}', '\u{10ffff}'],
];

/// Texts in which programs go wrong.
const HARD: [&str; 18] = [
    "",
    " ",
    "\0",
    "\n",
    "a\n",
    " a",
    "é",
    "e\u{301}",
    "😀",
    "👩\u{200d}🚀",
    "\u{202e}abc",
    "\u{feff}",
    "null",
    "../x",
    "a/b",
    "İ",
    "127.0.0.1",
    "[::1]:80",
];

/// One that is right for each format (JSON Schema Validation 2020-12, section 7.3).
fn of_format(format: &str) -> &'static [&'static str] {
    match format {
        "date-time" => &[
            "2024-02-29T23:59:59Z",
            "1970-01-01T00:00:00+01:00",
            "9999-12-31T23:59:59.999Z",
        ],
        "date" => &["2024-02-29", "1970-01-01", "9999-12-31"],
        "time" => &["23:59:59Z", "00:00:00+01:00"],
        "duration" => &["P1D", "PT1H", "P3Y6M4DT12H30M5S"],
        "email" | "idn-email" => &["a@example.com", "first.last@example.org"],
        "hostname" | "idn-hostname" => &["example.com", "a"],
        "ipv4" => &["127.0.0.1", "255.255.255.255"],
        "ipv6" => &["::1", "2001:db8::ff00:42:8329"],
        "uri" | "iri" => &["https://example.com/a?b=c#d", "urn:a:b"],
        "uri-reference" | "iri-reference" => &["/a", "https://example.com"],
        "uuid" => &[
            "123e4567-e89b-12d3-a456-426614174000",
            "00000000-0000-0000-0000-000000000000",
        ],
        "json-pointer" => &["", "/a/0", "/~0~1"],
        "regex" => &["^a+$", "[0-9]"],
        _ => &[],
    }
}

/// How long a text may be, in characters.
pub(super) struct Lengths {
    low: usize,
    high: Option<usize>,
}

impl Lengths {
    pub(super) fn of(layers: &Layers<'_>) -> Self {
        Self {
            low: layers.count("minLength", u64::max).unwrap_or(0),
            high: layers.count("maxLength", u64::min),
        }
    }

    pub(super) fn has(&self, text: &str) -> bool {
        let count = text.chars().count();
        count >= self.low && self.high.is_none_or(|high| count <= high)
    }
}

impl Maker<'_> {
    /// A text that the layers admit, as far as they are understood.
    pub(super) fn text(&mut self, layers: &Layers<'_>) -> Value {
        let lengths = Lengths::of(layers);
        if lengths.low > FARTHEST {
            return json!("");
        }
        // Long as they must be, they differ by their length alone.
        if lengths.low > LONG {
            let more = self.rng.below(12);
            let count = lengths.low.saturating_add(more);
            return json!("a".repeat(count.min(lengths.high.unwrap_or(count))));
        }
        let patterns: Vec<&str> = layers.all("pattern").filter_map(Value::as_str).collect();
        let formats: Vec<&str> = layers
            .all("format")
            .filter_map(Value::as_str)
            .flat_map(of_format)
            .copied()
            .collect();
        for _ in 0..6 {
            let text = if !formats.is_empty() && !self.rng.one_in(8) {
                self.rng.pick(&formats).map(|text| (*text).to_owned())
            } else if patterns.is_empty() {
                None
            } else {
                let pattern = self.rng.pick(&patterns).copied();
                pattern.and_then(|pattern| self.rng.matching(pattern))
            };
            let text = text.unwrap_or_else(|| self.any_text(&lengths));
            if lengths.has(&text) {
                return json!(text);
            }
        }
        json!("a".repeat(lengths.low))
    }

    fn any_text(&mut self, lengths: &Lengths) -> String {
        match self.rng.below(10) {
            0 => self
                .rng
                .pick(&HARD)
                .map_or_else(String::new, |text| (*text).to_owned()),
            1..=3 => self.known_text(),
            4 => {
                let patterns = &self.constants.patterns;
                let pattern = self.rng.pick(patterns);
                pattern
                    .and_then(|pattern| self.rng.matching(pattern))
                    .unwrap_or_default()
            }
            _ => {
                let count = self.length(lengths);
                self.letters(count)
            }
        }
    }

    /// A text that a predicate names, or one near it.
    fn known_text(&mut self) -> String {
        let Some(text) = self.rng.pick(&self.constants.texts).cloned() else {
            let count = self.rng.below(12);
            return self.letters(count);
        };
        let count = self.rng.below(4);
        let more = self.letters(count);
        match self.rng.below(8) {
            0 => format!("{text}{more}"),
            1 => format!("{more}{text}"),
            2 => format!("{more}{text}{more}"),
            3 => near(&text, self.rng.below(8)),
            _ => text,
        }
    }

    fn length(&mut self, lengths: &Lengths) -> usize {
        let known: Vec<usize> = self.constants.counts(LONGEST).collect();
        let at = match self.rng.below(6) {
            0 => lengths.low,
            1 => lengths.high.unwrap_or(8),
            2 if !known.is_empty() => {
                let at = self.rng.pick(&known).copied().unwrap_or_default();
                let by = self.rng.below(3);
                (at + by).saturating_sub(1)
            }
            _ => lengths.low.saturating_add(self.rng.below(12)),
        };
        let at = at
            .max(lengths.low)
            .min(lengths.high.unwrap_or(LONGEST))
            .min(LONGEST);
        if at > LONG && !self.rng.one_in(40) {
            lengths.low + self.rng.below(30)
        } else {
            at
        }
    }

    /// As many characters, of one alphabet or of several.
    pub(super) fn letters(&mut self, count: usize) -> String {
        let mixed = self.rng.one_in(4);
        let usual = self.rng.one_in(2);
        let mut alphabet = self.rng.pick(&ALPHABETS).copied().unwrap_or(&['a']);
        if usual {
            alphabet = ALPHABETS[0];
        }
        let mut text = String::with_capacity(count);
        for _ in 0..count {
            if mixed && count < LONG {
                alphabet = self.rng.pick(&ALPHABETS).copied().unwrap_or(&['a']);
            }
            text.extend(self.rng.pick(alphabet));
        }
        text
    }

    /// Every length around the bounds, in letters of one byte and of four; patterns, and what misses them narrowly.
    pub(super) fn text_boundaries(&mut self, layers: &Layers<'_>) -> Vec<Value> {
        let lengths = Lengths::of(layers);
        let mut counts = vec![0, 1, lengths.low];
        // What nobody bounded may still be more than a byte counts.
        counts.push(lengths.high.unwrap_or(256));
        counts.extend(self.constants.counts(LONG));
        let mut boundaries: Vec<String> = Vec::new();
        for count in around(counts, FARTHEST) {
            boundaries.push("a".repeat(count));
            if count <= LONG {
                boundaries.push("😀".repeat(count));
                boundaries.push("é".repeat(count));
            }
        }
        for count in self.constants.counts(100) {
            boundaries.extend(["a\n", "a "].map(|part| part.repeat(count + 1)));
        }
        let own = layers
            .all("pattern")
            .filter_map(Value::as_str)
            .map(str::to_owned);
        let patterns: Vec<String> = own.chain(self.constants.patterns.clone()).collect();
        for pattern in patterns {
            for turn in 0..4 {
                if let Some(text) = self.rng.matching(&pattern) {
                    boundaries.push(near(&text, turn * 2));
                    boundaries.push(near(&text, turn * 2 + 1));
                    boundaries.push(text);
                }
            }
        }
        for text in &self.constants.texts {
            boundaries.extend((0..8).map(|change| near(text, change)));
            boundaries.push(text.clone());
        }
        let formats = layers
            .all("format")
            .filter_map(Value::as_str)
            .flat_map(of_format);
        boundaries.extend(formats.map(|text| (*text).to_owned()));
        boundaries.extend(HARD.map(str::to_owned));
        boundaries.into_iter().map(Value::from).collect()
    }
}

/// The same text with one small change.
pub(super) fn near(text: &str, change: usize) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    match change {
        0 => letters.push('x'),
        1 => letters.push('\n'),
        2 => drop(letters.pop()),
        3 => letters.insert(0, 'x'),
        4 if !letters.is_empty() => drop(letters.remove(0)),
        5 => return text.to_uppercase(),
        6 => return text.to_lowercase(),
        _ => {
            if let Some(letter) = letters.last_mut() {
                *letter = 'é';
            }
        }
    }
    letters.into_iter().collect()
}
