//! The database: `SQLite` or Postgres, and the audit, of which a tool writes a row in its own transaction.

use std::time::{Duration, Instant};

use contract_runtime::approval::Decision;
use contract_runtime::observe::{ObservedCall, Observer};
use contract_runtime::prelude::*;
use contract_runtime::{CallInfo, Effect, Status};
use serde_json::Value;
use sqlx::any::AnyPoolOptions;
use sqlx::{Any, AnyConnection, AnyPool, Result, Transaction};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS patient (id BIGINT PRIMARY KEY, name TEXT NOT NULL, born TEXT NOT NULL, phone TEXT NOT NULL, allergies TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS appointment (id BIGINT PRIMARY KEY, patient BIGINT NOT NULL, doctor TEXT NOT NULL, day TEXT NOT NULL, hour BIGINT NOT NULL);
    CREATE TABLE IF NOT EXISTS bill (id BIGINT PRIMARY KEY, patient BIGINT NOT NULL, cents BIGINT NOT NULL, paid BIGINT NOT NULL);
    CREATE TABLE IF NOT EXISTS prescription (id BIGINT PRIMARY KEY, patient BIGINT NOT NULL, drug TEXT NOT NULL, days BIGINT NOT NULL, doctor TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS audit (at TEXT NOT NULL, caller TEXT NOT NULL, tool TEXT NOT NULL, call TEXT NOT NULL, arguments TEXT NOT NULL,
        outcome TEXT NOT NULL, effect TEXT NOT NULL, error TEXT NOT NULL, microseconds BIGINT NOT NULL);";

/// A clinic, whose methods are the tools.
#[derive(Clone, Debug)]
pub struct Clinic {
    pool: AnyPool,
    /// Begins a transaction that no other can come in between.
    begin: &'static str,
}

impl Clinic {
    /// Opens the database at a URL, such as `sqlite://clinic.db?mode=rwc` or `postgres://localhost/clinic`, and makes its tables.
    ///
    /// # Errors
    ///
    /// Fails if the database cannot be reached or written.
    pub async fn open(url: &str) -> Result<Self> {
        sqlx::any::install_default_drivers();
        let pool = AnyPoolOptions::new().connect(url).await?;
        sqlx::raw_sql(SCHEMA).execute(&pool).await?;
        let begin = if url.starts_with("sqlite:") {
            "BEGIN IMMEDIATE"
        } else {
            "BEGIN ISOLATION LEVEL SERIALIZABLE"
        };
        Ok(Self { pool, begin })
    }

    /// Returns the connections to the database.
    #[must_use]
    pub fn pool(&self) -> &AnyPool {
        &self.pool
    }

    /// Begins the transaction of a call, with the arguments that the audit may hold.
    pub(crate) async fn begin(&self, context: &Context, arguments: Value) -> Result<Write> {
        let call = context.get::<CallInfo>();
        Ok(Write {
            tx: self.pool.begin_with(self.begin).await?,
            began: Instant::now(),
            row: AuditRow {
                caller: context.caller().unwrap_or_default().to_owned(),
                tool: call.map(|call| call.tool.clone()).unwrap_or_default(),
                call: call.map(|call| call.id.clone()).unwrap_or_default(),
                arguments: arguments.to_string(),
                outcome: Status::Ok.name(),
                effect: Effect::Complete,
                error: String::new(),
                duration: Duration::ZERO,
            },
        })
    }
}

/// A transaction that writes its row of the audit before it is committed: either both take effect or neither.
pub(crate) struct Write {
    tx: Transaction<'static, Any>,
    row: AuditRow,
    began: Instant,
}

impl Write {
    pub(crate) fn db(&mut self) -> &mut AnyConnection {
        &mut self.tx
    }

    pub(crate) async fn execute(&mut self, statement: &'static str, id: i64) -> Result<()> {
        sqlx::query(statement)
            .bind(id)
            .execute(self.db())
            .await
            .map(drop)
    }

    pub(crate) async fn commit(mut self) -> Result<()> {
        self.row.duration = self.began.elapsed();
        self.row.insert(&mut self.tx).await?;
        self.tx.commit().await
    }
}

struct AuditRow {
    caller: String,
    tool: String,
    call: String,
    arguments: String,
    /// How the call ended, or what a person decided about it.
    outcome: &'static str,
    effect: Effect,
    error: String,
    duration: Duration,
}

impl AuditRow {
    async fn insert(&self, db: &mut AnyConnection) -> Result<()> {
        sqlx::query("INSERT INTO audit VALUES (CAST(CURRENT_TIMESTAMP AS TEXT), $1, $2, $3, $4, $5, $6, $7, $8)")
            .bind(&*self.caller)
            .bind(&*self.tool)
            .bind(&*self.call)
            .bind(&*self.arguments)
            .bind(self.outcome)
            .bind(self.effect.name())
            .bind(&*self.error)
            .bind(i64::try_from(self.duration.as_micros()).unwrap_or(i64::MAX))
            .execute(db)
            .await
            .map(drop)
    }
}

/// Returns an observer of the calls that no tool has written down itself and of what people decided, and the task that writes them, which ends with the
/// registry that has the observer.
pub(crate) fn audit(clinic: &Clinic) -> (Observer, JoinHandle<()>) {
    // An observer must not wait, so the rows go through a channel.
    let (sender, mut rows) = mpsc::unbounded_channel::<AuditRow>();
    let observer = Observer::new().call_ended(move |observed, outcome, duration| {
        let ObservedCall { call, context, .. } = observed;
        let send = |caller: &str, word: &'static str, effect: Effect, error: &str| {
            let row = AuditRow {
                caller: caller.to_owned(),
                tool: call.name.clone(),
                call: call.id.clone(),
                arguments: observed.arguments.to_string(),
                outcome: word,
                effect,
                error: error.to_owned(),
                duration,
            };
            // The task ends after the last sender only.
            let _ = sender.send(row);
        };
        for decided in outcome.decisions() {
            let word = match decided.decision {
                Decision::Approved(_) => "approved",
                Decision::Denied(_) => "denied",
                _ => continue,
            };
            let by = decided.by.as_deref().unwrap_or_default();
            send(by, word, Effect::None, "");
        }
        // What took effect was written by the tool.
        if !outcome.is_ok() || outcome.effect() != Effect::Complete {
            let (caller, masked) = (context.caller().unwrap_or_default(), outcome.masked());
            let error = masked.error().unwrap_or_default();
            send(caller, outcome.status().name(), outcome.effect(), error);
        }
    });
    let pool = clinic.pool.clone();
    let writer = tokio::spawn(async move {
        while let Some(row) = rows.recv().await {
            let written = async { row.insert(&mut *pool.acquire().await?).await };
            if let Err(error) = written.await {
                eprintln!("a row of the audit is lost: {error}");
            }
        }
    });
    (observer, writer)
}
