//! Connection options of the Redis store.

use std::fmt;
use std::time::Duration;

use redis::io::tcp::TcpSettings;
use redis::{Client, ConnectionInfo, IntoConnectionInfo, RedisError, TlsCertificates};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use crate::store::{StoreError, StoreLimits, limits};

/// How a [`RedisStore`](super::RedisStore) connects to its server, and how long it waits for it.
///
/// ```
/// use contract_remote::store::RedisOptions;
///
/// let mut options = RedisOptions::new("rediss://store.example:6379");
/// options.user = Some("backend".into());
/// options.password = std::env::var("REDIS_PASSWORD").ok();
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct RedisOptions {
    /// The address, `redis://host:port/database`, or `rediss://` for TLS; without user and password, which would appear
    /// in logs.
    pub address: String,
    /// The user, if the server has several.
    pub user: Option<String>,
    /// The password, which is shown nowhere.
    pub password: Option<String>,
    /// Certificates that are trusted for TLS, as PEM; by default those of the system.
    pub authorities: Option<Vec<u8>>,
    /// The prefix of every key: `contract` gives `contract:{task}:…`.
    pub prefix: String,
    /// The limits of the store.
    pub limits: StoreLimits,
    /// How long one attempt may take, connecting included.
    pub attempt: Duration,
    /// How long an operation is retried, at most 30 s: the server recognises repeated writes for a minute.
    pub patience: Duration,
    /// How many operations may wait at once; more are refused.
    pub waiting: usize,
    /// How many attempts must fail in a row, over at least [`breaker_span`](Self::breaker_span), before operations fail
    /// at once.
    pub breaker_failures: u32,
    /// How long attempts must have failed before operations fail at once; a restart of the server is shorter.
    pub breaker_span: Duration,
    /// How long operations fail at once, before one of them tries again for all.
    pub breaker_rest: Duration,
}

impl RedisOptions {
    /// Creates the default options for a server: 1 s an attempt and 6 s an operation, 1,024 operations at once; after 5
    /// attempts in a row that failed over 3 s, one attempt a second.
    #[must_use]
    pub fn new(address: impl Into<String>) -> Self {
        Self {
            address: address.into(),
            user: None,
            password: None,
            authorities: None,
            prefix: "contract".into(),
            limits: StoreLimits::default(),
            attempt: Duration::from_secs(1),
            patience: Duration::from_secs(6),
            waiting: 1024,
            breaker_failures: 5,
            breaker_span: Duration::from_secs(3),
            breaker_rest: Duration::from_secs(1),
        }
    }

    /// Host and port, for messages; without credentials.
    pub(super) fn client(&self) -> Result<(Client, String), StoreError> {
        if limits::name(&self.prefix).is_err() {
            return Err(wrong("prefix", "write a short name as in a key"));
        }
        if self.attempt.is_zero() || self.patience < self.attempt {
            return Err(wrong(
                "patience",
                "it must be at least as long as an attempt, and an attempt longer than zero",
            ));
        }
        if self.patience > Duration::from_secs(30) {
            return Err(wrong("patience", "30 s at most"));
        }
        if self.waiting == 0 {
            return Err(wrong("waiting", "at least one operation must be allowed"));
        }
        let info: ConnectionInfo = self.address.as_str().into_connection_info().map_err(|_| {
            // The message of the client could repeat a password.
            wrong(
                "address",
                "write `redis://host:port` or `rediss://host:port`",
            )
        })?;
        let given = info.redis_settings();
        if given.password().is_some() || given.username().is_some() {
            let reason = "it holds a user or a password; give them as `user` and `password`";
            return Err(wrong("address", reason));
        }
        let mut settings = given.clone();
        if let Some(user) = &self.user {
            settings = settings.set_username(user);
        }
        if let Some(password) = &self.password {
            settings = settings.set_password(password);
        }
        let info = info
            .set_redis_settings(settings)
            .set_tcp_settings(TcpSettings::default().set_nodelay(true));
        let shown = info.addr().to_string();
        let encrypted = self.address.starts_with("rediss:");
        if self.authorities.is_some() && !encrypted {
            return Err(wrong("authorities", "only `rediss://` is encrypted"));
        }
        if let Some(authorities) = &self.authorities
            && !certificates(authorities)
        {
            return Err(wrong("authorities", "write certificates as PEM"));
        }
        if encrypted {
            provider();
        }
        let client = match &self.authorities {
            Some(authorities) => Client::build_with_tls(
                info,
                TlsCertificates {
                    client_tls: None,
                    root_cert: Some(authorities.clone()),
                },
            ),
            None => Client::open(info),
        };
        let option = if self.authorities.is_some() {
            "authorities"
        } else {
            "address"
        };
        let refused = |error: RedisError| wrong(option, error.category());
        Ok((client.map_err(refused)?, shown))
    }
}

/// Installs a default crypto provider for the process: the client panics without one.
fn provider() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Another thread has installed one.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    }
}

/// Checks that there is a certificate: the client ignores anything else, and would then trust no server.
fn certificates(pem: &[u8]) -> bool {
    let mut found = CertificateDer::pem_slice_iter(pem).peekable();
    found.peek().is_some() && found.all(|one| one.is_ok())
}

fn wrong(option: &'static str, reason: &str) -> StoreError {
    StoreError::Options {
        option,
        reason: reason.to_owned(),
    }
}

impl fmt::Debug for RedisOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The address is omitted as well: it may contain a password.
        f.debug_struct("RedisOptions")
            .field("user", &self.user)
            .field("password", &self.password.as_ref().map(|_| "***"))
            .field("prefix", &self.prefix)
            .field("limits", &self.limits)
            .field("attempt", &self.attempt)
            .field("patience", &self.patience)
            .finish_non_exhaustive()
    }
}
