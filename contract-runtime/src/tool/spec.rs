//! The static data that generated code states about a tool, and what is found in it at compile time.

use std::any::Any;

use serde::Serialize;
use serde_json::Value;

use super::encode;
use crate::contract::condition::Contract;
use crate::contract::findings::judge::{Judged, broken};
use crate::contract::findings::{self, same};
use crate::contract::type_kind::TypeKind;
use crate::schema::Hints;

/// A tool as generated code states it.
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a setting of its own"
)]
pub struct Spec {
    /// The name, the file and the conditions.
    pub contract: Contract,
    /// The title for people.
    pub title: Option<&'static str>,
    /// What the model reads of it.
    pub description: &'static str,
    /// What it does to the world, as the author says.
    pub hints: Hints,
    /// Whether its body is async.
    pub is_async: bool,
    /// Whether a sync body may block its thread.
    pub blocking: bool,
    /// Whether arguments of a wrong type are converted where nothing is lost.
    pub coerce: bool,
    /// Whether the author asked for a schema of the result.
    pub output_schema: bool,
    /// It must be the only call of its turn.
    pub alone: bool,
    /// In milliseconds.
    pub timeout: Option<u64>,
    /// Those that the model sees, in order.
    pub parameters: &'static [Parameter],
    /// What a person is asked before every call, with its placeholders unfilled.
    pub confirm: Option<&'static str>,
    /// What `#[verify(..)]` says of it.
    pub verify: Option<Verify>,
    /// The package that it stands in.
    pub package: &'static str,
    /// Line and column in its file.
    pub position: (u32, u32),
}

/// What `#[verify(..)]` says of running a body.
#[derive(Clone, Copy, Default)]
pub struct Verify {
    /// Whether tests may run the body; without an answer its hints decide.
    pub run: Option<bool>,
    /// A function from a registry's builder to one, which this floor cannot name.
    pub setup: Option<&'static (dyn Any + Send + Sync)>,
}

impl Verify {
    /// Says whether tests may run the body.
    #[must_use]
    pub const fn new(run: Option<bool>) -> Self {
        Self { run, setup: None }
    }

    /// Sets the function that prepares test values. A release build keeps nothing that is only for tests, and a body that needs
    /// test values does not run without them.
    #[must_use]
    pub const fn setup(mut self, setup: &'static (dyn Any + Send + Sync)) -> Self {
        if cfg!(debug_assertions) {
            self.setup = Some(setup);
        } else {
            self.run = Some(false);
        }
        self
    }
}

/// A parameter that the model sees.
pub struct Parameter {
    /// The name that the model knows.
    pub name: &'static str,
    /// What the model reads of it.
    pub description: &'static str,
    /// What stands for it where it is missing.
    pub default: Option<Constant>,
    /// Values that the schema shows.
    pub examples: &'static [Constant],
    /// Whether its value is kept out of logs and violations.
    pub secret: bool,
    /// What is known of its type, where a portable condition names it.
    pub kind: TypeKind,
}

/// A constant in an attribute, on its way into the schema.
pub enum Constant {
    /// A literal, as JSON text.
    Text(&'static str),
    /// Any other expression.
    Code(fn() -> Option<Value>),
}

impl Constant {
    pub(crate) fn json(&self) -> Option<Value> {
        match self {
            Self::Text(text) => serde_json::from_str(text).ok(),
            Self::Code(value) => crate::contract::panics::guard(value).ok().flatten(),
        }
    }
}

/// Writes a constant expression as JSON.
pub fn constant<T: Shown>(value: &T) -> Option<Value> {
    // A number that JSON cannot carry would become null.
    encode::write(value).is_ok().then_some(())?;
    serde_json::to_value(value).ok()
}

/// What the type of a default or an example must be.
#[diagnostic::on_unimplemented(
    message = "a default or an example of `{Self}` cannot be shown to the model",
    label = "not writable as JSON",
    note = "derive `Serialize` for it, or give a literal"
)]
pub trait Shown: Serialize {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + ?Sized> Shown for T {}

/// Reads a default given as text, for a parameter whose type is made of text.
#[must_use]
pub fn text<'a, T: MadeOfText<'a>>(text: &'a str) -> T {
    T::from(text)
}

/// What the type of a parameter must be whose default is a text.
#[diagnostic::on_unimplemented(
    message = "a text cannot be the default of `{Self}`",
    label = "write a value of `{Self}`"
)]
pub trait MadeOfText<'a>: From<&'a str> {}

#[diagnostic::do_not_recommend]
impl<'a, T: From<&'a str>> MadeOfText<'a> for T {}

/// Judges the preconditions of a tool.
#[must_use]
pub const fn judge_tool(spec: &'static Spec) -> Judged {
    let mut judged = Judged::new(spec.contract.conditions);
    let mut rest = spec.parameters;
    while let Some((parameter, others)) = rest.split_first() {
        judged.over(parameter.name, parameter.kind);
        rest = others;
    }
    judged
}

/// Ends the build where a default is written that breaks a precondition.
///
/// # Panics
///
/// That is how a constant ends a build.
#[track_caller]
pub const fn report_default(spec: &'static Spec, name: &str) {
    let mut rest = spec.parameters;
    while let Some((parameter, others)) = rest.split_first() {
        if same(parameter.name, name)
            && let Some(Constant::Text(text)) = &parameter.default
        {
            let stated = (spec.contract.conditions, spec.contract.policy);
            let value = findings::Value::of_json(text);
            if let Some(message) = broken(stated, (parameter.name, parameter.kind), value) {
                panic!("{}", message.text());
            }
        }
        rest = others;
    }
}
