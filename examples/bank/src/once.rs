//! Payments that are made once, however often a call is repeated under its key.

use std::sync::{Mutex, PoisonError};

use contract_runtime::prelude::*;
use rusqlite::{Connection, Result};
use serde_json::json;

/// A till that keeps a record of its calls in the database of its payments.
#[derive(Debug)]
pub struct Till(Mutex<Connection>);

#[tool]
impl Till {
    /// Pay somebody, and say which number the payment has.
    #[tool(destructive)]
    #[pre(cents > 0)]
    #[given(mut db = self.0.lock().unwrap_or_else(PoisonError::into_inner))]
    #[given(tx = db.transaction()?, then tx.commit()?)]
    #[given(earlier = earlier(&tx, key, &json!([payee, cents]).to_string())?, else, requires = "a repeated call has its earlier arguments")]
    fn pay(
        &self,
        /// Who is paid.
        payee: &str,
        /// How many cents.
        cents: i64,
        #[context] key: &IdempotencyKey,
    ) -> Result<i64> {
        if let Some(payment) = earlier {
            return Ok(payment);
        }
        tx.execute("INSERT INTO payment VALUES (?1, ?2)", (payee, cents))?;
        let payment = tx.last_insert_rowid();
        let once = "UPDATE once SET result = ?2 WHERE key = ?1";
        tx.execute(once, (key.as_str(), payment))?;
        Ok(payment)
    }
}

/// Records a call under its key, or gives the result of the call that was made under it; the error says that it is another call.
fn earlier(
    tx: &Connection,
    key: &IdempotencyKey,
    arguments: &str,
) -> Result<std::result::Result<Option<i64>, &'static str>> {
    let call = (key.as_str(), arguments);
    tx.execute("INSERT OR IGNORE INTO once VALUES (?1, ?2, NULL)", call)?;
    let select = "SELECT arguments = ?2, result FROM once WHERE key = ?1";
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let (is_same, result) = tx.query_row(select, call, row)?;
    let other = "a call with other arguments was made under this key";
    Ok(if is_same { Ok(result) } else { Err(other) })
}

impl Till {
    /// Opens the till in a database, with no payments if it is new.
    ///
    /// # Errors
    ///
    /// Fails if the tables cannot be made.
    pub fn new(db: Connection) -> Result<Self> {
        db.execute_batch(
            "CREATE TABLE IF NOT EXISTS payment (payee TEXT NOT NULL, cents INTEGER NOT NULL);
             CREATE TABLE IF NOT EXISTS once (key TEXT PRIMARY KEY, arguments TEXT NOT NULL, result INTEGER);",
        )?;
        Ok(Self(Mutex::new(db)))
    }
}
