//! What is looked up once: absence, errors, order, guards, and what runs when every promise was kept.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use contract_runtime::prelude::*;
use contract_runtime::{Blame, ConditionKind, Dialect, PolicyOrigin, Status, catch, catch_async};
use serde_json::json;

#[derive(Clone, Debug, PartialEq)]
struct Order {
    status: &'static str,
    items: Vec<&'static str>,
}

/// Orders, and how often one was looked up.
#[derive(Default)]
struct Shop {
    orders: Mutex<BTreeMap<String, Order>>,
    looked_up: AtomicU32,
    closed: bool,
}

#[derive(Debug, PartialEq)]
struct Down;

impl std::fmt::Display for Down {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the database is down")
    }
}

impl Shop {
    fn new() -> Self {
        let order = |status, items: &[&'static str]| Order {
            status,
            items: items.to_vec(),
        };
        Self {
            orders: Mutex::new(BTreeMap::from([
                ("W1".to_owned(), order("pending", &["lamp", "chair"])),
                ("W2".to_owned(), order("delivered", &["desk"])),
            ])),
            ..Self::default()
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Order>> {
        self.orders.lock().expect("no violation poisons the lock")
    }

    fn order(&self, id: &str) -> Option<Order> {
        self.looked_up.fetch_add(1, Ordering::Relaxed);
        self.lock().get(id).cloned()
    }

    fn found(&self, id: &str) -> Result<Order, String> {
        self.order(id)
            .ok_or_else(|| format!("no order has the number {id}"))
    }

    fn fetched(&self, id: &str) -> Result<Order, Down> {
        self.order(id).ok_or(Down)
    }
}

fn available(order: &Order, item: &str) -> Result<(), String> {
    if order.items.contains(&item) {
        return Ok(());
    }
    Err(format!("{item} is not among {}", order.items.join(" and ")))
}

#[tool]
impl Shop {
    /// Cancel an order.
    #[tool]
    #[pre(!self.closed, "the shop is closed")]
    #[given(order = self.order(&order_id), else "there is no order {order_id}")]
    #[pre(order.status == "pending", "{order_id} is {}; only a pending order can be cancelled", order.status)]
    #[post(|left| *left + 1 == old(order.items.len()) + 1)]
    fn cancel(
        &self,
        /// The number of the order.
        order_id: String,
    ) -> usize {
        self.lock().remove(&order_id);
        order.items.len()
    }

    /// Take an item out of an order.
    #[tool]
    #[given(mut order = self.found(order_id), else)]
    #[pre(available(&order, item))]
    #[given(count = order.items.len())]
    #[post(|left| left.len() + 1 == count)]
    fn take_out(
        &self,
        /// The number of the order.
        order_id: &str,
        /// The item.
        item: &str,
    ) -> Vec<&'static str> {
        order.items.retain(|one| *one != item);
        order.items
    }

    /// Read the status of an order.
    #[tool(read_only)]
    #[given(order = self.fetched(order_id)?)]
    #[pre(order.status != "secret", "nobody may know")]
    fn status(
        &self,
        /// The number of the order.
        order_id: &str,
    ) -> Result<&'static str, Down> {
        Ok(order.status)
    }
}

fn shop() -> (Arc<Shop>, Registry) {
    let shop = Arc::new(Shop::new());
    let registry = Registry::builder().with(Arc::clone(&shop)).build().unwrap();
    (shop, registry)
}

fn call(registry: &Registry, name: &str, arguments: &serde_json::Value) -> Outcome {
    registry
        .call(ToolCall::new("1", name, arguments.to_string()))
        .blocking()
}

#[test]
fn a_value_is_looked_up_once_and_seen_everywhere() {
    let (shop, registry) = shop();
    let outcome = call(&registry, "cancel", &json!({"order_id": "W1"}));
    assert_eq!(outcome.output(), Some("2"), "{:?}", outcome.error());
    assert_eq!(shop.looked_up.load(Ordering::Relaxed), 1);
    assert!(shop.lock().get("W1").is_none());
}

#[test]
fn absence_ends_the_call_whatever_the_policy() {
    let (_, registry) = shop();
    let outcome = call(&registry, "cancel", &json!({"order_id": "W9"}));
    assert_eq!(outcome.error(), Some("there is no order W9"));
    let violation = outcome.violation().unwrap();
    assert_eq!(violation.kind, ConditionKind::Given);
    assert_eq!(violation.contract, "cancel.given[3]");
    assert_eq!(violation.predicate, "order = self.order(&order_id)");
    assert_eq!(violation.blame, Blame::Model);
    assert_eq!(
        violation.values,
        json!({"order_id": "W9"})
            .as_object()
            .unwrap()
            .clone()
            .into()
    );
    assert_eq!(
        violation.masked().message.as_deref(),
        Some("there is no order {order_id}")
    );

    for policy in [Policy::Ignore, Policy::Observe] {
        let registry = Registry::builder()
            .with(Shop::new())
            .override_policy("cancel", policy)
            .build()
            .unwrap();
        let outcome = call(&registry, "cancel", &json!({"order_id": "W9"}));
        let violation = outcome.violation().unwrap();
        assert_eq!(
            (violation.policy, violation.origin),
            (Policy::Enforce, PolicyOrigin::Condition)
        );
    }
}

#[test]
fn a_message_shows_what_was_found() {
    let (_, registry) = shop();
    let outcome = call(&registry, "cancel", &json!({"order_id": "W2"}));
    assert_eq!(
        outcome.error(),
        Some("W2 is delivered; only a pending order can be cancelled")
    );
    let violation = outcome.violation().unwrap();
    assert_eq!(
        violation.masked().message.as_deref(),
        Some("{order_id} is {}; only a pending order can be cancelled"),
        "a log shows no value"
    );
}

#[test]
fn an_error_is_the_sentence() {
    let (_, registry) = shop();
    let outcome = call(
        &registry,
        "take_out",
        &json!({"order_id": "W9", "item": "lamp"}),
    );
    assert_eq!(outcome.error(), Some("no order has the number W9"));
    let outcome = call(
        &registry,
        "take_out",
        &json!({"order_id": "W1", "item": "desk"}),
    );
    assert_eq!(outcome.error(), Some("desk is not among lamp and chair"));
    let violation = outcome.violation().unwrap();
    assert_eq!(violation.contract, "take_out.pre[0]");
    assert_eq!(violation.masked().message, None, "it may hold any value");
    let outcome = call(
        &registry,
        "take_out",
        &json!({"order_id": "W1", "item": "lamp"}),
    );
    assert_eq!(outcome.output(), Some(r#"["chair"]"#));
}

#[test]
fn an_error_of_the_function_fails_the_call() {
    let (_, registry) = shop();
    let outcome = call(&registry, "status", &json!({"order_id": "W9"}));
    assert_eq!(outcome.status(), Status::Failed);
    assert_eq!(outcome.error(), Some("the database is down"));
    let outcome = call(&registry, "status", &json!({"order_id": "W1"}));
    assert_eq!(outcome.output(), Some("pending"));
    assert_eq!(Shop::new().status("W9"), Err(Down));
    assert_eq!(Shop::new().status("W2"), Ok("delivered"));
}

#[test]
fn nothing_is_looked_up_behind_a_broken_condition() {
    let shop = Arc::new(Shop {
        closed: true,
        ..Shop::new()
    });
    let registry = Registry::builder().with(Arc::clone(&shop)).build().unwrap();
    let outcome = call(&registry, "cancel", &json!({"order_id": "W9"}));
    assert_eq!(outcome.error(), Some("the shop is closed"));
    assert_eq!(shop.looked_up.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_check_looks_up_too() {
    let (shop, registry) = shop();
    let check = |id: &str| ToolCall::new("1", "cancel", json!({"order_id": id}).to_string());
    assert!(registry.check(check("W1")).await.is_ok());
    let refused = registry.check(check("W9")).await;
    assert_eq!(refused.error(), Some("there is no order W9"));
    assert_eq!(shop.looked_up.load(Ordering::Relaxed), 2);
    assert!(shop.lock().contains_key("W1"), "the body did not run");
}

#[test]
fn models_read_the_sentence_as_a_possible_refusal() {
    let (_, registry) = shop();
    let export = registry.export(Dialect::Neutral);
    assert_eq!(
        export[0]["description"],
        "Cancel an order.

Possible refusals:
- \"the shop is closed\"
- \"`order_id` is ...; only a pending order can be cancelled\"
- \"there is no order `order_id`\""
    );
}

/// A balance that is checked and changed under one lock.
struct Account(tokio::sync::Mutex<i64>);

#[tool]
impl Account {
    /// Pay money out.
    #[tool]
    #[given(mut balance = self.0.lock().await)]
    #[pre(cents <= *balance, "only {} cents are left", *balance)]
    #[post(|left| *left >= 0)]
    async fn pay_out(
        &self,
        /// How much.
        cents: i64,
    ) -> i64 {
        let before = *balance;
        tokio::task::yield_now().await;
        *balance = before - cents;
        *balance
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guard_spans_check_and_act() {
    for _ in 0..200 {
        let account = Arc::new(Account(tokio::sync::Mutex::new(500)));
        let registry = Registry::builder()
            .with(Arc::clone(&account))
            .build()
            .unwrap();
        let pay = || {
            let registry = registry.clone();
            tokio::spawn(async move { registry.call(("", "pay_out", json!({"cents": 400}))).await })
        };
        let (one, other) = (pay(), pay());
        let outcomes = [one.await.unwrap(), other.await.unwrap()];
        let paid = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
        assert_eq!(paid, 1, "{outcomes:?}");
        let refused = outcomes.iter().find(|outcome| !outcome.is_ok()).unwrap();
        assert_eq!(
            refused.error(),
            Some("only 100 cents are left, got cents = 400")
        );
        assert_eq!(*account.0.lock().await, 100);
    }
    let account = Account(tokio::sync::Mutex::new(500));
    let broken = catch_async(account.pay_out(600)).await.unwrap_err();
    assert_eq!(broken.blame, Blame::Caller);
    assert_eq!(*account.0.try_lock().unwrap(), 500);
}

/// What is written and not committed is gone.
struct Transaction<'d> {
    database: &'d Database,
    written: Vec<i64>,
}

#[derive(Default)]
struct Database {
    rows: Mutex<Vec<i64>>,
    rolled_back: AtomicU32,
    is_down: bool,
}

impl Database {
    fn transaction(&self) -> Result<Transaction<'_>, Down> {
        Ok(Transaction {
            database: self,
            written: Vec::new(),
        })
    }

    fn rows(&self) -> Vec<i64> {
        self.rows
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Transaction<'_> {
    fn commit(mut self) -> Result<(), Down> {
        if self.database.is_down {
            return Err(Down);
        }
        let written = std::mem::take(&mut self.written);
        let mut rows = self
            .database
            .rows
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        rows.extend(written);
        Ok(())
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if !self.written.is_empty() {
            self.database.rolled_back.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[tool]
impl Database {
    /// Write a row.
    #[tool]
    #[given(mut tx = self.transaction()?, then tx.commit()?)]
    #[pre(row != 1, "one is refused")]
    #[post(|written| *written != 2, "two breaks its promise")]
    fn write(
        &self,
        /// The row.
        row: i64,
    ) -> Result<i64, Down> {
        tx.written.push(row);
        match row {
            3 => Err(Down),
            4 => panic!("four"),
            _ => Ok(row),
        }
    }

    /// Write a row, and wait.
    #[tool(timeout = "20ms")]
    #[given(mut tx = self.transaction()?, then tx.commit()?)]
    async fn write_slowly(
        &self,
        /// The row.
        row: i64,
    ) -> Result<i64, Down> {
        tx.written.push(row);
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_broken_promise_leaves_nothing_behind() {
    let cases = [
        ("write", 0, Status::Ok, 0),
        ("write", 1, Status::Violation, 0),
        ("write", 2, Status::Violation, 1),
        ("write", 3, Status::Failed, 1),
        ("write", 4, Status::Panicked, 1),
        ("write_slowly", 5, Status::TimedOut, 1),
    ];
    for (tool, row, status, rolled_back) in cases {
        let database = Arc::new(Database::default());
        let registry = Registry::builder()
            .with(Arc::clone(&database))
            .build()
            .unwrap();
        let outcome = registry.call(("", tool, json!({ "row": row }))).await;
        assert_eq!(outcome.status(), status, "{row}: {:?}", outcome.error());
        let rows = if status == Status::Ok {
            vec![row]
        } else {
            vec![]
        };
        assert_eq!(database.rows(), rows, "{row}");
        assert_eq!(
            database.rolled_back.load(Ordering::Relaxed),
            rolled_back,
            "{row}"
        );
    }
    let down = Database {
        is_down: true,
        ..Database::default()
    };
    let registry = Registry::builder().with(down).build().unwrap();
    let outcome = registry.call(("", "write", json!({"row": 7}))).await;
    assert_eq!(outcome.status(), Status::Failed);
    assert_eq!(outcome.error(), Some("the database is down"));
}

#[tokio::test]
async fn a_call_that_is_dropped_leaves_nothing_behind() {
    let database = Arc::new(Database::default());
    let registry = Registry::builder()
        .with(Arc::clone(&database))
        .build()
        .unwrap();
    tokio::select! {
        biased;
        outcome = registry.call(("", "write_slowly", json!({ "row": 5 }))) => panic!("{outcome:?}"),
        () = tokio::task::yield_now() => {}
    }
    assert_eq!(database.rolled_back.load(Ordering::Relaxed), 1);
    assert_eq!(database.rows(), [0; 0]);
}

/// Write a row, on a thread that nobody can stop.
#[tool(blocking, timeout = "200ms")]
#[given(mut tx = database.transaction()?, then tx.commit()?)]
fn write_blocking(
    /// The row.
    row: i64,
    #[context] database: &Database,
    #[context] steps: &(Sender<()>, Mutex<Receiver<()>>),
) -> Result<(), Down> {
    tx.written.push(row);
    let _ = steps.0.send(());
    // Until the test has seen the outcome.
    let _ = steps
        .1
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .recv();
    Ok(())
}

#[tokio::test]
async fn a_blocking_call_that_nobody_waits_for_leaves_nothing_behind() {
    let database = Arc::new(Database::default());
    for (dropped, rolled_back) in [(false, 1), (true, 2)] {
        let ((began, has_begun), (finish, end)) = (channel::<()>(), channel());
        let builder = Registry::builder().tool(write_blocking);
        let builder = builder.context_arc(Arc::clone(&database));
        let registry = builder.context((began, Mutex::new(end))).build().unwrap();
        let call = async move {
            registry
                .call(("", "write_blocking", json!({ "row": 5 })))
                .await
        };
        let call = tokio::spawn(call);
        while has_begun.try_recv().is_err() {
            tokio::task::yield_now().await;
        }
        if dropped {
            call.abort();
            assert!(call.await.unwrap_err().is_cancelled());
        } else {
            assert_eq!(call.await.unwrap().status(), Status::TimedOut);
        }
        finish.send(()).unwrap();
        while database.rolled_back.load(Ordering::Relaxed) < rolled_back {
            assert_eq!(database.rows(), [0; 0]);
            tokio::task::yield_now().await;
        }
    }
}

static TILL: Mutex<u32> = Mutex::new(5);

#[given(mut till = TILL.lock().unwrap_or_else(PoisonError::into_inner))]
#[pre(coins <= *till, "only {till} coins")]
#[given(half = coins.checked_div(2), else "impossible")]
fn take_coins(coins: u32) -> u32 {
    *till -= coins;
    half
}

#[test]
fn a_violation_poisons_no_lock() {
    assert_eq!(take_coins(2), 1);
    let broken = catch(|| take_coins(9)).unwrap_err();
    assert_eq!(broken.message.as_deref(), Some("only 3 coins"));
    assert!(!TILL.is_poisoned());
    let unwound = std::panic::catch_unwind(|| take_coins(9));
    assert!(unwound.is_err() && !TILL.is_poisoned());
}
