//! Order and merging of several contract attributes on one item.

use super::{attribute_set, messages, tokens};
use proc_macro2::TokenStream;

use crate::attributes::{self, AttributeSet, Kind};

type Next = Result<AttributeSet, TokenStream>;

fn start(kind: Kind, args: &str, item: &str) -> Next {
    attributes::start(kind, tokens(args), &tokens(item))
}

fn deferred(next: Next) -> String {
    match next {
        Err(tokens) => tokens.to_string(),
        Ok(_) => panic!("expanded at once"),
    }
}

fn kinds(next: &Next) -> Vec<(Kind, String)> {
    match next {
        Ok(attributes) => attributes
            .contracts
            .iter()
            .map(|contract| (contract.kind, contract.args.to_string()))
            .collect(),
        Err(tokens) => panic!("deferred: {tokens}"),
    }
}

#[test]
fn fellows_are_taken_by_their_last_segment_in_order() {
    let next = start(
        Kind::Pre,
        "a > 0",
        "/// Doc.\n #[contract_runtime::tool(read_only)] #[inline] #[post(|r| *r > 0)] fn f(a: i64) -> i64 { a }",
    );
    let expected = [
        (Kind::Pre, "a > 0"),
        (Kind::Tool, "read_only"),
        (Kind::Post, "| r | * r > 0"),
    ];
    assert_eq!(
        kinds(&next),
        expected.map(|(kind, args)| (kind, args.to_owned()))
    );
    let Ok(attributes) = next else {
        return;
    };
    let left: Vec<_> = attributes
        .attrs
        .iter()
        .map(|attr| attr.path().segments[0].ident.to_string())
        .collect();
    assert_eq!(left, ["doc", "inline"]);
}

#[test]
fn an_unknown_attribute_runs_first() {
    let text = deferred(start(
        Kind::Tool,
        "",
        "#[instrument] #[pre(a > 0)] fn f(a: i64) {}",
    ));
    let expected = tokens(
        "#[instrument] #[::contract_runtime::__private::finish(tool() pre[pre](a > 0))] fn f(a: i64) {}",
    );
    assert_eq!(text, expected.to_string());
}

#[test]
fn a_renamed_fellow_merges_with_what_was_deferred() {
    let item = "#[::contract_runtime::__private::finish(tool(read_only))] fn f(a: i64) {}";
    let found = kinds(&start(Kind::Pre, "a > 0", item));
    assert_eq!(
        found,
        [
            (Kind::Pre, "a > 0".to_owned()),
            (Kind::Tool, "read_only".to_owned())
        ]
    );
}

#[test]
fn the_author_s_paths_are_kept() {
    let text = deferred(start(
        Kind::Tool,
        "",
        "#[instrument] #[rt::pre(a > 0)] fn f(a: i64) {}",
    ));
    let again = attribute_set(&text);
    let uses = attributes::uses(&again.contracts);
    assert_eq!(uses.len(), 1);
    assert_eq!(uses[0].segments.len(), 2);
    assert_eq!(again.contracts.len(), 2);
}

#[test]
fn finish_never_waits() {
    let attributes = attributes::finish(
        tokens("tool() pre(a > 0)"),
        &tokens("#[other::thing] fn f(a: i64) {}"),
    );
    let attributes = attributes.unwrap_or_else(|_| panic!("readable attributes"));
    assert_eq!(attributes.contracts.len(), 2);
    assert_eq!(attributes.attrs.len(), 1);
}

#[test]
fn the_crate_is_found_in_any_attribute() {
    let text = deferred(start(
        Kind::Pre,
        "a > 0",
        "#[tool(read_only, crate = my::rt)] #[instrument] fn f(a: i64) {}",
    ));
    assert!(
        text.contains("# [my :: rt :: __private :: finish"),
        "{text}"
    );
}

#[test]
fn cfg_attr_may_hold_a_macro_and_tool_attributes_do_not() {
    deferred(start(
        Kind::Tool,
        "",
        "#[cfg_attr(x, instrument)] fn f() {}",
    ));
    kinds(&start(
        Kind::Tool,
        "",
        "#[rustfmt::skip] #[clippy::msrv = \"1\"] #[unsafe(no_mangle)] fn f() {}",
    ));
}

#[test]
fn a_deferred_form_with_a_sign_is_reported_later() {
    let attributes = attribute_set("#[tool = \"x\"] fn f() {}");
    let error = crate::read(&attributes)
        .1
        .err()
        .map(messages)
        .unwrap_or_default();
    assert_eq!(
        error[0],
        "`#[tool]` takes its arguments in parentheses; write `#[tool(name = \"..\")]`"
    );
}
