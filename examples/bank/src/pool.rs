//! The bank over a pool of connections, for async programs: the lookups, the checks and the writes are one transaction here too.

use std::path::Path;
use std::time::Duration;

use contract_runtime::prelude::*;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{Result, SqliteConnection, SqlitePool};

/// Accounts, as rows of a database with several connections.
#[derive(Clone, Debug)]
pub struct PooledBank(SqlitePool);

#[tool]
impl PooledBank {
    /// Say how many cents are in an account.
    #[tool(read_only)]
    #[given(mut db = self.0.acquire().await?)]
    #[given(cents = cents_of(&mut db, account).await?, else "there is no account {account}")]
    async fn balance(
        &self,
        /// The name of the account.
        account: &str,
    ) -> Result<i64> {
        Ok(cents)
    }

    /// Pay money out of an account, and say how many cents are left.
    #[tool(destructive)]
    #[pre(cents > 0)]
    #[given(mut tx = self.0.begin_with("BEGIN IMMEDIATE").await?, then tx.commit().await?)]
    #[given(balance = cents_of(&mut tx, account).await?, else "there is no account {account}")]
    #[pre(cents <= balance, "{account} has only {balance} cents")]
    #[post(|left| *left == balance - cents)]
    async fn pay_out(
        &self,
        /// The name of the account.
        account: &str,
        /// How many cents.
        cents: i64,
    ) -> Result<i64> {
        let update = "UPDATE account SET cents = cents - ?1 WHERE name = ?2 RETURNING cents";
        sqlx::query_scalar(update)
            .bind(cents)
            .bind(account)
            .fetch_one(&mut *tx)
            .await
    }
}

impl PooledBank {
    /// Opens the bank in a file, with three accounts if it is new.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be opened as a database.
    ///
    /// ```
    /// # #[tokio::main] async fn main() -> sqlx::Result<()> {
    /// # let path = std::env::temp_dir().join(format!("bank-{}.db", std::process::id()));
    /// let bank = bank::PooledBank::open(&path).await?;
    /// assert_eq!(bank.total().await?, 62_000);
    /// # drop(bank);
    /// # std::fs::remove_file(path).unwrap();
    /// # Ok(()) }
    /// ```
    pub async fn open(path: impl AsRef<Path>) -> Result<Self> {
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Normal)
            .busy_timeout(Duration::from_mins(1));
        let pool = SqlitePoolOptions::new().connect_with(options).await?;
        sqlx::raw_sql(
            "CREATE TABLE IF NOT EXISTS account (name TEXT PRIMARY KEY, cents INTEGER NOT NULL);
             INSERT OR IGNORE INTO account VALUES ('ada', 50000), ('ben', 12000), ('cleo', 0);",
        )
        .execute(&pool)
        .await?;
        Ok(Self(pool))
    }

    /// Returns the sum of all accounts, in cents.
    ///
    /// # Errors
    ///
    /// Fails if the database cannot be read.
    pub async fn total(&self) -> Result<i64> {
        sqlx::query_scalar("SELECT SUM(cents) FROM account")
            .fetch_one(&self.0)
            .await
    }
}

async fn cents_of(db: &mut SqliteConnection, account: &str) -> Result<Option<i64>> {
    let select = "SELECT cents FROM account WHERE name = ?1";
    sqlx::query_scalar(select)
        .bind(account)
        .fetch_optional(db)
        .await
}
