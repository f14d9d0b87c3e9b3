//! Arguments made from the schemas that the tools publish, good ones and such with one mistake.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Texts that are worth trying wherever a text is taken.
const TEXTS: [&str; 22] = [
    "notes.txt",
    "src",
    "src/main.rs",
    ".",
    "",
    "..",
    "../ws-outside/secret.txt",
    "/etc/passwd",
    "/",
    "~",
    "a\0b",
    "a\nb",
    "\u{1b}]8;;http://x\u{7}",
    "\u{202e}txt.exe",
    "e\u{301}",
    "🦀🦀",
    "(",
    "[a-",
    "(a|a)*{9}{9}{9}",
    "**/*.rs",
    "-rf",
    "$(id)",
];

/// A value that the schema admits; what it cannot read of the schema is for the independent judge to refuse.
pub(crate) fn valid(schema: &Value, root: &Value) -> BoxedStrategy<Value> {
    if let Some(name) = schema["$ref"]
        .as_str()
        .and_then(|link| link.strip_prefix('#'))
    {
        return valid(root.pointer(name).unwrap(), root);
    }
    for union in ["anyOf", "oneOf"] {
        if let Some(ways) = schema[union].as_array() {
            return proptest::strategy::Union::new(ways.iter().map(|way| valid(way, root))).boxed();
        }
    }
    if let Some(values) = schema["enum"].as_array() {
        return prop::sample::select(values.clone()).boxed();
    }
    if let Some(value) = schema.get("const") {
        return Just(value.clone()).boxed();
    }
    match &schema["type"] {
        Value::Array(types) => {
            let ways = types
                .iter()
                .map(|one| of_type(one.as_str().unwrap(), schema, root));
            proptest::strategy::Union::new(ways).boxed()
        }
        Value::String(one) => of_type(one, schema, root),
        _ => panic!("the generator cannot read {schema}"),
    }
}

fn of_type(name: &str, schema: &Value, root: &Value) -> BoxedStrategy<Value> {
    match name {
        "null" => Just(Value::Null).boxed(),
        "boolean" => any::<bool>().prop_map(Value::from).boxed(),
        "integer" | "number" => number(schema),
        "string" => text(schema),
        "array" => list(schema, root),
        "object" => object(schema, root),
        other => panic!("the generator does not know the type {other}"),
    }
}

fn number(schema: &Value) -> BoxedStrategy<Value> {
    let bound = |name: &str| schema[name].as_i64();
    let low = bound("minimum").or_else(|| bound("exclusiveMinimum").map(|bound| bound + 1));
    let high = bound("maximum").or_else(|| bound("exclusiveMaximum").map(|bound| bound - 1));
    let (low, high) = (low.unwrap_or(i64::MIN), high.unwrap_or(i64::MAX));
    prop_oneof![
        Just(low),
        Just(high),
        low..=high,
        low..=low.saturating_add(9).min(high)
    ]
    .prop_map(Value::from)
    .boxed()
}

fn text(schema: &Value) -> BoxedStrategy<Value> {
    let bound = |name: &str, none| {
        let bound = schema[name].as_u64();
        bound.map_or(none, |bound| usize::try_from(bound).unwrap())
    };
    let (low, high) = (bound("minLength", 0), bound("maxLength", usize::MAX));
    let made = prop::collection::vec(any::<char>(), low..=high.min(low + 12));
    prop_oneof![
        3 => prop::sample::select(TEXTS.to_vec()).prop_map(str::to_owned),
        1 => made.prop_map(|characters| characters.into_iter().collect()),
    ]
    .prop_filter("its length is out of bounds", move |text| {
        (low..=high).contains(&text.chars().count())
    })
    .prop_map(Value::from)
    .boxed()
}

fn list(schema: &Value, root: &Value) -> BoxedStrategy<Value> {
    let low = schema["minItems"].as_u64().unwrap_or(0);
    let high = schema["maxItems"].as_u64().unwrap_or(low + 3).min(low + 3);
    let size = usize::try_from(low).unwrap()..=usize::try_from(high).unwrap();
    prop::collection::vec(valid(&schema["items"], root), size)
        .prop_map(Value::from)
        .boxed()
}

fn object(schema: &Value, root: &Value) -> BoxedStrategy<Value> {
    let Some(properties) = schema["properties"].as_object() else {
        return Just(json!({})).boxed();
    };
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let members: Vec<_> = properties
        .iter()
        .map(|(name, one)| {
            let needed = required.iter().any(|other| other == name);
            let name = name.clone();
            let given = valid(one, root).prop_map(move |value| Some((name.clone(), value)));
            if needed {
                given.boxed()
            } else {
                prop_oneof![Just(None), given].boxed()
            }
        })
        .collect();
    members
        .prop_map(|members| members.into_iter().flatten().collect::<Map<_, _>>().into())
        .boxed()
}

/// The arguments with one mistake each, and where it was made; some of them may be good all the same.
pub(crate) fn mutations(arguments: &Value, schema: &Value) -> Vec<(String, Value)> {
    let members = arguments.as_object().unwrap();
    let mut mutated = Vec::new();
    let mut with = |name: &str, change: &dyn Fn(&mut Map<String, Value>)| {
        let mut members = members.clone();
        change(&mut members);
        mutated.push((name.to_owned(), Value::from(members)));
    };
    for name in schema["properties"].as_object().unwrap().keys() {
        for wrong in wrong_values() {
            with(name, &|members| {
                members.insert(name.clone(), wrong.clone());
            });
        }
        with(name, &|members| drop(members.shift_remove(name)));
        for other in [name.to_uppercase(), format!("{name} "), format!("{name}s")] {
            with(&other, &|members| {
                let value = members.shift_remove(name).unwrap_or(Value::Null);
                members.insert(other.clone(), value);
            });
        }
    }
    for name in ["", "__proto__", "workspace", "path\0"] {
        with(name, &|members| {
            members.insert(name.to_owned(), json!("notes.txt"));
        });
    }
    mutated
}

fn wrong_values() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(5.0),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(1e300),
        json!("5"),
        json!(""),
        json!("x".repeat(70_000)),
        json!([]),
        json!(["notes.txt"]),
        json!([["a"]]),
        json!([null]),
        json!({}),
        json!({"path": "notes.txt"}),
    ]
}

/// Where in the arguments of a tool a text may stand, as JSON pointers.
pub(crate) fn strings(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for (name, one) in schema["properties"].as_object().into_iter().flatten() {
        let takes = |one: &Value| is(one, "string", schema) && one.get("enum").is_none();
        if takes(one) {
            found.push(format!("/{name}"));
        }
        if is(one, "array", schema) && takes(items(one, schema)) {
            found.push(format!("/{name}/0"));
        }
    }
    found
}

fn items<'s>(schema: &'s Value, root: &'s Value) -> &'s Value {
    let whole = ways(schema, root)
        .into_iter()
        .find(|way| way.get("items").is_some());
    whole.map_or(&Value::Null, |way| &way["items"])
}

fn is(schema: &Value, name: &str, root: &Value) -> bool {
    ways(schema, root).iter().any(|way| match &way["type"] {
        Value::Array(types) => types.iter().any(|one| one == name),
        one => one == name,
    })
}

/// A schema, or each of its alternatives, with references followed.
fn ways<'s>(schema: &'s Value, root: &'s Value) -> Vec<&'s Value> {
    if let Some(link) = schema["$ref"]
        .as_str()
        .and_then(|link| link.strip_prefix('#'))
    {
        return ways(root.pointer(link).unwrap(), root);
    }
    match schema["anyOf"].as_array() {
        Some(all) => all.iter().flat_map(|way| ways(way, root)).collect(),
        None => vec![schema],
    }
}
