use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use contract_runtime::Context;
use contract_runtime::agent::{
    Budget, ContractAgent, Hook, Message, Model, Recovery, ToolCallingAgent,
};
use contract_runtime::remote::Session;

use super::bootstrap::look;
use super::heard::Translator;
use super::line::Line;
use crate::contract::{Happening, Question};
use crate::model::Overheard;

/// The longest that a model may work on one turn.
const LONGEST: Duration = Duration::from_secs(20 * 60);

/// The most steps of one turn.
const STEPS: u64 = 60;

/// What came of a turn.
pub(super) struct Turn {
    pub(super) ending: Ending,
    pub(super) said: Vec<Message>,
    pub(super) written: BTreeSet<String>,
    pub(super) last_written: Option<String>,
}

/// How a turn ended.
pub(super) enum Ending {
    Answered(String),
    Asked(Vec<Question>, String),
    Failed(String),
}

/// Lets the model work until it answers, asks or fails.
pub(super) async fn turn(
    session: &Session,
    model: Arc<dyn Model>,
    mut said: Vec<Message>,
    text: String,
    mut tell: impl FnMut(Happening),
) -> Turn {
    if said.is_empty() {
        said = look(session, &mut tell).await;
    }
    tell(Happening::Message { text: text.clone() });
    let (model, heard) = Overheard::new(model);
    let inner = ToolCallingAgent::new(model, session.registry().clone());
    let agent = ContractAgent::builder(inner)
        .task_pre(Hook::new("a task").message("say what to do"), |task| {
            !task.trim().is_empty()
        })
        .budget(Budget::Iterations(STEPS))
        .budget(Budget::Time(LONGEST))
        .recovery(Recovery::retry(3))
        .build();
    let mut translator = Translator::new(session.toolbelt());
    let mut events = agent.stream_after(said, Context::new(), text);
    let mut line = Line::new(session);
    let working = async {
        loop {
            let event = tokio::select! {
                event = events.next() => event,
                text = line.next() => {
                    tell(Happening::Notice { text });
                    continue;
                }
            };
            let Some(event) = event else { break };
            line.say(&event).await;
            for call in heard.calls() {
                tell(translator.call(call));
            }
            for what in translator.event(event) {
                tell(what);
            }
        }
    };
    let tripped = session.guard(working).await.err();
    drop(events);
    let mut said = heard.said();
    let Translator {
        questions,
        written,
        last_written,
        answer,
        error,
        ..
    } = translator;
    if let Some(answer) = &answer {
        said.push(Message::Assistant {
            text: answer.clone(),
            calls: Vec::new(),
        });
    }
    Turn {
        ending: match (answer, error) {
            (Some(answer), None) if questions.is_empty() => Ending::Answered(answer),
            (Some(answer), None) => Ending::Asked(questions, answer),
            (_, error) => {
                let error = tripped.map(|tripped| tripped.to_string()).or(error);
                Ending::Failed(error.unwrap_or_else(|| "no answer came".to_owned()))
            }
        },
        said,
        written,
        last_written,
    }
}
