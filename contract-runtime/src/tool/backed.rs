//! Tools whose calls are answered asynchronously by something other than a function here.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::call::{Call, Request, Running, later};
use super::content::Content;
use super::context::CallInfo;
use super::context_params::Need;
use super::dynamic::{DynamicContext, DynamicSpec, Tool};
use super::failure::FailureKind;
use super::outcome::{Effect, Status};
use super::reply::Reply;
use super::shim::Shim;
use crate::contract::frame::FrameOf;
use crate::contract::violation::Violation;
use crate::schema::Describe;
use crate::schema::arguments::{self, ArgumentProblem, InvalidArguments, ProblemKind};

/// What answers the calls of a tool that is not a function here: another process, another machine, a person.
///
/// [`Tool::backed`] makes a tool of it. The registry judges the arguments and the conditions before [`call`](Self::call),
/// and the postconditions after it.
///
/// ```
/// use contract_runtime::prelude::*;
/// use contract_runtime::DynamicSpec;
/// use contract_runtime::dynamic::{Backing, CallError, DynamicContext};
/// use contract_runtime::ConditionKind;
/// use serde_json::{Map, Value, json};
///
/// /// A device that is asked over a line, and that refuses to be heated above a limit of its own.
/// struct Oven {
///     hottest: i64,
/// }
///
/// impl Backing for Oven {
///     fn refusal(&self, arguments: &Map<String, Value>) -> Option<Violation> {
///         let degrees = arguments["degrees"].as_i64()?;
///         (degrees > self.hottest).then(|| {
///             let mut refused =
///                 Violation::new("heat.pre[0]", ConditionKind::Pre, "heat", "degrees <= hottest");
///             refused.message = Some(format!("at most {} degrees", self.hottest));
///             refused
///         })
///     }
///
///     async fn call(
///         &self,
///         arguments: Map<String, Value>,
///         _: DynamicContext,
///     ) -> Result<Content, CallError> {
///         Ok(Content::text(format!("heating to {}", arguments["degrees"])))
///     }
/// }
///
/// let spec = DynamicSpec::new("heat", "Heat the oven.").input_schema(json!({
///     "type": "object",
///     "properties": {"degrees": {"type": "integer"}},
///     "required": ["degrees"],
/// }));
/// let registry = Registry::builder().with(vec![Tool::backed(spec, Oven { hottest: 250 })]).build()?;
/// let outcome = registry.call(ToolCall::new("1", "heat", r#"{"degrees":180}"#)).blocking();
/// assert_eq!(outcome.output(), Some("heating to 180"));
/// let outcome = registry.call(ToolCall::new("2", "heat", r#"{"degrees":300}"#)).blocking();
/// assert_eq!(outcome.violation().unwrap().message.as_deref(), Some("at most 250 degrees"));
/// # Ok::<(), BuildError>(())
/// ```
pub trait Backing: Send + Sync + 'static {
    /// Returns the condition that these arguments break, if they break one; then nothing is called.
    ///
    /// The arguments have the types of the schema. A keyword such as `maximum` may still refuse them: a condition is judged
    /// first, because its sentence says better what is wrong. The policies in force for the call decide what a violation
    /// does, as for every condition.
    fn refusal(&self, arguments: &Map<String, Value>) -> Option<Violation> {
        let _ = arguments;
        None
    }

    /// Returns where each call is recorded under its [`IdempotencyKey`](crate::IdempotencyKey), such as the id of a task; `None` if it is
    /// not.
    ///
    /// A resumed run makes a call again that began with this record, and the call ends as its record says.
    fn record(&self) -> Option<&str> {
        None
    }

    /// Answers a call whose arguments satisfy the schema and every precondition.
    ///
    /// The future is dropped when the call is cancelled or its time is over.
    ///
    /// # Errors
    ///
    /// When the call ended without a result; [`CallError`] says how.
    fn call(
        &self,
        arguments: Map<String, Value>,
        context: DynamicContext,
    ) -> impl Future<Output = Result<Content, CallError>> + Send;
}

/// How a call that a [`Backing`] answers ended without a result.
///
/// ```
/// use contract_runtime::dynamic::CallError;
/// use contract_runtime::{Outcome, Status};
///
/// let down = CallError::Failed("the printer is out of paper".to_owned());
/// let outcome = Outcome::new("7", "print", Err(down));
/// assert_eq!(outcome.status(), Status::Failed);
/// assert_eq!(outcome.error().unwrap(), "the printer is out of paper");
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The tool reported a failure, in words for the model.
    #[error("{0}")]
    Failed(String),
    /// A condition did not hold there. Where the policies in force here would not end the call, it counts as failed.
    #[error("{0}")]
    Violation(Box<Violation>),
    /// The arguments were refused there.
    #[error("{0}")]
    InvalidArguments(Box<InvalidArguments>),
    /// The call ended there with this status.
    #[error("{error}")]
    Ended {
        /// How it ended; [`Status::Ok`] is read as [`Status::Failed`].
        status: Status,
        /// What the model is told.
        error: String,
        /// Whether it took effect there; [`Effect::Unknown`] where that is not known.
        effect: Effect,
        /// Whether the body may still be running there.
        may_still_run: bool,
    },
}

impl From<CallError> for FailureKind {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Failed(message) => Self::Failed(message),
            CallError::Violation(violation) => Self::Violation(violation),
            CallError::InvalidArguments(invalid) => Self::InvalidArguments(invalid),
            CallError::Ended {
                status: Status::Ok,
                error,
                ..
            } => Self::Failed(error),
            CallError::Ended {
                status,
                error,
                effect,
                may_still_run,
            } => Self::Reported {
                status,
                error,
                effect,
                may_still_run,
            },
        }
    }
}

impl CallError {
    /// Returns how the call ends under the policies of this registry.
    fn into_failure(self, frame: &mut FrameOf<'_>) -> FailureKind {
        let Self::Violation(violation) = self else {
            return self.into();
        };
        let said = violation.to_string();
        match frame.fail_with(*violation) {
            Err(stop) => stop.into(),
            // Under this policy the condition does not end a call, neither here nor there.
            Ok(()) => FailureKind::Failed(said),
        }
    }
}

impl Tool {
    /// Creates a tool whose calls something else answers; see [`Backing`] for an example.
    #[track_caller]
    pub fn backed(mut spec: DynamicSpec, backing: impl Backing) -> Self {
        let mut needs = std::mem::take(&mut spec.needs);
        // A handler looks at its call, which every registry can show.
        needs.push(Need::of::<CallInfo>(false));
        let needs = needs.into_boxed_slice();
        Self::by_hand(spec, Arc::new(Backed { backing, needs }))
    }
}

struct Backed<B> {
    backing: B,
    needs: Box<[Need]>,
}

impl<B: Backing> Shim for Backed<B> {
    fn call<'c>(&'c self, call: Call<'c>) -> Running<'c> {
        later(async move { self.answered(call.asking(&self.needs)?).await })
    }

    fn output(&self) -> Option<Describe> {
        None
    }

    fn record(&self) -> Option<&str> {
        self.backing.record()
    }
}

impl<B: Backing> Backed<B> {
    async fn answered(&self, request: &Request<'_>) -> Reply {
        let inputs = request.inputs;
        let stated = inputs.stated.as_deref().ok_or_else(FailureKind::unread)?;
        let contract = stated.contract();
        let mut frame = FrameOf::named(&contract, request.only_check);
        let arguments = self.judged(request, &mut frame)?;
        request.begin(&frame);
        stated.judge(&mut frame, &arguments, &inputs.schema, None)?;
        frame.enter()?;
        let kept = stated.has_post().then(|| arguments.clone());
        let sources = request.sources.as_ref().ok_or_else(FailureKind::unread)?;
        let seen = DynamicContext::new(sources, &self.needs);
        let output = match self.backing.call(arguments, seen).await {
            Ok(output) => output,
            Err(error) => return Err(error.into_failure(&mut frame)),
        };
        if let Some(arguments) = kept {
            stated.judge(&mut frame, &arguments, &inputs.schema, Some(&output))?;
        }
        Ok(output)
    }

    /// Returns the arguments, unless a condition of the backing or the schema refuses them.
    fn judged(
        &self,
        request: &Request<'_>,
        frame: &mut FrameOf<'_>,
    ) -> Result<Map<String, Value>, FailureKind> {
        let read = read(request);
        let refusal = match &read {
            Ok(arguments) => self.backing.refusal(arguments),
            Err(FailureKind::InvalidArguments(invalid)) => well_typed(invalid, request.text)
                .and_then(|arguments| self.backing.refusal(&arguments)),
            Err(_) => None,
        };
        if let Some(refusal) = refusal {
            frame.fail_with(refusal)?;
        }
        read
    }
}

fn read(request: &Request<'_>) -> Result<Map<String, Value>, FailureKind> {
    let inputs = request.inputs;
    let examined = arguments::read_values(request.text, &inputs.schema, request.coerce)
        .map_err(|invalid| FailureKind::InvalidArguments(Box::new(invalid)))?;
    let text = &request.examined.get_or_init(|| Box::new(examined)).text;
    serde_json::from_str(text).map_err(|_| FailureKind::unread())
}

/// Returns the arguments if only keywords, and no types, refuse them.
fn well_typed(invalid: &InvalidArguments, text: &str) -> Option<Map<String, Value>> {
    let by_keyword = |problem: &ArgumentProblem| {
        matches!(
            problem.kind,
            ProblemKind::Range
                | ProblemKind::Length
                | ProblemKind::Value
                | ProblemKind::Pattern
                | ProblemKind::Format
        )
    };
    let all = invalid.problems().iter().all(by_keyword);
    all.then(|| serde_json::from_str(text).ok()).flatten()
}

/// A handler of [`Tool::dynamic_with`].
struct Handler<H>(H);

impl<H, F, E> Backing for Handler<H>
where
    H: Fn(Map<String, Value>, DynamicContext) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Content, E>> + Send + 'static,
    E: fmt::Display,
{
    fn call(
        &self,
        arguments: Map<String, Value>,
        context: DynamicContext,
    ) -> impl Future<Output = Result<Content, CallError>> + Send {
        let answer = self.0(arguments, context);
        async move {
            answer
                .await
                .map_err(|error| CallError::Failed(error.to_string()))
        }
    }
}

impl Tool {
    /// Creates a tool without a macro, such as one that another server offers.
    ///
    /// The arguments are judged by the schema before the handler sees them.
    ///
    /// ```
    /// use contract_runtime::{Content, DynamicSpec, Registry, Tool, ToolCall};
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
    /// let registry = Registry::builder().with(echo).build()?;
    /// let outcome = registry.call(ToolCall::new("1", "echo", r#"{"text":"hi"}"#)).blocking();
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
        Self::dynamic_with(spec, move |arguments, _| handler(arguments))
    }

    /// Creates a tool like [`Tool::dynamic`], with a handler that also gets its call: its id, cancellation, deadline,
    /// progress, and values by type.
    ///
    /// ```
    /// use contract_runtime::{Content, DynamicSpec, Registry, Tool, ToolCall};
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
    /// let registry = Registry::builder().with(who).context(User("ada")).build()?;
    /// let outcome = registry.call(ToolCall::new("7", "who", "")).blocking();
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
        Self::backed(spec, Handler(handler))
    }
}
