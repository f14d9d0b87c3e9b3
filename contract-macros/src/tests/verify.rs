//! Parsing and expansion of `#[verify]`.

use super::{refused, set, tokens, tool};
use crate::attributes::{self, Kind};

const DOUBLE: &str = "/// Double.\n #[tool] fn double(number: i32) -> i64 { 2 }";

fn with(attribute: &str) -> String {
    format!("{attribute} {DOUBLE}")
}

#[test]
fn what_is_said_of_a_run_travels() {
    assert!(tool(DOUBLE).verify.is_none());
    let run = |attribute: &str| {
        let verify = tool(&with(attribute)).verify.expect("it is there");
        let run = verify.run.map(|run| run.value);
        (run, verify.setup.is_some())
    };
    assert_eq!(run("#[verify(run)]"), (Some(true), false));
    assert_eq!(run("#[verify(run = false)]"), (Some(false), false));
    assert_eq!(run("#[verify(setup = on_paper)]"), (None, true));
    assert_eq!(
        run("#[contract_runtime::prelude::verify(setup = |builder| builder, run)]"),
        (Some(true), true)
    );
}

#[test]
fn an_attribute_of_somebody_else_is_left_alone() {
    let tool = tool(&with("#[kani::verify(run)]"));
    assert!(tool.verify.is_none());
    assert_eq!(tool.function.attrs_inner.len(), 1);
}

#[test]
fn what_says_nothing_is_refused() {
    let empty = "`#[verify]` says how the body may be run; write `#[verify(run)]`, or `#[verify(run, setup = on_paper)]`";
    refused(&with("#[verify]"), &[empty]);
    refused(&with("#[verify()]"), &[empty]);
    refused(&with("#[verify = 5]"), &[empty]);
    refused(
        &with("#[verify(run)] #[verify(run)]"),
        &["`#[verify]` is given twice; write all its arguments in one"],
    );
    refused(
        "#[verify(run)] #[pre(a > 0)] fn f(a: i64) {}",
        &["only a tool is verified; add `#[tool]` above the function, or remove this"],
    );
}

#[test]
fn methods_have_their_own() {
    let set =
        set("#[tool] impl Base { /// Read.\n #[tool] #[verify(run)] fn read(&self) -> u8 { 1 } }");
    assert_eq!(set.members.len(), 1);
    refused(
        "#[tool] impl Base { /// Read.\n #[tool] #[cfg_attr(test, verify(run))] #[cfg_attr(test, inline, pre(true))] fn read(&self) -> u8 { 1 } }",
        &[
            "`#[verify]` cannot be conditional above a method, because it would be seen too late; write it without `cfg_attr`, or make this a free function",
            "`#[pre]` cannot be conditional above a method, because it would be seen too late; write it without `cfg_attr`, or make this a free function",
        ],
    );
}

#[test]
fn a_condition_is_waited_for_and_its_path_needs_no_import() {
    let item = tokens("#[cfg_attr(test, verify(run))] fn f() {}");
    let Err(deferred) = attributes::start(Kind::Tool, tokens(""), &item) else {
        panic!("expanded at once");
    };
    let expected = tokens(
        "#[cfg_attr(test, ::contract_runtime::__private::verify(run))] #[::contract_runtime::__private::finish(tool())] fn f() {}",
    );
    assert_eq!(deferred.to_string(), expected.to_string());
}
