//! What the log of a run knows of a call.

use contract_runtime::__family::MAY_HAVE_TAKEN_EFFECT;
use contract_runtime::approval::{Answer, ApprovalRequest, Decided, Decision};
use contract_runtime::dynamic::CallError;
use contract_runtime::{Content, Effect, Outcome, OutputKind, Status, ToolCall};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::{Message, written_call};

/// How a call ended, as a record says it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CallEnd {
    pub(crate) status: Status,
    pub(crate) effect: Effect,
    pub(crate) text: String,
    /// Whether the text of a result is JSON; none where there is no result. A record cannot hold every value: it could be nested deeper
    /// than a reader of JSON follows.
    #[serde(default)]
    pub(crate) is_json: Option<bool>,
    /// Whether the history of the run counts the call.
    #[serde(default)]
    pub(crate) counted: bool,
}

impl CallEnd {
    pub(crate) fn of(outcome: &Outcome) -> Self {
        Self {
            status: outcome.status(),
            effect: outcome.effect(),
            text: outcome.clone().into_result().text().to_owned(),
            is_json: match outcome.output_kind() {
                Some(OutputKind::Json) => Some(true),
                Some(OutputKind::Text) => Some(false),
                _ => None,
            },
            counted: outcome.is_counted(),
        }
    }

    /// A call that the run did not get as far as.
    pub(crate) fn not_started() -> Self {
        Self::not_started_because("the run had ended")
    }

    pub(crate) fn not_started_because(reason: &str) -> Self {
        Self {
            status: Status::Cancelled,
            effect: Effect::None,
            text: format!("not started, because {reason}"),
            is_json: None,
            counted: false,
        }
    }

    /// Whether the history of the run counts the call. A log of an earlier version says so only of calls that succeeded or had an effect.
    pub(crate) fn counts(&self) -> bool {
        self.counted || self.status == Status::Ok || self.effect != Effect::None
    }

    /// A call that a person has denied in an earlier process.
    fn denied(reason: &str) -> Self {
        let text = "not started, because it was denied";
        Self {
            status: Status::Denied,
            text: match reason {
                "" => text.to_owned(),
                _ => format!("{text}: {reason}"),
            },
            ..Self::not_started()
        }
    }

    /// Whether nothing of the call ran, because it was given up or waits for a person. It is made when the run is resumed.
    pub(crate) fn is_open(&self) -> bool {
        let given_up = [Status::Asked, Status::Cancelled, Status::TimedOut];
        self.effect == Effect::None && given_up.contains(&self.status)
    }

    /// The end of a call that began and of which nothing more is known.
    pub(crate) fn unknown() -> Self {
        Self {
            status: Status::Cancelled,
            effect: Effect::Unknown,
            text: format!("the program ended while this call was running; {MAY_HAVE_TAKEN_EFFECT}"),
            is_json: None,
            counted: true,
        }
    }

    /// The result as a value, as [`Outcome::value`] has it.
    pub(crate) fn value(&self) -> Option<Value> {
        let text = || Value::from(self.text.as_str());
        (self.status == Status::Ok).then(|| match self.is_json {
            Some(true) => serde_json::from_str(&self.text).unwrap_or_else(|_| text()),
            Some(false) => text(),
            None => Value::Null,
        })
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// What the model is told of a call that ended in this way.
    pub(crate) fn message(self, call: &ToolCall) -> Message {
        Message::Tool {
            call_id: call.id.clone(),
            tool: call.name.clone(),
            status: self.status,
            effect: self.effect,
            text: self.text,
        }
    }

    /// The outcome of a call that ended in this way.
    pub(crate) fn outcome(&self, call: &ToolCall) -> Outcome {
        let answer = match self.status {
            Status::Ok => Ok(Content::text(&*self.text)),
            status => Err(CallError::Ended {
                status,
                error: self.text.clone(),
                effect: self.effect,
                may_still_run: false,
            }),
        };
        Outcome::new(&*call.id, &*call.name, answer).with_effect(self.effect)
    }
}

/// What the log knows of a call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CallState {
    #[serde(deserialize_with = "written_call")]
    pub(crate) call: ToolCall,
    #[serde(default)]
    pub(crate) repeatable: Option<String>,
    /// Whether its body may have run since it asked.
    pub(super) began: bool,
    /// What the call has asked last.
    pub(super) request: Option<ApprovalRequest>,
    pub(crate) decision: Option<Decided>,
    pub(crate) end: Option<CallEnd>,
}

impl CallState {
    pub(super) const fn of(call: ToolCall, repeatable: Option<String>) -> Self {
        Self {
            call,
            repeatable,
            began: true,
            request: None,
            decision: None,
            end: None,
        }
    }

    /// Returns what the call has asked, if its body did not run since, and the answer.
    pub(crate) fn asked(&self) -> Option<(&ApprovalRequest, Option<&Decided>)> {
        let is_open = match &self.end {
            Some(end) => end.is_open(),
            None => !self.began,
        };
        let request = self.request.as_ref().filter(|_| is_open)?;
        Some((request, self.decision.as_ref()))
    }

    /// Returns what the call asks, if it has no answer.
    pub(super) fn open_request(&self) -> Option<&ApprovalRequest> {
        let (request, decision) = self.asked()?;
        decision.is_none().then_some(request)
    }

    /// Returns the answer to what the call asks, if it is among these. A denial wins over an approval.
    pub(crate) fn answer_in(&self, answers: &[Answer]) -> Option<Decided> {
        let id = &self.open_request()?.id;
        let answers = answers.iter().filter(|one| one.request == *id);
        let is_approval = |one: &&Answer| !matches!(one.decision, Decision::Denied(_));
        let answer = answers.min_by_key(is_approval)?.clone();
        Some(answer.into())
    }

    /// Returns the end that the model is told when the run is resumed, or `None` if the call is made then.
    pub(crate) fn told(&self, call: &ToolCall, repeatable: Option<&str>) -> Option<CallEnd> {
        if !self.is_of(call) {
            return Some(CallEnd::unknown());
        }
        if let Some((_, Some(decided))) = self.asked()
            && let Decision::Denied(reason) = &decided.decision
        {
            return Some(CallEnd::denied(reason));
        }
        let Some(end) = &self.end else {
            let is_made =
                !self.began || repeatable.is_some() && self.repeatable.as_deref() == repeatable;
            return (!is_made).then(CallEnd::unknown);
        };
        (!end.is_open()).then(|| end.clone())
    }

    /// Whether the process ended while the body may have run: it is not known which calls the body made.
    pub(crate) const fn is_lost(&self) -> bool {
        self.end.is_none() && self.began
    }

    /// The end that the model is told where the call is not made any more.
    pub(super) fn last_end(&self) -> CallEnd {
        match &self.end {
            Some(end) => end.clone(),
            None if !self.began => CallEnd::not_started(),
            None => CallEnd::unknown(),
        }
    }

    /// Whether it is this call; the id of a call in text differs from process to process.
    pub(super) fn is_of(&self, call: &ToolCall) -> bool {
        self.call.name == call.name && self.call.arguments == call.arguments
    }
}
