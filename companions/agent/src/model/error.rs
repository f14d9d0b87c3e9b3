//! Why a model gave no reply, or not all of it.

use std::fmt;
use std::time::Duration;

use crate::registry::ExportError;

/// Why a model gave no reply, or not all of it.
///
/// ```
/// use std::time::Duration;
///
/// use contract_runtime::agent::ModelError;
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
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A recording could not be written.
    #[error("the reply could not be recorded: {message}")]
    Recording {
        /// Which file, and what the system said.
        message: String,
    },
    /// What was said differs from what a recording holds.
    #[error(
        "request {request} differs from the recording; recorded was {recorded}, and now it is {said}; record it again"
    )]
    Diverged {
        /// Which request, from 1.
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
        /// What it said.
        message: String,
        /// How long to wait before the next try, in seconds, if it said so.
        retry_after: Option<u64>,
    },
    /// The provider answered with a status that is not a success.
    #[error("the provider answered with status {status}{}: {message}{}", Often(*tries, *retry_after), advice(*status))]
    Status {
        /// The status of HTTP.
        status: u16,
        /// How long it asks to wait before the next try.
        retry_after: Option<Duration>,
        /// How often it was asked, this time among them.
        tries: u32,
        /// What it said.
        message: String,
    },
    /// No connection, or it broke before there was an answer.
    #[error("the provider cannot be reached: {message}; check the endpoint")]
    Unreachable {
        /// What went wrong.
        message: String,
    },
    /// Nothing came for too long.
    #[error("the provider was silent for {after:?}; wait longer, or ask for less")]
    Timeout {
        /// How long nothing came.
        after: Duration,
    },
    /// The connection ended before the reply did.
    #[error("the reply was cut off before its end; ask again")]
    Cut,
    /// What came is not a reply of this kind of provider.
    #[error("the reply cannot be read: {message}; check that the endpoint speaks this protocol")]
    Unreadable {
        /// What is wrong with it.
        message: String,
    },
    /// The reply reached the most tokens that it may have.
    #[error("the reply was ended by the limit of tokens; allow more of them, or ask for less")]
    TooLong,
    /// The provider ended the reply, or kept it back, for a reason of its own.
    #[error("the provider ended the reply: {reason}")]
    Withheld {
        /// The provider's word for it.
        reason: String,
    },
    /// The tools cannot be said in the dialect of the provider.
    #[error(transparent)]
    Tools(#[from] ExportError),
    /// The model was asked outside of a tokio runtime.
    #[error(
        "a provider is reached over the network, which needs a tokio runtime; run the agent inside of one"
    )]
    NoRuntime,
}

/// How often was asked, and how long to wait, where there is something to say.
struct Often(u32, Option<Duration>);

impl fmt::Display for Often {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(tries, wait) = self;
        if *tries > 1 {
            write!(f, ", {tries} times")?;
        }
        match wait {
            Some(wait) if *tries > 1 => write!(f, ", and asks to wait {wait:?}"),
            Some(wait) => write!(f, " and asks to wait {wait:?}"),
            None => Ok(()),
        }
    }
}

const fn advice(status: u16) -> &'static str {
    match status {
        401 | 403 => "; check the key",
        404 => "; check the endpoint and the name of the model",
        _ => "",
    }
}
