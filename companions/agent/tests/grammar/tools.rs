//! Tools of many shapes, and ways to ask for a judgement.

use std::collections::BTreeMap;

use contract_agent::{Constraint, TokenMask, Vocabulary};
use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Scale {
    Celsius,
    Kelvin,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "read by serde")]
pub(crate) struct Point {
    x: i32,
    y: Option<u8>,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "read by serde")]
pub(crate) struct Tree {
    name: String,
    #[serde(default)]
    children: Vec<Tree>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[allow(dead_code, reason = "read by serde")]
pub(crate) enum Shape {
    Circle { radius: f32 },
    Square { side: u16 },
    Nothing,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(dead_code, reason = "read by serde")]
pub(crate) enum Order {
    Cancel,
    Buy(u8),
    Sell { count: u8 },
}

/// Integers between bounds of every kind.
#[tool]
#[pre(low >= 1 && low <= 365)]
#[pre(wide > -120 && wide < 4_500)]
#[pre(not_zero != 0)]
#[pre(fours % 4 == 0)]
pub(crate) fn integers(low: u16, wide: i64, not_zero: i8, fours: u32, largest: u64, smallest: i64) {
}

/// Numbers between bounds of every kind.
#[tool]
#[pre(divisor != 0.0)]
#[pre(share >= 0.25 && share < 1.0)]
#[pre(above > 2.5)]
#[pre(around >= -3.125 && around <= 12.75)]
pub(crate) fn numbers(divisor: f64, share: f64, above: f64, around: f64, single: f32, any: f64) {}

/// Texts of every kind.
#[tool]
#[pre(matches_pattern(code, r"^[A-Z]{2}-\d{2,4}$"))]
#[pre(matches_pattern(part, r"b+c"))]
#[pre(name.chars().count() >= 2 && name.chars().count() <= 5)]
#[pre(!line.is_empty())]
#[pre(path.starts_with("/tmp/"))]
pub(crate) fn texts(code: &str, part: &str, name: String, line: String, path: String) {}

/// Choices of every kind.
#[tool]
#[pre(matches!(scale, Scale::Kelvin) || !exact)]
pub(crate) fn choices(scale: Scale, exact: bool, shape: Shape, order: Order, letter: char) {}

/// Lists of every kind.
#[tool]
#[pre(!some.is_empty() && some.len() <= 3)]
pub(crate) fn lists(some: Vec<u8>, pair: (bool, i8), nested: Vec<Vec<bool>>) {}

/// Arguments that may be left out.
#[tool]
pub(crate) fn optional(
    first: Option<u8>,
    second: String,
    #[arg(default = 5)] third: u8,
    fourth: Option<bool>,
) {
}

/// Types in types.
#[tool]
pub(crate) fn nested(from: Point, to: Option<Point>, tree: Tree) {}

/// Keys that nobody knows before.
#[tool]
pub(crate) fn open(counts: BTreeMap<String, u8>, anything: Value) {}

/// No arguments at all.
#[tool]
pub(crate) fn nothing() {}

pub(crate) fn registry() -> Registry {
    Registry::builder()
        .tool(integers)
        .tool(numbers)
        .tool(texts)
        .tool(choices)
        .tool(lists)
        .tool(optional)
        .tool(nested)
        .tool(open)
        .tool(nothing)
        .build()
        .expect("the tools are sound")
}

/// A registry of one tool that no macro made.
pub(crate) fn dynamic(input: Value) -> Option<Registry> {
    let spec = DynamicSpec::new("it", "It.").input_schema(input);
    let tool = Tool::dynamic(spec, |_| async { Ok::<_, String>(Content::text("")) });
    Registry::builder().with(vec![tool]).build().ok()
}

/// The arguments of one tool; `None` where llguidance finds no value for them.
pub(crate) fn arguments(registry: &Registry, tool: &str) -> Option<(Constraint, TokenMask)> {
    let schema = registry.tool(tool).expect("it is there").input_schema();
    let constraint = Constraint::from_schema(schema.clone()).expect("a schema");
    match TokenMask::new(&constraint, &Vocabulary::bytes()) {
        Ok(mask) => Some((constraint, mask)),
        Err(error) => {
            assert!(error.to_string().contains("Unsatisfiable"), "{error}");
            None
        }
    }
}

/// Whether llguidance accepts a whole text.
pub(crate) fn accepts(constraint: &Constraint, text: &str) -> bool {
    let mut recognizer = constraint
        .recognizer()
        .expect("the engine reads the grammar");
    recognizer.push(text).is_ok() && recognizer.finish().is_ok()
}

/// Whether a call with these arguments would run its body; if not, why.
pub(crate) fn judge(registry: &Registry, tool: &str, arguments: &str) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    let outcome = runtime.block_on(registry.check(ToolCall::new("1", tool, arguments)));
    outcome.error().map_or(Ok(()), |why| Err(why.to_owned()))
}

/// Numbers that look random and are the same every time.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed ^ 0x9e37_79b9_7f4a_7c15)
    }

    /// `SplitMix64` (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % end as u64).expect("small")
    }

    /// One of those, some of them more often.
    pub(crate) fn token(&mut self, allowed: &[u32], end: u32, length: usize) -> u32 {
        let prefer = |byte: u8| {
            allowed
                .iter()
                .copied()
                .find(|token| *token == u32::from(byte))
        };
        // The longer the text is, the more it hurries.
        let hurry = length / 40 + 1;
        if allowed.contains(&end) && self.below(8) < 3 + hurry {
            return end;
        }
        for byte in [b'"', b']', b'}'] {
            if let Some(token) = prefer(byte)
                && self.below(8) < hurry
            {
                return token;
            }
        }
        let plain: Vec<u32> = allowed
            .iter()
            .copied()
            .filter(|token| !b" \t\r\n".map(u32::from).contains(token) && *token != end)
            .collect();
        // Letters that patterns ask for.
        let likely: Vec<u32> = allowed
            .iter()
            .copied()
            .filter(|token| b"bcx".map(u32::from).contains(token))
            .collect();
        if !likely.is_empty() && self.below(2) == 0 {
            return likely[self.below(likely.len())];
        }
        let from = if plain.is_empty() || self.below(25) == 0 {
            allowed
        } else {
            &plain
        };
        from[self.below(from.len())]
    }
}

/// A text that the grammar accepts, chosen byte by byte among those that it allows; none where it became too long.
pub(crate) fn sample(mask: &TokenMask, random: &mut Random) -> Option<String> {
    let mut mask = mask.fork();
    let end = Vocabulary::bytes().end();
    let mut bytes = Vec::new();
    while bytes.len() < 3_000 {
        if mask.is_over() {
            break;
        }
        let allowed: Vec<u32> = mask.allowed().expect("within limits").iter().collect();
        assert!(
            !allowed.is_empty(),
            "a dead end: {:?}",
            String::from_utf8_lossy(&bytes)
        );
        let token = random.token(&allowed, end, bytes.len());
        if token == end {
            break;
        }
        mask.accept(token).expect("it is allowed");
        bytes.push(u8::try_from(token).expect("a byte"));
    }
    (bytes.len() < 3_000).then(|| String::from_utf8(bytes).expect("grammars are of characters"))
}
