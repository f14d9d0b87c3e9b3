//! The manifest's fields, schema and text.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{
    ConditionManifest, Manifest, ManifestError, ManifestVersion, PortableRule, Position,
    ToolManifest,
};
use contract_runtime::ConditionKind;
use contract_runtime::Hints;
use contract_runtime::Policy;
use contract_runtime::{Heading, Lowering};

/// Every field has a value, so that every field is written.
fn full() -> Manifest {
    let rule = json!({
        "id": "divide.pre[0]",
        "rule": "args.divisor != 0.0",
        "message": "cannot divide by zero",
        "paths": ["/divisor"],
    });
    let condition = ConditionManifest {
        id: "divide.pre[0]".to_owned(),
        kind: ConditionKind::Pre,
        predicate: "divisor != ZERO".to_owned(),
        message: Some("cannot divide by zero".to_owned()),
        parameters: vec!["divisor".to_owned()],
        constants: vec![json!(0.0)],
        policy: Policy::QuickEnforce,
        asks: false,
        lowering: Lowering::Exact,
        heading: Some(Heading::Requires),
        sentence: "`divisor != ZERO`".to_owned(),
        rule: serde_json::from_value(rule).unwrap(),
        location: Some(Position { line: 3, column: 7 }),
        other: Map::new(),
    };
    let tool = ToolManifest {
        name: "divide".to_owned(),
        title: Some("Divide".to_owned()),
        description: "Divide one number by another.".to_owned(),
        package: "arithmetic".to_owned(),
        hints: Hints::new(Some(true), Some(false), Some(true), Some(false)),
        input_schema: json!({"type": "object"}),
        output_schema: Some(json!({"type": "number"})),
        timeout_ms: Some(1_000),
        confirms: false,
        alone: true,
        coerce: true,
        location: Some("src/lib.rs:2:1".to_owned()),
        conditions: vec![condition],
        other: Map::new(),
    };
    Manifest {
        version: ManifestVersion::CURRENT,
        rules: PortableRule::VERSION,
        tools: vec![tool],
        other: Map::new(),
    }
}

fn validator() -> jsonschema::Validator {
    jsonschema::draft202012::new(&Manifest::json_schema()).expect("a valid schema")
}

fn keys(value: &Value) -> BTreeSet<String> {
    let members = value.as_object().expect("an object");
    members.keys().cloned().collect()
}

/// The objects of a full manifest, and where the published schema describes each.
const OBJECTS: [(&str, &str); 6] = [
    ("", ""),
    ("/tools/0", "/$defs/tool"),
    ("/tools/0/hints", "/$defs/hints"),
    ("/tools/0/conditions/0", "/$defs/condition"),
    ("/tools/0/conditions/0/rule", "/$defs/rule"),
    ("/tools/0/conditions/0/location", "/$defs/position"),
];

#[test]
fn the_published_schema_has_the_fields_that_are_written() {
    let (schema, written) = (
        Manifest::json_schema(),
        serde_json::to_value(full()).unwrap(),
    );
    for (value, described) in OBJECTS {
        let value = written.pointer(value).expect("it is written");
        let described = schema.pointer(described).expect("it is described");
        assert_eq!(keys(&described["properties"]), keys(value));
    }
}

#[test]
fn the_published_schema_requires_what_is_always_written() {
    let schema = Manifest::json_schema();
    let written = serde_json::to_value(full()).unwrap();
    for (place, described) in OBJECTS {
        let required = &schema.pointer(described).unwrap()["required"];
        let required = required.as_array().cloned().unwrap_or_default();
        for name in keys(written.pointer(place).unwrap()) {
            let mut mutated = written.clone();
            let object = mutated.pointer_mut(place).and_then(Value::as_object_mut);
            object.unwrap().remove(&name);
            let is_required = required.contains(&json!(name));
            assert_eq!(
                validator().is_valid(&mutated),
                !is_required,
                "without {place}/{name}"
            );
            let read = Manifest::from_json(&mutated.to_string());
            assert_eq!(read.is_ok(), !is_required, "without {place}/{name}");
        }
    }
}

#[test]
fn a_wrong_type_is_refused_by_schema_and_reader() {
    let written = serde_json::to_value(full()).unwrap();
    assert!(validator().is_valid(&written));
    for (place, _) in OBJECTS {
        for name in keys(written.pointer(place).unwrap()) {
            // Both hold schemas, which a reader of manifests takes as they are.
            if name.ends_with("_schema") {
                continue;
            }
            let mut mutated = written.clone();
            mutated.pointer_mut(place).unwrap()[&name] = json!({"a": ["wrong", "type"]});
            if name == "hints" {
                mutated.pointer_mut(place).unwrap()[&name] = json!("wrong type");
            }
            assert!(!validator().is_valid(&mutated), "{place}/{name}");
            assert!(
                Manifest::from_json(&mutated.to_string()).is_err(),
                "{place}/{name}"
            );
        }
    }
}

#[test]
fn it_reads_what_it_wrote() {
    let manifest = full();
    assert_eq!(Manifest::from_json(&manifest.to_json()).unwrap(), manifest);
    let direct: Manifest = serde_json::from_str(&manifest.to_json()).unwrap();
    assert_eq!(direct, manifest);
    let bare = manifest.without_locations();
    assert!(!bare.to_json().contains("location"));
    assert_eq!(Manifest::from_json(&bare.to_json()).unwrap(), bare);
}

#[test]
fn its_text_does_not_depend_on_the_order_of_keys() {
    let mut one = full();
    let mut other = one.clone();
    one.tools[0].input_schema = json!({"type": "object", "properties": {"b": true, "a": true}});
    other.tools[0].input_schema = json!({"properties": {"a": true, "b": true}, "type": "object"});
    assert_eq!(one.to_json(), other.to_json());
    assert!(
        one.to_json()
            .starts_with("{\n  \"rules\": 1,\n  \"tools\": [")
    );
    assert!(one.to_json().ends_with("}\n"));
}

#[test]
fn fields_of_a_newer_minor_version_are_kept_and_compared() {
    let mut newer = serde_json::to_value(full()).unwrap();
    newer["version"] = json!("1.4");
    newer["tools"][0]["cost"] = json!({"euro": 1});
    let read = Manifest::from_json(&newer.to_string()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), newer);
    assert!(validator().is_valid(&newer));

    newer["tools"][0]["cost"] = json!({"euro": 2});
    let now = Manifest::from_json(&newer.to_string()).unwrap();
    let diff = now.diff(&read);
    assert!(diff.is_breaking());
    assert_eq!(
        diff.changes()[0].to_string(),
        "divide: cost: cannot be proven compatible: a field that is not known here has changed",
    );
}

#[test]
fn another_major_version_is_refused_by_its_number() {
    for version in ["2.0", "0.9", "1", "1.", "1.00", "+1.0", ""] {
        let text = format!(r#"{{"version": "{version}", "everything": "is different"}}"#);
        let error = Manifest::from_json(&text).unwrap_err();
        assert!(matches!(&error, ManifestError::Version { found } if found == version));
        assert_eq!(
            error.to_string(),
            format!(
                "version `{version}` of the manifest format is not supported, only 1.2; use a version of contract-runtime that supports it"
            ),
        );
        assert!(serde_json::from_str::<Manifest>(&text).is_err());
        assert!(!validator().is_valid(&serde_json::from_str(&text).unwrap()));
    }
}

#[test]
fn a_tool_that_stands_in_it_twice_is_refused() {
    let mut twice = full();
    twice.tools.extend(full().tools);
    let error = Manifest::from_json(&twice.to_json()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "not a manifest: tool `divide` appears in it twice"
    );
}
