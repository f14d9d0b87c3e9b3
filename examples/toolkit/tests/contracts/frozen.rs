//! What the package promises to everybody else.

use contract_dialects::{StrictDialect, StrictExport as _};
use contract_manifest::Inspect as _;
use contract_runtime::prelude::*;

use crate::common::{Ground, call, ended, samples};

#[test]
fn contracts_are_frozen() {
    contract_manifest::assert_frozen!("contracts.json");
}

#[test]
fn every_dialect_can_say_every_tool() {
    let ground = Ground::new();
    let registry = ground.registry();
    for dialect in StrictDialect::ALL {
        if let Err(error) = registry.export_strict(dialect) {
            panic!("{error}");
        }
    }
}

#[test]
fn no_condition_is_superfluous() {
    let ground = Ground::new();
    let findings = ground.registry().lint();
    assert!(findings.is_empty(), "{findings:#?}");
}

#[test]
fn every_tool_says_what_it_does_what_it_takes_and_what_it_gives() {
    let ground = Ground::new();
    let registry = ground.registry();
    for tool in registry.tools() {
        let name = tool.name();
        assert!(
            tool.description().ends_with('.'),
            "{name}: {}",
            tool.description()
        );
        // What is told from memory waits for nothing.
        let waits = name != "get_working_directory";
        assert!(
            !waits || tool.timeout().is_some(),
            "{name} may run for ever"
        );
        let hints = tool.hints();
        let known = hints.read_only == Some(true) || hints.destructive.is_some();
        assert!(known, "{name} does not say what it changes");
        let schema = tool.input_schema();
        for (parameter, schema) in schema["properties"].as_object().unwrap() {
            assert!(
                schema["description"].is_string(),
                "{name}: {parameter} is not described"
            );
        }
        let output = tool
            .output_schema()
            .unwrap_or_else(|| panic!("{name} does not describe its result"));
        let judge = jsonschema::draft202012::new(output).unwrap();
        for arguments in samples(name) {
            let ground = Ground::new();
            let outcome = call(&ground.registry(), name, &arguments);
            assert!(outcome.is_ok(), "{name}: {}", ended(&outcome));
            let value = outcome.value().unwrap();
            assert!(judge.is_valid(&value), "{name}: {value} is not {output}");
        }
    }
}

#[test]
fn a_registry_without_a_workspace_is_not_built() {
    let error = Registry::builder().package("toolkit").build().unwrap_err();
    assert!(error.to_string().contains("Workspace"), "{error}");
}
