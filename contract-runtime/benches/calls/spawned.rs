//! Many async calls at once, each in a task of its own, beside tasks that do the same by hand.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use contract_runtime::prelude::*;
use serde::Deserialize;
use tokio::runtime::Runtime;
use tokio::task::{JoinHandle, spawn, yield_now};

use crate::by_hand::{read, text_of};
use crate::meter::Meter;
use crate::registries::built;
use crate::tools::ADD;

const CALLS: usize = 10_000;

/// Add two numbers, after every other call has begun.
#[tool]
async fn add_in_turn(a: i64, b: i64) -> i64 {
    yield_now().await;
    a.wrapping_add(b)
}

/// All of them, from the first task to the last result.
fn all<T: Send + 'static>(meter: &Meter, mut start: impl FnMut() -> JoinHandle<T>) -> f64 {
    meter.measure(1, runtime, |runtime| {
        let runtime = runtime?;
        let results = runtime.block_on(async {
            let tasks: Vec<_> = (0..CALLS).map(|_| start()).collect();
            let mut results = Vec::with_capacity(CALLS);
            for task in tasks {
                results.push(task.await.ok());
            }
            results
        });
        Some((runtime, results))
    })
}

fn runtime() -> Option<Runtime> {
    tokio::runtime::Builder::new_current_thread().build().ok()
}

pub(crate) fn calls(meter: &Meter) -> f64 {
    let registry = built(Registry::builder().tool(add_in_turn));
    all(meter, || {
        let registry = registry.clone();
        spawn(async move { registry.call(ToolCall::new("1", "add_in_turn", ADD)).await })
    })
}

type Later<'a> = Pin<Box<dyn Future<Output = Result<String, String>> + Send + 'a>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Add {
    a: i64,
    b: i64,
}

fn add_in_turn_by_hand(text: &str) -> Later<'_> {
    Box::pin(async move {
        let Add { a, b } = read(text)?;
        yield_now().await;
        text_of(&a.wrapping_add(b))
    })
}

pub(crate) fn by_hand(meter: &Meter) -> f64 {
    let tools: HashMap<&str, fn(&str) -> Later<'_>> =
        HashMap::from([("add_in_turn", add_in_turn_by_hand as _)]);
    let tools = Arc::new(tools);
    all(meter, || {
        let tools = Arc::clone(&tools);
        let (name, text) = ("add_in_turn".to_owned(), ADD.to_owned());
        spawn(async move {
            match tools.get(name.as_str()) {
                Some(function) => function(&text).await,
                None => Err("there is no such tool".to_owned()),
            }
        })
    })
}
