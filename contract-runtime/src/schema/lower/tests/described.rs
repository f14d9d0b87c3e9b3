//! Conditions in words.

use serde_json::json;

use super::property::pre;
use super::subjects::{Parameter, parameter, tool};
use crate::contract::condition::{Condition, ConditionKind};
use crate::contract::expression::{Comparison, Expression};
use crate::schema::lower::sentence::{code, describe, message};
use crate::schema::lower::{PublishedCondition, lower};
use crate::tool::form::{Container, Shape, Unformed as _, form};

const MORE: &Expression = &Expression::Compare(
    Comparison::More,
    &Expression::Parameter("x"),
    &Expression::Integer(0),
);
const TOLD: &Expression = &Expression::Compare(
    Comparison::More,
    &Expression::Parameter("x"),
    &Expression::Parameter("y"),
);

fn condition(kind: ConditionKind, text: &'static str, message: Option<&'static str>) -> Condition {
    Condition::new(kind, text, message, None, &["x"], (1, 1))
}

fn described(author: &str, conditions: &[Condition]) -> String {
    let tool = tool(&[&parameter!("x": u8)]);
    describe(
        author,
        &lower("tool", conditions, &tool.subjects, &tool.input).conditions,
    )
}

#[test]
fn nothing_but_the_author_is_quoted_where_the_schema_says_it_all() {
    assert_eq!(described("Does it.\n", &[pre(*MORE)]), "Does it.");
    assert_eq!(described("Does it.", &[]), "Does it.");
}

#[test]
fn what_the_schema_does_not_say_is_listed_in_source_order() {
    let pre = |text, message| condition(ConditionKind::Pre, text, message);
    let post = |text, message| condition(ConditionKind::Post, text, message);
    let conditions = [
        post("*y > x", None),
        pre("x > y", Some("{x} must be more than {y:>8?}")).reading(TOLD),
        pre("x > 0", None).reading(MORE),
        pre("store.knows(x)", Some("the store must know {x}")),
        pre("store.open()", None),
        post("y.is_ok()", Some("it must work")),
    ];
    assert_eq!(
        described("Does it.", &conditions),
        "Does it.\n\nRequires:\n\
         - `x > y` (`x` must be more than `y`)\n\
         - the store must know `x`\n\
         - `store.open()`\n\n\
         Ensures:\n\
         - `*y > x`\n\
         - it must work"
    );
    assert_eq!(
        described("", &conditions[4..5]),
        "Requires:\n- `store.open()`"
    );
}

#[test]
fn an_opaque_part_leaves_the_message_alone() {
    const PART: &Expression = &Expression::And(MORE, &Expression::Opaque("store.open()"));
    let one = condition(
        ConditionKind::Pre,
        "x > 0 && store.open()",
        Some("it must be open"),
    )
    .reading(PART);
    assert_eq!(described("", &[one]), "Requires:\n- it must be open");
}

#[test]
fn a_sentence_is_one_line() {
    assert_eq!(code("a\n        && b\t|| c"), "`a && b || c`");
    assert_eq!(code("a == \"x  y\""), "`a == \"x  y\"`");
    assert_eq!(
        message("one\u{2028}two\r\nthree\u{7}", &[]),
        "one two three"
    );
    assert_eq!(message(" \n", &[]), "");
}

#[test]
fn placeholders_are_replaced_by_names_and_braces_stay() {
    assert_eq!(
        message("{a} {b:?} {c:>8} {r#type}", &[]),
        "`a` `b` `c` `type`"
    );
    assert_eq!(message("{{a}} }} {{{a}}}", &[]), "{a} } {`a`}");
    assert_eq!(
        message("the end ({end:?}) of {a}", &[("a", "b")]),
        "the end of `b`"
    );
    // None of these compiles; nothing of them is lost either.
    assert_eq!(message("{a } } {", &[]), "`a` } {");
}

#[test]
fn backticks_do_not_end_the_code() {
    assert_eq!(code("a == '`'"), "`` a == '`' ``");
    assert_eq!(code("a == \"``\""), "``` a == \"``\" ```");
}

#[test]
fn what_is_long_is_cut_between_characters() {
    let long = "日".repeat(300);
    assert_eq!(message(&long, &[]), format!("{}..", "日".repeat(200)));
    assert_eq!(code(&long).chars().count(), 204);
    assert_eq!(message(&"x".repeat(200), &[]), "x".repeat(200));
}

#[test]
fn every_condition_has_a_sentence() {
    let tool = tool(&[&parameter!("x": u8)]);
    let conditions = [pre(*MORE), condition(ConditionKind::Post, "y", None)];
    let published = lower("tool", &conditions, &tool.subjects, &tool.input);
    let sentences: Vec<_> = published
        .conditions
        .iter()
        .map(PublishedCondition::sentence)
        .collect();
    assert_eq!(sentences, ["`as typed`", "`y`"]);
    let ids: Vec<_> = published
        .conditions
        .iter()
        .map(PublishedCondition::id)
        .collect();
    assert_eq!(ids, ["tool.pre[0]", "tool.post[1]"]);
    assert_eq!(published.input["properties"]["x"]["minimum"], json!(1));
}
