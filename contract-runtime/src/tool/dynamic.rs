use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::arguments;
use super::call::{Call, Request, Running, later};
use super::conditions::Stated;
use super::content::Content;
use super::dynamic_context::{self, DynamicContext};
use super::lookup::Need;
use super::reply::{Ended, Reply};
use super::shim::Shim;
use super::spec::{Hints, Parameter, Spec};
use crate::contract::condition::Contract;
use crate::contract::frame::FrameOf;

/// A tool before it is in a registry: made by `#[tool]`, or by hand with [`Tool::dynamic`].
#[derive(Clone)]
#[must_use]
pub struct Tool {
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) description: String,
    pub(crate) hints: Hints,
    pub(crate) contract: &'static Contract,
    pub(crate) parameters: &'static [Parameter],
    #[cfg(feature = "verify")]
    pub(crate) verify: Option<super::spec::Verify>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) runs: Runs,
    pub(crate) coerce: bool,
    pub(crate) package: String,
    /// A prefix has been put before its name.
    pub(crate) prefixed: bool,
    pub(crate) location: String,
    /// The whole input and output schema, of a tool that no macro made.
    pub(crate) schemas: Option<(Value, Option<Value>)>,
    /// The conditions, of a tool that no macro made.
    pub(crate) stated: Option<Arc<Stated>>,
    /// Conditions were given to a tool that has its own above its function.
    pub(crate) misplaced: bool,
    pub(crate) shim: Arc<dyn Shim>,
}

/// Where a body runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runs {
    Here,
    Async,
    OffTheAsyncThreads,
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool")
            .field("name", &self.name)
            .field("location", &self.location)
            .finish_non_exhaustive()
    }
}

/// What a tool made by hand says about itself.
#[derive(Clone, Debug)]
#[must_use]
pub struct DynamicSpec {
    name: String,
    title: Option<String>,
    description: String,
    hints: Hints,
    input: Value,
    output: Option<Value>,
    timeout: Option<Duration>,
    needs: Vec<Need>,
}

impl DynamicSpec {
    /// A tool without arguments.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: description.into(),
            hints: Hints::default(),
            input: json!({"type": "object", "properties": {}, "additionalProperties": false}),
            output: None,
            timeout: None,
            needs: Vec::new(),
        }
    }

    /// A name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// The JSON Schema (2020-12) of the arguments: an object. The value of a property that is `writeOnly` is never shown,
    /// as that of a `secret` parameter.
    pub fn input_schema(mut self, schema: Value) -> Self {
        self.input = schema;
        self
    }

    /// The JSON Schema (2020-12) of the result.
    pub fn output_schema(mut self, schema: Value) -> Self {
        self.output = Some(schema);
        self
    }

    /// What the tool says about its effects.
    pub fn hints(mut self, hints: Hints) -> Self {
        self.hints = hints;
        self
    }

    /// Ends a call after this long.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Asks for a value of this type, which a registry or a call gives; see [`DynamicContext::get`].
    ///
    /// A registry is not built while nobody gives it. Only a handler of [`Tool::dynamic_with`] sees it.
    pub fn context<T: Send + Sync + 'static>(mut self) -> Self {
        self.needs.push(dynamic_context::need::<T>());
        self
    }
}

impl DynamicSpec {
    fn without_needs(mut self) -> (Self, Vec<Need>) {
        let needs = std::mem::take(&mut self.needs);
        (self, needs)
    }
}

static UNCONDITIONAL: Contract = Contract {
    name: "",
    file: "",
    policy: None,
    conditions: &[],
    secrets: &[],
};

impl Tool {
    /// A tool that no macro made, such as one that another server offers.
    ///
    /// The arguments are judged by the schema before the handler sees them.
    ///
    /// ```
    /// use contract_runtime::prelude::*;
    /// use serde_json::json;
    ///
    /// let echo = Tool::dynamic(
    ///     DynamicSpec::new("echo", "Repeat a text.").input_schema(json!({
    ///         "type": "object",
    ///         "properties": {"text": {"type": "string"}},
    ///         "required": ["text"],
    ///         "additionalProperties": false,
    ///     })),
    ///     |arguments| async move {
    ///         Ok::<_, String>(Content::text(arguments["text"].as_str().unwrap_or_default()))
    ///     },
    /// );
    /// let registry = Registry::builder().with(vec![echo]).build()?;
    /// let outcome = registry.call_blocking(ToolCall::new("1", "echo", r#"{"text":"hi"}"#));
    /// assert_eq!(outcome.output(), Some("hi"));
    /// # Ok::<(), contract_runtime::BuildError>(())
    /// ```
    #[track_caller]
    pub fn dynamic<H, F, E>(spec: DynamicSpec, handler: H) -> Self
    where
        H: Fn(Map<String, Value>) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Content, E>> + Send + 'static,
        E: fmt::Display,
    {
        let (spec, needs) = spec.without_needs();
        Self::by_hand(spec, Arc::new(Handler { handler, needs }))
    }

    /// The same, with a handler that sees its call: its id, cancellation, deadline, progress, and values by their type.
    ///
    /// ```
    /// use contract_runtime::prelude::*;
    ///
    /// struct User(&'static str);
    ///
    /// let who = Tool::dynamic_with(
    ///     DynamicSpec::new("who", "Say who is asking.").context::<User>(),
    ///     |_, context| async move {
    ///         let user = context.get::<User>().ok_or("nobody is asking")?;
    ///         Ok::<_, &str>(Content::text(format!("{} in call {}", user.0, context.call.id)))
    ///     },
    /// );
    /// let registry = Registry::builder().with(vec![who]).context(User("ada")).build()?;
    /// let outcome = registry.call_blocking(ToolCall::new("7", "who", ""));
    /// assert_eq!(outcome.output(), Some("ada in call 7"));
    /// # Ok::<(), contract_runtime::BuildError>(())
    /// ```
    #[track_caller]
    pub fn dynamic_with<H, F, E>(spec: DynamicSpec, handler: H) -> Self
    where
        H: Fn(Map<String, Value>, DynamicContext) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Content, E>> + Send + 'static,
        E: fmt::Display,
    {
        let (spec, mut needs) = spec.without_needs();
        needs.push(dynamic_context::of_call());
        Self::by_hand(spec, Arc::new(Seeing(Handler { handler, needs })))
    }

    #[track_caller]
    pub(crate) fn by_hand(spec: DynamicSpec, shim: Arc<dyn Shim>) -> Self {
        let location = std::panic::Location::caller();
        Self {
            stated: Some(Stated::nothing(&spec.name)),
            misplaced: false,
            name: spec.name,
            title: spec.title,
            description: spec.description,
            hints: spec.hints,
            contract: &UNCONDITIONAL,
            parameters: &[],
            #[cfg(feature = "verify")]
            verify: None,
            timeout: spec.timeout,
            runs: Runs::Async,
            coerce: false,
            package: String::new(),
            prefixed: false,
            location: location.to_string(),
            schemas: Some((spec.input, spec.output)),
            shim,
        }
    }

    pub(crate) fn generated(spec: &'static Spec, shim: Arc<dyn Shim>) -> Self {
        let (line, column) = spec.position;
        Self {
            name: spec.contract.name.to_owned(),
            title: spec.title.map(str::to_owned),
            description: spec.description.to_owned(),
            hints: spec.hints,
            contract: &spec.contract,
            parameters: spec.parameters,
            #[cfg(feature = "verify")]
            verify: spec.verify,
            timeout: spec.timeout.map(Duration::from_millis),
            runs: match (spec.is_async, spec.blocking) {
                (true, _) => Runs::Async,
                (false, true) => Runs::OffTheAsyncThreads,
                (false, false) => Runs::Here,
            },
            coerce: spec.coerce,
            package: spec.package.to_owned(),
            prefixed: false,
            location: format!("{}:{line}:{column}", spec.contract.file),
            schemas: None,
            stated: None,
            misplaced: false,
            shim,
        }
    }

    /// The name by which a model calls it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

struct Handler<H> {
    handler: H,
    needs: Vec<Need>,
}

/// A handler that sees its call.
struct Seeing<H>(Handler<H>);

impl<H, F, E> Shim for Handler<H>
where
    H: Fn(Map<String, Value>) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Content, E>> + Send + 'static,
    E: fmt::Display,
{
    fn call<'c>(&'c self, call: Call<'c>) -> Running<'c> {
        later(async move {
            let request = call.asking(&self.needs)?;
            around(request, |arguments| Ok((self.handler)(arguments))).await
        })
    }

    fn output(&self, _: &mut SchemaGenerator) -> Option<Schema> {
        None
    }
}

impl<H, F, E> Shim for Seeing<H>
where
    H: Fn(Map<String, Value>, DynamicContext) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Content, E>> + Send + 'static,
    E: fmt::Display,
{
    fn call<'c>(&'c self, call: Call<'c>) -> Running<'c> {
        let Handler { handler, needs } = &self.0;
        later(async move {
            let request = call.asking(needs)?;
            around(request, |arguments| {
                let sources = request.sources.as_ref().ok_or_else(Ended::unread)?;
                Ok(handler(arguments, DynamicContext::new(sources, needs)))
            })
            .await
        })
    }

    fn output(&self, _: &mut SchemaGenerator) -> Option<Schema> {
        None
    }
}

/// One call, between its schema and its conditions.
async fn around<F, E>(
    request: &Request<'_>,
    handler: impl FnOnce(Map<String, Value>) -> Result<F, Ended>,
) -> Reply
where
    F: Future<Output = Result<Content, E>> + Send,
    E: fmt::Display,
{
    let arguments = read(request)?;
    let Some(stated) = request.inputs.stated.as_deref() else {
        return Err(Ended::unread());
    };
    let contract = stated.contract();
    let mut frame = FrameOf::named(&contract, request.scope.clone(), request.only_check);
    stated.pre(&mut frame, &arguments, &request.inputs.schema)?;
    frame.enter()?;
    let kept = stated.has_post().then(|| arguments.clone());
    let content = handler(arguments)?
        .await
        .map_err(|error| Ended::Failed(error.to_string()))?;
    let output = content.into_output();
    if let Some(arguments) = kept {
        stated.post(&mut frame, &arguments, &request.inputs.schema, &output)?;
    }
    Ok(output)
}

pub(crate) fn read(request: &Request<'_>) -> Result<Map<String, Value>, Ended> {
    let inputs = request.inputs;
    let examined = arguments::read_values(request.text, &inputs.schema, inputs.coerce)
        .map_err(|invalid| Ended::Invalid(Box::new(invalid)))?;
    let text = &request.examined.get_or_init(|| examined).text;
    serde_json::from_str(text).map_err(|_| Ended::unread())
}
