//! What a registry says about a tool to people.

use contract_runtime::prelude::*;

/// Take a square root.
///
/// Only real ones.
#[tool]
#[pre(of >= 0.0, "no root of {of}")]
#[post(|root| *root >= 0.0, policy = observe)]
fn root(of: f64) -> f64 {
    of.sqrt()
}

#[test]
fn the_forms_of_a_contract_are_explained() {
    let registry = Registry::builder().tool(root).build().unwrap();
    let text = registry.explain("root").unwrap();
    for part in [
        "root (",
        "explain.rs:",
        "Take a square root.",
        "Only real ones.",
        "requires `of >= 0.0` (no root of {of}), policy enforce",
        "promises `|root| *root >= 0.0`, policy observe",
        r#""required""#,
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert_eq!(registry.explain("roots"), None);
}

#[test]
fn the_policy_that_is_explained_is_the_one_that_applies() {
    let registry = Registry::builder()
        .tool(root)
        .policy(Policy::QuickEnforce)
        .build()
        .unwrap();
    let text = registry.explain("root").unwrap();
    assert!(
        text.contains("(no root of {of}), policy quick_enforce"),
        "{text}"
    );
    let registry = Registry::builder()
        .tool(root)
        .override_policy("root", Policy::Ignore)
        .build()
        .unwrap();
    let text = registry.explain("root").unwrap();
    assert_eq!(text.matches("policy ignore").count(), 2, "{text}");
}
