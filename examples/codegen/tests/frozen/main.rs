//! The forms that clients rely on lose nothing: `contracts/` holds them as they were published.
//!
//! What is new passes, and is published by `UPDATE_CONTRACTS=1 cargo test -p codegen --test frozen`, which writes nothing
//! as long as something is lost.

mod compare;

use std::path::PathBuf;

use codegen::contract::{ApprovalAnswer, ChatRequest, ChatResponse, Question, RunEvent, RunState};
use compare::{Side, losses};
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// The six forms, and who sends them.
fn forms() -> [(&'static str, Side, Value); 6] {
    fn form<T: schemars::JsonSchema>(
        name: &'static str,
        side: Side,
    ) -> (&'static str, Side, Value) {
        let settings = SchemaSettings::draft2020_12();
        // The service always writes a field that it may leave out when it reads.
        let settings = match side {
            Side::Client => settings,
            Side::Service => settings.for_serialize(),
        };
        let schema = settings.into_generator().into_root_schema_for::<T>();
        (name, side, schema.to_value())
    }
    [
        form::<ChatRequest>("request", Side::Client),
        form::<ChatResponse>("response", Side::Service),
        form::<Question>("question", Side::Service),
        form::<ApprovalAnswer>("approval", Side::Client),
        form::<RunState>("state", Side::Service),
        form::<RunEvent>("events", Side::Service),
    ]
}

fn path(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("contracts");
    folder.join(format!("{name}.json"))
}

fn published(name: &str) -> Value {
    let path = path(name);
    let text = std::fs::read_to_string(&path);
    let text = text.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn nothing_that_was_published_is_lost() {
    let update = std::env::var_os("UPDATE_CONTRACTS").is_some_and(|value| value == "1");
    for (name, side, now) in forms() {
        if !update || path(name).exists() {
            let lost = losses(&published(name), &now, side);
            assert!(lost.is_empty(), "{name}: {lost:#?}");
        }
        if update {
            std::fs::write(path(name), format!("{now:#}\n")).expect("it is written");
        }
    }
}

/// Places in a schema, of each kind that a change could be made at.
fn places(schema: &Value, at: &str, found: &mut Vec<String>) {
    match schema {
        Value::Object(members) => {
            for (key, inner) in members {
                let at = format!("{at}/{key}");
                if matches!(&**key, "properties" | "$defs") || key.ends_with("Of") || key == "items"
                {
                    found.push(at.clone());
                }
                places(inner, &at, found);
            }
        }
        Value::Array(items) => {
            for (number, inner) in items.iter().enumerate() {
                places(inner, &format!("{at}/{number}"), found);
            }
        }
        _ => {}
    }
}

/// The judge is judged: each field, each event and each value of the published forms is taken away once, and given another
/// type once.
#[test]
fn every_loss_is_noticed() {
    let mut tried = 0;
    for (name, side, now) in forms() {
        let mut found = Vec::new();
        places(&now, "", &mut found);
        for place in found {
            let inner = now.pointer(&place).expect("it was found there");
            let keys: Vec<String> = match inner {
                Value::Object(members) if place.ends_with("/properties") => {
                    members.keys().cloned().collect()
                }
                Value::Array(items) => (0..items.len()).map(|at| at.to_string()).collect(),
                _ => continue,
            };
            for key in keys {
                let mut without = now.clone();
                match without.pointer_mut(&place) {
                    Some(Value::Object(members)) => drop(members.shift_remove(&key)),
                    Some(Value::Array(items)) => drop(items.remove(key.parse().expect("a number"))),
                    _ => unreachable!("it was found there"),
                }
                let lost = losses(&now, &without, side);
                assert!(!lost.is_empty(), "{name}: nobody misses {place}/{key}");

                let mut other = now.clone();
                if let Some(changed) = other.pointer_mut(&format!("{place}/{key}")) {
                    *changed = serde_json::json!({"type": "object", "properties": {"new": {"type": "null"}}});
                }
                let lost = losses(&now, &other, side);
                assert!(
                    !lost.is_empty(),
                    "{name}: nobody sees another {place}/{key}"
                );
                tried += 2;
            }
        }
    }
    assert!(tried > 100, "only {tried} changes were tried");
}

#[test]
fn what_is_new_passes() {
    for (name, side, now) in forms() {
        let mut grown = now.clone();
        if let Some(Value::Object(members)) = grown.pointer_mut("/properties") {
            members.insert("new".to_owned(), serde_json::json!({"type": "string"}));
        }
        if let Some(Value::Array(variants)) = grown.pointer_mut("/oneOf") {
            variants.push(
                serde_json::json!({"type": "object", "properties": {"type": {"const": "new"}}}),
            );
        }
        assert_ne!(grown, now, "{name} did not grow");
        assert_eq!(losses(&now, &grown, side), Vec::<String>::new(), "{name}");
    }
}

/// The twelve fields, by name, and whatever else clients were promised in words.
#[test]
fn the_published_forms_are_those_that_were_promised() {
    let response = published("response");
    let fields: Vec<_> = response["properties"]
        .as_object()
        .expect("fields")
        .keys()
        .collect();
    let promised = [
        "session_id",
        "phase",
        "message",
        "is_complete",
        "preview_url",
        "preview_html",
        "progress",
        "questions",
        "action",
        "product_doc_updated",
        "affected_pages",
        "active_page_slug",
    ];
    for field in promised {
        assert!(
            fields.iter().any(|one| *one == field),
            "there is no `{field}`"
        );
        let required = response["required"].as_array().expect("fields");
        assert!(required.contains(&field.into()), "`{field}` may be missing");
    }
    let kinds = published("question")["$defs"]["QuestionType"].to_string();
    for kind in ["radio", "checkbox", "text"] {
        assert!(
            kinds.contains(&format!("\"{kind}\"")),
            "there is no `{kind}`"
        );
    }
    let states = published("state").to_string();
    for state in [
        "queued",
        "running",
        "waiting_input",
        "completed",
        "failed",
        "cancelled",
    ] {
        assert!(
            states.contains(&format!("\"{state}\"")),
            "there is no `{state}`"
        );
    }
}

/// The page of the guide names every field, and its examples are requests and responses of these types.
#[test]
fn the_guide_shows_the_published_forms() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/codegen.md");
    let page = std::fs::read_to_string(page).expect("a page");
    for form in ["request", "response"] {
        let published = published(form);
        for field in published["properties"].as_object().expect("fields").keys() {
            assert!(page.contains(&format!("\n| `{field}` |")), "{field}");
        }
    }
    let examples = page.split("```json\n").skip(1);
    let examples = examples.filter_map(|rest| rest.split("```").next());
    let mut shown = 0;
    for text in examples {
        let value: Value = serde_json::from_str(text).expect("JSON");
        if value.get("phase").is_some() {
            let response: ChatResponse = serde_json::from_value(value.clone()).expect(text);
            assert_eq!(serde_json::to_value(response).expect("JSON"), value);
        } else {
            serde_json::from_value::<ChatRequest>(value).expect(text);
        }
        shown += 1;
    }
    assert_eq!(shown, 3);
}
