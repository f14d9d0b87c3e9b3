//! Conditions in words.

use serde_json::json;

use super::lower;
use super::property::pre;
use super::subjects::{Parameter, parameter, tool};
use crate::contract::condition::{Condition, ConditionKind};
use crate::contract::expression::{Comparison, Expression};
use crate::contract::type_kind::{Container, Shape, TypeKind, UnknownKind as _, kind};
use crate::schema::lower::PublishedCondition;
use crate::schema::lower::sentence::{code, describe, message};

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

const PROMISE: &Expression = &Expression::Compare(
    Comparison::More,
    &Expression::Variable("y"),
    &Expression::Parameter("x"),
);

fn condition(kind: ConditionKind, text: &'static str, message: Option<&'static str>) -> Condition {
    Condition::new(kind, text, message, None, &["x"], (1, 1))
        .returning(TypeKind::Float { single: false })
}

fn described(author: &str, conditions: &[Condition]) -> String {
    let tool = tool(&[
        &parameter!("x": u8),
        &parameter!("y": u8),
        &parameter!("z": Vec<u8>),
    ]);
    describe(
        author,
        &lower(conditions, &tool.subjects, &tool.input).conditions,
        false,
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
        post("|y| *y > x", None).reading(PROMISE),
        pre("x > y", Some("{x} must be more than {y:>8?}")).reading(TOLD),
        pre("x > 0", None).reading(MORE),
        pre("store.knows(x)", Some("the store must know {x}")),
        pre("store.open()", None),
        post("|y| y.is_ok()", Some("it must work")),
    ];
    assert_eq!(
        described("Does it.", &conditions),
        "Does it.\n\nRequires:\n\
         - `x > y`\n\n\
         Possible refusals:\n\
         - \"the store must know `x`\"\n\n\
         Ensures:\n\
         - `result > x`"
    );
    assert_eq!(
        described("", &conditions[2..4]),
        "Possible refusals:\n- \"the store must know `x`\""
    );
}

/// The lines below the headings of demands and promises.
fn demands(text: &str) -> Vec<&str> {
    let mut demanded = false;
    let mut found = Vec::new();
    for line in text.lines() {
        demanded = match line.strip_prefix("- ") {
            Some(line) if demanded => {
                found.push(line);
                true
            }
            Some(_) => false,
            None => ["Requires:", "Ensures:"].contains(&line),
        };
    }
    found
}

#[test]
fn no_message_stands_below_a_demand() {
    const EACH: &Expression = &Expression::Any(&Expression::Parameter("x"), "one", MORE);
    const PART: &Expression = &Expression::And(MORE, &Expression::Opaque("store.open()"));
    let conditions = [
        condition(ConditionKind::Pre, "x > y", Some("FAILED")).reading(TOLD),
        condition(
            ConditionKind::Pre,
            "x.iter().any(|one| *one > y)",
            Some("FAILED"),
        )
        .reading(EACH),
        condition(ConditionKind::Pre, "x > 0 && store.open()", Some("FAILED")).reading(PART),
        condition(ConditionKind::Pre, "store.open()", Some("FAILED")),
        condition(ConditionKind::Post, "|y| *y > x", Some("FAILED")).reading(PROMISE),
        condition(ConditionKind::Post, "|y| y.is_ok()", Some("FAILED")),
    ];
    for (index, condition) in conditions.iter().enumerate() {
        let alone = described("Does it.", std::slice::from_ref(condition));
        assert!(
            !demands(&alone).iter().any(|line| line.contains("FAILED")),
            "{index}: {alone}"
        );
    }
    let all = described("Does it.", &conditions);
    assert_eq!(demands(&all), ["`x > y`", "`result > x`"]);
    assert_eq!(all.matches("- \"FAILED\"").count(), 3, "{all}");
}

#[test]
fn of_a_clause_that_reads_as_code_only_the_message_is_shown() {
    const EACH: &Expression = &Expression::Any(&Expression::Parameter("z"), "one", MORE);
    let code = "z.iter().any(|one| x > 0)";
    let each = |message| condition(ConditionKind::Pre, code, message).reading(EACH);
    assert_eq!(
        described("", &[each(Some("none is \"left\""))]),
        "Possible refusals:\n- \"none is 'left'\""
    );
    assert_eq!(described("", &[each(None)]), "");
}

#[test]
fn a_promise_compares_the_result_as_its_json_does() {
    use Expression::{And, Compare, Float, IsFinite, IsSome, Not, Opaque, Parameter, Variable};
    const X: &Expression = &Parameter("x");
    const Y: &Expression = &Variable("y");
    const RESULT: &Expression = &Parameter("result");
    const UNKNOWN: &Expression = &Opaque("old(x)");
    const IS_HALF: Expression = Compare(Comparison::Equal, Y, &Float(1_000.5));
    const FEW: &Expression = &Compare(Comparison::Less, &Expression::Length(Y), X);
    let ensures = |tree| {
        described(
            "",
            &[condition(ConditionKind::Post, "typed", None).reading(tree)],
        )
    };
    for (tree, shown) in [
        (PROMISE, "`result > x`"),
        (&Not(&IS_HALF), "`result != 1000.5`"),
        (
            &And(&IS_HALF, PROMISE),
            "`result == 1000.5`, and `result > x`",
        ),
    ] {
        assert_eq!(ensures(tree), format!("Ensures:\n- {shown}"));
    }
    // A parameter that the model knows as `result` would be taken for the result.
    for hidden in [
        &IsFinite(Y),
        &IsSome(Y),
        &And(PROMISE, UNKNOWN),
        &Compare(Comparison::More, Y, UNKNOWN),
        &Compare(Comparison::More, Y, RESULT),
    ] {
        assert_eq!(ensures(hidden), "", "{hidden:?}");
    }
    let list = condition(ConditionKind::Post, "typed", None);
    let list = list.returning(TypeKind::List(&TypeKind::Text));
    assert_eq!(described("", &[list.reading(FEW)]), "");
}

#[test]
fn a_demand_is_one_line_of_bounded_length() {
    const WORDS: &[Expression] = &[Expression::Text("one\u{2028}two"); 100];
    const LONG: &Expression =
        &Expression::Not(&Expression::Among(&Expression::Parameter("word"), WORDS));
    const EITHER: &Expression = &Expression::Or(
        LONG,
        &Expression::Compare(
            Comparison::More,
            &Expression::Parameter("y"),
            &Expression::Integer(3),
        ),
    );
    let tool = tool(&[&parameter!("word": String), &parameter!("y": u8)]);
    let condition = condition(ConditionKind::Pre, "either", None).reading(EITHER);
    let conditions = lower(&[condition], &tool.subjects, &tool.input).conditions;
    let text = describe("", &conditions, false);
    assert!(
        text.starts_with("Requires:\n- `word` is not one of \"one two\""),
        "{text}"
    );
    assert!(text.chars().count() < 240 && text.ends_with(".."), "{text}");
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
    assert_eq!(
        described("", &[one]),
        "Possible refusals:\n- \"it must be open\""
    );
}

#[test]
fn a_sentence_is_one_line() {
    assert_eq!(code("a\n        && b\t|| c"), "`a && b || c`");
    assert_eq!(code("a == \"x  y\""), "`a == \"x  y\"`");
    assert_eq!(
        message("one\u{2028}two\r\nthree\u{7}", &[], |_| true),
        "one two three"
    );
    assert_eq!(message(" \n", &[], |_| true), "");
}

#[test]
fn placeholders_are_replaced_by_names_and_braces_stay() {
    assert_eq!(
        message("{a} {b:?} {c:>8} {r#type}", &[], |_| true),
        "`a` `b` `c` `type`"
    );
    assert_eq!(message("{{a}} }} {{{a}}}", &[], |_| true), "{a} } {`a`}");
    assert_eq!(
        message("the end ({end:?}) of {a}", &[("a", "b")], |_| true),
        "the end of `b`"
    );
    assert_eq!(
        message("`{a}` is too large", &[("a", "b")], |_| true),
        "`b` is too large"
    );
    assert_eq!(
        message("`{a} + {b}` of {c} is not `{a}`{b}`c`", &[], |_| true),
        "`a + b` of `c` is not `a``b``c`"
    );
    assert_eq!(
        message("a lone ` before {a}", &[], |_| true),
        "a lone ` before `a`"
    );
    // None of these compiles; nothing of them is lost either.
    assert_eq!(message("{a } } {", &[], |_| true), "`a` } {");
    assert_eq!(
        message("{a} is {}, not {0:?} or {b} ({})", &[], |name| name == "a"),
        "`a` is ..., not ... or ..."
    );
}

#[test]
fn backticks_do_not_end_the_code() {
    assert_eq!(code("a == '`'"), "`` a == '`' ``");
    assert_eq!(code("a == \"``\""), "``` a == \"``\" ```");
}

#[test]
fn what_is_long_is_cut_between_characters() {
    let long = "日".repeat(300);
    assert_eq!(
        message(&long, &[], |_| true),
        format!("{}..", "日".repeat(200))
    );
    assert_eq!(code(&long).chars().count(), 204);
    assert_eq!(message(&"x".repeat(200), &[], |_| true), "x".repeat(200));
}

#[test]
fn every_condition_has_a_sentence() {
    let tool = tool(&[&parameter!("x": u8)]);
    let conditions = [pre(*MORE), condition(ConditionKind::Post, "y", None)];
    let published = lower(&conditions, &tool.subjects, &tool.input);
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
