//! Parsing of `contract_assert!`.

use super::{messages, tokens};
use crate::clause;
use crate::errors::Errors;
use crate::model::{Assertion, Policy};

fn read(source: &str) -> Result<Assertion, Vec<String>> {
    let mut errors = Errors::new();
    let assertion = errors.read(tokens(source), clause::assertion);
    errors.finish(assertion).map_err(messages)
}

#[test]
fn forms_of_an_assertion() {
    let plain = read("::rt; a > b").unwrap_or_else(|_| panic!("an assertion"));
    assert_eq!(
        (
            plain.text.as_str(),
            plain.format.is_none(),
            plain.policy.is_none()
        ),
        ("a > b", true, true)
    );
    assert_eq!(plain.condition.to_string(), "a > b");
    assert_eq!(plain.krate.segments.len(), 1);
    let full = read("$crate; f::<A, B>(x), \"{} {y:?} {z}\", 1 + 1, z = w, policy = observe,");
    assert!(
        full.is_err(),
        "`$crate` is one token inside a compiler, and two outside"
    );
    let full = read("rt; f::<A, B>(x), \"{} {y:?} {z}\", 1 + 1, z = w, policy = observe,")
        .unwrap_or_else(|_| panic!("an assertion"));
    assert_eq!(
        full.format.map(|format| format.to_string()).as_deref(),
        Some("\"{} {y:?} {z}\" , 1 + 1 , z = w")
    );
    assert_eq!(full.policy.map(|set| set.value), Some(Policy::Observe));
    let short = read("rt; ok, policy = ignore").unwrap_or_else(|_| panic!("an assertion"));
    assert!(short.format.is_none() && short.policy.is_some());
}

fn refused(source: &str, expected: &str) {
    assert_eq!(read(source).err(), Some(vec![expected.to_owned()]));
}

#[test]
fn mistakes_in_an_assertion() {
    refused(
        "rt;",
        "an assertion needs a condition; write `contract_assert!(total >= 0)`",
    );
    refused("rt; a = b", "`=` assigns; write `==` to compare");
    refused(
        "rt; f().await",
        "a condition cannot await; await the value before, and name it here",
    );
    refused(
        "rt; old(a) > 0",
        "`old(..)` belongs to a postcondition; keep the earlier value in a variable",
    );
    refused(
        "rt; a, b",
        "a message is a string literal; write `\"{}\", value` to show a value",
    );
    refused(
        "rt; a, mesage = \"b\"",
        "unknown argument `mesage`; `contract_assert!(..)` takes `policy`",
    );
    refused(
        "rt; a, policy = observe, \"b\"",
        "the message comes right after the condition, before any key; write `contract_assert!(.., \"..\", policy = ..)`",
    );
    refused(
        "rt; a, policy = obsrve",
        "unknown policy `obsrve`; did you mean `observe`?",
    );
}
