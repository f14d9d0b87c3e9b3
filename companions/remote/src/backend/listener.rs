//! The address executors connect to, and its TLS settings.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use contract_http::OriginCheck;

use super::Backend;
use super::admission::Admission;
use super::drain::Drain;
use super::limits::ConnectionLimits;
use crate::RemoteError;
use crate::protocol::TaskId;
#[cfg(feature = "tls")]
use crate::tls::Identity;
#[cfg(all(feature = "redis", feature = "tls"))]
use crate::tls::Roots;
use crate::ws_connect::check_url;

/// The settings of a listener that is not bound yet.
#[derive(Clone, Debug, Default)]
pub(super) struct ListenerConfig {
    pub(super) limits: ConnectionLimits,
    origins: OriginCheck,
    public_url: Option<String>,
    #[cfg(feature = "redis")]
    peer_url: Option<String>,
    #[cfg(feature = "tls")]
    identity: Option<Identity>,
    #[cfg(all(feature = "redis", feature = "tls"))]
    peer_roots: Option<Roots>,
}

/// The address that executors connect to, its limits and its counters.
pub(super) struct Listener {
    pub(super) limits: ConnectionLimits,
    pub(super) origins: OriginCheck,
    #[cfg(feature = "tls")]
    pub(super) identity: Option<Identity>,
    pub(super) admission: Arc<Admission>,
    pub(super) drain: Drain,
    #[cfg(all(feature = "redis", feature = "tls"))]
    pub(super) peer_roots: Option<Roots>,
    /// The base address, as `ws://host:port` or `wss://host:port`.
    base_url: String,
}

impl ListenerConfig {
    #[cfg(feature = "tls")]
    fn scheme(&self) -> &'static str {
        self.identity.as_ref().map_or("ws", |_| "wss")
    }

    #[cfg(not(feature = "tls"))]
    #[allow(clippy::unused_self, reason = "as with TLS")]
    fn scheme(&self) -> &'static str {
        "ws"
    }

    /// Checks the addresses that are not those it listens on.
    pub(super) fn check(&self) -> Result<(), RemoteError> {
        #[cfg(feature = "redis")]
        if let Some(url) = &self.peer_url {
            check_url("peer_url", url)?;
        }
        match &self.public_url {
            Some(url) => check_url("public_url", url),
            None => Ok(()),
        }
    }

    /// Returns the address at which other backends reach this one.
    #[cfg(feature = "redis")]
    pub(super) fn peer_url_for(&self, bound: SocketAddr) -> Result<String, RemoteError> {
        if let Some(url) = &self.peer_url {
            return Ok(url.clone());
        }
        let url = format!("{}://{bound}", self.scheme());
        if bound.ip().is_unspecified() {
            return Err(RemoteError::Url {
                setting: "peer_url",
                url,
                reason: "other backends cannot connect to this address, at which this one listens"
                    .to_owned(),
            });
        }
        Ok(url)
    }

    /// Returns the listener bound to an address.
    pub(super) fn open(self, bound: SocketAddr) -> Listener {
        let bound_url = || format!("{}://{bound}", self.scheme());
        let base_url = self.public_url.clone().unwrap_or_else(bound_url);
        Listener {
            admission: Arc::new(Admission::new(&self.limits)),
            drain: Drain::default(),
            limits: self.limits,
            origins: self.origins,
            #[cfg(feature = "tls")]
            identity: self.identity,
            #[cfg(all(feature = "redis", feature = "tls"))]
            peer_roots: self.peer_roots,
            base_url,
        }
    }
}

impl Listener {
    /// Returns the address for the executor of a task.
    pub(super) fn url_of(&self, task: TaskId) -> String {
        format!("{}/executor/{task}", self.base_url)
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener")
            .field("base", &self.base_url)
            .field("limits", &self.limits)
            .field("crowd", &self.admission)
            .field("doors", &self.drain)
            .finish_non_exhaustive()
    }
}

impl Backend {
    /// Sets how many connections the backend holds, and how fast it accepts them.
    pub fn connection_limits(mut self, limits: ConnectionLimits) -> Self {
        self.listener.limits = limits;
        self
    }

    /// Accepts requests from web pages of these origins, such as `https://tools.example`; by default, none from a
    /// browser.
    pub fn origins<O: Into<String>>(mut self, origins: impl IntoIterator<Item = O>) -> Self {
        let origins = origins.into_iter().map(Into::into);
        self.listener.origins = origins.fold(OriginCheck::new(), OriginCheck::allow_origin);
        self
    }

    /// Sets the address at which executors reach the backend, such as `wss://tools.example`; by default, the one it
    /// listens on.
    ///
    /// For one behind a proxy, and for one whose certificate has a name. `ws://` or `wss://`, a host, and perhaps a port
    /// and a path; [`bind`](Self::bind) refuses what is something else.
    pub fn public_url(mut self, base_url: impl Into<String>) -> Self {
        let base_url = base_url.into();
        self.listener.public_url = Some(base_url.trim_end_matches('/').to_owned());
        self
    }

    /// Sets the address at which the other backends of [`shared`](Self::shared) reach this one and no other, such as
    /// `wss://backend-1.internal:7000`; by default, the one it listens on.
    ///
    /// They forward connections of executors to it, with their tokens: use `wss://` unless the network between the backends
    /// is private. [`bind`](Self::bind) refuses to share without it when it listens on every address, as `0.0.0.0`.
    #[cfg(feature = "redis")]
    #[cfg_attr(docsrs, doc(cfg(feature = "redis")))]
    pub fn peer_url(mut self, base_url: impl Into<String>) -> Self {
        let base_url = base_url.into();
        self.listener.peer_url = Some(base_url.trim_end_matches('/').to_owned());
        self
    }

    /// Sets the root certificates that authenticate the other backends, in PEM; by default those of the system.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Tls`] where they cannot be read.
    #[cfg(all(feature = "redis", feature = "tls"))]
    #[cfg_attr(docsrs, doc(cfg(all(feature = "redis", feature = "tls"))))]
    pub fn peer_roots(mut self, certificates: impl AsRef<[u8]>) -> Result<Self, RemoteError> {
        self.listener.peer_roots = Some(Roots::new(certificates.as_ref())?);
        Ok(self)
    }

    /// Enables TLS, with a certificate chain and the key of its first certificate, both in PEM; plain connections are
    /// refused.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Tls`] where they cannot be read, or do not belong together.
    #[cfg(feature = "tls")]
    #[cfg_attr(docsrs, doc(cfg(feature = "tls")))]
    pub fn tls(
        mut self,
        certificates: impl AsRef<[u8]>,
        key: impl AsRef<[u8]>,
    ) -> Result<Self, RemoteError> {
        self.listener.identity = Some(Identity::new(certificates.as_ref(), key.as_ref())?);
        Ok(self)
    }
}
