//! Errors of a model.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Why a model gave no reply, or only a part of one.
///
/// ```
/// use std::time::Duration;
///
/// use contract_agent::ModelError;
///
/// let error = ModelError::Status {
///     status: 429,
///     retry_after: Some(Duration::from_secs(20)),
///     tries: 3,
///     message: "too many tokens per minute".to_owned(),
/// };
/// assert_eq!(
///     error.to_string(),
///     "the provider answered with status 429, 3 times, and asks to wait 20s: too many tokens per minute",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelError {
    /// A recording could not be written.
    #[error("the reply could not be recorded: {message}")]
    Recording {
        /// The file, and the error of the operating system.
        message: String,
    },
    /// The conversation differs from the recorded one.
    #[error(
        "request {request} differs from the recording: it was {recorded}, and is now {said}; record it again"
    )]
    Diverged {
        /// The number of the request, from 1.
        request: usize,
        /// The new messages of the recorded request.
        recorded: String,
        /// The new messages of this one.
        said: String,
    },
    /// A recording has no more replies.
    #[error("the recording ended after {replies} replies; record it again")]
    RecordingEnded {
        /// How many replies it had.
        replies: usize,
    },
    /// A script has no more replies.
    #[error("the script ended after {replies} replies; add one more")]
    ScriptEnded {
        /// How many replies it had.
        replies: usize,
    },
    /// The provider refused, in the middle of a reply or instead of one.
    #[error("{message}")]
    Provider {
        /// The provider's message.
        message: String,
    },
    /// The provider answered with a status that is not a success.
    #[error("the provider answered with status {status}{}: {message}{}", often(*tries, *retry_after), advice(*status))]
    Status {
        /// The HTTP status.
        status: u16,
        /// How long the provider asks to wait before the next try.
        retry_after: Option<Duration>,
        /// How often the request was tried, including this time.
        tries: u32,
        /// The sentence in its answer, or the beginning of the answer, at most 1,000 characters.
        message: String,
    },
    /// No connection, or it broke before an answer came.
    #[error("the provider cannot be reached: {message}; check the endpoint")]
    Unreachable {
        /// What went wrong.
        message: String,
    },
    /// Nothing was received for too long.
    #[error("the provider sent nothing for {after:?}; allow more time, or ask for less")]
    Timeout {
        /// How long nothing was received.
        after: Duration,
    },
    /// The connection ended before the reply did.
    #[error("the reply was cut off before its end; ask again")]
    Cut,
    /// The response is not a reply in this provider's format.
    #[error("the reply cannot be read: {message}; check that the endpoint speaks this protocol")]
    Unreadable {
        /// What is wrong with it.
        message: String,
    },
    /// The reply reached its maximum number of tokens.
    #[error("the reply reached the token limit; allow more tokens, or ask for less")]
    TooLong,
    /// The provider ended or withheld the reply for a reason of its own.
    #[error("the provider ended the reply: {reason}{}{said}", if said.is_empty() { "" } else { ": " })]
    Withheld {
        /// The provider's name of the reason.
        reason: String,
        /// The refusal, or the reply so far, at most 1,000 characters; empty if there is none.
        said: String,
    },
    /// The tools cannot be exported to the provider's dialect.
    #[error("{message}")]
    Tools {
        /// What cannot be said.
        message: String,
    },
    /// The reply is not of the form that the agent asked for, however often it was asked again.
    #[error("its reply is not a JSON object of the requested form: {message}")]
    Form {
        /// What is wrong with it.
        message: String,
    },
    /// The model was called outside a tokio runtime.
    #[error("requests to a provider need a tokio runtime; run the agent inside one")]
    NoRuntime,
}

/// How often was asked, and how long to wait, where there is something to say.
fn often(tries: u32, wait: Option<Duration>) -> String {
    let (times, comma) = match tries {
        0 | 1 => (String::new(), ""),
        _ => (format!(", {tries} times"), ","),
    };
    match wait {
        Some(wait) => format!("{times}{comma} and asks to wait {wait:?}"),
        None => times,
    }
}

const fn advice(status: u16) -> &'static str {
    match status {
        401 | 403 => "; check the key",
        404 => "; check the endpoint and the name of the model",
        _ => "",
    }
}
