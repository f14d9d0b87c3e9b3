//! The settings of a backend.

use contract_manifest::Manifest;
use std::sync::Arc;
use std::time::Duration;

use super::Backend;
use crate::safeguards::Safeguards;
#[cfg(feature = "redis")]
use crate::store::RedisStore;
use crate::store::Store;
#[cfg(feature = "redis")]
use crate::store::leases::Leases;
use crate::toolbelt::Limits;

/// The range of the keep-alive interval.
pub(crate) const SHORTEST: Duration = Duration::from_millis(100);
pub(crate) const LONGEST: Duration = Duration::from_secs(3600);

/// The settings that the tasks of a backend share.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) known: Manifest,
    pub(super) limits: Limits,
    /// In memory if `None`.
    pub(super) store: Option<Arc<dyn Store>>,
    pub(super) safeguards: Safeguards,
    /// Tools about whose calls a person is asked here.
    pub(super) confirms: Vec<String>,
    pub(super) grace: Duration,
    pub(super) keep_alive: Duration,
    #[cfg(feature = "redis")]
    pub(super) sharing: Option<Sharing>,
}

/// How several backends know of each other.
#[cfg(feature = "redis")]
#[derive(Clone, Debug)]
pub(super) struct Sharing {
    pub(super) leases: Arc<dyn Leases>,
    /// The name of this backend among several.
    pub(super) name: Arc<str>,
}

impl Settings {
    pub(super) fn new(known: Manifest) -> Self {
        Self {
            known,
            limits: Limits::default(),
            store: None,
            safeguards: Safeguards::default(),
            confirms: Vec::new(),
            grace: Duration::from_secs(60),
            keep_alive: Duration::from_secs(15),
            #[cfg(feature = "redis")]
            sharing: None,
        }
    }
}

impl Backend {
    /// Sets the limits on a handshake.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.settings.limits = limits;
        self
    }

    /// Sets where tasks and calls are stored; by default in memory, so that they end with this process.
    pub fn store(mut self, store: Arc<dyn Store>) -> Self {
        self.settings.store = Some(store);
        self
    }

    /// Shares the work with the other backends of a store: an executor may connect to any of them.
    ///
    /// The name is that of this backend and no other one, 1 to 64 characters as in [`Store`]. The others reach it at its
    /// [`peer_url`](Self::peer_url).
    #[cfg(feature = "redis")]
    #[cfg_attr(docsrs, doc(cfg(feature = "redis")))]
    pub fn shared(mut self, store: &RedisStore, name: impl Into<Arc<str>>) -> Self {
        let store = Arc::new(store.clone());
        let (leases, name) = (Arc::clone(&store) as _, name.into());
        self.settings.sharing = Some(Sharing { leases, name });
        self.settings.store = Some(store);
        self
    }

    /// Sets the safeguards that end a run which makes no progress.
    pub fn safeguards(mut self, safeguards: Safeguards) -> Self {
        self.settings.safeguards = safeguards;
        self
    }

    /// Lets a person decide on every call of a tool, before it travels: the approver of the agent or of the call's context, as for
    /// [`Builder::confirm`](contract_runtime::Builder::confirm). May be given several times; executors without the tool are not
    /// concerned.
    pub fn confirm(mut self, tool: impl Into<String>) -> Self {
        self.settings.confirms.push(tool.into());
        self
    }

    /// Sets how long calls wait for an executor whose connection broke; the default is one minute.
    ///
    /// Calls that were sent end as "unknown outcome" then, and those that were not, as not run.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.settings.grace = grace;
        self
    }

    /// Sets how often each side checks that the other is alive; the default is 15 seconds.
    ///
    /// A peer that is silent for twice as long is taken for lost. From 100 ms to an hour; what is outside is moved there.
    pub fn keep_alive(mut self, keep_alive: Duration) -> Self {
        self.settings.keep_alive = keep_alive.clamp(SHORTEST, LONGEST);
        self
    }
}
