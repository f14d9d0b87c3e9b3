//! Tools, and how they are built at run time without the macro.

use std::any::{Any, TypeId};
use std::borrow::Cow;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::context::CancellationToken;
use super::context::{CallInfo, Deadline, IdempotencyKey};
use super::context_params::{Need, Sources};
use super::dynamic_contract::DynamicContract;
use super::log::{Log, Progress};
use super::shim::Shim;
use super::spec::{Parameter, Spec};
use crate::contract::approval::{self, Approver, Decision};
use crate::contract::condition::Contract;
use crate::contract::scope::ContractScope;
use crate::schema::{Hints, InputSchema, SchemaError, StoredSchema};

/// A tool that is not in a registry yet: made by `#[tool]`, or at run time with [`Tool::dynamic`].
///
/// ```
/// use contract_runtime::{BuildError, Content, DynamicSpec, Registry, Tool};
///
/// let greet = Tool::dynamic(DynamicSpec::new("greet", "Greet everybody."), |_| async {
///     Ok::<_, String>(Content::text("hello"))
/// });
/// let greet = greet.pre("the shop is open", |_| true);
/// assert_eq!(greet.name(), "greet");
/// let registry = Registry::builder().with(greet).build()?;
/// assert!(registry.tool("greet").is_some());
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Clone)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a setting of its own"
)]
#[must_use]
pub struct Tool {
    pub(crate) name: Cow<'static, str>,
    pub(crate) title: Option<Cow<'static, str>>,
    pub(crate) description: Cow<'static, str>,
    pub(crate) hints: Hints,
    pub(crate) timeout: Option<Duration>,
    pub(crate) runs: Runs,
    pub(crate) coerce: bool,
    pub(crate) package: &'static str,
    /// The tools that one prefix covers, by a number; `None` if it has no prefix.
    pub(crate) set: Option<usize>,
    /// The state of a method, by a number that other states of its builder do not have.
    pub(crate) state: usize,
    /// As `file:line:column`, or in the words of the program that made the tool.
    pub(crate) location: Arc<str>,
    pub(crate) origin: Origin,
    /// The function that it is, by which a history knows it.
    pub(crate) function: Option<TypeId>,
    /// It must be the only call of its turn.
    pub(crate) alone: bool,
    /// Conditions were given to a tool that has its own above its function.
    pub(crate) misplaced: bool,
    pub(crate) shim: Arc<dyn Shim>,
}

/// Who made a tool, and what only such tools have.
#[derive(Clone)]
pub(crate) enum Origin {
    /// A macro, of a function.
    Generated(&'static Spec),
    /// The program itself, with whole schemas and with closures for conditions.
    Dynamic {
        schemas: Arc<DynamicSchemas>,
        stated: Arc<DynamicContract>,
    },
}

/// The schemas of a dynamic tool; what is wrong with them is reported when a registry is built.
#[derive(Clone)]
pub(crate) struct DynamicSchemas {
    pub(crate) input: Result<InputSchema, SchemaError>,
    pub(crate) output: Option<Arc<StoredSchema>>,
}

/// Where a body runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runs {
    Here,
    Async,
    Blocking,
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool")
            .field("name", &self.name)
            .field("location", &self.location)
            .finish_non_exhaustive()
    }
}

/// The description of a dynamic tool.
///
/// ```
/// use contract_runtime::{BuildError, Content, DynamicSpec, Registry, Tool, ToolCall};
/// use serde_json::json;
///
/// let spec = DynamicSpec::new("shout", "Say it louder.").input_schema(json!({
///     "type": "object",
///     "properties": {"text": {"type": "string"}},
///     "required": ["text"],
/// }));
/// let shout = Tool::dynamic(spec, |_| async { Ok::<_, String>(Content::text("HELLO")) });
///
/// let registry = Registry::builder().with(shout).build()?;
/// assert_eq!(registry.tool("shout").unwrap().description(), "Say it louder.");
/// let call = ToolCall::new("1", "shout", r#"{"text": "hello"}"#);
/// assert_eq!(registry.call(call).blocking().output(), Some("HELLO"));
/// # Ok::<(), BuildError>(())
/// ```
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
    alone: bool,
    coerce: bool,
    pub(super) needs: Vec<Need>,
    source: Option<String>,
}

impl DynamicSpec {
    /// Describes a tool without arguments.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: description.into(),
            hints: Hints::default(),
            input: json!({"type": "object", "properties": {}, "additionalProperties": false}),
            output: None,
            timeout: None,
            alone: false,
            coerce: false,
            needs: Vec::new(),
            source: None,
        }
    }

    /// Sets a name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the JSON Schema of the arguments, which must describe an object. The value of a `writeOnly` property is never
    /// shown, like that of a `secret` parameter.
    ///
    /// It is JSON Schema 2020-12. One of draft-07 is read as that: its `definitions`, `dependencies` and tuples have other names,
    /// and a `$id` at the root is left out.
    pub fn input_schema(mut self, schema: Value) -> Self {
        self.input = schema;
        self
    }

    /// Sets the JSON Schema (2020-12) of the result.
    pub fn output_schema(mut self, schema: Value) -> Self {
        self.output = Some(schema);
        self
    }

    /// Sets the hints about the tool's effects.
    pub fn hints(mut self, hints: Hints) -> Self {
        self.hints = hints;
        self
    }

    /// Ends a call after this long.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Refuses a call that is not the only one of its turn, as `#[tool(alone)]` does.
    pub fn alone(mut self) -> Self {
        self.alone = true;
        self
    }

    /// Corrects the arguments of calls, as `#[tool(coerce)]` does.
    pub fn coerce(mut self) -> Self {
        self.coerce = true;
        self
    }

    /// Sets where the tool comes from, such as the name of another server; it is shown instead of the line that made the tool.
    ///
    /// ```
    /// use contract_runtime::{BuildError, Content, DynamicSpec, Registry, Tool};
    ///
    /// let spec = DynamicSpec::new("read", "Read a file.").source("the file server");
    /// let tool = Tool::dynamic(spec, |_| async { Ok::<_, String>(Content::default()) });
    /// let registry = Registry::builder().with(tool).build()?;
    /// assert_eq!(registry.tool("read").map(|tool| tool.location()), Some("the file server"));
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn source(mut self, source: impl Into<String>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Requests a value of this type, which a registry or a call provides; see [`DynamicContext::get`](crate::dynamic::DynamicContext::get).
    ///
    /// A registry does not build without it. Only a handler of [`Tool::dynamic_with`] sees it.
    pub fn context<T: Send + Sync + 'static>(mut self) -> Self {
        self.needs.push(Need::of::<T>(false));
        self
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
    #[track_caller]
    pub(super) fn by_hand(spec: DynamicSpec, shim: Arc<dyn Shim>) -> Self {
        let output = spec.output.as_ref().map(StoredSchema::of).map(Arc::new);
        let schemas = DynamicSchemas {
            input: InputSchema::from_object(spec.input),
            output,
        };
        Self {
            origin: Origin::Dynamic {
                schemas: Arc::new(schemas),
                stated: DynamicContract::nothing(&spec.name),
            },
            function: None,
            alone: spec.alone,
            misplaced: false,
            name: spec.name.into(),
            title: spec.title.map(Cow::Owned),
            description: spec.description.into(),
            hints: spec.hints,
            timeout: spec.timeout,
            runs: Runs::Async,
            coerce: spec.coerce,
            package: "",
            set: None,
            state: 0,
            location: match spec.source {
                Some(source) => source.into(),
                None => Location::caller().to_string().into(),
            },
            shim,
        }
    }

    pub(crate) fn generated(spec: &'static Spec, function: TypeId, shim: Arc<dyn Shim>) -> Self {
        let (line, column) = spec.position;
        Self {
            name: Cow::Borrowed(spec.contract.name),
            title: spec.title.map(Cow::Borrowed),
            description: Cow::Borrowed(spec.description),
            hints: spec.hints,
            timeout: spec.timeout.map(Duration::from_millis),
            runs: match (spec.is_async, spec.blocking) {
                (true, _) => Runs::Async,
                (false, true) => Runs::Blocking,
                (false, false) => Runs::Here,
            },
            coerce: spec.coerce,
            package: spec.package,
            set: None,
            state: 0,
            location: format!("{}:{line}:{column}", spec.contract.file).into(),
            origin: Origin::Generated(spec),
            function: Some(function),
            alone: spec.alone,
            misplaced: false,
            shim,
        }
    }

    /// Returns its name and its location, as a report names them.
    pub(crate) fn place(&self) -> (String, String) {
        (self.name.to_string(), self.location.to_string())
    }

    /// What a macro wrote of it, if one did.
    pub(crate) fn spec(&self) -> Option<&'static Spec> {
        match self.origin {
            Origin::Generated(spec) => Some(spec),
            Origin::Dynamic { .. } => None,
        }
    }

    /// The contract that generated code judges.
    #[inline]
    pub(crate) fn contract(&self) -> &'static Contract {
        self.spec().map_or(&UNCONDITIONAL, |spec| &spec.contract)
    }

    pub(crate) fn parameters(&self) -> &'static [Parameter] {
        self.spec().map_or(&[], |spec| spec.parameters)
    }

    /// Returns the name by which a model calls the tool.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// What a handler made with [`Tool::dynamic_with`](crate::Tool::dynamic_with) knows about its call besides the arguments.
///
/// It is what `#[context]` parameters are to a `#[tool]`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DynamicContext {
    /// The call itself.
    pub call: CallInfo,
    /// The token that is cancelled when the caller cancels the call; the future of the handler is dropped then, and a
    /// task that it started can hold the token.
    pub cancellation: CancellationToken,
    /// The deadline of the call.
    pub deadline: Deadline,
    /// Reports how far the handler has come.
    pub progress: Progress,
    /// Tells people what the handler does.
    pub log: Log,
    /// The key of the call, if its caller gave one.
    pub idempotency_key: Option<IdempotencyKey>,
    /// That of the call itself.
    approver: Option<Approver>,
    values: Vec<Arc<dyn Any + Send + Sync>>,
}

impl DynamicContext {
    /// Returns the value of a type that [`DynamicSpec::context`](crate::DynamicSpec::context) requested; `None` for any
    /// other type.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let mut values = self.values.iter();
        values.find_map(|value| Arc::clone(value).downcast().ok())
    }

    /// Returns the time left, zero when the deadline has passed; `None` without a deadline.
    #[must_use]
    pub fn remaining(&self) -> Option<Duration> {
        self.deadline.remaining()
    }

    /// Asks a person a question that arises while the handler runs, such as one of another server. Returns `None` if there is no
    /// approver that may be asked.
    ///
    /// The approver of the call, its run or its registry decides (see [`Builder::approver`](crate::Builder::approver)), and gets
    /// an [`ApprovalRequest`](crate::approval::ApprovalRequest) with one question, whose text is cleaned and has 2,000 characters at most. The
    /// timeout of the call includes the wait, and no answer is remembered. Where the question can be asked before the handler runs, use a
    /// condition. As with conditions, a call that another tool makes asks only an approver that answers at once, and a task that the
    /// handler has started asks no approver.
    ///
    /// ```
    /// use contract_runtime::approval::{Approval, Decision};
    /// use contract_runtime::{BuildError, Content, Context, DynamicSpec, Registry, Tool, ToolCall};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
    /// let send = Tool::dynamic_with(DynamicSpec::new("send", "Send the draft."), |_, context| async move {
    ///     match context.ask("The mailbox is full; send it anyway?").await {
    ///         Some(Decision::Approved(_)) => Ok(Content::text("sent")),
    ///         Some(Decision::Denied(why)) => Err(why),
    ///         _ => Err("the mailbox is full".to_owned()),
    ///     }
    /// });
    ///
    /// let registry = Registry::builder().with(send).build()?;
    /// let call = || ToolCall::new("1", "send", "{}");
    /// assert_eq!(registry.call(call()).await.error(), Some("the mailbox is full"));
    /// let yes = Context::new().approver(async |_| Decision::Approved(Approval::Once));
    /// assert_eq!(registry.call(call()).context(yes).await.output(), Some("sent"));
    /// # Ok(()) }
    /// ```
    pub async fn ask(&self, question: impl fmt::Display) -> Option<Decision> {
        let question = question.to_string();
        let scope = ContractScope::current();
        approval::during_call(scope.get()?, self.approver.as_ref(), &question).await
    }

    pub(super) fn new(sources: &Sources<'_>, needs: &[Need]) -> Self {
        let own = sources.own;
        Self {
            call: own.info.clone(),
            cancellation: own.cancellation.clone(),
            deadline: own.deadline,
            progress: own.progress.clone(),
            log: own.log.clone(),
            idempotency_key: sources.context.get().cloned(),
            approver: sources.context.own_approver(),
            values: needs
                .iter()
                .filter_map(|need| sources.shared(need.of).cloned())
                .collect(),
        }
    }
}
