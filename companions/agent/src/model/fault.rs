//! The kind of model error that ended a run.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::ModelError;

/// The kind of model error that ended a run, for programs; the error's sentence is for people.
///
/// ```
/// use std::time::Duration;
///
/// use contract_agent::{ModelFault, RunError};
///
/// fn worth_another_try(error: &RunError) -> Option<Duration> {
///     match error {
///         RunError::Model { fault: ModelFault::Status { status: 429 | 503, retry_after, .. }, .. } => {
///             Some(retry_after.unwrap_or(Duration::from_secs(30)))
///         }
///         RunError::Model { fault: ModelFault::Cut, .. } => Some(Duration::ZERO),
///         _ => None,
///     }
/// }
/// # assert_eq!(worth_another_try(&RunError::NoAnswer), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelFault {
    /// The provider answered with a status that is not a success.
    Status {
        /// The status of HTTP.
        status: u16,
        /// How long it asks to wait before the next try, to the millisecond.
        #[serde(
            rename = "retry_after_ms",
            default,
            skip_serializing_if = "Option::is_none",
            serialize_with = "milliseconds",
            deserialize_with = "of_milliseconds"
        )]
        retry_after: Option<Duration>,
        /// How often it was asked, the last time among them.
        tries: u32,
        /// What it said: the sentence in its answer, or the beginning of the answer, at most 1,000 characters.
        said: String,
    },
    /// The provider refused in the middle of a reply, or instead of one.
    Provider {
        /// How long to wait before the next try, if it said so.
        #[serde(
            rename = "retry_after_ms",
            default,
            skip_serializing_if = "Option::is_none",
            serialize_with = "milliseconds",
            deserialize_with = "of_milliseconds"
        )]
        retry_after: Option<Duration>,
        /// What it said.
        said: String,
    },
    /// No connection, or it broke before there was an answer.
    Unreachable,
    /// Nothing came for too long.
    Timeout,
    /// The connection ended before the reply did.
    Cut,
    /// What came is not a reply of this kind of provider.
    Unreadable,
    /// The reply reached the most tokens that it may have.
    TooLong,
    /// The provider ended the reply, or kept it back, for a reason of its own.
    Withheld {
        /// The provider's word for it.
        reason: String,
        /// The refusal, or what there was of the reply, at most 1,000 characters; empty where there is none.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        said: String,
    },
    /// A reply could not be recorded, or a recording or a script does not hold this conversation.
    Recording,
    /// The reply is not of the form that was asked for.
    Constraint,
    /// The program asked for what cannot be: tools that the dialect cannot say, or no tokio runtime.
    Request,
    /// Another one; the sentence says which.
    #[default]
    Other,
}

impl ModelFault {
    pub(crate) fn of(error: &ModelError) -> Self {
        match error {
            ModelError::Status {
                status,
                retry_after,
                tries,
                message,
            } => Self::Status {
                status: *status,
                retry_after: retry_after.map(whole_milliseconds),
                tries: *tries,
                said: message.clone(),
            },
            ModelError::Provider {
                message,
                retry_after,
            } => Self::Provider {
                retry_after: retry_after.map(Duration::from_secs).map(whole_milliseconds),
                said: message.clone(),
            },
            ModelError::Unreachable { .. } => Self::Unreachable,
            ModelError::Timeout { .. } => Self::Timeout,
            ModelError::Cut => Self::Cut,
            ModelError::Unreadable { .. } => Self::Unreadable,
            ModelError::TooLong => Self::TooLong,
            ModelError::Withheld { reason, said } => Self::Withheld {
                reason: reason.clone(),
                said: said.clone(),
            },
            ModelError::Recording { .. }
            | ModelError::Diverged { .. }
            | ModelError::RecordingEnded { .. }
            | ModelError::ScriptEnded { .. } => Self::Recording,
            ModelError::Tools(_) | ModelError::NoRuntime => Self::Request,
        }
    }
}

/// An event that is written and read again is the same event.
fn whole_milliseconds(wait: Duration) -> Duration {
    Duration::from_millis(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX))
}

#[expect(clippy::ref_option, reason = "serde gives a reference")]
fn milliseconds<S: Serializer>(wait: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    let milliseconds = wait.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
    milliseconds.serialize(serializer)
}

fn of_milliseconds<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    let milliseconds = Option::<u64>::deserialize(from)?;
    Ok(milliseconds.map(Duration::from_millis))
}
