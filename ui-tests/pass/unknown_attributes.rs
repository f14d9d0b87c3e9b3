//! An attribute the macros know nothing of acts on every way in: by name and from Rust.

use std::sync::atomic::{AtomicU32, Ordering};

use contract_runtime::prelude::*;
use contract_runtime::{catch, post as ensures, pre as requires, tool as offer};
use ui_attributes::{authorise, wrap};

static AUTHORISED: AtomicU32 = AtomicU32::new(0);
static ENTERED: AtomicU32 = AtomicU32::new(0);
static LEFT: AtomicU32 = AtomicU32::new(0);

fn authorise() {
    AUTHORISED.fetch_add(1, Ordering::Relaxed);
}

fn enter() {
    ENTERED.fetch_add(1, Ordering::Relaxed);
}

fn leave() {
    LEFT.fetch_add(1, Ordering::Relaxed);
}

/// Below the tool.
#[tool]
#[pre(number > 0)]
#[authorise]
fn below(number: u32) -> u32 {
    number
}

/// Above the tool.
#[authorise]
#[pre(number > 0)]
#[tool]
fn above(number: u32) -> u32 {
    number
}

/// Between, under other names.
#[requires(number > 0, "not positive")]
#[authorise]
#[offer(read_only)]
#[wrap]
#[ensures(|result| *result == number)]
fn between(number: u32) -> u32 {
    number
}

/// Other names alone.
#[offer]
#[requires(number > 0)]
#[ensures(|result| *result == number)]
fn renamed(number: u32) -> u32 {
    number
}

/// Other names above.
#[ensures(|result| *result == number)]
#[requires(number > 0)]
#[offer]
fn renamed_above(number: u32) -> u32 {
    number
}

/// Through a path, and an early return inside the wrapper.
#[contract_runtime::tool]
#[contract_runtime::pre(number > 0)]
#[cfg_attr(all(), ui_attributes::wrap)]
fn path(number: u32) -> u32 {
    if number > 5 {
        return 5;
    }
    number
}

#[requires(number > 0)]
#[wrap]
#[ensures(|result| *result == number)]
fn ordinary(number: u32) -> u32 {
    number
}

struct State;

#[tool]
impl State {
    /// A method.
    #[tool]
    #[authorise]
    #[pre(number > 0)]
    fn method(&self, number: u32) -> u32 {
        number
    }
}

fn main() {
    let registry = registry!().with(State).build().unwrap();
    let called = |name: &str, number: u32| {
        registry
            .call(ToolCall::new(
                "1",
                name,
                format!(r#"{{"number":{number}}}"#),
            ))
            .blocking()
    };
    let authorised = || AUTHORISED.swap(0, Ordering::Relaxed);
    let entered = || {
        (
            ENTERED.swap(0, Ordering::Relaxed),
            LEFT.swap(0, Ordering::Relaxed),
        )
    };

    for name in ["below", "above", "between", "method"] {
        assert_eq!(called(name, 1).output(), Some("1"), "{name}");
        assert_eq!(authorised(), 1, "{name} by name");
        assert!(called(name, 0).violation().is_some(), "{name}");
        assert_eq!(authorised(), 0, "the body of {name} does not run");
    }
    entered();
    for name in ["renamed", "renamed_above"] {
        assert_eq!(called(name, 1).output(), Some("1"), "{name}");
        assert!(called(name, 0).violation().is_some(), "{name}");
        let conditions = registry.tool(name).unwrap().conditions();
        assert_eq!(conditions.len(), 2, "{name}");
    }
    assert_eq!(
        (below(1), above(1), between(1), State.method(1)),
        (1, 1, 1, 1)
    );
    assert_eq!(authorised(), 4, "from Rust");
    assert_eq!(entered(), (1, 1));
    assert_eq!(called("path", 7).output(), Some("5"));
    assert_eq!(path(2), 2);
    assert_eq!(entered(), (2, 2));
    assert_eq!((ordinary(2), entered()), (2, (1, 1)));
    assert!(catch(|| ordinary(0)).is_err());
}
