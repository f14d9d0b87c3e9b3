//! `call --explain`: how the arguments are read, and whether each condition holds.

use std::collections::HashSet;
use std::panic::{self, PanicHookInfo};
use std::sync::Arc;

use contract_runtime::observe::{CheckEvent, Observer};
use contract_runtime::{
    ConditionKind, Context, Outcome, PublishedCondition, Registry, Run, Status, ToolCall, ToolInfo,
};
use parking_lot::Mutex;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::approval::Request;
use super::output::{BAD, BOLD, CAREFUL, FAINT, GOOD, Output};
use super::runtime::block_on;
use super::{CommandError, exit, outcome};

/// How a condition stands, or the question about every call.
struct Verdict<'r> {
    /// `None` for the question.
    condition: Option<&'r PublishedCondition>,
    /// A word for it.
    word: &'static str,
    /// What its violation says, or what the question asks.
    text: Option<String>,
}

/// Evaluates every precondition, and says how the call would end.
pub(super) fn run(
    registry: &Registry,
    call: &ToolCall,
    run: &Run,
    output: &mut Output,
) -> Result<u8, CommandError> {
    let (ended, (judged, all)) = with_each_panic_once(|| {
        let (checked, context) = (call.clone(), Context::new().run(run));
        let ended = block_on(async { registry.check(checked).context(context).await })?;
        Ok::<_, CommandError>((ended, block_on(evaluate_all(registry, call.clone()))?))
    })?;
    let asked = Request::of(&ended, &call.arguments);
    let code = exit::of(ended.status());
    let tool = registry.tool(&call.name);
    let verdicts = match tool {
        Some(tool) => verdicts(tool, &judged, &all, asked.as_ref()),
        None => Vec::new(),
    };
    let arguments = match tool {
        Some(tool) => masked(tool, &call.arguments),
        None => Some(call.arguments.clone()),
    };
    if output.json() {
        let mut data = outcome::data(&ended, asked.as_ref(), &[], code);
        if let Some(arguments) = arguments.and_then(|text| RawValue::from_string(text).ok()) {
            data["arguments"] = json!(arguments);
        }
        data["conditions"] = verdicts.iter().map(as_json).collect();
        output.data(&data)?;
        return Ok(code);
    }
    if let Some(arguments) = arguments {
        let arguments = output.out.safe(&arguments).into_owned();
        let title = output.out.painted(BOLD, "arguments");
        let text = format!("{title}\n    {arguments}\n");
        output.out.write(&text)?;
    }
    print(&verdicts, output)?;
    outcome::print_check(&ended, asked.as_ref(), output)?;
    Ok(code)
}

/// Runs what evaluates conditions twice, and prints a panic of theirs once.
fn with_each_panic_once<T>(run: impl FnOnce() -> T) -> T {
    let before: Arc<dyn Fn(&PanicHookInfo<'_>) + Send + Sync> = Arc::from(panic::take_hook());
    let (hook, printed) = (Arc::clone(&before), Mutex::new(HashSet::new()));
    panic::set_hook(Box::new(move |info| {
        if printed.lock().insert(info.to_string()) {
            hook(info);
        }
    }));
    let done = run();
    panic::set_hook(Box::new(move |info| before(info)));
    done
}

/// The arguments with every secret masked, and with them what no parameter is named, because it may be a secret whose name is
/// misspelt; `None` if they are not an object.
pub(super) fn masked(tool: ToolInfo<'_>, sent: &str) -> Option<String> {
    if !tool.has_secrets() {
        return Some(sent.to_owned());
    }
    let mut arguments: Map<String, Value> = serde_json::from_str(sent).ok()?;
    for (name, value) in &mut arguments {
        let is_known = tool.input_schema()["properties"].get(name).is_some();
        if tool.is_secret(name) || !is_known {
            *value = "***".into();
        }
    }
    Some(Value::from(arguments).to_string())
}

/// Everything before the body and behind it that a call goes through.
fn verdicts<'r>(
    tool: ToolInfo<'r>,
    judged: &[String],
    all: &Outcome,
    asked: Option<&Request<'_>>,
) -> Vec<Verdict<'r>> {
    let conditions = in_order(tool.conditions()).into_iter();
    let mut verdicts: Vec<_> = conditions.map(|one| verdict(one, judged, all)).collect();
    if tool.confirms() {
        let question = asked.and_then(Request::confirmation).map(str::to_owned);
        let is_promise = |one: &Verdict<'_>| one.word == AFTER;
        let place = verdicts.iter().position(is_promise);
        let verdict = Verdict {
            condition: None,
            word: if question.is_some() {
                "asks"
            } else {
                NOT_REACHED
            },
            text: question,
        };
        verdicts.insert(place.unwrap_or(verdicts.len()), verdict);
    }
    verdicts
}

/// The conditions as they are judged: each lookup in its place in the source, and the promises last.
fn in_order(conditions: &[PublishedCondition]) -> Vec<&PublishedCondition> {
    let of = |kind| {
        let all = conditions.iter();
        all.filter(move |one| one.condition().kind() == kind)
    };
    let place = |one: &PublishedCondition| one.condition().position();
    let mut ordered: Vec<_> = of(ConditionKind::Pre).collect();
    for given in of(ConditionKind::Given) {
        let next = ordered.iter().position(|one| place(one) > place(given));
        ordered.insert(next.unwrap_or(ordered.len()), given);
    }
    ordered.extend(of(ConditionKind::Post));
    ordered
}

/// Evaluates every condition before the body: the ids of those that were evaluated, and the outcome, which holds what does not
/// hold.
pub(super) async fn evaluate_all(registry: &Registry, call: ToolCall) -> (Vec<String>, Outcome) {
    let judged = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&judged);
    let observer = Observer::new().events(move |event| {
        if let CheckEvent::Check(check) = event {
            heard.lock().push(check.contract);
        }
    });
    let context = Context::new().run(&Run::new()).observe(observer);
    let check = registry.check(call).context(context).every_condition();
    let outcome = check.await;
    let judged = std::mem::take(&mut *judged.lock());
    (judged, outcome)
}

fn verdict<'r>(
    condition: &'r PublishedCondition,
    judged: &[String],
    outcome: &Outcome,
) -> Verdict<'r> {
    let id = condition.id();
    if condition.condition().kind() == ConditionKind::Given {
        return looked_up(condition, judged, outcome);
    }
    let broken = outcome.observed().iter().find(|one| one.contract == id);
    let word = match (condition.condition().kind(), broken) {
        (ConditionKind::Post, _) => AFTER,
        (_, Some(_)) if condition.condition().asks() => "asks",
        (_, Some(_)) => "does not hold",
        (_, None) if judged.contains(&id.to_owned()) => "holds",
        (_, None) => NOT_REACHED,
    };
    Verdict {
        condition: Some(condition),
        word,
        text: broken.map(ToString::to_string),
    }
}

const NOT_REACHED: &str = "not reached";
const AFTER: &str = "after the call";

/// What a lookup found; the last one that was made may have ended the call, because there was nothing or because it failed.
fn looked_up<'r>(
    condition: &'r PublishedCondition,
    judged: &[String],
    outcome: &Outcome,
) -> Verdict<'r> {
    let id = condition.id();
    let is_last = judged.last().is_some_and(|last| last == id);
    let error = || outcome.error().map(str::to_owned);
    let (word, text) = match (outcome.violation(), outcome.status()) {
        (Some(absent), _) if absent.contract == id => ("nothing there", Some(absent.to_string())),
        (_, Status::Failed) if is_last => ("failed", error()),
        (_, Status::Panicked) if is_last => ("panicked", error()),
        (_, Status::TimedOut) if is_last => ("timed out", error()),
        _ if judged.iter().any(|one| one == id) => ("found", None),
        _ => (NOT_REACHED, None),
    };
    Verdict {
        condition: Some(condition),
        word,
        text,
    }
}

fn as_json(verdict: &Verdict<'_>) -> Value {
    let mut data = match verdict.condition {
        Some(published) => json!({
            "id": published.id(),
            "kind": published.condition().kind(),
            "predicate": published.condition().predicate(),
            "policy": published.policy(),
        }),
        None => json!({ "kind": "confirm" }),
    };
    data["verdict"] = verdict.word.replace(' ', "_").into();
    if let Some(text) = &verdict.text {
        data["message"] = text.as_str().into();
    }
    data
}

fn print(verdicts: &[Verdict<'_>], output: &mut Output) -> Result<(), CommandError> {
    if verdicts.is_empty() {
        return Ok(());
    }
    let title = output.out.painted(BOLD, "conditions").into_owned();
    output.out.write(&format!("{title}\n"))?;
    for verdict in verdicts {
        let style = match verdict.word {
            "holds" | "found" => GOOD,
            "does not hold" | "nothing there" | "failed" | "panicked" | "timed out" => BAD,
            "asks" => CAREFUL,
            _ => FAINT,
        };
        let stated = output.out.safe(&stated(verdict)).into_owned();
        let mut line = format!("    {}: {stated}", output.out.painted(style, verdict.word));
        if let Some(text) = &verdict.text {
            line.push_str("\n        ");
            line.push_str(&output.out.safe(text));
        }
        line.push('\n');
        output.out.write(&line)?;
    }
    Ok(())
}

/// What the condition says, and what becomes of a call that breaks it.
fn stated(verdict: &Verdict<'_>) -> String {
    let Some(published) = verdict.condition else {
        return "about every call".to_owned();
    };
    let condition = published.condition();
    let verb = match condition.kind() {
        ConditionKind::Post => "promises",
        ConditionKind::Given => "looks up",
        _ => "requires",
    };
    let policy = match published.policy() {
        policy if policy.ends_the_call() => String::new(),
        policy => format!(", policy {policy}"),
    };
    format!("{verb} `{}`{policy}", condition.predicate())
}
