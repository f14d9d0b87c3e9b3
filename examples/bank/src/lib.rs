//! A bank on `SQLite`: each call looks up, checks and writes in one transaction, asks a person about large sums, and closes no
//! account that was not looked at.

mod once;
mod pool;

use std::sync::{Mutex, PoisonError};

use contract_runtime::Builder;
use contract_runtime::prelude::*;
use rusqlite::{Connection, OptionalExtension as _, Result};

pub use once::Till;
pub use pool::PooledBank;

/// Accounts, as rows of a database.
#[derive(Debug)]
pub struct Bank(Mutex<Connection>);

#[tool]
impl Bank {
    /// Say how many cents are in an account.
    #[tool(read_only)]
    #[given(db = self.lock())]
    #[given(cents = cents_of(&db, account)?, else "there is no account {account}")]
    fn balance(
        &self,
        /// The name of the account.
        #[arg(example = "ada")]
        account: &str,
    ) -> Result<i64> {
        Ok(cents)
    }

    /// Move money from one account to another, and say how many cents are left in the first.
    #[tool(destructive)]
    #[verify(run, setup = on_paper)]
    #[pre(from != to, "money moves between two accounts")]
    #[pre(cents > 0)]
    #[given(mut db = self.lock())]
    #[given(tx = db.transaction()?, then tx.commit()?)]
    #[given(balance = cents_of(&tx, from)?, else "there is no account {from}")]
    #[given(_credit = cents_of(&tx, to)?, else "there is no account {to}")]
    #[pre(cents <= balance, "{from} has only {balance} cents")]
    #[pre(cents <= 40_000, "more than 400 EUR need approval", ask = "Move {cents} of {balance} cents from {from} to {to}?")]
    #[post(|left| *left == balance - cents)]
    #[post(|_| total(&tx) == old(total(&tx)), "money appeared or vanished")]
    fn transfer(
        &self,
        /// The account that pays.
        #[arg(example = "ada")]
        from: &str,
        /// The account that is paid.
        #[arg(example = "ben")]
        to: &str,
        /// How many cents.
        #[arg(example = 100)]
        cents: i64,
    ) -> Result<i64> {
        let add = "UPDATE account SET cents = cents + ?1 WHERE name = ?2";
        tx.execute(add, (-cents, from))?;
        tx.execute(add, (cents, to))?;
        Ok(balance - cents)
    }

    /// Close an empty account.
    #[tool(destructive)]
    #[verify(run, setup = on_paper)]
    #[pre(history().with("account", account).seen(Bank::balance), "read the balance of {account} first")]
    #[given(mut db = self.lock())]
    #[given(tx = db.transaction()?, then tx.commit()?)]
    #[given(balance = cents_of(&tx, account)?, else "there is no account {account}")]
    #[pre(balance == 0, "{account} still has {balance} cents")]
    #[post(|()| cents_of(&tx, account) == Ok(None))]
    fn close(
        &self,
        /// The name of the account.
        #[arg(example = "cleo")]
        account: &str,
    ) -> Result<()> {
        tx.execute("DELETE FROM account WHERE name = ?1", [account])?;
        Ok(())
    }
}

impl Bank {
    /// Opens a bank in memory, with three accounts.
    ///
    /// # Errors
    ///
    /// Fails if the database cannot be made.
    ///
    /// ```
    /// let bank = bank::Bank::in_memory()?;
    /// # Ok::<(), rusqlite::Error>(())
    /// ```
    pub fn in_memory() -> Result<Self> {
        let db = Connection::open_in_memory()?;
        db.execute_batch(
            "CREATE TABLE account (name TEXT PRIMARY KEY, cents INTEGER NOT NULL);
             INSERT INTO account VALUES ('ada', 50000), ('ben', 12000), ('cleo', 0);",
        )?;
        Ok(Self(Mutex::new(db)))
    }

    /// Returns the sum of all accounts, in cents.
    ///
    /// # Errors
    ///
    /// Fails if the database cannot be read.
    pub fn total(&self) -> Result<i64> {
        total(&self.lock())
    }

    /// A connection that a panic has left is sound: its transaction was rolled back.
    fn lock(&self) -> std::sync::MutexGuard<'_, Connection> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A bank of its own for each test of a contract.
fn on_paper(builder: Builder) -> Builder {
    match Bank::in_memory() {
        Ok(bank) => builder.with(bank),
        Err(_) => builder,
    }
}

fn cents_of(db: &Connection, account: &str) -> Result<Option<i64>> {
    let select = "SELECT cents FROM account WHERE name = ?1";
    db.query_row(select, [account], |row| row.get(0)).optional()
}

fn total(db: &Connection) -> Result<i64> {
    db.query_row("SELECT SUM(cents) FROM account", (), |row| row.get(0))
}
