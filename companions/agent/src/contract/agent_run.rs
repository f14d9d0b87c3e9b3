//! A run of an agent, before it begins and while its events are read.

use std::future::Future;
use std::mem::take;
use std::pin::Pin;
use std::task::{Context as Task, Poll};

use contract_runtime::Context;
use futures_core::Stream;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::ContractAgent;
use super::result::{Record, RunResult};
use super::run;
use super::typed::{AnswerType, TypedResult, read};
use crate::event::{Event, RunError};
use crate::generator::Events;
use crate::inner::InnerAgent;
use crate::run_log::RunState;

/// A run that begins when it is awaited, as [`ContractAgent::run`] and its like give it.
///
/// It is a future of a [`RunResult`]. [`stream`](Self::stream) gives its events as they happen, and [`typed`](Self::typed) an answer of
/// a type. Dropping it stops all work.
///
/// ```
/// use std::time::Duration;
///
/// use contract_agent::{ContractAgent, Scripted, ToolCallingAgent};
/// use contract_runtime::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
/// let model = Scripted::new().text("Good day.").text("It is noon.");
/// let agent = ContractAgent::builder(ToolCallingAgent::new(model, Registry::builder().build()?)).build();
/// let first = agent.run("Hello.").await;
///
/// let context = Context::new().timeout(Duration::from_secs(60));
/// let second = agent.run_after(first.state, "What time is it?").context(context).await;
/// assert_eq!(second.answer.as_deref(), Some("It is noon."));
/// # Ok(()) }
/// ```
#[must_use = "a run begins when it is awaited, or when its events are read"]
pub struct AgentRun<'a, A> {
    agent: &'a ContractAgent<A>,
    state: RunState,
    /// The task to begin. `None` means that the last task of the state is resumed.
    task: Option<String>,
    context: Context,
    /// `None` before it begins.
    running: Option<Pin<Box<dyn Future<Output = RunResult> + Send + 'a>>>,
}

impl<A: InnerAgent> ContractAgent<A> {
    /// Runs a task.
    pub fn run(&self, task: impl Into<String>) -> AgentRun<'_, A> {
        self.run_after(RunState::default(), task)
    }

    /// Runs a task after an earlier run or conversation.
    ///
    /// Before the model is asked, each earlier call without an outcome is answered as one that may have taken effect. The history of
    /// a run continues over its tasks, as it does over [`resume`](Self::resume); budgets, loop detection and the attempts of
    /// [`Recovery`](crate::Recovery) are those of one task. Calls in messages of a program are not in the history.
    pub fn run_after(&self, past: impl Into<RunState>, task: impl Into<String>) -> AgentRun<'_, A> {
        self.begin(past.into(), Some(task.into()))
    }

    /// Goes on with a run where an earlier process or program left it.
    ///
    /// A reply that the log has is not asked for again. Of its calls, those that ended are told to the model; those that never began are
    /// made, under the contracts of today. A call that began and has no end is made again if its tool is read-only, or if it is
    /// [repeatable](contract_runtime::ToolInfo::repeatable) in the same way then and now; otherwise its effect is unknown, and
    /// the model is told so. What the run has spent counts; the time in which it did not run does not. A run that has its
    /// answer gives it again.
    ///
    /// A call that asked a person continues with the answer in the context, or with a decision that the log has. It is made once and
    /// without a question if its tool, contract, arguments, sentences and caller are the same; otherwise it asks again. A denied
    /// call is not made. [`RunState::approval_requests`] returns what has no answer yet.
    ///
    /// ```
    /// use contract_agent::{ContractAgent, Scripted, ToolCallingAgent};
    /// use contract_runtime::prelude::*;
    ///
    /// /// Cancel an order.
    /// #[tool(confirm = "Cancel order {id}?")]
    /// fn cancel(id: u32) {}
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = Scripted::new().calls("", [("cancel", r#"{"id":7}"#)]).text("It is cancelled.");
    /// let registry = Registry::builder().tool(cancel).build()?;
    /// let agent = ContractAgent::builder(ToolCallingAgent::new(model, registry)).build();
    /// let run = agent.run("Cancel order 7.").await.state;
    ///
    /// let answers = run.approval_requests().map(|request| request.approve()); // in production, a person
    /// let context = answers.fold(Context::new(), Context::answer);
    /// let result = agent.resume(run).context(context).await;
    /// assert_eq!(result.answer.as_deref(), Some("It is cancelled."));
    /// # Ok(()) }
    /// ```
    ///
    /// Conditions on the history, loop detection and the attempts of [`Recovery`](crate::Recovery) continue as if the process had not
    /// ended. Where calls may have been made that the log does not have, conditions on the history that those could decide do not hold,
    /// and say why: calls of a body, of a run around this one, of a process that ended in a body, and of a tool that is gone. A
    /// read-only call that was cut off is not counted.
    pub fn resume(&self, run: RunState) -> AgentRun<'_, A> {
        self.begin(run, None)
    }

    fn begin(&self, state: RunState, task: Option<String>) -> AgentRun<'_, A> {
        AgentRun {
            agent: self,
            state,
            task,
            context: Context::new(),
            running: None,
        }
    }
}

impl<'a, A: InnerAgent> AgentRun<'a, A> {
    /// Sets the context of the run and of its tool calls: values for them, the deadline, cancellation, the run around this one.
    pub fn context(mut self, context: Context) -> Self {
        self.context = context;
        self
    }

    /// Begins the run and gives its events as they happen.
    ///
    /// If the events are dropped, what had happened may lack its events: the call that was running, and read-only calls that ran
    /// beside it. To end a run and be told of every call, cancel the token of its context and read the events to their end.
    pub fn stream(mut self) -> RunEvents<'a> {
        self.begin(None)
    }

    /// Runs the task to an answer that is a value of the type `T`.
    ///
    /// The task that the model reads ends with the JSON Schema of `T`, and [`ToolCallingAgent`](crate::ToolCallingAgent) sends it
    /// as [`Request::response_schema`](crate::Request::response_schema), too. The answer must be one JSON value, alone or in one
    /// code fence. It is judged by the schema under every policy, before the conditions on the answer. If it is not a `T`, the
    /// model is told everything that is wrong with it and tries again, as [`Recovery`](crate::Recovery) allows. An answer that a
    /// resumed run already has is judged, too.
    ///
    /// Keys that `T` does not have are refused if it derives `Deserialize` with `deny_unknown_fields`.
    ///
    /// ```
    /// use contract_agent::{ContractAgent, Recovery, Scripted, ToolCallingAgent};
    /// use contract_runtime::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
    /// let model = Scripted::new().text("About forty.").text("[40, 2]");
    /// let agent = ContractAgent::builder(ToolCallingAgent::new(model, Registry::builder().build()?))
    ///     .recovery(Recovery::retry(1))
    ///     .build();
    /// let result = agent.run("Which numbers?").typed::<Vec<u32>>().await;
    /// assert_eq!(result.value, Some(vec![40, 2]));
    /// assert_eq!(result.run.statistics.retries, 1);
    /// # Ok(()) }
    /// ```
    pub async fn typed<T: DeserializeOwned + JsonSchema>(mut self) -> TypedResult<T> {
        let run = self.begin(Some(AnswerType::of::<T>())).into_result().await;
        let answer = run.answer.as_deref().filter(|_| run.success);
        let value = answer.and_then(|text| read(text).ok());
        TypedResult { value, run }
    }

    fn begin(&mut self, answer_type: Option<Result<AnswerType, RunError>>) -> RunEvents<'a> {
        let (state, context) = (take(&mut self.state), take(&mut self.context));
        run::begin(self.agent, state, context, self.task.take(), answer_type)
    }
}

impl<A: InnerAgent> Future for AgentRun<'_, A> {
    type Output = RunResult;

    fn poll(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<RunResult> {
        if self.running.is_none() {
            let events = self.begin(None);
            self.running = Some(Box::pin(events.into_result()));
        }
        match &mut self.running {
            Some(running) => running.as_mut().poll(task),
            None => Poll::Pending,
        }
    }
}

impl<A> std::fmt::Debug for AgentRun<'_, A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentRun")
            .field("task", &self.task)
            .finish_non_exhaustive()
    }
}

/// The events of a run, as a stream, and then its result.
///
/// The run advances only while the stream is polled, and dropping it stops all work.
///
/// ```
/// use contract_agent::{ContractAgent, Event, Scripted, ToolCallingAgent};
/// use contract_runtime::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
/// let model = Scripted::new().text("It is noon.");
/// let agent = ContractAgent::builder(ToolCallingAgent::new(model, Registry::builder().build()?)).build();
/// let mut events = agent.run("What time is it?").stream();
/// while let Some(event) = events.next().await {
///     if let Event::Answer { text } = event {
///         println!("{text}");
///     }
/// }
/// let state = events.finish().state;
/// assert_eq!(state.answer(), Some("It is noon."));
/// # Ok(()) }
/// ```
#[derive(Debug)]
#[must_use = "nothing runs until the events are polled"]
pub struct RunEvents<'a> {
    pub(super) events: Events<'a>,
    pub(super) record: Record,
}

impl RunEvents<'_> {
    /// Returns the next event; `None` when the run is over.
    pub async fn next(&mut self) -> Option<Event> {
        self.events.next().await
    }

    /// Returns the result of the run. A run that is not over ends here, as if the events were dropped; its
    /// [`state`](RunResult::state) can be resumed.
    #[must_use]
    pub fn finish(self) -> RunResult {
        drop(self.events);
        self.record.finish()
    }

    async fn into_result(mut self) -> RunResult {
        while self.next().await.is_some() {}
        self.finish()
    }
}

impl Stream for RunEvents<'_> {
    type Item = Event;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<Option<Event>> {
        Pin::new(&mut self.events).poll_next(task)
    }
}
