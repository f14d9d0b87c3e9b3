//! Leases of backends, as keys of the server that expire.
//!
//! | key | what |
//! |---|---|
//! | `PREFIX:{backend.NAME}:lease` | the process that runs as this backend |

#[cfg(test)]
mod tests;

use std::sync::LazyLock;
use std::time::Duration;

use redis::{Script, ScriptInvocation, cmd};

use super::RedisStore;
use super::client::Request;
use crate::store::leases::Leases;
use crate::store::{StoreError, StoreFuture, limits};

macro_rules! script {
    ($name:ident, $file:literal) => {
        static $name: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!($file)));
    };
}

script!(ANNOUNCE, "scripts/announce.lua");
script!(WITHDRAW, "scripts/withdraw.lua");

impl RedisStore {
    fn lease_key(&self, backend: &str) -> Result<String, StoreError> {
        limits::name(backend)?;
        let prefix = &self.client.options.prefix;
        Ok(format!("{prefix}:{{backend.{backend}}}:lease"))
    }

    async fn execute(&self, script: ScriptInvocation<'_>) -> Result<String, StoreError> {
        self.client.execute(&Request::Script(script), 0).await
    }
}

impl Leases for RedisStore {
    fn announce<'s>(
        &'s self,
        backend: &'s str,
        process: &'s str,
        time: Duration,
    ) -> StoreFuture<'s, bool> {
        Box::pin(async move {
            limits::name(process)?;
            let mut script = ANNOUNCE.key(self.lease_key(backend)?);
            // The server refuses a time of zero.
            let time = u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1);
            script.arg(process).arg(time);
            Ok(self.execute(script).await? == "held")
        })
    }

    fn withdraw<'s>(&'s self, backend: &'s str, process: &'s str) -> StoreFuture<'s, ()> {
        Box::pin(async move {
            limits::name(process)?;
            let mut script = WITHDRAW.key(self.lease_key(backend)?);
            script.arg(process);
            self.execute(script).await.map(drop)
        })
    }

    fn announced<'s>(&'s self, backend: &'s str) -> StoreFuture<'s, Option<String>> {
        Box::pin(async move {
            let mut command = cmd("GET");
            command.arg(self.lease_key(backend)?);
            self.client.execute(&Request::Command(command), 0).await
        })
    }
}
