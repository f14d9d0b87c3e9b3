//! Tools with every kind of condition, and the events of a run as short words.

use contract_agent::{ConstrainedAgent, Event, InnerAgent, ReActAgent, Scripted, ToolCallingAgent};
use contract_runtime::prelude::*;

/// Take a square root.
#[tool(read_only)]
#[pre(of >= 0.0, "no root of a negative number")]
#[post(|root| *root < 100.0, "too large")]
pub(crate) fn root(of: f64) -> f64 {
    of.sqrt()
}

/// Fail, or break an assertion and hide it.
#[tool]
pub(crate) fn hide(what: String) -> Result<String, String> {
    let broken = std::panic::catch_unwind(|| contract_assert!(what != "assert", "asserted"));
    match (broken, what.as_str()) {
        (Err(_), _) => Err("something went wrong".to_owned()),
        (Ok(()), "fail") => Err("failed as asked".to_owned()),
        (Ok(()), _) => Ok(what),
    }
}

pub(crate) fn registry() -> Registry {
    Registry::builder()
        .tool(root)
        .tool(hide)
        .build()
        .expect("the tools are sound")
}

pub(crate) fn inner(model: &Scripted) -> ToolCallingAgent<Scripted> {
    ToolCallingAgent::new(model.clone(), registry())
}

/// Every inner agent, over a model that makes these calls, one in each reply, and then answers; with that model.
///
/// The engine of the last one is said to keep its model to the grammar, so that every call reaches dispatch.
pub(crate) fn over_all(
    calls: &[(&str, &str)],
    answers: &[&str],
) -> Vec<(Scripted, Box<dyn InnerAgent>)> {
    over_all_of(&registry(), calls, answers)
}

/// The same, over tools of the caller's.
pub(crate) fn over_all_of(
    registry: &Registry,
    calls: &[(&str, &str)],
    answers: &[&str],
) -> Vec<(Scripted, Box<dyn InnerAgent>)> {
    let (mut native, mut text, mut object) = (Scripted::new(), Scripted::new(), Scripted::new());
    for (tool, arguments) in calls {
        native = native.calls("", [(*tool, *arguments)]);
        text = text.text(format!("Action: {tool}\nAction Input: {arguments}"));
        object = object.text(format!(
            r#"{{"type":"tool_call","tool":"{tool}","arguments":{arguments}}}"#
        ));
    }
    for answer in answers {
        native = native.text(*answer);
        text = text.text(format!("Answer: {answer}"));
        object = object.text(format!(r#"{{"type":"answer","content":"{answer}"}}"#));
    }
    let constrained = ConstrainedAgent::new(object.clone(), registry.clone()).attempts(0);
    let tool_calling = ToolCallingAgent::new(native.clone(), registry.clone());
    vec![
        (native, Box::new(tool_calling)),
        (
            text.clone(),
            Box::new(ReActAgent::new(text, registry.clone())),
        ),
        (object, Box::new(constrained)),
    ]
}

/// One word for each event; what a reply costs and pieces of text are left out.
pub(crate) fn words(events: &[Event]) -> Vec<String> {
    events
        .iter()
        .filter_map(|event| {
            Some(match event {
                Event::Thought { .. } => "thought".to_owned(),
                Event::Action { call } => format!("action {}", call.name),
                Event::Observation { status, .. } => format!("observation {status}"),
                Event::Answer { text } => format!("answer {text}"),
                Event::Error { .. } => "error".to_owned(),
                Event::ContractCheck { check } => format!("check {}", check.contract),
                Event::ContractViolation { violation } => {
                    format!("violation {}", violation.contract)
                }
                Event::Retry { attempt, .. } => format!("retry {attempt}"),
                Event::LoopDetected { .. } => "loop".to_owned(),
                _ => return None,
            })
        })
        .collect()
}
