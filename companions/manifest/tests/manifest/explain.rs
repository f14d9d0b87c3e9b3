//! What a registry says about a tool to people.

use contract_manifest::Inspect as _;
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
        r#"requires `of >= 0.0`, else "no root of {of}", policy enforce"#,
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
        text.contains(r#"else "no root of {of}", policy quick_enforce"#),
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

/// Wait.
#[tool]
#[pre(seconds > 0)]
#[pre(seconds < 60, policy = observe)]
#[pre(seconds < 90, policy = ignore)]
#[pre(seconds < most)]
#[post(|waited| *waited > 0, policy = observe)]
fn wait(
    #[arg(default = 1, example = 2)] seconds: u32,
    #[arg(default = 100, example = 70)] most: u32,
) -> u32 {
    seconds.min(most)
}

/// Wait for a moment.
#[tool]
#[pre(moments < 60, policy = observe)]
fn rest(#[arg(default = 90)] moments: u32) {
    let _ = moments;
}

/// Wait for long.
#[tool]
fn sleep() {}

/// The lines below a title.
fn below<'t>(text: &'t str, title: &str) -> Vec<&'t str> {
    let lines = text.lines().skip_while(|line| *line != title).skip(1);
    lines.map_while(|line| line.strip_prefix("    ")).collect()
}

#[test]
fn what_ends_no_call_is_not_explained_as_enforced() {
    let registry = Registry::builder().tool(wait).tool(rest).build().unwrap();
    let text = registry.explain("wait").unwrap();
    assert_eq!(
        below(&text, "enforced"),
        [
            "requires `seconds > 0`, policy enforce",
            "requires `seconds < most`, policy enforce"
        ]
    );
    assert_eq!(
        below(&text, "observed"),
        [
            "requires `seconds < 60`, policy observe",
            "promises `|waited| *waited > 0`, policy observe"
        ]
    );
    assert_eq!(
        below(&text, "ignored"),
        ["requires `seconds < 90`, policy ignore"]
    );
    let text = registry.explain("rest").unwrap();
    assert_eq!(below(&text, "enforced"), ["nothing beyond its types"]);
    assert!(!text.contains("\nignored"), "{text}");
}

#[test]
fn only_the_defaults_that_were_tested_are_said_to_be() {
    let builder = Registry::builder().tool(wait).tool(rest).tool(sleep);
    let registry = builder.build().unwrap();
    let tested = |name| below(&registry.explain(name).unwrap(), "tested").join("\n");
    assert_eq!(
        tested("wait"),
        "no contradiction was found between the preconditions\n\
         of `seconds` the default and the examples satisfy `seconds > 0`\n\
         no contradiction was found between the defaults of `seconds` and `most` and `seconds < most`"
    );
    assert_eq!(
        tested("rest"),
        "no contradiction was found between the preconditions"
    );
    assert_eq!(tested("sleep"), "nothing");
}
