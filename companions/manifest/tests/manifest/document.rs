//! What the manifest of a registry says, and that its published schema admits it.

use std::time::Duration;

use contract_manifest::{Manifest, PortableRule, ToManifest as _};
use contract_runtime::prelude::*;
use contract_runtime::{ConditionKind, DynamicSpec, Lowering};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Speed {
    Slow,
    VeryFast,
}

const MOST: u32 = 12;

/// Move something.
#[tool(title = "Move", idempotent, timeout = "5s")]
#[pre(steps > 0 && steps <= MOST)]
#[pre(matches!(speed, Speed::Slow) || steps < 3, "{steps} steps are too many for this speed")]
#[pre(name.len() <= 10)]
#[post(|done| *done <= steps)]
async fn shift(steps: u32, speed: Speed, name: String, #[arg(secret)] key: Option<String>) -> u32 {
    let _ = (speed, name, key);
    std::future::ready(steps).await
}

fn registry() -> Registry {
    let echo = Tool::dynamic(
        DynamicSpec::new("echo", "Repeat.").output_schema(json!(true)),
        |_| async { Ok::<_, String>(Content::text("")) },
    );
    let builder = Registry::builder().tool(shift).with(echo);
    builder.timeout(Duration::from_secs(9)).build().unwrap()
}

fn validator() -> jsonschema::Validator {
    jsonschema::draft202012::new(&Manifest::json_schema()).unwrap()
}

#[test]
fn every_fact_of_a_registry_is_in_it() {
    let registry = registry();
    let manifest = registry.manifest();
    let names: Vec<_> = manifest
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    assert_eq!(names, ["echo", "shift"]);

    let (tool, info) = (
        manifest.tool("shift").unwrap(),
        registry.tool("shift").unwrap(),
    );
    assert_eq!(tool.title.as_deref(), Some("Move"));
    assert_eq!(tool.description, "Move something.");
    assert_eq!(tool.package, "contract-manifest");
    assert_eq!(tool.hints, info.hints());
    let mut schema = info.input_schema().clone();
    schema["properties"]["key"]["writeOnly"] = json!(true);
    assert_eq!(tool.input_schema, schema);
    assert_eq!(tool.output_schema.as_ref(), info.output_schema());
    assert_eq!(tool.timeout_ms, Some(5_000));
    assert_eq!(tool.location.as_deref(), Some(info.location()));
    assert_eq!(manifest.tool("echo").unwrap().timeout_ms, Some(9_000));

    assert_eq!(tool.conditions.len(), 4);
    for (written, published) in tool.conditions.iter().zip(info.conditions()) {
        let condition = published.condition();
        assert_eq!(written.id, published.id());
        assert_eq!(written.kind, condition.kind());
        assert_eq!(written.predicate, condition.predicate());
        assert_eq!(written.message.as_deref(), condition.message());
        assert_eq!(written.parameters, condition.parameters());
        assert_eq!(written.lowering, published.lowering());
        assert_eq!(written.policy, published.policy());
        assert_eq!(written.heading, published.heading());
        assert_eq!(written.sentence, published.sentence());
        assert_eq!(written.rule, PortableRule::of(published));
        let place = written.location.unwrap();
        assert_eq!((place.line, place.column), condition.position());
    }
    assert_eq!(tool.conditions[0].constants, [json!(0), json!(12)]);
    assert_eq!(tool.conditions[3].kind, ConditionKind::Post);
}

#[test]
fn its_published_schema_admits_it() {
    let manifest = registry().manifest();
    for manifest in [manifest.clone(), manifest.without_locations()] {
        let document: Value = serde_json::from_str(&manifest.to_json()).unwrap();
        let errors: Vec<_> = validator()
            .iter_errors(&document)
            .map(|error| error.to_string())
            .collect();
        assert!(errors.is_empty(), "{errors:?}");
        assert_eq!(Manifest::from_json(&manifest.to_json()).unwrap(), manifest);
    }
    let empty = Registry::builder().build().unwrap().manifest();
    assert!(validator().is_valid(&serde_json::to_value(&empty).unwrap()));
}

#[test]
fn a_condition_that_ends_no_call_is_in_it_with_its_policy_alone() {
    let strict = registry().manifest();
    let lax = Registry::builder()
        .tool(shift)
        .policy(Policy::Ignore)
        .override_policy("shift", Policy::Observe);
    let lax = lax.build().unwrap().manifest();
    let [strict, lax] = [&strict, &lax].map(|manifest| manifest.tool("shift").unwrap());
    assert_ne!(strict.input_schema, lax.input_schema);
    assert_eq!(lax.conditions.len(), strict.conditions.len());
    for (ending, observed) in strict.conditions.iter().zip(&lax.conditions) {
        assert_eq!(
            (&ending.id, &ending.predicate),
            (&observed.id, &observed.predicate)
        );
        assert_eq!(
            (ending.policy, observed.policy),
            (Policy::Enforce, Policy::Observe)
        );
        assert_eq!(observed.lowering, Lowering::Described);
        assert_eq!((&observed.heading, &observed.rule), (&None, &None));
    }
    let written = serde_json::to_value([strict, lax]).unwrap();
    assert_eq!(written[0]["conditions"][0].get("policy"), None);
    assert_eq!(written[1]["conditions"][0]["policy"], "observe");
}

#[test]
fn two_builds_of_it_are_the_same_text() {
    assert_eq!(
        registry().manifest().to_json(),
        registry().manifest().to_json()
    );
}
