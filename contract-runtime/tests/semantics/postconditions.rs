//! A postcondition runs on every normal exit, and on no other.

use std::sync::atomic::{AtomicUsize, Ordering};

use contract_runtime::prelude::*;
use contract_runtime::{Status, catch, catch_async};

use crate::common::{Log, call, ended};

type Reading<T> = Result<T, String>;

macro_rules! leave_when {
    ($condition:expr, $value:expr) => {
        if $condition {
            return $value;
        }
    };
}

fn parse(text: &str) -> Result<u32, String> {
    text.parse()
        .map_err(|_| format!("`{text}` is no whole number"))
}

/// Leave in one of many ways.
#[tool]
#[post(|out| log.judge(&format!("post {out}"), *out != 13))]
#[post(err |error| log.judge(&format!("err {error}"), !error.contains("forbidden")))]
fn leave(how: &str, #[context] log: &Log) -> Reading<u32> {
    let _ = log;
    leave_when!(how == "macro", Ok(1));
    if how == "return" {
        return Ok(2);
    }
    if how == "return err" {
        return Err("told".to_owned());
    }
    let broken = how == "question";
    let number = parse(if broken { "x" } else { "3" })?;
    for round in 0.. {
        if how == "loop" && round == 2 {
            return Ok(4);
        }
        if round > 3 {
            break;
        }
    }
    match how {
        "panic" => panic!("the body panicked"),
        "assert" => contract_assert!(how.is_empty()),
        "thirteen" => return Ok(13),
        "forbidden" => Err("forbidden".to_owned())?,
        _ => {}
    }
    Ok(number)
}

/// Leave in one of many ways, across awaits.
#[tool(timeout = "20ms")]
#[post(|out| log.judge(&format!("post {out}"), *out != 13))]
#[post(err |error| log.judge(&format!("err {error}"), !error.contains("forbidden")))]
async fn leave_later(how: &str, #[context] log: &Log) -> Reading<u32> {
    let _ = log;
    tokio::task::yield_now().await;
    leave_when!(how == "macro", Ok(1));
    if how == "return" {
        return Ok(2);
    }
    if how == "return err" {
        return Err("told".to_owned());
    }
    let broken = how == "question";
    let number = parse(if broken { "x" } else { "3" })?;
    for round in 0.. {
        tokio::task::yield_now().await;
        if how == "loop" && round == 2 {
            return Ok(4);
        }
        if round > 3 {
            break;
        }
    }
    match how {
        "panic" => panic!("the body panicked"),
        "assert" => contract_assert!(how.is_empty()),
        "thirteen" => return Ok(13),
        "forbidden" => Err("forbidden".to_owned())?,
        "forever" => std::future::pending().await,
        _ => {}
    }
    Ok(number)
}

#[test]
fn a_postcondition_runs_on_every_normal_exit_and_no_other() {
    let log = Log::default();
    let registry = Registry::builder()
        .tool(leave)
        .tool(leave_later)
        .context(log.clone())
        .build()
        .unwrap();
    let cases: [(&str, Status, &[&str]); 10] = [
        ("macro", Status::Ok, &["post 1"]),
        ("return", Status::Ok, &["post 2"]),
        ("end", Status::Ok, &["post 3"]),
        ("loop", Status::Ok, &["post 4"]),
        ("thirteen", Status::Violation, &["post 13"]),
        ("return err", Status::Failed, &["err told"]),
        ("question", Status::Failed, &["err `x` is no whole number"]),
        ("forbidden", Status::Violation, &["err forbidden"]),
        ("panic", Status::Panicked, &[]),
        ("assert", Status::Violation, &[]),
    ];
    for name in ["leave", "leave_later"] {
        for (how, status, events) in cases {
            let (ended, error) = ended(&registry, name, &format!(r#"{{"how":"{how}"}}"#));
            assert_eq!(ended, status, "{name} {how}: {error}");
            assert_eq!(log.take(), events, "{name} {how}");
        }
    }
    let (status, _) = ended(&registry, "leave_later", r#"{"how":"forever"}"#);
    assert_eq!((status, log.take()), (Status::TimedOut, Vec::new()));
}

#[test]
fn a_postcondition_runs_on_every_exit_of_a_direct_call_too() {
    let log = Log::default();
    assert_eq!(catch(|| leave("macro", &log)), Ok(Ok(1)));
    assert!(matches!(catch(|| leave("question", &log)), Ok(Err(_))));
    assert!(catch(|| leave("thirteen", &log)).is_err());
    assert!(catch(|| leave("forbidden", &log)).is_err());
    assert_eq!(
        log.take(),
        [
            "post 1",
            "err `x` is no whole number",
            "post 13",
            "err forbidden"
        ]
    );
}

#[post(|out| *out != 13)]
#[post(err |error| !error.is_empty())]
fn contracted(how: u8) -> Reading<u32> {
    leave_when!(how == 0, Ok(13));
    let number = parse(if how == 1 { "x" } else { "5" })?;
    if how == 2 {
        return Err(String::new());
    }
    Ok(number)
}

#[post(|out| *out != 13)]
#[post(err |error| !error.is_empty())]
async fn contracted_later(how: u8) -> Reading<u32> {
    tokio::task::yield_now().await;
    leave_when!(how == 0, Ok(13));
    let number = parse(if how == 1 { "x" } else { "5" })?;
    if how == 2 {
        return Err(String::new());
    }
    Ok(number)
}

#[tokio::test]
async fn a_contracted_function_is_judged_on_every_exit() {
    assert!(catch(|| contracted(0)).is_err());
    assert!(matches!(catch(|| contracted(1)), Ok(Err(_))));
    assert!(catch(|| contracted(2)).is_err());
    assert_eq!(catch(|| contracted(3)), Ok(Ok(5)));
    assert!(catch_async(contracted_later(0)).await.is_err());
    assert!(matches!(catch_async(contracted_later(1)).await, Ok(Err(_))));
    assert!(catch_async(contracted_later(2)).await.is_err());
    assert_eq!(catch_async(contracted_later(3)).await, Ok(Ok(5)));
}

/// Grow a list.
#[tool]
#[post(|grown| grown.len() == old(list.len()) + 1 && old(list.first().copied()) == list_first(grown))]
fn push(mut list: Vec<i64>, item: i64) -> Vec<i64> {
    if item != 0 {
        list.push(item);
    }
    list
}

fn list_first(list: &[i64]) -> Option<i64> {
    (list.len() > 1).then(|| list[0])
}

#[test]
fn old_is_what_was_before_the_body() {
    let registry = Registry::builder().tool(push).build().unwrap();
    let call = |arguments| call(&registry, "push", arguments);
    assert!(call(r#"{"list":[4],"item":5}"#).is_ok());
    assert!(call(r#"{"list":[],"item":5}"#).is_ok());
    assert_eq!(call(r#"{"list":[4],"item":0}"#).status(), Status::Violation);
}

static COPIES: AtomicUsize = AtomicUsize::new(0);

#[derive(serde::Deserialize, schemars::JsonSchema, PartialEq)]
struct Copied(i64);

impl Clone for Copied {
    fn clone(&self) -> Self {
        COPIES.fetch_add(1, Ordering::SeqCst);
        Self(self.0)
    }
}

/// Consume an argument that the postcondition names.
#[tool]
#[post(|out| *out == value.0 + 1)]
fn consume(value: Copied) -> i64 {
    let Copied(mut inner) = value;
    inner += 1;
    inner
}

/// Change an argument that the postcondition names.
#[tool]
#[post(|out| *out == value + 1)]
fn change(mut value: i64) -> i64 {
    value += 1;
    value
}

#[test]
fn a_parameter_is_seen_as_it_was_passed_and_copied_only_for_an_active_condition() {
    let with = |policy| {
        Registry::builder()
            .tool(consume)
            .tool(change)
            .policy(policy)
            .build()
            .unwrap()
    };
    assert!(call(&with(Policy::Ignore), "consume", r#"{"value":4}"#).is_ok());
    assert_eq!(COPIES.swap(0, Ordering::SeqCst), 0);
    for policy in [Policy::Observe, Policy::Enforce, Policy::QuickEnforce] {
        let outcome = call(&with(policy), "consume", r#"{"value":4}"#);
        assert!(outcome.is_ok() && outcome.observed().is_empty());
        assert_eq!(COPIES.swap(0, Ordering::SeqCst), 1);
        let outcome = call(&with(policy), "change", r#"{"value":4}"#);
        assert!(outcome.is_ok() && outcome.observed().is_empty());
    }
}

struct NotClone(u32);

#[post(|out| *out == old(value.0) + 1)]
fn take(value: NotClone) -> u32 {
    let NotClone(inner) = value;
    inner + 1
}

#[test]
fn old_needs_no_copy_of_a_type_without_clone() {
    assert_eq!(take(NotClone(1)), 2);
}

#[derive(serde::Serialize)]
struct Raw {
    #[serde(skip)]
    hidden: f64,
    shown: &'static str,
}

/// Give a value that is not all written.
#[tool]
#[post(|raw| raw.hidden.is_finite() && raw.shown.is_empty() == (raw.hidden == 0.0))]
fn raw(hidden: f64) -> Raw {
    Raw {
        hidden: 1.0 / hidden,
        shown: "shown",
    }
}

#[test]
fn a_postcondition_sees_the_typed_value_before_it_is_written() {
    let registry = Registry::builder().tool(raw).build().unwrap();
    assert_eq!(
        call(&registry, "raw", r#"{"hidden":2}"#).output(),
        Some(r#"{"shown":"shown"}"#)
    );
    assert_eq!(
        call(&registry, "raw", r#"{"hidden":0}"#).status(),
        Status::Violation
    );
}

/// Give a result in a result.
#[tool]
#[post(|inner| inner.is_none_or(|n| n > 0))]
fn maybe(number: Option<i32>) -> Result<Option<i32>, String> {
    Ok(number)
}

#[test]
fn a_postcondition_sees_the_ok_side_whatever_it_is() {
    let registry = Registry::builder().tool(maybe).build().unwrap();
    assert!(call(&registry, "maybe", "").is_ok());
    assert!(call(&registry, "maybe", r#"{"number":1}"#).is_ok());
    let (status, _) = ended(&registry, "maybe", r#"{"number":-1}"#);
    assert_eq!(status, Status::Violation);
}

/// Repeat a word.
#[tool]
#[post(|words| words.len() < 3, "too many words")]
fn repeat(
    /// The word.
    #[arg(secret)]
    word: String,
    /// How often.
    times: u32,
) -> Vec<String> {
    vec![word; times as usize]
}

#[test]
fn the_result_is_among_the_values_of_a_broken_postcondition() {
    let broken = catch(|| repeat("ha".to_owned(), 3)).unwrap_err();
    assert_eq!(
        broken.values["words"],
        serde_json::json!(["ha", "ha", "ha"])
    );
    assert_eq!(broken.masked().values["words"], "***");
    let long = catch(|| repeat("ha".to_owned(), 3_000)).unwrap_err();
    let shown = long.values["words"].as_str().unwrap();
    assert!(shown.ends_with('…') && shown.chars().count() == 2_001);

    let registry = Registry::builder().tool(repeat).build().unwrap();
    let outcome = call(&registry, "repeat", r#"{"word":"swordfish","times":3}"#);
    let broken = outcome.violation().unwrap();
    assert_eq!(broken.values["words"], "***");
    assert!(!outcome.error().unwrap().contains("words"));
}
