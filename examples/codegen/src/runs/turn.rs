//! One turn of a run: the model works until it answers, asks or fails.

use std::sync::Arc;
use std::time::Duration;

use contract_agent::{
    Budget, ContractAgent, Delta, Event, Hook, Message, Model, Recovery, Reply, Request, RunResult,
    RunState as AgentLog, ToolCallingAgent,
};
use contract_remote::{Session, SessionEvent, Tripped};
use contract_runtime::prelude::Context;
use futures_util::StreamExt as _;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

use super::run::Run;
use super::translate::{Translator, call_made};
use crate::contract::{ApprovalAnswer, Happening};

/// The longest time of one turn.
const LONGEST: Duration = Duration::from_secs(20 * 60);

/// The most steps of one turn.
const STEPS: u64 = 100;

/// Lets the model work until it answers, asks or fails.
///
/// Without a task it continues the turn that an earlier process began, or that has asked a person; `decided` is the decision.
pub(super) async fn turn(
    run: &Arc<Run>,
    session: &Session,
    log: AgentLog,
    task: Option<String>,
    decided: Option<ApprovalAnswer>,
    model: Arc<dyn Model>,
) -> (RunResult, Option<Tripped>) {
    let is_resumed = task.is_none();
    if let Some(text) = task.clone() {
        run.record_event(Happening::Message { text });
    } else {
        record_unreported_calls(run, &log.messages());
    }
    let mut context = Context::new();
    let asked = log.approval_requests().find(|request| {
        let decided = decided.as_ref();
        decided.is_some_and(|answer| answer.id == request.id)
    });
    if let (Some(request), Some(answer)) = (asked, decided) {
        context = context.answer(if answer.approve {
            request.approve()
        } else {
            request.deny(answer.reason)
        });
    }
    let model = Observed {
        model,
        run: Arc::clone(run),
    };
    let agent = ToolCallingAgent::new(model, session.registry().clone());
    let agent = ContractAgent::builder(agent)
        .task_pre(Hook::new("a task").message("say what to do"), |task| {
            !task.trim().is_empty()
        })
        .budget(Budget::Iterations(STEPS))
        .budget(Budget::Time(LONGEST))
        .recovery(Recovery::retry(3))
        .build();
    let work = match task {
        Some(text) => agent.run_after(log, text),
        None => agent.resume(log),
    };
    let mut events = work.context(context).stream();
    let mut connection = session.events();
    let mut translator = Translator::new(session.toolbelt());
    let mut is_new_answer = true;
    let working = async {
        loop {
            tokio::select! {
                event = events.next() => {
                    let Some(event) = event else { break };
                    show(session, &event, &mut is_new_answer).await;
                    for what in until_now(&mut connection, &mut translator) {
                        run.record_event(what);
                    }
                    // An earlier process has reported how this call ended.
                    if is_resumed && matches!(&event, Event::Observation { call_id, .. }
                        if !run.open_calls().iter().any(|(id, _)| id == call_id))
                    {
                        continue;
                    }
                    for what in translator.agent(event) {
                        run.record_event(what);
                    }
                }
                what = next(&mut connection, &mut translator) => run.record_event(what),
            }
        }
    };
    let tripped = session.guard(working).await.err();
    (events.finish(), tripped)
}

/// Sends the executor the text of the model.
async fn show(session: &Session, event: &Event, is_new_answer: &mut bool) {
    let begins = matches!(event, Event::TextDelta { .. } | Event::Thought { .. });
    if begins && std::mem::take(is_new_answer) {
        session.begin_answer();
    }
    match event {
        Event::TextDelta { text } => session.send_delta(text.as_str()).await,
        Event::Observation { .. } => *is_new_answer = true,
        _ => {}
    }
}

/// Waits for the next event of the session that belongs into the log of the run.
async fn next(connection: &mut Receiver<SessionEvent>, translator: &mut Translator) -> Happening {
    loop {
        match connection.recv().await {
            Ok(event) => {
                if let Some(what) = translator.session(event) {
                    return what;
                }
            }
            Err(RecvError::Lagged(_)) => translator.missed = true,
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}

/// Returns the events of the session until now.
fn until_now(
    connection: &mut Receiver<SessionEvent>,
    translator: &mut Translator,
) -> Vec<Happening> {
    let mut all = Vec::new();
    loop {
        match connection.try_recv() {
            Ok(event) => all.extend(translator.session(event)),
            Err(TryRecvError::Lagged(_)) => translator.missed = true,
            Err(TryRecvError::Empty | TryRecvError::Closed) => return all,
        }
    }
}

/// Records the calls of the last reply that have no event, because their backend was killed before.
fn record_unreported_calls(run: &Run, messages: &[Message]) {
    let Some(Message::Assistant { calls, .. }) = messages.last() else {
        return;
    };
    let reported = run.after(0);
    for call in calls {
        let is_reported = reported.iter().any(|event| {
            matches!(&event.what, Happening::ToolCall { call_id, .. } if *call_id == call.id)
        });
        if !is_reported {
            run.record_event(call_made(call));
        }
    }
}

/// A model whose calls become events of the run as it makes them: the events of an agent lack those that a condition refuses.
struct Observed {
    model: Arc<dyn Model>,
    run: Arc<Run>,
}

impl Model for Observed {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn reply<'a>(&'a self, request: Request<'a>) -> Reply<'a> {
        let pieces = self.model.reply(request);
        Box::pin(pieces.inspect(|piece| {
            if let Ok(Delta::Call(call)) = piece {
                self.run.record_event(call_made(call));
            }
        }))
    }
}
