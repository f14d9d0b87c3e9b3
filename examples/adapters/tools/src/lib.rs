//! The contracted tools of a front desk, which every adapter gives to a model: one with conditions before and after, one with a
//! struct and an enum, one that asks a person.

use std::sync::{Arc, Mutex, PoisonError};

use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

/// Book the meeting room for a part of one day.
#[tool]
#[pre(end > start, "the end ({end}) must come after the start ({start})")]
#[pre(end <= 24 * 60, "the booking must end on the same day")]
#[post(|minutes| start + *minutes == end)]
pub fn book_room(
    /// Minutes after midnight.
    start: u32,
    /// Minutes after midnight.
    end: u32,
) -> u32 {
    end - start
}

/// What is served.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Menu {
    /// Bread, cheese and fruit.
    Continental,
    /// Eggs and beans.
    English,
}

/// One breakfast.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Breakfast {
    /// What is served.
    pub menu: Menu,
    /// How many people eat.
    pub guests: u32,
}

/// Price a breakfast, in cents.
#[tool(read_only)]
#[pre(breakfast.guests <= 12, "the kitchen serves 12 guests at a time")]
pub fn price_breakfast(breakfast: Breakfast) -> u32 {
    let each = match breakfast.menu {
        Menu::Continental => 900,
        Menu::English => 1_400,
    };
    each * breakfast.guests
}

/// Refund a guest.
#[tool(destructive)]
#[pre(cents <= 10_000, "refunds above 100 EUR need approval", ask = "Refund {cents} cents to {guest}?")]
pub fn refund(guest: String, cents: u32, #[context] ledger: &Ledger) -> String {
    ledger.write(format!("{cents} cents to {guest}"));
    format!("refunded {cents} cents to {guest}")
}

/// What was paid back.
#[derive(Debug, Default)]
pub struct Ledger(Mutex<Vec<String>>);

impl Ledger {
    /// Returns the refunds, in order.
    pub fn lines(&self) -> Vec<String> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn write(&self, line: String) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(line);
    }
}

/// Returns the tools of the desk, which write refunds to a ledger.
///
/// # Errors
///
/// [`BuildError`] if a contract is wrong.
pub fn desk(ledger: &Arc<Ledger>) -> Result<Registry, BuildError> {
    Registry::builder()
        .tool(book_room)
        .tool(price_breakfast)
        .tool(refund)
        .context_arc(Arc::clone(ledger))
        .build()
}
