//! Parameters of every kind, with their schemas.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::contract::type_kind::{Container, Shape, TypeKind, UnknownKind as _, kind};
use crate::schema::lower::Subject;
use crate::schema::{InputSchema, ParameterSchema};

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Mode {
    VeryFast,
    /// With words of its own, so that schemars writes `oneOf`.
    Slow,
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) enum Plain {
    A,
    B,
}

/// A parameter of a tool that no macro has read.
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) kind: TypeKind,
    schema: fn(&mut SchemaGenerator) -> Value,
    required: bool,
    pub(super) default: Option<Value>,
}

/// `parameter!("count": u32)`, `parameter!("count": u32 = 4)`
macro_rules! parameter {
    ($name:literal: $type:ty $(= $default:expr)?) => {
        Parameter::new(
            $name,
            kind(Shape::<$type>::KIND, Container::<$type>::KIND),
            |generator| generator.subschema_for::<$type>().to_value(),
            None $(.or(Some(serde_json::json!($default))))?,
        )
    };
}
pub(super) use parameter;

/// The author's types, as a predicate over them is asked.
pub(super) fn quick(text: &str) -> Option<bool> {
    let mode: Mode = serde_json::from_str(text).ok()?;
    Some(mode == Mode::VeryFast)
}

pub(super) fn on(text: &str) -> Option<bool> {
    let mode: Mode = serde_json::from_str(text).ok()?;
    Some(mode != Mode::Off)
}

pub(super) fn is_a(text: &str) -> Option<bool> {
    let plain: Plain = serde_json::from_str(text).ok()?;
    Some(plain == Plain::A)
}

pub(super) fn none_or_b(text: &str) -> Option<bool> {
    let plain: Option<Plain> = serde_json::from_str(text).ok()?;
    Some(plain != Some(Plain::A))
}

pub(super) fn some_slow(text: &str) -> Option<bool> {
    let mode: Option<Mode> = serde_json::from_str(text).ok()?;
    Some(mode == Some(Mode::Slow))
}

impl Parameter {
    pub(super) fn new(
        name: &'static str,
        kind: TypeKind,
        schema: fn(&mut SchemaGenerator) -> Value,
        default: Option<Value>,
    ) -> Self {
        let required = default.is_none() && !matches!(kind, TypeKind::Optional(_));
        Self {
            name,
            kind,
            schema,
            required,
            default,
        }
    }

    /// One whose type reads nothing at all as something.
    pub(super) fn optional(mut self) -> Self {
        self.required = false;
        self
    }
}

/// Everything the lowering is given about parameters.
pub(super) struct Tool {
    pub(super) subjects: Vec<Subject>,
    pub(super) input: Value,
}

pub(super) fn tool(parameters: &[&Parameter]) -> Tool {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let schemas: Vec<_> = parameters
        .iter()
        .map(|one| ParameterSchema {
            name: one.name.to_owned(),
            description: Some(format!("The {}.", one.name)),
            schema: (one.schema)(&mut generator),
            required: one.required,
            default: one.default.clone(),
            examples: Vec::new(),
            secret: false,
        })
        .collect();
    let subjects = parameters
        .iter()
        .map(|one| Subject {
            name: one.name.to_owned(),
            kind: one.kind,
            required: one.required,
            default: one.default.clone(),
        })
        .collect();
    let input = InputSchema::new(schemas, generator.take_definitions(true)).unwrap();
    Tool {
        subjects,
        input: input.json().clone(),
    }
}

/// One parameter of each kind.
pub(super) fn every_form() -> Vec<Parameter> {
    vec![
        parameter!("flag": bool),
        parameter!("small": u8),
        parameter!("signed": i8),
        parameter!("count": i32),
        parameter!("big": u64),
        parameter!("far": i64),
        parameter!("huge": u128),
        parameter!("ratio": f64),
        parameter!("single": f32),
        parameter!("name": String),
        parameter!("letter": char),
        parameter!("tags": Vec<String>),
        parameter!("numbers": Vec<i32>),
        parameter!("ratios": Vec<f32>),
        parameter!("marks": Vec<Option<u8>>),
        parameter!("table": Vec<Vec<i8>>),
        parameter!("note": Option<String>),
        parameter!("limit": Option<u32>),
        parameter!("maybe": Option<bool>),
        parameter!("list": Option<Vec<u8>>),
        parameter!("mode": Mode),
        parameter!("plain": Plain),
        parameter!("perhaps": Option<Plain>),
        parameter!("chosen": Option<Mode>),
        parameter!("size": u32 = 4),
        parameter!("hint": Option<u32> = 7),
        parameter!("title": String = "abc"),
    ]
}

#[test]
fn the_forms_are_what_they_are_meant_to_be() {
    let kinds = every_form();
    let of = |name| kinds.iter().find(|one| one.name == name).unwrap().kind;
    assert_eq!(of("mode"), TypeKind::Opaque);
    assert_eq!(of("perhaps"), TypeKind::Optional(&TypeKind::Opaque));
    assert_eq!(of("note"), TypeKind::Optional(&TypeKind::Text));
    let tool = tool(&kinds.iter().collect::<Vec<_>>());
    assert_eq!(tool.input["properties"]["small"]["maximum"], json!(255));
}
