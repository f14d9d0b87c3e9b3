//! Texts, flags, and types with few values.

use super::*;
use crate::contract::type_kind::{Container, Shape, UnknownKind as _, kind};
use crate::schema::lower::tests::subjects::parameter;
use crate::schema::lower::tests::subjects::*;

#[test]
fn a_flag_is_one_constant() {
    let flag = parameter!("x": bool);
    let only = |value: bool| json!({"type": "boolean", "const": value});
    exact(&flag, *X, only(true));
    exact(&flag, Not(X), only(false));
    exact(&flag, is!(Equal, &Bool(false)), only(false));
    exact(&flag, is!(NotEqual, &Bool(false)), only(true));
    exact(
        &flag,
        Or(X, &Not(X)),
        json!({"type": "boolean", "enum": [true, false]}),
    );
}

#[test]
fn a_text_is_compared_and_never_ordered() {
    let name = parameter!("x": String);
    exact(
        &name,
        is!(Equal, &Text("a")),
        json!({"type": "string", "const": "a"}),
    );
    exact(
        &name,
        is!(NotEqual, &Text("a")),
        json!({"type": "string", "not": {"const": "a"}}),
    );
    described(&name, is!(Less, &Text("b")));
    described(&parameter!("x": char), is!(Less, &Text("b")));
    let letter = shown(&parameter!("x": char), &[is!(Equal, &Text("b"))]);
    assert_eq!(
        (letter.lowering, &letter.keywords["const"]),
        (Lowering::Exact, &json!("b"))
    );
}

#[test]
fn a_named_list_is_a_list_of_values() {
    const PORTS: &Expression = &Named {
        text: "PORTS",
        value: || Some(json!([80, 443])),
    };
    const LETTERS: &Expression = &Named {
        text: "LETTERS",
        value: || Some(json!(["a", "b"])),
    };
    let port = shown(&parameter!("x": u16), &[Contains(PORTS, X)]);
    assert_eq!(
        (port.lowering, &port.keywords["enum"]),
        (Lowering::Exact, &json!([80, 443]))
    );
    let other = shown(&parameter!("x": u16), &[Not(&Contains(PORTS, X))]);
    assert_eq!(other.keywords["not"], json!({"enum": [80, 443]}));
    let name = parameter!("x": String);
    described(&name, Contains(PORTS, X));
    // Here the list is one of characters that the text may hold.
    described(&name, Contains(X, LETTERS));
    described(&name, StartsWith(X, LETTERS));
}

#[test]
fn a_text_in_a_pattern_is_escaped() {
    let name = parameter!("x": String);
    let pattern = |condition| shown(&name, &[condition]).keywords["pattern"].clone();
    assert_eq!(pattern(StartsWith(X, &Text("a.b"))), json!(r"^a\.b"));
    assert_eq!(pattern(EndsWith(X, &Text(".rs"))), json!(r"\.rs$"));
    assert_eq!(pattern(Contains(X, &Text("(")),), json!(r"\("));
    described(&name, StartsWith(X, &Text("é")));
    exact(&name, StartsWith(X, &Text("")), plain(&name));
    exact(
        &name,
        Not(&StartsWith(X, &Text("a"))),
        json!({"type": "string", "not": {"pattern": "^a"}}),
    );
}

#[test]
fn a_pattern_outside_the_common_subset_is_told() {
    let name = parameter!("x": String);
    exact(
        &name,
        Matches(X, &Text("^[a-z]+$")),
        json!({"type": "string", "pattern": "^[a-z]+$"}),
    );
    described(&name, Matches(X, &Text("(?i)abc")));
    described(&name, Matches(X, &Text("(")));
    let digits = shown(&name, &[Matches(X, &Text(r"^\d$"))]).keywords;
    assert_eq!(digits["pattern"], json!("^[0-9]$"));
}

#[test]
fn several_patterns_are_all_asked_for() {
    let name = parameter!("x": String);
    let conditions = [
        Matches(X, &Text("^a")),
        EndsWith(X, &Text("z")),
        Not(&Matches(X, &Text("q"))),
    ];
    let all = shown(&name, &conditions).keywords;
    assert_eq!(
        all,
        json!({"type": "string", "pattern": "^a", "allOf": [{"pattern": "z$"}], "not": {"pattern": "q"}})
    );
}

fn asked(holds: fn(&str) -> Option<bool>) -> Expression {
    Native {
        text: "asked(&x)",
        parameter: "x",
        holds,
    }
}

#[test]
fn the_names_of_variants_are_those_of_serde() {
    let mode = parameter!("x": Mode);
    exact(
        &mode,
        asked(quick),
        json!({"$ref": "#/$defs/Mode", "const": "very-fast"}),
    );
    exact(
        &mode,
        asked(on),
        json!({"$ref": "#/$defs/Mode", "enum": ["very-fast", "slow"]}),
    );
    exact(
        &mode,
        Not(asked_static(quick)),
        json!({"$ref": "#/$defs/Mode", "enum": ["off", "slow"]}),
    );
    exact(
        &mode,
        Or(asked_static(quick), asked_static(on)),
        json!({"$ref": "#/$defs/Mode", "enum": ["very-fast", "slow"]}),
    );
    let plain = parameter!("x": Plain);
    exact(
        &plain,
        asked(is_a),
        json!({"$ref": "#/$defs/Plain", "const": "A"}),
    );
}

fn asked_static(holds: fn(&str) -> Option<bool>) -> &'static Expression {
    Box::leak(Box::new(asked(holds)))
}

#[test]
fn all_values_or_none() {
    let mode = parameter!("x": Mode);
    exact(
        &mode,
        asked(|_| Some(true)),
        json!({"$ref": "#/$defs/Mode"}),
    );
    exact(
        &mode,
        asked(|_| Some(false)),
        json!({"$ref": "#/$defs/Mode", "not": {}}),
    );
}

#[test]
fn a_test_without_an_answer_is_told() {
    let mode = parameter!("x": Mode);
    described(&mode, asked(|_| None));
    described(
        &mode,
        asked(|text| {
            if text.contains("off") {
                None
            } else {
                Some(true)
            }
        }),
    );
    described(&mode, asked(|_| panic!("not this one")));
    described(&parameter!("x": String), asked(|_| Some(true)));
}

#[test]
fn an_optional_of_few_values_is_asked_about_null_too() {
    let perhaps = parameter!("x": Option<Plain>);
    let either = |value: Value| json!({"anyOf": [{"$ref": "#/$defs/Plain"}, {"type": "null"}], "enum": value});
    exact(&perhaps, asked(none_or_b), either(json!(["B", null])));
    let chosen = shown(&parameter!("x": Option<Mode>), &[asked(some_slow)]);
    assert_eq!(
        chosen.keywords,
        json!({"$ref": "#/$defs/Mode", "const": "slow"})
    );
    assert!(chosen.required);
}

#[test]
fn nothing_at_all_is_asked_about_where_a_type_reads_it() {
    // An alias of an optional, or a type of the author's with a `None` of its own.
    let own = parameter!("x": Plain).optional();
    let must = shown(&own, &[asked(|text| Some(text == "\"A\""))]);
    assert!(must.required, "nothing at all is read as what `null` is");
    let may = shown(&own, &[asked(|text| Some(text != "\"A\""))]);
    assert_eq!((may.required, &may.keywords["const"]), (false, &json!("B")));
}
