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
    /// The backend could not be reached, or did not let the executor in.
    #[error("cannot connect to {address}: {reason}")]
    Connect {
        /// As it was asked for, without the token.
        address: String,
        /// Why.
        reason: String,
    },
    /// The other side broke the protocol.
    #[error("the other side broke the protocol: {0}")]
    Protocol(String),
    /// The connection ended before the task did.
    #[error("the connection ended before the task did")]
    Gone,
    /// The tools of the handshake make no registry.
    #[error(transparent)]
    Tools(#[from] crate::BuildError),
}
