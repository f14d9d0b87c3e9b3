//! Errors of backends and executors.

use std::io;

/// An error of a backend or an executor.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// The backend could not listen on the address.
    #[error("cannot listen on {address}: {source}")]
    Bind {
        /// The requested address.
        address: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The address given to [`Backend::public_url`](super::Backend::public_url) or `Backend::peer_url` is not one that
    /// anybody could connect to.
    #[error("`{setting}` cannot be `{url}`: {reason}; write one such as `wss://tools.example`")]
    Url {
        /// The setting.
        setting: &'static str,
        /// The address, without what may be a password.
        url: String,
        /// The reason.
        reason: String,
    },
    /// A backend or an executor was started outside a tokio runtime.
    #[error("there is no tokio runtime here; call this inside one, such as in `#[tokio::main]`")]
    NoRuntime,
    /// The backend could not be reached, or did not accept the executor.
    #[error("cannot connect to {address}: {reason}")]
    Connect {
        /// The requested address, without the token.
        address: String,
        /// The reason.
        reason: String,
    },
    /// The backend disconnected the executor for good.
    #[error("the backend rejected the executor ({code}): {reason}")]
    Refused {
        /// The code of the close frame (RFC 6455, 7.4, 2011).
        code: u16,
        /// The reason that the backend gave.
        reason: String,
    },
    /// The executor could not reconnect in as many attempts as [`Reconnect`](super::Reconnect) allows.
    #[error("the backend was lost ({reason}), and {attempts} attempts to reconnect failed")]
    Lost {
        /// Why the last attempt failed.
        reason: String,
        /// The number of attempts.
        attempts: u32,
    },
    /// A certificate or a key is not usable.
    #[error("TLS: {reason}")]
    Tls {
        /// The reason, without any part of a key.
        reason: String,
    },
    /// The journal cannot record what runs, so nothing runs.
    #[error(transparent)]
    Journal(#[from] super::JournalError),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] super::StoreError),
    /// The peer violated the protocol.
    #[error("the other side broke the protocol: {0}")]
    Protocol(String),
    /// Another backend has taken over the task.
    #[error(
        "another backend took the task {task} over; make its calls there, or open it here again with `reopen`"
    )]
    TakenOver {
        /// The task.
        task: super::protocol::TaskId,
    },
    /// The connection ended before the task did.
    #[error("the connection ended before the task did")]
    Gone,
    /// The tools of the handshake do not form a valid registry.
    #[error(transparent)]
    Tools(#[from] contract_runtime::BuildError),
}
