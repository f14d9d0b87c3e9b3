//! Published schemas, and what registration refuses.

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::normalize::correct_output;
use super::{Decimal, InputSchema, ParameterSchema, SchemaError, check_schema};

fn parameter<T: JsonSchema>(generator: &mut SchemaGenerator, name: &str) -> ParameterSchema {
    from(name, generator.subschema_for::<T>().to_value())
}

fn from(name: &str, schema: Value) -> ParameterSchema {
    ParameterSchema {
        name: name.to_owned(),
        description: None,
        schema,
        required: true,
        default: None,
        examples: Vec::new(),
        secret: false,
    }
}

fn of<T: JsonSchema>() -> InputSchema {
    let mut generator = SchemaGenerator::default();
    let parameters = vec![parameter::<T>(&mut generator, "v")];
    InputSchema::new(parameters, generator.take_definitions(true)).unwrap()
}

fn by_hand(schema: Value) -> Result<InputSchema, SchemaError> {
    InputSchema::new(vec![from("v", schema)], Map::new())
}

#[test]
fn integers_have_the_range_of_their_type() {
    fn range<T: JsonSchema>() -> Value {
        of::<T>().json()["properties"]["v"].clone()
    }
    let between =
        |low: Value, high: Value| json!({"type": "integer", "minimum": low, "maximum": high});
    assert_eq!(range::<u8>(), between(json!(0), json!(255)));
    assert_eq!(range::<i16>(), between(json!(-32768), json!(32767)));
    assert_eq!(range::<u32>(), between(json!(0), json!(u32::MAX)));
    assert_eq!(range::<i32>(), between(json!(i32::MIN), json!(i32::MAX)));
    assert_eq!(range::<u64>(), between(json!(0), json!(u64::MAX)));
    assert_eq!(range::<i64>(), between(json!(i64::MIN), json!(i64::MAX)));
    assert_eq!(range::<usize>(), between(json!(0), json!(u64::MAX)));
    assert_eq!(
        range::<std::num::NonZeroU16>(),
        between(json!(1), json!(65535))
    );
    let natural = range::<u128>();
    let end = Decimal::of(natural["maximum"].as_number().unwrap());
    assert!(end > Decimal::parse(&u128::MAX.to_string()).unwrap());
    let wide = range::<i128>();
    let end = |keyword: &str| Decimal::of(wide[keyword].as_number().unwrap());
    assert!(end("maximum") > Decimal::parse(&i128::MAX.to_string()).unwrap());
    assert!(end("minimum") < Decimal::parse(&i128::MIN.to_string()).unwrap());
    assert_eq!(range::<f64>(), json!({"type": "number"}));
    assert_eq!(
        range::<f32>(),
        json!({"type": "number", "minimum": -3.402_823_5e38, "maximum": 3.402_823_5e38})
    );
    assert_eq!(
        range::<char>(),
        json!({"type": "string", "minLength": 1, "maxLength": 1})
    );
    assert_eq!(range::<std::net::IpAddr>(), json!({"type": "string"}));
    assert_eq!(
        range::<std::net::Ipv4Addr>(),
        json!({"type": "string", "format": "ipv4"})
    );
}

/// The type's own words.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is wanted")]
struct Node {
    #[schemars(range(min = 1, max = 9))]
    title: u8,
    #[schemars(default, extend("x-unit" = "m"))]
    children: Vec<Node>,
}

#[test]
fn a_tool_is_one_closed_object() {
    let mut generator = SchemaGenerator::default();
    let node = ParameterSchema {
        description: Some("Where to begin.".to_owned()),
        ..parameter::<Node>(&mut generator, "node")
    };
    let limit = ParameterSchema {
        required: false,
        default: Some(json!(50)),
        examples: vec![json!(10)],
        ..parameter::<u8>(&mut generator, "limit")
    };
    let any = ParameterSchema {
        description: Some("Anything.".to_owned()),
        ..parameter::<Value>(&mut generator, "any")
    };
    let bare = parameter::<Value>(&mut generator, "bare");
    let _unused = generator.subschema_for::<std::time::Duration>();
    let schema = InputSchema::new(
        vec![node, limit, any, bare],
        generator.take_definitions(true),
    )
    .unwrap();
    let expected = json!({
        "type": "object",
        "properties": {
            "node": {"$ref": "#/$defs/Node", "description": "Where to begin."},
            "limit": {
                "type": "integer", "minimum": 0, "maximum": 255, "default": 50, "examples": [10]
            },
            "any": {"description": "Anything."},
            "bare": true,
        },
        "required": ["node", "any", "bare"],
        "additionalProperties": false,
        "$defs": {"Node": {
            "description": "The type's own words.",
            "type": "object",
            "properties": {
                "title": {"type": "integer", "minimum": 1, "maximum": 9},
                "children": {
                    "type": "array", "items": {"$ref": "#/$defs/Node"}, "x-unit": "m"
                },
            },
            "required": ["title"],
            "additionalProperties": false,
        }},
    });
    assert_eq!(*schema.json(), expected);
    // Also in the order of the keys that a model reads.
    let names: Vec<_> = schema.json()["properties"]
        .as_object()
        .unwrap()
        .keys()
        .collect();
    assert_eq!(names, ["node", "limit", "any", "bare"]);
}

#[test]
fn two_types_of_one_name_stay_two() {
    mod other {
        #[derive(schemars::JsonSchema)]
        #[expect(dead_code, reason = "only its schema is wanted")]
        pub(super) struct Node {
            other: bool,
        }
    }
    let mut generator = SchemaGenerator::default();
    let parameters = vec![
        parameter::<Node>(&mut generator, "a"),
        parameter::<other::Node>(&mut generator, "b"),
    ];
    let schema = InputSchema::new(parameters, generator.take_definitions(true)).unwrap();
    let names: Vec<_> = schema.json()["$defs"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["Node", "Node2"]);
}

#[test]
fn odd_names_of_definitions_resolve() {
    #[derive(JsonSchema)]
    #[schemars(rename = "we/ird~ %name")]
    #[expect(dead_code, reason = "only its schema is wanted")]
    struct Odd {
        next: Option<Box<Odd>>,
    }
    assert!(of::<Odd>().json()["$defs"].get("we/ird~ %name").is_some());
}

#[test]
fn only_what_serde_judges_alone_decodes_exactly() {
    #[derive(Debug, PartialEq, JsonSchema, serde::Deserialize)]
    enum Color {
        Red,
    }
    let yes = [
        of::<u8>(),
        of::<u64>(),
        of::<i128>(),
        of::<usize>(),
        of::<f64>(),
        of::<bool>(),
        of::<String>(),
        of::<Option<String>>(),
        of::<Option<i32>>(),
        of::<Vec<Vec<Option<f64>>>>(),
        of::<Option<Vec<String>>>(),
        of::<()>(),
    ];
    for schema in yes {
        assert!(schema.parameters()[0].is_exact, "{}", schema.json());
    }
    let no = [
        of::<f32>(),
        of::<Value>(),
        of::<Color>(),
        of::<Node>(),
        of::<(u8, u8)>(),
        of::<[u8; 2]>(),
        of::<std::collections::BTreeSet<u8>>(),
        of::<std::collections::BTreeMap<String, u8>>(),
        of::<std::num::NonZeroU8>(),
        of::<Vec<f32>>(),
        of::<std::net::IpAddr>(),
        by_hand(json!({"type": "integer"})).unwrap(),
        by_hand(json!({"type": "integer", "format": "uint8", "maximum": 9})).unwrap(),
        by_hand(json!({"type": "integer", "format": "uint8", "multipleOf": 2})).unwrap(),
        by_hand(json!({"type": "string", "pattern": "a"})).unwrap(),
        by_hand(json!({"type": ["string", "integer"]})).unwrap(),
        by_hand(json!({})).unwrap(),
    ];
    for schema in no {
        assert!(!schema.parameters()[0].is_exact, "{}", schema.json());
    }
    // The reason for `Color`: serde reads what the schema refuses.
    let object = serde_json::from_str::<Color>(r#"{"Red":null}"#);
    assert_eq!(object.ok(), Some(Color::Red));
}

#[test]
fn what_cannot_be_enforced_is_refused() {
    let cases = [
        (
            json!({"$ref": "#/$defs/Nowhere"}),
            "`/properties/v`: the reference `#/$defs/Nowhere` does not resolve inside the schema",
        ),
        (
            json!({"items": {"$ref": "https://example.com/a"}}),
            "`/properties/v/items`: the reference `https://example.com/a` does not resolve inside the schema",
        ),
        (
            json!({"$ref": "#"}),
            "`/properties/v`: the reference `#` does not resolve inside the schema",
        ),
        (
            json!({"$ref": "#/properties/v"}),
            "`/properties/v`: the schema refers to itself without an end",
        ),
        (
            json!({"anyOf": [{"$ref": "#/properties/v"}, true]}),
            "`/properties/v`: the schema refers to itself without an end",
        ),
        (
            json!({"unevaluatedItems": false}),
            "`/properties/v`: the keyword `unevaluatedItems` is not supported",
        ),
        (
            json!({"properties": {"a/b": {"minLength": -1}}}),
            "`/properties/v/properties/a~1b/minLength`: expected a number that is not negative, without a fraction",
        ),
        (
            json!({"type": "float"}),
            "`/properties/v/type`: expected the name of a JSON type, or an array of them",
        ),
        (
            json!({"anyOf": []}),
            "`/properties/v/anyOf`: expected an array of schemas, not empty",
        ),
        (
            json!(5),
            "`/properties/v`: expected a schema: an object, `true` or `false`",
        ),
    ];
    for (schema, message) in cases {
        assert_eq!(by_hand(schema).unwrap_err().to_string(), message);
    }
    let error = by_hand(json!({"items": {"pattern": "(?=a)"}})).unwrap_err();
    assert!(
        matches!(&error, SchemaError::Pattern { pointer, .. } if pointer == "/properties/v/items/pattern")
    );
    let twice = InputSchema::new(vec![from("a", json!({})), from("a", json!({}))], Map::new());
    assert_eq!(
        twice.unwrap_err(),
        SchemaError::DuplicateParameter {
            name: "a".to_owned()
        }
    );
    // Data is not looked into.
    assert!(
        by_hand(json!({"default": {"$ref": "x", "title": 1}, "x-any": {"type": "float"}})).is_ok()
    );
}

#[test]
fn a_whole_schema_is_taken_as_it_is() {
    let schema = InputSchema::from_object(json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"a": {"type": "string"}, "inner": {"$ref": "#"}},
        "required": ["a"],
    }))
    .unwrap();
    assert!(schema.json().get("$schema").is_none());
    let required: Vec<_> = schema
        .parameters()
        .iter()
        .map(|one| (one.name.as_ref(), one.required))
        .collect();
    assert_eq!(required, [("a", true), ("inner", false)]);
    assert!(!schema.parameters()[0].is_exact);
    for wrong in [json!(true), json!({"type": "string"}), json!({})] {
        assert!(InputSchema::from_object(wrong).is_err());
    }
}

#[test]
fn an_output_schema_is_complete_in_itself() {
    let mut generator = SchemaGenerator::default();
    let schema = generator.subschema_for::<Vec<Node>>().to_value();
    let _unused = generator.subschema_for::<std::time::Duration>();
    let schema = correct_output(schema, generator.take_definitions(true));
    assert_eq!(schema["items"], json!({"$ref": "#/$defs/Node"}));
    let names: Vec<_> = schema["$defs"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["Node"]);
    assert_eq!(
        schema["$defs"]["Node"]["properties"]["title"]["maximum"],
        json!(9)
    );
    let root = SchemaGenerator::default()
        .into_root_schema_for::<u32>()
        .to_value();
    let schema = correct_output(root, Map::new());
    assert_eq!(
        schema,
        json!({"type": "integer", "minimum": 0, "maximum": u32::MAX})
    );
}

#[test]
fn decimals_do_not_round() {
    let read = |text: &str| Decimal::parse(text).unwrap();
    let sorted = [
        "-1e400",
        "-9007199254740993",
        "-9007199254740992.5",
        "-0.1",
        "0",
        "1e-400",
        "0.1",
        "1",
        "9007199254740992",
        "9007199254740993",
        "18446744073709551615.5",
        "1e20",
        "1.5e20",
        "1e999999999999999999999",
    ];
    for (index, left) in sorted.iter().enumerate() {
        for (other, right) in sorted.iter().enumerate() {
            assert_eq!(
                read(left).cmp(&read(right)),
                index.cmp(&other),
                "{left} {right}"
            );
        }
    }
    for equal in [
        ["1", "1.0"],
        ["100", "1e2"],
        ["0", "-0.0e5"],
        ["0.5", "5E-1"],
        ["1e+1", "10"],
    ] {
        assert_eq!(read(equal[0]), read(equal[1]));
    }
    for text in [
        "", "-", "01", "1.", ".1", "+1", "1e", "1e+", "0x1", "1_0", "NaN", " 1", "1 ", "--1",
    ] {
        assert_eq!(Decimal::parse(text), None, "{text}");
    }
    for (value, step, holds) in [
        ("0.3", "0.1", true),
        ("7", "3.5", true),
        ("1e300", "3", false),
        ("9e300", "3", true),
        ("0", "5", true),
        ("5", "1e300", false),
        ("4.5", "2", false),
        ("1e-5", "1", false),
    ] {
        assert_eq!(
            read(value).is_multiple_of(&read(step)),
            holds,
            "{value} {step}"
        );
    }
    assert_eq!(read("12.50e3").integer_text().as_deref(), Some("12500"));
    assert_eq!(read("1e999999999").integer_text(), None);
    let long = format!("{}.5", "1".repeat(60));
    assert_eq!(read(&long).integer_text(), None);
}

/// A schema from outside, as of a dynamic tool, must not take the stack.
#[test]
fn a_chain_of_definitions_is_followed_only_so_far() {
    let chain = |links: usize| {
        let mut definitions = serde_json::Map::new();
        for link in 0..links {
            let next = json!({"type": "object", "properties": {"next": {"$ref": format!("#/$defs/D{}", link + 1)}}});
            definitions.insert(format!("D{link}"), next);
        }
        definitions.insert(format!("D{links}"), json!({"type": "integer"}));
        InputSchema::from_object(json!({
            "type": "object",
            "properties": {"first": {"$ref": "#/$defs/D0"}},
            "$defs": definitions,
        }))
    };
    assert!(chain(60).is_ok());
    assert!(matches!(chain(5_000), Err(SchemaError::Depth { .. })));
}

#[test]
fn a_whole_document_is_checked_for_what_cannot_be_enforced() {
    let list = json!({"type": "object", "properties": {"rest": {"$ref": "#"}}});
    assert_eq!(check_schema(&list), Ok(()));
    let error = check_schema(&json!({"items": {"unevaluatedItems": false}})).unwrap_err();
    assert!(
        matches!(&error, SchemaError::Keyword { pointer, .. } if pointer == "/items"),
        "{error}"
    );
}
