//! The same calls by hand: a `HashMap` of functions, derived `Args`, `from_str`, `to_string`.

use std::collections::HashMap;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use serde::Deserialize;

use crate::meter::Meter;
use crate::registries::TOOLS;
use crate::tools::{ADD, SEARCH, found};

pub(crate) type Function = fn(&str) -> Result<String, String>;
type Later<'a> = Pin<Box<dyn Future<Output = Result<String, String>> + Send + 'a>>;
type AsyncFunction = fn(&str) -> Later<'_>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    query: String,
    limit: Option<u32>,
    tags: Vec<String>,
}

/// Reads a derived struct of arguments.
pub(crate) fn read<'t, T: Deserialize<'t>>(text: &'t str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

pub(crate) fn text_of(value: &impl serde::Serialize) -> Result<String, String> {
    serde_json::to_string(value).map_err(|error| error.to_string())
}

fn call_add(text: &str) -> Result<String, String> {
    let Add { a, b } = read(text)?;
    text_of(&a.wrapping_add(b))
}

fn call_search(text: &str) -> Result<String, String> {
    let Search { query, limit, tags } = read(text)?;
    text_of(&found(query, limit, tags))
}

fn call_add_async(text: &str) -> Later<'_> {
    Box::pin(async move { call_add(text) })
}

fn call_search_async(text: &str) -> Later<'_> {
    Box::pin(async move { call_search(text) })
}

fn filled<F: Copy>(name: &str, function: F, filler: F) -> HashMap<String, F> {
    let mut tools: HashMap<String, F> = (1..TOOLS)
        .map(|index| (format!("tool_{index}"), filler))
        .collect();
    tools.insert(name.to_owned(), function);
    tools
}

/// One call by name: the name and the arguments as a model sends them.
pub(crate) fn measure(meter: &Meter, name: &str, text: &str, function: Function) -> f64 {
    let tools = filled(name, function, |_| Err(String::new()));
    meter.measure(
        1_000,
        || (name.to_owned(), text.to_owned()),
        |(name, text)| match tools.get(&name) {
            Some(function) => function(&text),
            None => Err("there is no such tool".to_owned()),
        },
    )
}

/// The same from a text that is somebody else's to a text.
fn whole(meter: &Meter, name: &str, text: &str, function: Function) -> f64 {
    let tools = filled(name, function, |_| Err(String::new()));
    meter.measure(
        1_000,
        || (),
        |()| {
            let (name, text) = (name.to_owned(), text.to_owned());
            match tools.get(&name) {
                Some(function) => function(&text),
                None => Err("there is no such tool".to_owned()),
            }
        },
    )
}

/// The same with both texts lent.
fn lent(meter: &Meter, name: &str, text: &str, function: Function) -> f64 {
    let tools = filled(name, function, |_| Err(String::new()));
    meter.measure(
        1_000,
        || (name, text),
        |(name, text)| match tools.get(name) {
            Some(function) => function(text),
            None => Err("there is no such tool".to_owned()),
        },
    )
}

fn measure_async(meter: &Meter, name: &str, text: &str, function: AsyncFunction) -> f64 {
    let tools: HashMap<String, AsyncFunction> =
        filled(name, function, |_| Box::pin(async { Err(String::new()) }));
    let call = async |name: String, text: String| match tools.get(&name) {
        Some(function) => function(&text).await,
        None => Err("there is no such tool".to_owned()),
    };
    meter.measure(
        1_000,
        || (name.to_owned(), text.to_owned()),
        |(name, text)| once(pin!(call(name, text))),
    )
}

/// Polls a future once, which is enough for every tool that is measured.
pub(crate) fn once<F: Future>(future: Pin<&mut F>) -> Option<F::Output> {
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

pub(crate) fn add(meter: &Meter) -> f64 {
    measure(meter, "add", ADD, call_add)
}

pub(crate) fn add_async(meter: &Meter) -> f64 {
    measure_async(meter, "add_async", ADD, call_add_async)
}

pub(crate) fn search(meter: &Meter) -> f64 {
    measure(meter, "search", SEARCH, call_search)
}

pub(crate) fn search_async(meter: &Meter) -> f64 {
    measure_async(meter, "search_async", SEARCH, call_search_async)
}

pub(crate) fn lent_add(meter: &Meter) -> f64 {
    lent(meter, "add", ADD, call_add)
}

pub(crate) fn lent_search(meter: &Meter) -> f64 {
    lent(meter, "search", SEARCH, call_search)
}

pub(crate) fn whole_add(meter: &Meter) -> f64 {
    whole(meter, "add", ADD, call_add)
}

pub(crate) fn whole_search(meter: &Meter) -> f64 {
    whole(meter, "search", SEARCH, call_search)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scale {
    value: i64,
    by: i64,
}

/// A call by name of a function that checks for itself.
pub(crate) fn scale<F>(meter: &Meter, text: &str, scale: F) -> f64
where
    F: Fn(i64, i64) -> Result<i64, String> + Copy,
{
    let tools: HashMap<String, F> = HashMap::from([("scale".to_owned(), scale)]);
    meter.measure(
        1_000,
        || ("scale".to_owned(), text.to_owned()),
        |(name, text)| {
            let scale = tools
                .get(&name)
                .ok_or_else(|| "there is no such tool".to_owned())?;
            let Scale { value, by } =
                serde_json::from_str(&text).map_err(|error| error.to_string())?;
            text_of(&scale(value, by)?)
        },
    )
}
