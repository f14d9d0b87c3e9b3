//! Missing, null and default are three states.

use super::*;
use crate::contract::type_kind::{Container, Shape, UnknownKind as _, kind};
use crate::schema::lower::tests::property::validator;
use crate::schema::lower::tests::subjects::parameter;
use crate::schema::lower::tests::subjects::*;

const FIVE: &Expression = &Compare(Equal, V, &Integer(5));
const MORE: &Expression = &Compare(More, V, &Integer(5));

/// What is accepted: nothing at all, `null`, 5, 6.
#[track_caller]
fn states(parameter: &Parameter, condition: Expression, expected: [bool; 4]) {
    let tool = tool(&[parameter]);
    let published = lower(&[pre(condition)], &tool.subjects, &tool.input);
    assert_eq!(published.conditions[0].lowering(), Lowering::Exact);
    let validator = validator(&published.input);
    let cases = [
        json!({}),
        json!({"x": null}),
        json!({"x": 5}),
        json!({"x": 6}),
    ];
    let found = cases.map(|case| validator.is_valid(&case));
    assert_eq!(found, expected, "{:#}", published.input);
}

#[test]
fn a_missing_optional_is_none() {
    let limit = parameter!("x": Option<u8>);
    states(&limit, IsSome(X), [false, false, true, true]);
    states(&limit, Not(&IsSome(X)), [true, true, false, false]);
    states(&limit, SomeAnd(X, "v", FIVE), [false, false, true, false]);
    states(&limit, NoneOr(X, "v", FIVE), [true, true, true, false]);
    states(&limit, SomeAnd(X, "v", MORE), [false, false, false, true]);
    states(&limit, NoneOr(X, "v", MORE), [true, true, false, true]);
    states(
        &limit,
        Not(&SomeAnd(X, "v", FIVE)),
        [true, true, false, true],
    );
    states(
        &limit,
        Not(&NoneOr(X, "v", FIVE)),
        [false, false, false, true],
    );
    states(
        &limit,
        NoneOr(X, "v", &Bool(false)),
        [true, true, false, false],
    );
    states(
        &limit,
        Or(&Not(&IsSome(X)), &SomeAnd(X, "v", MORE)),
        [true, true, false, true],
    );
    // `opt.iter().all(..)` asks the same.
    states(&limit, All(X, "v", FIVE), [true, true, true, false]);
    states(&limit, Any(X, "v", FIVE), [false, false, true, false]);
}

#[test]
fn a_missing_optional_with_a_default_is_the_default() {
    let hint = parameter!("x": Option<u8> = 5);
    states(&hint, IsSome(X), [true, false, true, true]);
    states(&hint, SomeAnd(X, "v", FIVE), [true, false, true, false]);
    states(&hint, NoneOr(X, "v", FIVE), [true, true, true, false]);
}

#[test]
fn a_missing_argument_with_a_default_is_the_default() {
    let size = parameter!("x": u8 = 6);
    states(
        &size,
        Compare(More, X, &Integer(5)),
        [true, false, false, true],
    );
}

#[test]
fn null_goes_out_of_the_type_where_it_is_refused() {
    let some = |parameter: &Parameter| shown(parameter, &[IsSome(X)]);
    let note = some(&parameter!("x": Option<String>));
    assert_eq!(
        (note.keywords, note.required),
        (json!({"type": "string"}), true)
    );
    let mode = some(&parameter!("x": Option<Plain>));
    assert_eq!(mode.keywords, json!({"$ref": "#/$defs/Plain"}));
    let absent = shown(&parameter!("x": Option<String>), &[Not(&IsSome(X))]);
    assert_eq!(
        (absent.keywords, absent.required),
        (json!({"type": "null"}), false)
    );
}

#[test]
fn an_optional_body_nobody_can_lower_still_needs_a_value() {
    let limit = parameter!("x": Option<u8>);
    let some = shown(&limit, &[SomeAnd(X, "v", NONE)]);
    assert_eq!((some.lowering, some.required), (Lowering::Partial, true));
    described(&limit, NoneOr(X, "v", NONE));
}

#[test]
fn keywords_that_speak_of_null_let_it_pass() {
    let note = parameter!("x": Option<String>);
    let say = |body| shown(&note, &[NoneOr(X, "v", body)]).keywords;
    let mut all = vec![
        say(&Compare(Equal, V, &Text("a"))),
        say(&Compare(NotEqual, V, &Text("b"))),
        say(&Not(&StartsWith(V, &Text("b")))),
        say(&Or(
            &Compare(Equal, V, &Text("a")),
            &Compare(More, &Characters(V), &Integer(9)),
        )),
        say(&Or(
            &Compare(Equal, V, &Text("a")),
            &Not(&StartsWith(V, &Text("b"))),
        )),
        say(&And(
            &Not(&StartsWith(V, &Text("b"))),
            &Not(&EndsWith(V, &Text("b"))),
        )),
        say(&Compare(NotEqual, &Characters(V), &Integer(3))),
    ];
    for keywords in &mut all {
        let judge = jsonschema::draft202012::new(keywords).unwrap();
        assert!(judge.is_valid(&Value::Null), "{keywords}");
        assert!(judge.is_valid(&json!("a")), "{keywords}");
        assert!(!judge.is_valid(&json!(3)), "{keywords}");
    }
}
