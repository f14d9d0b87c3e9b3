//! A crate without any prelude.

#![no_implicit_prelude]

use ::contract_runtime::{Registry, ToolCall, contract_assert, post, pre, tool};
use ::std::option::Option::{self, None, Some};
use ::std::result::Result::{self, Err, Ok};
use ::std::string::String;
use ::std::{assert, assert_eq};

const MOST: u32 = 1_000;
const NAME: &str = "nobody";

/// Name it.
#[tool(read_only)]
#[pre(number > 0, "{number} is too small")]
#[pre(number <= MOST && more.is_none_or(|more| more < 9) && text != NAME, shown)]
#[post(|name| !name.is_empty(), "{name}")]
fn name(
    /// Which.
    #[arg(default = 5)]
    number: u32,
    #[arg(default = Some(1))] more: Option<u32>,
    text: &str,
) -> String {
    contract_assert!(number < 100, "{number} is too much");
    ::std::format!("{text} {number} {more:?}")
}

/// Name it later.
#[tool]
#[post(err |error| error.is_empty() || old(number) > 0)]
async fn later(number: u32) -> Result<u32, String> {
    if number > 5 {
        Ok(number)
    } else {
        Err(String::new())
    }
}

struct Base(u32);

#[tool]
impl Base {
    /// The base.
    #[tool]
    #[pre(least > 0)]
    fn base(&self, least: u32) -> u32 {
        self.0 + least
    }
}

#[pre(number > 0)]
#[post(|_| number > 0)]
fn plain(number: u32) -> u32 {
    number
}

fn main() {
    let built = Registry::builder()
        .tool(name)
        .tool(later)
        .with(Base(1))
        .build();
    let Ok(registry) = built else {
        ::std::process::exit(1)
    };
    let called = |name, arguments: &str| {
        registry
            .call(ToolCall::new("1", name, arguments))
            .blocking()
    };
    assert_eq!(
        called("name", r#"{"text":"a"}"#).output(),
        Some("a 5 Some(1)")
    );
    assert_eq!(called("later", r#"{"number":6}"#).output(), Some("6"));
    assert_eq!(called("base", r#"{"least":6}"#).output(), Some("7"));
    assert!(!called("base", r#"{"least":0}"#).is_ok());
    assert_eq!(plain(1), 1);
    assert!(None::<u32>.is_none());
}
