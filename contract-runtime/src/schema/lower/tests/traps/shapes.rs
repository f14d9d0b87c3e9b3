//! `&&`, `||`, `!`, and several parameters.

use super::*;
use crate::contract::type_kind::{Container, Shape, UnknownKind as _, kind};
use crate::schema::lower::tests::subjects::parameter;
use crate::schema::lower::tests::subjects::*;

#[test]
fn clauses_are_split_after_negation_is_pushed_down() {
    let count = parameter!("x": u8);
    exact(
        &count,
        Not(&Or(
            &is!(Less, &Integer(3)),
            &Not(&is!(AtMost, &Integer(9))),
        )),
        json!({"type": "integer", "minimum": 3, "maximum": 9}),
    );
    exact(
        &count,
        Compare(
            Equal,
            &And(&is!(Less, &Integer(3)), &is!(More, &Integer(1))),
            &Bool(true),
        ),
        json!({"type": "integer", "minimum": 2, "maximum": 2}),
    );
    exact(
        &count,
        Compare(NotEqual, &Bool(true), &is!(Less, &Integer(3))),
        json!({"type": "integer", "minimum": 3, "maximum": 255}),
    );
}

#[test]
fn a_clause_without_keywords_leaves_the_others() {
    let count = parameter!("x": u8);
    partial(
        &count,
        And(&is!(More, &Integer(0)), NONE),
        json!({"type": "integer", "minimum": 1, "maximum": 255}),
    );
    described(&count, Or(&is!(More, &Integer(0)), NONE));
    described(&count, Not(&And(&is!(More, &Integer(0)), NONE)));
    partial(
        &count,
        Or(
            &And(&is!(More, &Integer(200)), NONE),
            &is!(Less, &Integer(3)),
        ),
        json!({"type": "integer", "minimum": 0, "maximum": 255, "anyOf": [{"minimum": 201}, {"maximum": 2}]}),
    );
}

#[test]
fn several_equalities_are_one_list() {
    let count = parameter!("x": u8);
    let listed =
        |values: Value| json!({"type": "integer", "minimum": 0, "maximum": 255, "enum": values});
    exact(
        &count,
        Or(&is!(Equal, &Integer(3)), &is!(Equal, &Integer(5))),
        listed(json!([3, 5])),
    );
    exact(
        &count,
        Among(X, &[Integer(3), Integer(5), Integer(3)]),
        listed(json!([3, 5])),
    );
    let conditions = [
        Among(X, &[Integer(3), Integer(5)]),
        Among(X, &[Integer(5), Integer(7)]),
    ];
    assert_eq!(shown(&count, &conditions).keywords["const"], json!(5));
    let conditions = [is!(Equal, &Integer(3)), is!(Equal, &Integer(5))];
    assert_eq!(shown(&count, &conditions).keywords["not"], json!({}));
    let none = shown(&count, &[Not(&Among(X, &[Integer(3), Integer(5)]))]);
    assert_eq!(none.keywords["not"], json!({"enum": [3, 5]}));
}

#[test]
fn several_alternatives_do_not_overwrite_each_other() {
    let count = parameter!("x": u8);
    let conditions = [
        Or(&is!(Less, &Integer(3)), &is!(More, &Integer(8))),
        Or(&is!(Less, &Integer(20)), &is!(More, &Integer(30))),
    ];
    let all = shown(&count, &conditions).keywords;
    assert_eq!(all["anyOf"], json!([{"maximum": 2}, {"minimum": 9}]));
    assert_eq!(
        all["allOf"],
        json!([{"anyOf": [{"maximum": 19}, {"minimum": 31}]}])
    );
}

#[test]
fn a_clause_over_two_parameters_is_told() {
    let tool = tool(&[&parameter!("x": u8), &parameter!("y": u8)]);
    let both = Or(
        &is!(Less, &Integer(3)),
        &Compare(Less, &Parameter("y"), &Integer(3)),
    );
    let order = Compare(Less, X, &Parameter("y"));
    let each = And(
        &is!(Less, &Integer(3)),
        &Compare(Less, &Parameter("y"), &Integer(5)),
    );
    let part = And(&is!(Less, &Integer(2)), &Compare(Less, X, &Parameter("y")));
    let conditions = [pre(both), pre(order), pre(each), pre(part)];
    let published = lower(&conditions, &tool.subjects, &tool.input);
    let classes: Vec<_> = published
        .conditions
        .iter()
        .map(PublishedCondition::lowering)
        .collect();
    assert_eq!(
        classes,
        [
            Lowering::Described,
            Lowering::Described,
            Lowering::Exact,
            Lowering::Partial
        ]
    );
    assert_eq!(published.input["properties"]["x"]["maximum"], json!(1));
    assert_eq!(published.input["properties"]["y"]["maximum"], json!(4));
}

#[test]
fn the_variable_of_an_inner_closure_hides_the_outer_one() {
    let table = parameter!("x": Vec<Vec<i8>>);
    let inner = Any(V, "v", &Compare(Equal, V, &Integer(3)));
    let items = shown(&table, &[All(X, "v", Box::leak(Box::new(inner)))]).keywords["items"].clone();
    assert_eq!(items["contains"], json!({"const": 3}));
    // A body about another place says nothing of this one.
    described(
        &table,
        All(X, "v", &Compare(Equal, &Length(X), &Integer(3))),
    );
}

#[test]
fn constants_alone_say_nothing() {
    const ON: &Expression = &Named {
        text: "ON",
        value: || Some(json!(true)),
    };
    let count = parameter!("x": u8);
    exact(
        &count,
        And(&is!(Less, &Integer(3)), ON),
        json!({"type": "integer", "minimum": 0, "maximum": 2}),
    );
    exact(&count, Or(&is!(Less, &Integer(3)), ON), plain(&count));
    exact(
        &count,
        Or(&is!(Less, &Integer(3)), &Not(ON)),
        json!({"type": "integer", "minimum": 0, "maximum": 2}),
    );
    exact(
        &count,
        Compare(More, &Integer(3), &Integer(2)),
        plain(&count),
    );
    exact(&count, Compare(Less, &Text("a"), &Text("b")), plain(&count));
    described(&count, Not(ON));
    described(&count, Compare(Less, &Integer(3), &Integer(2)));
}

#[test]
fn what_cannot_hold_accepts_nothing() {
    let count = parameter!("x": u8);
    let range = json!({"type": "integer", "minimum": 0, "maximum": 255, "not": {}});
    exact(
        &count,
        And(&is!(More, &Integer(255)), &is!(NotEqual, &Integer(3))),
        range.clone(),
    );
    exact(
        &count,
        And(&is!(NotEqual, &Integer(3)), &is!(More, &Integer(255))),
        range.clone(),
    );
    exact(&count, Among(X, &[]), range);
}

#[test]
fn the_order_of_properties_and_the_words_of_the_author_stay() {
    let tool = tool(&[
        &parameter!("b": Option<u8>),
        &parameter!("x": u8 = 4),
        &parameter!("a": u8),
    ]);
    let conditions = [pre(is!(More, &Integer(0))), pre(IsSome(&Parameter("b")))];
    let published = lower(&conditions, &tool.subjects, &tool.input);
    assert_eq!(
        published.input.to_string(),
        concat!(
            r#"{"type":"object","properties":{"#,
            r#""b":{"type":"integer","minimum":0,"maximum":255,"description":"The b."},"#,
            r#""x":{"type":"integer","maximum":255,"minimum":1,"description":"The x.","default":4},"#,
            r#""a":{"type":"integer","minimum":0,"maximum":255,"description":"The a."}},"#,
            r#""required":["b","a"],"additionalProperties":false}"#,
        )
    );
}
