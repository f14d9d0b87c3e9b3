//! No demand says the opposite of the contract: each is judged on the JSON, as its reader judges it.

#![allow(
    clippy::float_cmp,
    clippy::int_plus_one,
    clippy::neg_cmp_op_on_partial_ord,
    clippy::unnecessary_wraps,
    reason = "conditions as authors write them"
)]

use std::cmp::{Ordering, Reverse};

use contract_dialects::{StrictDialect, StrictExport as _};
use contract_manifest::PortableRule;
use contract_runtime::prelude::*;
use contract_runtime::{Dialect, Heading, PublishedCondition};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The first rank is the highest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
struct Rank(u8);

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        other.0.partial_cmp(&self.0)
    }
}

impl PartialEq<u8> for Rank {
    fn eq(&self, other: &u8) -> bool {
        self.0 == *other
    }
}

impl PartialOrd<u8> for Rank {
    fn partial_cmp(&self, other: &u8) -> Option<Ordering> {
        other.partial_cmp(&self.0)
    }
}

impl PartialEq<Rank> for u8 {
    fn eq(&self, other: &Rank) -> bool {
        *self == other.0
    }
}

impl PartialOrd<Rank> for u8 {
    fn partial_cmp(&self, other: &Rank) -> Option<Ordering> {
        other.0.partial_cmp(self)
    }
}

impl Rank {
    fn is_fine(self) -> bool {
        self.0 < 4
    }

    fn len(self) -> usize {
        usize::from(10 - self.0)
    }

    fn starts_with(self, other: Self) -> bool {
        self.0 > other.0
    }
}

/// What differs is the same here.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
struct Contrary(u8);

impl PartialEq for Contrary {
    fn eq(&self, other: &Self) -> bool {
        self.0 != other.0
    }
}

#[derive(Clone, Debug, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema)]
enum Level {
    Low,
    High,
}

struct Compared {
    name: &'static str,
    operator: &'static str,
    registry: Registry,
    values: Value,
}

/// A tool that compares two arguments, and one that compares its result.
macro_rules! compared {
    ($($module:ident: $type:ty, $operator:tt, $values:tt;)*) => {
        $(mod $module {
            use super::*;

            /// Compares.
            #[tool]
            #[pre(a $operator b, "AUTHOR")]
            pub(super) fn before(a: $type, b: $type) {
                let _ = (a, b);
            }

            /// Compares.
            #[tool]
            #[post(|r| *r $operator b)]
            pub(super) fn after(a: $type, b: $type) -> $type {
                let _ = b;
                a
            }
        })*

        fn all() -> Vec<Compared> {
            vec![$(Compared {
                name: stringify!($module),
                operator: stringify!($operator),
                registry: Registry::builder().tool($module::before).tool($module::after).build().unwrap(),
                values: json!($values),
            }),*]
        }
    };
}

compared! {
    natural_more: u8, >, [0, 1, 2];
    natural_most: u8, <=, [0, 1, 2];
    natural_same: u8, ==, [0, 1, 2];
    integer_less: i64, <, [-1, 0, 1];
    float_least: f64, >=, [-0.5, 0.5, 1e9];
    flag_same: bool, ==, [false, true];
    flag_other: bool, !=, [false, true];
    flag_less: bool, <, [false, true];
    text_same: String, ==, ["", "a", "b"];
    text_less: String, <, ["", "a", "b"];
    letter_other: char, !=, ["a", "b"];
    optional_same: Option<u8>, ==, [null, 0, 1];
    optional_less: Option<u8>, <, [null, 0, 1];
    list_same: Vec<u8>, ==, [[], [0], [1]];
    list_less: Vec<u8>, <, [[], [0], [1]];
    reversed_more: Reverse<u8>, >, [0, 1, 2];
    reversed_most: Reverse<u8>, <=, [0, 1, 2];
    reversed_same: Reverse<u8>, ==, [0, 1, 2];
    rank_less: Rank, <, [0, 1, 2];
    rank_least: Rank, >=, [0, 1, 2];
    contrary_same: Contrary, ==, [0, 1, 2];
    contrary_other: Contrary, !=, [0, 1, 2];
    ranks_same: Vec<Rank>, ==, [[], [0], [1]];
    contraries_same: Option<Contrary>, ==, [0, 1];
    level_less: Level, <, ["Low", "High"];
    level_same: Level, ==, ["Low", "High"];
    reversed_list: Vec<Reverse<u8>>, <, [[], [0], [1]];
    reversed_optional: Option<Reverse<u8>>, >, [0, 1];
}

/// The comparison as somebody makes it who sees the JSON alone; of what has no order in JSON there is none.
fn plain(a: &Value, operator: &str, b: &Value) -> Option<bool> {
    let order = match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64()?.partial_cmp(&b.as_f64()?),
        _ => None,
    };
    Some(match operator {
        "==" => a == b,
        "!=" => a != b,
        "<" => order?.is_lt(),
        "<=" => order?.is_le(),
        ">" => order?.is_gt(),
        ">=" => order?.is_ge(),
        other => panic!("{other}"),
    })
}

fn holds(registry: &Registry, tool: &str, a: &Value, b: &Value) -> bool {
    let arguments = json!({"a": a, "b": b}).to_string();
    let outcome = registry
        .call(ToolCall::new("1", tool, arguments))
        .blocking();
    assert!(
        outcome.is_ok() || outcome.violation().is_some(),
        "{outcome:?}"
    );
    outcome.is_ok()
}

#[test]
fn a_demand_holds_of_the_json_where_the_condition_holds() {
    let mut demanded = Vec::new();
    for Compared {
        name,
        operator,
        registry,
        values,
    } in &all()
    {
        for (tool, shown) in [("before", Heading::Requires), ("after", Heading::Ensures)] {
            let condition = &registry.tool(tool).unwrap().conditions()[0];
            if condition.heading() != Some(shown) {
                let (heading, sentence) = match tool {
                    "before" => (Some(Heading::PossibleRefusals), "\"AUTHOR\"".to_owned()),
                    _ => (None, format!("`|r| *r {operator} b`")),
                };
                assert_eq!(
                    (condition.heading(), condition.sentence()),
                    (heading, &*sentence),
                    "{name}"
                );
                assert_eq!(PortableRule::of(condition), None, "{name}");
                continue;
            }
            if tool == "before" {
                demanded.push(*name);
            }
            let values = values.as_array().unwrap();
            for (a, b) in values
                .iter()
                .flat_map(|a| values.iter().map(move |b| (a, b)))
            {
                let reading = plain(a, operator, b);
                assert_eq!(
                    reading,
                    Some(holds(registry, tool, a, b)),
                    "{name}: {tool} {a} {operator} {b}"
                );
            }
        }
    }
    assert_eq!(
        demanded,
        [
            "natural_more",
            "natural_most",
            "natural_same",
            "integer_less",
            "float_least",
            "flag_same",
            "flag_other",
            "text_same",
            "letter_other",
            "optional_same",
            "list_same",
        ]
    );
}

/// Does it.
#[tool]
#[pre(rank > 5)]
#[pre(count > rank)]
#[pre(rank.is_fine())]
#[pre(!rank.is_fine() || count > 3)]
#[pre(rank.len() > ranks.len())]
#[pre(rank.starts_with(other))]
#[pre(!(rank <= other))]
#[pre(ranks.contains(&rank))]
#[pre([Rank(1), Rank(2)].contains(&rank))]
#[pre(ranks.iter().all(|one| *one > rank))]
#[post(|sum| *sum > rank)]
#[post(|sum| !*sum == count)]
fn told(rank: Rank, other: Rank, count: u8, ranks: Vec<Rank>) -> u8 {
    let _ = (rank, other, ranks);
    count
}

#[test]
fn what_no_reader_can_evaluate_is_no_demand() {
    let registry = Registry::builder().tool(told).build().unwrap();
    let tool = registry.tool("told").unwrap();
    assert_eq!(tool.conditions().len(), 12);
    for one in tool.conditions() {
        let (heading, rule) = (one.heading(), PortableRule::of(one));
        assert_eq!((heading, rule), (None, None), "{}", one.sentence());
    }
    let plain = Dialect::ALL.map(|dialect| registry.export(dialect).to_string());
    let strict = StrictDialect::ALL.map(|dialect| registry.export_strict(dialect).unwrap());
    let strict = strict
        .into_iter()
        .map(|exported| exported.tools.to_string());
    for text in plain.into_iter().chain(strict) {
        assert!(text.contains("Does it."), "{text}");
        assert!(
            !text.contains("Requires") && !text.contains("Ensures"),
            "{text}"
        );
    }
}

const LEAST: f64 = 0.5;

/// Does it.
#[tool]
#[pre(tags.len() + 1 <= most, "AUTHOR")]
#[pre(-low < high - 1.0, "AUTHOR")]
#[pre(name.starts_with(&prefix) && !tags.contains(&name), "AUTHOR")]
#[pre(loud || name != prefix)]
#[post(|sum| !(*sum == 1.5) && *sum <= high + 1.0)]
#[post(|&sum| LEAST <= sum && !name.is_empty())]
#[post(|sum| *sum > old(low))]
#[post(|sum| sum.sqrt() > low)]
#[post(|sum| *sum > low || matches!(name.as_str(), "a" | "b"))]
fn shown(
    tags: Vec<String>,
    most: usize,
    low: f64,
    high: f64,
    name: String,
    prefix: String,
    loud: bool,
) -> Result<f64, String> {
    let _ = (tags, most, low, name, prefix, loud);
    Ok(high)
}

#[test]
fn what_compares_as_its_json_does_is_a_demand() {
    let registry = Registry::builder().tool(shown).build().unwrap();
    let tool = registry.tool("shown").unwrap();
    let sentences = tool.conditions().iter().map(PublishedCondition::sentence);
    let export = registry.export(Dialect::Neutral);
    let description = export[0]["description"].as_str().unwrap();
    for sentence in sentences {
        assert_eq!(
            description.contains(&format!("\n- {sentence}")),
            !sentence.starts_with("`|"),
            "{sentence}\n{description}"
        );
    }
    assert!(!description.contains("AUTHOR"), "{description}");
    assert_eq!(
        description,
        "Does it.

Requires:
- the number of items in `tags` plus 1 is at most `most`
- `-low < high - 1.0`
- `name` starts with `prefix`, and `tags` does not contain `name`
- `loud` is true, or `name != prefix`

Ensures:
- `result != 1.5`, and `result <= high + 1.0`
- `0.5 <= result`, and the length of `name` in bytes is not 0
- `result > low`, or `name` is one of \"a\", \"b\""
    );
}
