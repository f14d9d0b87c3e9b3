use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use super::Backend;
use super::crowd::Crowd;
use super::doors::Doors;
use super::limits::ConnectionLimits;
use crate::remote::RemoteError;
use crate::remote::executor::check;
use crate::remote::protocol::TaskId;
#[cfg(feature = "remote-tls")]
use crate::remote::tls::Identity;

/// How executors come in, before anybody listens.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    pub(super) limits: ConnectionLimits,
    origins: Vec<String>,
    reached_at: Option<String>,
    #[cfg(feature = "remote-tls")]
    identity: Option<Identity>,
}

/// Where executors come in.
pub(super) struct Entrance {
    pub(super) limits: ConnectionLimits,
    pub(super) origins: Vec<String>,
    #[cfg(feature = "remote-tls")]
    pub(super) identity: Option<Identity>,
    pub(super) crowd: Arc<Crowd>,
    pub(super) doors: Doors,
    /// Where they dial in, as `ws://host:port` or `wss://host:port`.
    base: String,
}

impl Entry {
    #[cfg(feature = "remote-tls")]
    fn scheme(&self) -> &'static str {
        self.identity.as_ref().map_or("ws", |_| "wss")
    }

    #[cfg(not(feature = "remote-tls"))]
    #[allow(clippy::unused_self, reason = "as with TLS")]
    fn scheme(&self) -> &'static str {
        "ws"
    }

    /// Whether an executor could dial what it is told.
    pub(super) fn check(&self) -> Result<(), RemoteError> {
        self.reached_at.as_deref().map_or(Ok(()), check)
    }

    /// What listens at this address.
    pub(super) fn open(self, bound: SocketAddr) -> Entrance {
        let here = || format!("{}://{bound}", self.scheme());
        let base = self.reached_at.clone().unwrap_or_else(here);
        Entrance {
            crowd: Arc::new(Crowd::new(&self.limits)),
            doors: Doors::default(),
            limits: self.limits,
            origins: self.origins,
            #[cfg(feature = "remote-tls")]
            identity: self.identity,
            base,
        }
    }
}

impl Entrance {
    /// Where the executor of a task dials in.
    pub(super) fn address_of(&self, task: TaskId) -> String {
        format!("{}/executor/{task}", self.base)
    }
}

impl fmt::Debug for Entrance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entrance")
            .field("base", &self.base)
            .field("limits", &self.limits)
            .field("crowd", &self.crowd)
            .field("doors", &self.doors)
            .finish_non_exhaustive()
    }
}

impl Backend {
    /// How many connections it holds, and how fast it takes them.
    pub fn connection_limits(mut self, limits: ConnectionLimits) -> Self {
        self.entry.limits = limits;
        self
    }

    /// Lets in what pages of these origins send, such as `https://tools.example`; without, no page of a browser is.
    pub fn origins<O: Into<String>>(mut self, origins: impl IntoIterator<Item = O>) -> Self {
        self.entry.origins = origins.into_iter().map(Into::into).collect();
        self
    }

    /// Where executors reach it, such as `wss://tools.example`; without, where it listens.
    ///
    /// For one behind a proxy, and for one whose certificate has a name. `ws://` or `wss://`, a host, and perhaps a port
    /// and a path; [`bind`](Self::bind) refuses what is something else.
    pub fn reached_at(mut self, base: impl Into<String>) -> Self {
        let base = base.into();
        self.entry.reached_at = Some(base.trim_end_matches('/').to_owned());
        self
    }

    /// Speaks TLS, with a chain of certificates and the key of the first, both in PEM; a connection without is turned away.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Tls`] where they cannot be read, or do not belong together.
    #[cfg(feature = "remote-tls")]
    #[cfg_attr(docsrs, doc(cfg(feature = "remote-tls")))]
    pub fn tls(
        mut self,
        certificates: impl AsRef<[u8]>,
        key: impl AsRef<[u8]>,
    ) -> Result<Self, RemoteError> {
        self.entry.identity = Some(Identity::new(certificates.as_ref(), key.as_ref())?);
        Ok(self)
    }
}
