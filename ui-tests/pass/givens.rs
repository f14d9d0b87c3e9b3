//! What is given has the names, types and places of an author's own variables.

#![deny(warnings)]
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use contract_runtime::prelude::*;
use contract_runtime::{catch, catch_async, given as with, pre as requires, tool as offer};
use ui_attributes::{authorise, wrap};

static AUTHORISED: AtomicU32 = AtomicU32::new(0);

fn authorise() {
    AUTHORISED.fetch_add(1, Ordering::Relaxed);
}

fn enter() {}

fn leave() {}

/// Names that generated code might have taken.
#[tool]
#[given(frame = number.checked_add(1), else "too much")]
#[given(out = Some(frame), else "nothing")]
#[given(details = Ok::<_, String>(out), else)]
#[given(found = Some(details), else "no {frame}")]
#[given(why = found)]
#[given(stop = why)]
#[given(call = stop, then assert!(call > 0))]
#[pre(frame == out && call > 0, "{} of {number}", why)]
#[post(|judged| *judged == stop, "{judged} {}", old(found))]
fn names(
    /// A number.
    number: u32,
) -> u32 {
    call
}

/// Other attributes act on the body, which sees what is given.
#[offer(read_only)]
#[with(double = number.checked_mul(2), else "too much")]
#[authorise]
#[requires(double > 0)]
#[wrap]
fn attributes(
    /// A number.
    number: u32,
) -> u32 {
    double
}

macro_rules! lookup {
    ($name:ident, $value:expr, $missing:literal) => {
        /// Made by a macro.
        #[tool]
        #[given(found = $value(text), else $missing)]
        fn $name(
            /// A text.
            text: &str,
        ) -> char {
            found
        }
    };
}

lookup!(first, |text: &str| text.chars().next(), "the text is empty");

/// A list of things.
struct Store<T>(Mutex<BTreeMap<String, T>>);

#[tool]
impl<T: Clone + serde::Serialize + schemars::JsonSchema + Send + Sync + 'static> Store<T> {
    /// Read a thing.
    #[tool(read_only)]
    #[inline]
    #[given(things = self.0.lock(), else)]
    #[given(thing = things.get(key), else "there is no {key}")]
    fn get(
        &self,
        /// Its name.
        key: &str,
    ) -> T {
        thing.clone()
    }

    /// Read a thing, later.
    #[tool(read_only)]
    #[given(mut name = async { key.clone() }.await)]
    #[given(thing = self.found(&name)?)]
    async fn later(
        &self,
        /// Its name.
        mut key: String,
    ) -> Result<(String, T), std::fmt::Error> {
        name.push('!');
        key.push('?');
        std::future::ready(()).await;
        Ok((name + &key, thing))
    }

    fn found(&self, key: &str) -> Result<T, std::fmt::Error> {
        self.0
            .lock()
            .ok()
            .and_then(|things| things.get(key).cloned())
            .ok_or(std::fmt::Error)
    }
}

/// A condition and a given alone make a contracted function, with whatever signature.
struct Counter {
    count: u32,
}

impl Counter {
    #[given(next = self.count.checked_add(by), else "overflow")]
    #[post(|count| *count == next)]
    fn add(&mut self, by: u32) -> u32 {
        self.count = next;
        self.count
    }

    #[given(left = self.count, then drop(left.to_string()))]
    #[pre(left > 0)]
    fn finish(self) -> impl Iterator<Item = u32> {
        0..left
    }

    #[given(first = list.first().ok_or("empty")?)]
    fn least<'l>(&self, list: &'l [u32]) -> Result<&'l u32, &'static str> {
        if *first > self.count {
            return Err("too large");
        }
        Ok(first)
    }

    #[given(line = async { self.count.to_string() }.await)]
    async fn line(&self) -> impl AsRef<str> {
        line
    }
}

fn main() {
    let store = Store(Mutex::new(BTreeMap::from([("a".to_owned(), 1)])));
    let registry = Registry::builder()
        .tool(names)
        .tool(attributes)
        .tool(first)
        .with(store)
        .build()
        .unwrap();
    let call = |name: &str, arguments: &str| {
        let outcome = registry
            .call(ToolCall::new("1", name, arguments))
            .blocking();
        outcome
            .output()
            .map(str::to_owned)
            .ok_or(outcome.error().map(str::to_owned))
    };
    let ok = |text: &str| Ok(text.to_owned());
    let refused = |text: &str| Err(Some(text.to_owned()));
    assert_eq!(call("names", r#"{"number":4}"#), ok("5"));
    assert_eq!(
        call("names", r#"{"number":4294967295}"#),
        refused("too much, got number = 4294967295")
    );
    assert_eq!(call("attributes", r#"{"number":4}"#), ok("8"));
    assert_eq!(AUTHORISED.load(Ordering::Relaxed), 1);
    assert_eq!(call("first", r#"{"text":"abc"}"#), ok("a"));
    assert_eq!(
        call("first", r#"{"text":""}"#),
        refused("the text is empty, got text = \"\"")
    );
    assert_eq!(call("get", r#"{"key":"a"}"#), ok("1"));
    assert_eq!(call("get", r#"{"key":"b"}"#), refused("there is no b"));
    assert_eq!(call("later", r#"{"key":"a"}"#), ok(r#"["a!a?",1]"#));

    let mut counter = Counter { count: 3 };
    assert_eq!(counter.add(2), 5);
    assert_eq!(counter.least(&[4]), Ok(&4));
    assert_eq!(counter.least(&[]), Err("empty"));
    assert_eq!(counter.least(&[9]), Err("too large"));
    let line = futures_now(catch_async(counter.line()));
    assert_eq!(line.unwrap().as_ref(), "5");
    assert!(catch(|| counter.add(u32::MAX)).is_err());
    assert_eq!(counter.finish().count(), 5);
}

/// The result of a future that waits for nothing.
fn futures_now<F: Future>(future: F) -> F::Output {
    let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(future).poll(&mut task) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("it waits"),
    }
}
