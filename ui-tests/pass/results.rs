//! Every form of a result, also through aliases.

use contract_runtime::Status;
use contract_runtime::prelude::*;

type Fallible<T> = Result<T, Problem>;
type Maybe = Option<u32>;
type Nothing = Result<(), std::fmt::Error>;

#[derive(Debug)]
struct Problem(u32);

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "problem {}", self.0)
    }
}

/// Through an alias, with a postcondition on each side.
#[tool]
#[post(|value| *value > 0, "{value} is too small")]
#[post(err |problem| problem.0 < 10)]
fn aliased(number: u32) -> Fallible<u32> {
    if number > 5 {
        return Err(Problem(number));
    }
    half(number)?;
    Ok(number)
}

#[pre(number < 100)]
#[post(|half| *half <= number)]
fn half(number: u32) -> Fallible<u32> {
    if number == 3 {
        Err(Problem(3))?
    }
    Ok(number / 2)
}

/// Nothing, or an error.
#[tool]
#[post(|nothing| *nothing == ())]
fn nothing(fail: bool) -> Nothing {
    if fail { Err(std::fmt::Error) } else { Ok(()) }
}

/// Nothing, without a type.
#[tool]
#[post(|nothing| *nothing == ())]
fn untyped() {}

/// An optional one.
#[tool]
#[post(|value| value.is_none_or(|value| value > 0))]
async fn optional(number: u32) -> Maybe {
    number.checked_sub(1)
}

/// An optional one, or an error.
#[tool]
#[post(|value: &Option<u32>| value.is_none() || *value > Some(0))]
async fn both(number: u32) -> Result<Option<u32>, Box<dyn std::error::Error + Send + Sync>> {
    std::future::ready(()).await;
    let number: u32 = number.to_string().parse()?;
    Ok(number.checked_sub(1))
}

/// Content.
#[tool]
fn content() -> Content {
    Content::text("text")
}

/// Its own words.
#[tool]
fn words() -> &'static str {
    "words"
}

fn main() {
    let registry = registry!().build().unwrap();
    let called = |name: &str, text: &str| registry.call(ToolCall::new("1", name, text)).blocking();
    let status = |name, text| called(name, text).status();
    assert_eq!(called("aliased", r#"{"number":1}"#).output(), Some("1"));
    assert_eq!(
        called("aliased", r#"{"number":3}"#).error(),
        Some("problem 3")
    );
    assert_eq!(status("aliased", r#"{"number":0}"#), Status::Violation);
    assert_eq!(status("aliased", r#"{"number":11}"#), Status::Violation);
    assert_eq!(called("nothing", r#"{"fail":false}"#).output(), Some(""));
    assert_eq!(status("nothing", r#"{"fail":true}"#), Status::Failed);
    assert_eq!(called("untyped", "").output(), Some(""));
    assert_eq!(called("optional", r#"{"number":3}"#).output(), Some("2"));
    assert_eq!(called("optional", r#"{"number":0}"#).output(), Some("null"));
    assert_eq!(status("optional", r#"{"number":1}"#), Status::Violation);
    assert_eq!(called("both", r#"{"number":3}"#).output(), Some("2"));
    assert_eq!(status("both", r#"{"number":1}"#), Status::Violation);
    assert_eq!(called("content", "").output(), Some("text"));
    assert_eq!(called("words", "").output(), Some("words"));
}
