//! Lengths of texts and lists.

use super::*;
use crate::contract::type_kind::{Container, Shape, UnknownKind as _, kind};
use crate::schema::lower::tests::subjects::parameter;
use crate::schema::lower::tests::subjects::*;

const LENGTH: &Expression = &Length(X);
const CHARACTERS: &Expression = &Characters(X);

#[test]
fn len_counts_bytes_and_max_length_characters() {
    let name = parameter!("x": String);
    let text = |keywords: Value| {
        let mut all = json!({"type": "string"});
        all.as_object_mut()
            .unwrap()
            .extend(keywords.as_object().unwrap().clone());
        all
    };
    partial(
        &name,
        Compare(AtMost, LENGTH, &Integer(8)),
        text(json!({"maxLength": 8})),
    );
    partial(
        &name,
        Compare(AtLeast, LENGTH, &Integer(8)),
        text(json!({"minLength": 2})),
    );
    partial(
        &name,
        Compare(AtLeast, LENGTH, &Integer(9)),
        text(json!({"minLength": 3})),
    );
    partial(
        &name,
        Compare(More, LENGTH, &Integer(1)),
        text(json!({"minLength": 1})),
    );
    partial(
        &name,
        Compare(Equal, LENGTH, &Integer(5)),
        text(json!({"minLength": 2, "maxLength": 5})),
    );
    described(&name, Compare(NotEqual, LENGTH, &Integer(5)));
    exact(
        &name,
        Compare(More, LENGTH, &Integer(0)),
        text(json!({"minLength": 1})),
    );
    exact(
        &name,
        Not(&Compare(Equal, LENGTH, &Integer(0))),
        text(json!({"minLength": 1})),
    );
    exact(
        &name,
        Compare(Equal, LENGTH, &Integer(0)),
        text(json!({"maxLength": 0})),
    );
    exact(
        &name,
        Compare(AtLeast, LENGTH, &Integer(0)),
        text(json!({})),
    );
    exact(
        &name,
        Compare(Less, LENGTH, &Integer(0)),
        text(json!({"not": {}})),
    );
}

#[test]
fn a_byte_bound_never_stands_under_not() {
    let name = parameter!("x": String);
    // `!(len <= 8)` is `len > 8`, which has a bound of its own.
    partial(
        &name,
        Not(&Compare(AtMost, LENGTH, &Integer(8))),
        json!({"type": "string", "minLength": 3}),
    );
    partial(
        &name,
        Not(&Or(
            &Compare(AtMost, LENGTH, &Integer(3)),
            &Compare(AtLeast, LENGTH, &Integer(9)),
        )),
        json!({"type": "string", "minLength": 1, "maxLength": 8}),
    );
}

#[test]
fn characters_are_what_max_length_counts() {
    let name = parameter!("x": String);
    exact(
        &name,
        And(
            &Compare(More, CHARACTERS, &Integer(2)),
            &Compare(Less, CHARACTERS, &Integer(9)),
        ),
        json!({"type": "string", "minLength": 3, "maxLength": 8}),
    );
    exact(
        &name,
        Compare(NotEqual, CHARACTERS, &Integer(3)),
        json!({"type": "string", "not": {"minLength": 3, "maxLength": 3}}),
    );
}

#[test]
fn the_length_of_a_list_is_the_number_of_its_items() {
    let tags = parameter!("x": Vec<String>);
    exact(
        &tags,
        And(
            &Compare(AtLeast, LENGTH, &Integer(1)),
            &Compare(AtMost, LENGTH, &Integer(5)),
        ),
        json!({"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 5}),
    );
    // Also where nothing is known of the items.
    let modes = parameter!("x": Vec<Mode>);
    assert_eq!(
        shown(&modes, &[Compare(Equal, LENGTH, &Integer(0))]).keywords["maxItems"],
        json!(0)
    );
}

#[test]
fn the_length_of_a_type_of_the_author_is_unknown() {
    described(&parameter!("x": Mode), Compare(AtMost, LENGTH, &Integer(3)));
    described(&parameter!("x": Mode), is!(Equal, &Text("slow")));
    described(&parameter!("x": Mode), All(X, "v", &Bool(false)));
    described(&parameter!("x": Mode), StartsWith(X, &Text("s")));
    described(&parameter!("x": Mode), Matches(X, &Text("^s")));
}

#[test]
fn what_holds_of_all_items_is_said_of_items() {
    let tags = parameter!("x": Vec<String>);
    partial(
        &tags,
        All(
            X,
            "v",
            &And(
                &Compare(More, &Length(V), &Integer(0)),
                &Compare(AtMost, &Length(V), &Integer(8)),
            ),
        ),
        json!({"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 8}}),
    );
    // A part that is unknown leaves the rest.
    partial(
        &tags,
        All(X, "v", &And(&Compare(More, &Length(V), &Integer(0)), NONE)),
        json!({"type": "array", "items": {"type": "string", "minLength": 1}}),
    );
    described(
        &tags,
        All(X, "v", &Or(&Compare(More, &Length(V), &Integer(0)), NONE)),
    );
    exact(
        &tags,
        All(X, "v", &Bool(false)),
        json!({"type": "array", "items": {"type": "string"}, "maxItems": 0}),
    );
}

#[test]
fn what_holds_of_one_item_is_said_by_contains() {
    let tags = parameter!("x": Vec<String>);
    let with = |keyword: &str, value: Value| json!({"type": "array", "items": {"type": "string"}, keyword: value});
    exact(
        &tags,
        Any(X, "v", &Compare(Equal, V, &Text("a"))),
        with("contains", json!({"const": "a"})),
    );
    exact(
        &tags,
        Contains(X, &Text("a")),
        with("contains", json!({"const": "a"})),
    );
    exact(
        &tags,
        Not(&Contains(X, &Text("a"))),
        json!({"type": "array", "items": {"type": "string", "not": {"const": "a"}}}),
    );
    // Whatever it is that is asked, an empty list does not have it.
    partial(&tags, Any(X, "v", NONE), with("minItems", json!(1)));
    exact(
        &tags,
        Not(&All(X, "v", &Compare(Equal, V, &Text("a")))),
        with("contains", json!({"not": {"const": "a"}})),
    );
}

#[test]
fn an_item_that_may_be_null_is_one_more_state() {
    let marks = parameter!("x": Vec<Option<u8>>);
    let items = |condition| shown(&marks, &[condition]).keywords["items"].clone();
    let own = json!({"type": ["integer", "null"], "minimum": 0, "maximum": 255});
    assert_eq!(plain(&marks)["items"], own);
    assert_eq!(
        items(All(X, "v", &IsSome(V))),
        json!({"type": "integer", "minimum": 0, "maximum": 255})
    );
    let more = items(All(
        X,
        "v",
        &SomeAnd(V, "w", &Compare(More, &Variable("w"), &Integer(3))),
    ));
    assert_eq!(
        more,
        json!({"type": "integer", "maximum": 255, "minimum": 4})
    );
    let or_none = items(All(
        X,
        "v",
        &NoneOr(V, "w", &Compare(Equal, &Variable("w"), &Integer(3))),
    ));
    assert_eq!(or_none["enum"], json!([3, null]));
}
