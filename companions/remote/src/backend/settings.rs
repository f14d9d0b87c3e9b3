use std::sync::Arc;
use std::time::Duration;

use super::Backend;
use crate::registry::Manifest;
use crate::remote::safeguards::Safeguards;
#[cfg(feature = "redis")]
use crate::remote::store::RedisStore;
use crate::remote::store::Store;
#[cfg(feature = "redis")]
use crate::remote::store::relay::Relay;
use crate::remote::toolbelt::Limits;

/// What a side may ask for as the time between two signs of life.
pub(in crate::remote) const SHORTEST: Duration = Duration::from_millis(100);
pub(in crate::remote) const LONGEST: Duration = Duration::from_secs(3600);

/// What the tasks of a backend have in common.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) known: Manifest,
    pub(super) limits: Limits,
    /// In memory where there is none.
    pub(super) store: Option<Arc<dyn Store>>,
    pub(super) safeguards: Safeguards,
    pub(super) grace: Duration,
    pub(super) keep_alive: Duration,
    /// Who it is among several.
    pub(super) name: Option<Arc<str>>,
    #[cfg(feature = "redis")]
    pub(super) relay: Option<Relay>,
}

impl Settings {
    pub(super) fn new(known: Manifest) -> Self {
        Self {
            known,
            limits: Limits::default(),
            store: None,
            safeguards: Safeguards::default(),
            grace: Duration::from_secs(60),
            keep_alive: Duration::from_secs(15),
            name: None,
            #[cfg(feature = "redis")]
            relay: None,
        }
    }
}

impl Backend {
    /// What a handshake may bring.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.settings.limits = limits;
        self
    }

    /// Where tasks and calls are written down; without, in memory, so that they end with this process.
    pub fn store(mut self, store: Arc<dyn Store>) -> Self {
        self.settings.store = Some(store);
        self
    }

    /// Shares its work with the other backends of a store: an executor may dial in to any of them.
    ///
    /// The name is that of this backend and no other one, 1 to 64 characters as in [`Store`]; one that is restarted under
    /// its name goes on where it was.
    #[cfg(feature = "redis")]
    #[cfg_attr(docsrs, doc(cfg(feature = "redis")))]
    pub fn shared(mut self, store: &RedisStore, name: impl Into<Arc<str>>) -> Self {
        self.settings.relay = Some(Relay::new(store));
        self.settings.store = Some(Arc::new(store.clone()));
        self.settings.name = Some(name.into());
        self
    }

    /// What ends a run that goes nowhere.
    pub fn safeguards(mut self, safeguards: Safeguards) -> Self {
        self.settings.safeguards = safeguards;
        self
    }

    /// How long calls wait for an executor whose connection broke; one minute by default.
    ///
    /// Calls that were sent end as "unknown outcome" then, and those that were not, as not run.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.settings.grace = grace;
        self
    }

    /// How often each side makes sure that the other is there; 15 seconds by default.
    ///
    /// A peer that is silent for twice as long is taken for lost. From 100 ms to an hour; what is outside is moved there.
    pub fn keep_alive(mut self, keep_alive: Duration) -> Self {
        self.settings.keep_alive = keep_alive.clamp(SHORTEST, LONGEST);
        self
    }
}
