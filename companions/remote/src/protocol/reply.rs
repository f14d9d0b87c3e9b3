//! Replies, cut to the size of one message, and checked for contradictions.

use contract_runtime::__family::MAY_HAVE_TAKEN_EFFECT;
use contract_runtime::approval::ApprovalRequest;
use contract_runtime::dynamic::CallError;
use contract_runtime::{Content, Effect, InvalidArguments, Outcome, OutputKind, Status, Violation};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::artifact::{DEEPEST, note};
use super::{CallKey, Cancelled, ToolReply, Verdict};
use crate::MAX_MESSAGE_BYTES;
use crate::toolbelt::depth;

/// The largest reply, in bytes: a message holds little beside it.
const ROOM: usize = MAX_MESSAGE_BYTES - (64 << 10);

/// The most characters of an error, where the rest would not go into a message.
const ERROR: usize = 10_000;

impl ToolReply {
    /// Builds the reply of an outcome, so that it fits into one message.
    ///
    /// Artifacts that do not fit are replaced by notes, the largest first; a result that does not fit by itself is an error.
    ///
    /// What a call asked that nobody here may answer is denied: no answer comes back over the connection.
    pub(crate) fn of(key: CallKey, outcome: &Outcome) -> Self {
        let asked = outcome.approval_request();
        let mut reply = Self {
            key,
            status: if outcome.is_ok() {
                Verdict::Success
            } else {
                Verdict::Error
            },
            outcome: asked.map_or(outcome.status(), |_| Status::Denied),
            effect: outcome.effect(),
            result: outcome
                .output()
                .filter(|_| outcome.output_kind() != Some(OutputKind::Nothing))
                .map(str::to_owned),
            is_json: outcome.output_kind() == Some(OutputKind::Json),
            error: asked
                .map(unanswered)
                .or_else(|| outcome.error().map(str::to_owned)),
            artifacts: outcome.artifacts().iter().map(Into::into).collect(),
            violation: outcome
                .violation()
                .and_then(|violation| serde_json::to_value(violation).ok()),
            invalid_arguments: outcome
                .invalid_arguments()
                .and_then(|invalid| serde_json::to_value(invalid).ok()),
            may_still_run: outcome.may_still_be_running(),
        };
        reply.fit();
        reply
    }

    /// Builds the reply of a call that failed without an outcome of its tool. Whether the call ran is unknown.
    pub(crate) fn failed(key: CallKey, error: impl Into<String>) -> Self {
        Self {
            key,
            status: Verdict::Error,
            outcome: Status::Failed,
            effect: Effect::Unknown,
            result: None,
            is_json: false,
            error: Some(error.into()),
            artifacts: Vec::new(),
            violation: None,
            invalid_arguments: None,
            may_still_run: false,
        }
    }

    fn fit(&mut self) {
        if let Some(violation) = &mut self.violation
            && depth(violation) > DEEPEST
        {
            without_values(violation);
        }
        if self.fits() {
            return;
        }
        let mut by_size: Vec<_> = (0..self.artifacts.len()).collect();
        by_size.sort_by_cached_key(|at| std::cmp::Reverse(self.artifacts[*at].size()));
        let mut excess = self.bytes().saturating_sub(ROOM);
        for at in by_size {
            if excess == 0 {
                break;
            }
            let artifact = &mut self.artifacts[at];
            let note = artifact.left_out(ROOM);
            excess = excess.saturating_sub(artifact.size().saturating_sub(note.size()));
            *artifact = note;
        }
        if !self.fits() && !self.artifacts.is_empty() {
            let count = self.artifacts.len();
            let why = format!("{count} artifacts were left out: too many for one message");
            self.artifacts = vec![note("artifacts", &why)];
        }
        if !self.fits()
            && let Some(violation) = &mut self.violation
        {
            without_values(violation);
        }
        if self.fits() {
            return;
        }
        let error = match (&self.result, self.error.take()) {
            (Some(result), _) => format!(
                "the result has {} bytes, and a message holds {ROOM}; the tool ran, ask it for less at once",
                result.len()
            ),
            (None, error) => error.unwrap_or_default().chars().take(ERROR).collect(),
        };
        // What does not fit into a message is reported as a failure.
        *self = Self {
            effect: self.effect,
            ..Self::failed(self.key, error)
        };
    }

    fn fits(&self) -> bool {
        // A character is written with six bytes at most: most replies need not be measured.
        let texts = [&self.result, &self.error].into_iter().flatten();
        let texts: usize = texts.map(String::len).sum();
        let plain = self.artifacts.is_empty() && self.violation.is_none();
        (plain && texts < ROOM / 8) || self.bytes() <= ROOM
    }

    fn bytes(&self) -> usize {
        serde_json::to_vec(self).map_or(usize::MAX, |text| text.len())
    }

    /// Builds the reply of a call whose end was reported in a contradictory way.
    pub(crate) fn contradictory(key: CallKey, why: &str) -> Self {
        let error =
            format!("unknown outcome: what the executor says of its end contradicts itself: {why}");
        Self::failed(key, error)
    }

    /// Returns what is contradictory in the reply, if anything.
    pub(crate) fn contradiction(&self) -> Option<String> {
        let success = self.status == Verdict::Success;
        if success != (self.outcome == Status::Ok) {
            let status = if success { "success" } else { "error" };
            let outcome = self.outcome.name();
            return Some(format!(
                "`status` is `{status}`, and `outcome` is `{outcome}`"
            ));
        }
        if !success {
            return None;
        }
        let more = [
            ("error", self.error.is_some()),
            ("violation", self.violation.is_some()),
            ("invalid_arguments", self.invalid_arguments.is_some()),
            ("may_still_run", self.may_still_run),
        ];
        if let Some((name, _)) = more.iter().find(|(_, there)| *there) {
            return Some(format!("`status` is `success`, and there is `{name}`"));
        }
        let text = self.result.as_deref().unwrap_or_default();
        let is_json = !self.is_json || serde_json::from_str::<IgnoredAny>(text).is_ok();
        (!is_json).then(|| "`is_json` is true, and `result` is not JSON".to_owned())
    }

    /// Converts the reply for the registry; a contradictory one is a failure.
    pub(crate) fn into_content(self) -> Result<Content, CallError> {
        if let Some(why) = self.contradiction() {
            let error = Self::contradictory(self.key, &why).error;
            return Err(CallError::Failed(error.unwrap_or_default()));
        }
        let error = self.error.unwrap_or_default();
        match self.outcome {
            Status::Ok => {
                let content = match (self.result, self.is_json) {
                    (None, _) => Content::default(),
                    (Some(text), true) => Content::json_text(text)
                        .map_err(|error| CallError::Failed(error.to_string()))?,
                    (Some(text), false) => Content::text(text),
                };
                let artifacts = self.artifacts.into_iter().map(Into::into);
                Ok(artifacts.fold(content, Content::with))
            }
            Status::Violation => Err(read::<Violation>(self.violation)
                .map_or(CallError::Failed(error), CallError::Violation)),
            Status::InvalidArguments => Err(read::<InvalidArguments>(self.invalid_arguments)
                .map_or(CallError::Failed(error), CallError::InvalidArguments)),
            // The request stayed with the executor, and so did whoever could answer it.
            Status::Asked => Err(CallError::Ended {
                status: Status::Denied,
                error,
                effect: self.effect,
                may_still_run: false,
            }),
            status => Err(CallError::Ended {
                status,
                error,
                effect: self.effect,
                may_still_run: self.may_still_run,
            }),
        }
    }
}

fn unanswered(request: &ApprovalRequest) -> String {
    let asked = request.to_string().replace('\n', " ");
    format!(
        "not started, because it was denied: nobody at the executor may answer what it asks: {asked}"
    )
}

impl From<Cancelled> for ToolReply {
    fn from(cancelled: Cancelled) -> Self {
        let Cancelled {
            key,
            effect,
            may_still_run,
        } = cancelled;
        let mut error = "the call was cancelled".to_owned();
        if may_still_run {
            error.push_str("; it may still be running");
        }
        if effect == Effect::Unknown {
            error.extend(["; ", MAY_HAVE_TAKEN_EFFECT]);
        }
        Self {
            outcome: Status::Cancelled,
            effect,
            may_still_run,
            ..Self::failed(key, error)
        }
    }
}

/// Drops the values of a violation that are too large for a message; it still names the broken condition.
fn without_values(violation: &mut Value) {
    if let Some(values) = violation.get_mut("values") {
        *values = Value::Object(serde_json::Map::new());
    }
}

fn read<T: serde::de::DeserializeOwned>(value: Option<Value>) -> Option<Box<T>> {
    serde_json::from_value(value?).ok().map(Box::new)
}
