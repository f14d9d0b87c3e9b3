//! Schemas that nobody wrote: what the neutral schema accepts, every export accepts.

use contract_runtime::DynamicSpec;
use contract_runtime::prelude::*;
use serde_json::{Map, Value, json};

use super::export;
use super::judges::{DIALECTS, GEMINI, read_gemini, validator};
use super::judges_tools::{Random, TEXTS, value};

const SCHEMAS: usize = 1_500;
const INSTANCES: usize = 25;

/// A schema of a few levels, with every keyword that a neutral schema may have.
fn schema(random: &mut Random, depth: usize) -> Value {
    let kinds = if depth == 0 { 5 } else { 10 };
    let mut schema = match random.below(kinds) {
        0 => number(random, "integer"),
        1 => number(random, "number"),
        2 => text(random),
        3 => json!({"type": "boolean"}),
        4 => listed(random),
        5 => list(random, depth),
        6 => object(random, depth),
        7 => union(random, depth),
        8 => json!({"$ref": "#/$defs/D"}),
        _ => json!({"allOf": [schema(random, depth - 1), schema(random, depth - 1)]}),
    };
    let keywords = schema.as_object_mut().unwrap();
    if random.below(3) == 0 {
        keywords.insert("description".to_owned(), json!("Some words."));
    }
    if random.below(8) == 0 {
        keywords.insert("not".to_owned(), json!({"const": random.below(3)}));
    }
    if let Some(Value::String(kind)) = keywords.get("type").cloned()
        && random.below(4) == 0
    {
        keywords.insert("type".to_owned(), json!([kind, "null"]));
    }
    schema
}

fn number(random: &mut Random, kind: &str) -> Value {
    let mut out = json!({"type": kind});
    for keyword in [
        "minimum",
        "exclusiveMinimum",
        "maximum",
        "exclusiveMaximum",
        "multipleOf",
    ] {
        if random.below(4) == 0 {
            let bound = match keyword {
                "multipleOf" => json!(random.below(3) + 1),
                "minimum" | "exclusiveMinimum" => {
                    json!([-3.5, 0.0, 0.5, 1.0, 9.0][random.below(5)])
                }
                _ => json!([1, 9, 12, 13, 100][random.below(5)]),
            };
            out[keyword] = bound;
        }
    }
    if random.below(12) == 0 {
        out["maximum"] = json!(9_007_199_254_740_993_u64);
    }
    out
}

fn text(random: &mut Random) -> Value {
    let mut out = json!({"type": "string"});
    for (keyword, value) in [
        ("minLength", json!(random.below(3))),
        ("maxLength", json!(random.below(5) + 1)),
        ("pattern", json!("^a")),
        (
            "format",
            json!(["date-time", "uuid", "date"][random.below(3)]),
        ),
    ] {
        if random.below(4) == 0 {
            out[keyword] = value;
        }
    }
    out
}

fn listed(random: &mut Random) -> Value {
    let pool = [
        json!(1),
        json!(2.5),
        json!("a"),
        json!(""),
        json!("x"),
        json!(true),
        json!(null),
    ];
    let values: Vec<Value> = pool.into_iter().filter(|_| random.below(2) == 0).collect();
    match random.below(3) {
        0 if !values.is_empty() => json!({"enum": values}),
        1 => json!({"const": (["a", "x", ""][random.below(3)])}),
        _ => json!({"type": "string", "enum": ["a", "ab", "y"]}),
    }
}

fn list(random: &mut Random, depth: usize) -> Value {
    let mut out = json!({"type": "array", "items": schema(random, depth - 1)});
    if random.below(3) == 0 {
        out["prefixItems"] = json!([schema(random, depth - 1), schema(random, depth - 1)]);
        if random.below(2) == 0 {
            out["items"] = json!(false);
        }
    }
    for (keyword, value) in [
        ("minItems", json!(random.below(3))),
        ("maxItems", json!(random.below(4) + 1)),
        ("uniqueItems", json!(true)),
        ("contains", json!({"type": "string"})),
    ] {
        if random.below(4) == 0 {
            out[keyword] = value;
        }
    }
    out
}

fn object(random: &mut Random, depth: usize) -> Value {
    let names: Vec<&str> = ["a", "b", "c"]
        .into_iter()
        .take(random.below(3) + 1)
        .collect();
    let members: Map<_, _> = names
        .iter()
        .map(|name| ((*name).to_owned(), schema(random, depth - 1)))
        .collect();
    let required: Vec<_> = names.iter().filter(|_| random.below(2) == 0).collect();
    let mut out = json!({"type": "object", "properties": members, "required": required});
    if random.below(2) == 0 {
        out["additionalProperties"] = json!(false);
    }
    out
}

fn union(random: &mut Random, depth: usize) -> Value {
    let branches: Vec<_> = (0..=random.below(2) + 1)
        .map(|_| match random.below(4) {
            0 => json!({"type": "null"}),
            _ => schema(random, depth - 1),
        })
        .collect();
    let keyword = ["anyOf", "oneOf"][random.below(2)];
    let mut out = json!({ keyword: branches });
    if random.below(4) == 0 {
        out["type"] = json!(["integer", "string", "null"]);
    }
    out
}

/// Anything, for the parts that a schema says nothing of.
fn scalar(random: &mut Random) -> Value {
    match random.below(5) {
        0 => Value::Null,
        1 => json!(random.below(2) == 0),
        2 => json!(random.below(14)),
        3 => json!(0.5),
        _ => json!(TEXTS[random.below(TEXTS.len())]),
    }
}

/// An instance that fits, or nearly, of any of the schemas above.
fn instance(schema: &Value, root: &Value, random: &mut Random) -> Value {
    if random.below(12) == 0 {
        return scalar(random);
    }
    if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
        let mut all = parts
            .iter()
            .map(|part| instance(part, root, random))
            .collect::<Vec<_>>();
        if all.iter().all(Value::is_object) {
            let members = all.iter().flat_map(|one| one.as_object().unwrap().clone());
            return Value::Object(members.collect());
        }
        return all.swap_remove(random.below(parts.len()));
    }
    if schema.get("enum").is_some() || schema.get("const").is_some() || schema.get("type").is_some()
    {
        if let Some(Value::Array(items)) = schema.get("prefixItems") {
            return items
                .iter()
                .map(|item| instance(item, root, random))
                .collect();
        }
        if let Some(members) = schema.get("properties").and_then(Value::as_object) {
            let members = members
                .iter()
                .filter(|_| random.below(4) > 0)
                .collect::<Vec<_>>();
            let members = members.into_iter();
            let members = members.map(|(name, one)| (name.clone(), instance(one, root, random)));
            return Value::Object(members.collect());
        }
    }
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        return instance(root.pointer(&target[1..]).unwrap(), root, random);
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(branches) = schema.get(keyword).and_then(Value::as_array) {
            return instance(&branches[random.below(branches.len())], root, random);
        }
    }
    if let (Some(items), "array") = (
        schema.get("items"),
        schema["type"].as_str().unwrap_or_default(),
    ) {
        return (0..random.below(4))
            .map(|_| instance(items, root, random))
            .collect();
    }
    match schema.get("type") {
        Some(_) => value(schema, root, random),
        None => scalar(random),
    }
}

fn registry(input: &Value) -> Option<Registry> {
    let spec = DynamicSpec::new("random", "Random.").input_schema(input.clone());
    let tool = Tool::dynamic(spec, |_| async { Ok::<_, String>(Content::text("")) });
    Registry::builder().with(tool).build().ok()
}

#[test]
fn random_schemas_are_widened_and_never_narrowed() {
    let mut random = Random::new(11);
    let mut tried = [0; DIALECTS.len()];
    for _ in 0..SCHEMAS {
        let input = json!({
            "type": "object",
            "properties": {"it": schema(&mut random, 3)},
            "required": ["it"],
            "additionalProperties": false,
            "$defs": {"D": schema(&mut random, 0)},
        });
        let Some(registry) = registry(&input) else {
            continue;
        };
        let neutral = validator(&input);
        let accepted: Vec<Value> = (0..INSTANCES)
            .map(|_| json!({"it": instance(&input["properties"]["it"], &input, &mut random)}))
            .filter(|given| neutral.is_valid(given))
            .collect();
        for ((dialect, pointer), tried) in DIALECTS.into_iter().zip(&mut tried) {
            // What cannot be said is a problem, and no schema.
            let Ok((exported, not_strict)) = export(&registry, dialect) else {
                continue;
            };
            if !not_strict.is_empty() {
                continue;
            }
            let schema = exported[0].pointer(pointer).unwrap();
            let schema = match dialect {
                GEMINI => read_gemini(schema),
                _ => schema.clone(),
            };
            let validator = validator(&schema);
            for given in &accepted {
                *tried += 1;
                assert!(
                    validator.is_valid(given),
                    "{dialect}: {given}\n{input:#}\n{schema:#}"
                );
            }
        }
    }
    assert!(tried.iter().all(|tried| *tried > 2_000), "{tried:?}");
}
