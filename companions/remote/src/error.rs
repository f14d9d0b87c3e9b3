use std::io;

/// What can go wrong between a backend and an executor.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// The address could not be listened on.
    #[error("cannot listen on {address}: {source}")]
    Bind {
        /// As it was asked for.
        address: String,
        /// What the system said.
        source: io::Error,
    },
    /// What [`Backend::reached_at`](super::Backend::reached_at) was given is no address that an executor could dial.
    #[error("`reached_at` cannot be `{base}`: {reason}; write such as `wss://tools.example`")]
    ReachedAt {
        /// As it was given, without what may be a password.
        base: String,
        /// Why.
        reason: String,
    },
    /// There is no tokio runtime where a backend or an executor was to begin.
    #[error("there is no tokio runtime here; call this inside one, such as in `#[tokio::main]`")]
    NoRuntime,
    /// The backend could not be reached, or did not let the executor in.
    #[error("cannot connect to {address}: {reason}")]
    Connect {
        /// As it was asked for, without the token.
        address: String,
        /// Why.
        reason: String,
    },
    /// The backend sent the executor away for good.
    #[error("the backend sent the executor away ({code}): {reason}")]
    Refused {
        /// Of the close frame (RFC 6455, 7.4, 2011).
        code: u16,
        /// What the backend said.
        reason: String,
    },
    /// The backend could not be reached again.
    #[error("the backend was lost ({reason}), and {attempts} attempts did not bring it back")]
    Lost {
        /// Why the last attempt failed.
        reason: String,
        /// How many there were.
        attempts: u32,
    },
    /// A certificate or a key cannot be used.
    #[error("TLS: {reason}")]
    Tls {
        /// Why; nothing of a key.
        reason: String,
    },
    /// What ran cannot be written down, so nothing is run.
    #[error(transparent)]
    Journal(#[from] super::JournalError),
    /// What must be kept cannot be.
    #[error(transparent)]
    Store(#[from] super::StoreError),
    /// The other side broke the protocol.
    #[error("the other side broke the protocol: {0}")]
    Protocol(String),
    /// Another backend makes the calls of the task now.
    #[error(
        "another backend took the task {task} over; make its calls there, or open it here again with `reopen`"
    )]
    TakenOver {
        /// Which.
        task: super::protocol::TaskId,
    },
    /// The connection ended before the task did.
    #[error("the connection ended before the task did")]
    Gone,
    /// The tools of the handshake make no registry.
    #[error(transparent)]
    Tools(#[from] crate::BuildError),
}
