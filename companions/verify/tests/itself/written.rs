//! Tests that the macros write: they run like any other, and fail like any other.

use contract_runtime::prelude::*;

/// Divide one number by another, and leave the rest.
#[tool(read_only, idempotent)]
#[pre(divisor != 0, "cannot divide by zero")]
#[pre(!(dividend == i64::MIN && divisor == -1), "the quotient is too large")]
#[post(|quotient| quotient.unsigned_abs() <= dividend.unsigned_abs())]
fn divide(dividend: i64, divisor: i64) -> i64 {
    dividend / divisor
}

contract_verify::verify!(divide);

/// Share among people. In a build without tests it is a function with a contract, and no tool.
#[cfg_attr(test, tool(read_only))]
#[pre(people > 0)]
#[post(|share| *share <= total)]
fn share(total: u32, people: u32) -> u32 {
    total / people
}

contract_verify::verify!(share);

/// The promise is broken where there is nothing to share.
#[cfg_attr(test, tool(read_only))]
#[pre(people > 0)]
#[post(|share| *share > 0)]
fn share_something(total: u32, people: u32) -> u32 {
    total / people
}

#[test]
fn a_function_that_is_a_tool_in_tests_alone_is_verified() {
    let registry = Registry::builder().tool(share_something).build().unwrap();
    let report = super::Verifier::new(registry).run();
    let problem = super::only(&report);
    assert_eq!(problem.clause.as_deref(), Some("share_something.post[1]"));
    assert_eq!(
        problem.input,
        Some(serde_json::json!({"total": 0, "people": 1}))
    );
}

mod by_path {
    contract_verify::verify!(super::divide, seed = 3, cases = 20 + 30);

    pub(super) fn is_written() {
        verify_divide();
    }
}

mod of_a_registry {
    use super::*;

    contract_verify::verify_all!(Registry::builder().tool(divide), cases = 50);

    pub(super) fn is_written() {
        verify_all();
    }
}

mod of_a_built_registry {
    use super::*;

    contract_verify::verify_all!(
        Registry::builder().tool(divide).build(),
        seed = 3,
        run = false
    );

    pub(super) fn is_written() {
        verify_all();
    }
}

/// A function, and no tool.
fn half(number: u32) -> u32 {
    number / 2
}

#[test]
#[should_panic(expected = "is not a tool")]
fn a_function_that_is_no_tool_is_refused() {
    assert_eq!(half(4), 2);
    let _ = contract_verify::__private::verifier_of_function(half, env!("CARGO_TARGET_TMPDIR"));
}

#[test]
#[should_panic(expected = "verify_all!(registry!().with(state))")]
fn a_package_without_tools_is_refused() {
    let home = env!("CARGO_TARGET_TMPDIR");
    let _ = contract_verify::__private::verifier_of_package("no-such-package", home);
}

/// Each of these compiles only if the macro beside it wrote a test of that name.
#[test]
fn the_tests_have_names() {
    verify_divide();
    by_path::is_written();
    of_a_registry::is_written();
    of_a_built_registry::is_written();
}
