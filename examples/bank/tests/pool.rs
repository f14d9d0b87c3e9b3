//! Over several connections at once, and however a call ends, nothing is half done.

use std::time::Duration;

use bank::PooledBank;
use contract_runtime::prelude::*;
use contract_runtime::{CancellationToken, ConditionKind, Status};
use serde_json::json;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};
use sqlx::{Result, SqlitePool};
use tempfile::TempDir;
use tokio::time::timeout;

/// The bank in a folder that goes with its test.
async fn open() -> (TempDir, PooledBank) {
    let folder = tempfile::tempdir().unwrap();
    let bank = PooledBank::open(folder.path().join("bank.db"))
        .await
        .unwrap();
    (folder, bank)
}

fn pay_out(account: &str, cents: i64) -> ToolCall {
    let arguments = json!({"account": account, "cents": cents});
    ToolCall::new("1", "pay_out", arguments.to_string())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn ten_thousand_raced_payments_overdraw_nothing() {
    let (_folder, bank) = open().await;
    let registry = Registry::builder().with(bank.clone()).build().unwrap();
    let workers: Vec<_> = (0..8)
        .map(|_| {
            let registry = registry.clone();
            tokio::spawn(async move {
                let mut paid = 0;
                for round in 0..1_250_i64 {
                    let outcome = registry.call(pay_out("ada", 1 + round % 13)).await;
                    match outcome.violation() {
                        None => assert!(outcome.is_ok(), "{outcome:?}"),
                        Some(violation) => assert_eq!(violation.kind, ConditionKind::Pre),
                    }
                    paid += if outcome.is_ok() { 1 + round % 13 } else { 0 };
                }
                paid
            })
        })
        .collect();
    let mut paid = 0;
    for worker in workers {
        paid += worker.await.unwrap();
    }
    assert_eq!(bank.total().await.unwrap(), 62_000 - paid);
    let left = registry
        .call(("", "balance", json!({"account": "ada"})))
        .await;
    assert_eq!(left.value().unwrap(), 50_000 - paid);
    assert!(paid > 49_980, "{paid}");
}

/// The same account, with a body that can end in every way after it has written.
struct Faulty(SqlitePool);

#[tool]
impl Faulty {
    /// Pay out, and go wrong.
    #[tool]
    #[given(mut tx = self.0.begin_with("BEGIN IMMEDIATE").await?, then tx.commit().await?)]
    #[pre(cents != 13, "not thirteen")]
    #[post(|left| *left >= 0, "overdrawn")]
    async fn pay_out(&self, how: String, cents: i64) -> Result<i64> {
        let update = "UPDATE account SET cents = cents - ?1 WHERE name = 'ada' RETURNING cents";
        let left = sqlx::query_scalar(update)
            .bind(cents)
            .fetch_one(&mut *tx)
            .await?;
        match how.as_str() {
            "fail" => Err(sqlx::Error::RowNotFound),
            "panic" => panic!("after the write"),
            "wait" => std::future::pending().await,
            _ => Ok(left),
        }
    }
}

#[tokio::test]
async fn however_a_call_ends_nothing_is_half_done() {
    let (folder, bank) = open().await;
    let options = SqliteConnectOptions::new().filename(folder.path().join("bank.db"));
    // One connection: a transaction that is left open keeps the next call waiting.
    let pool = SqlitePoolOptions::new().max_connections(1);
    let pool = pool.connect_with(options).await.unwrap();
    let registry = Registry::builder().with(Faulty(pool)).build().unwrap();
    let call = |how: &str, cents: i64| {
        let arguments = json!({"how": how, "cents": cents});
        ToolCall::new("1", "pay_out", arguments.to_string())
    };
    let soon = Duration::from_millis(50);
    let stopped = CancellationToken::new();
    let stop = stopped.clone();
    tokio::spawn(async move {
        tokio::time::sleep(soon).await;
        stop.cancel();
    });
    for (how, cents, context, status) in [
        ("", 13, Context::new(), Status::Violation),
        ("fail", 1, Context::new(), Status::Failed),
        ("panic", 1, Context::new(), Status::Panicked),
        ("", 50_001, Context::new(), Status::Violation),
        ("wait", 1, Context::new().timeout(soon), Status::TimedOut),
        (
            "wait",
            1,
            Context::new().cancellation(stopped),
            Status::Cancelled,
        ),
    ] {
        let outcome = registry.call(call(how, cents)).context(context).await;
        assert_eq!(outcome.status(), status, "{how} {cents}: {outcome:?}");
        assert_eq!(bank.total().await.unwrap(), 62_000, "{how} {cents}");
    }
    let dropped = registry.call(call("wait", 1));
    timeout(soon, dropped).await.unwrap_err();
    let paid = registry.call(call("", 1)).await;
    assert_eq!(paid.output(), Some("49999"), "{paid:?}");
    assert_eq!(bank.total().await.unwrap(), 61_999);
}
