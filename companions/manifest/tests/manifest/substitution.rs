//! The judge of the diff is the dispatcher: what the old tool takes, a compatible new one takes as well.

use contract_manifest::{Manifest, ToManifest as _};
use contract_runtime::{Registry, ToolCall, pre};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;
use serde_json::Value;

const LOW: u8 = 1;

/// The same tool in many editions.
macro_rules! editions {
    ($({ $($item:tt)* })*) => {
        vec![$({
            /// Plan something.
            #[contract_runtime::tool]
            #[allow(
                unused_variables,
                clippy::manual_is_multiple_of,
                reason = "they are read by their macro"
            )]
            $($item)*
            Registry::builder().tool(plan).build().unwrap()
        }),*]
    };
}

fn editions() -> Vec<Registry> {
    editions! {
        { fn plan(a: u8) {} }
        { fn plan(a: i16) {} }
        { fn plan(a: f64) {} }
        { fn plan(a: Option<u8>) {} }
        { fn plan(#[arg(default = 2)] a: u8) {} }
        { fn plan(a: u8, b: u8) {} }
        { fn plan(a: u8, b: Option<u8>) {} }
        { fn plan(a: u8, #[arg(default = 2)] b: u8) {} }
        { #[pre(a > 0)] fn plan(a: u8) {} }
        { #[pre(a >= LOW)] fn plan(a: u8) {} }
        { #[pre(a > 0 && a < 5)] fn plan(a: u8, b: Option<u8>) {} }
        { #[pre(a > 0)] #[pre(a < 5)] fn plan(a: u16) {} }
        { #[pre((1..=3).contains(&a))] fn plan(a: u8) {} }
        { #[pre(a % 2 == 0)] fn plan(a: u8) {} }
        { #[pre(a % 4 == 0)] fn plan(a: u8) {} }
        { #[pre(a != 0)] fn plan(a: i16) {} }
        { #[pre(a < b)] fn plan(a: u8, b: u8) {} }
        { #[pre(a < b)] fn plan(a: u8, #[arg(default = 4)] b: u8) {} }
        { #[pre(a < b)] fn plan(a: i16, b: i16) {} }
        { #[pre(a <= b)] fn plan(a: u8, b: u8) {} }
        { #[pre(a < b)] #[pre(a < 9)] fn plan(a: u8, b: u8) {} }
        { #[pre(b.is_some())] fn plan(a: u8, b: Option<u8>) {} }
        { #[pre(b.is_none_or(|b| b > 2))] fn plan(a: u8, b: Option<u8>) {} }
        { #[pre(b.is_none_or(|b| b > 1))] fn plan(a: u8, b: Option<u8>) {} }
        { #[pre(a == 1 || a == 2)] fn plan(a: u8) {} }
        { #[pre([1, 2, 3].contains(&a))] fn plan(a: u8) {} }
        { fn plan(a: String) {} }
        { #[pre(!a.is_empty())] fn plan(a: String) {} }
        { #[pre(a.len() <= 2)] fn plan(a: String) {} }
        { #[pre(a.len() <= 3)] fn plan(a: String) {} }
        { #[pre(a.chars().count() <= 2)] fn plan(a: String) {} }
        { #[pre(a.starts_with('a'))] fn plan(a: String) {} }
        { fn plan(a: Vec<u8>) {} }
        { #[pre(a.len() < 3)] fn plan(a: Vec<u8>) {} }
        { #[pre(a.iter().all(|one| *one < 9))] fn plan(a: Vec<u8>) {} }
        { #[pre(a.iter().any(|one| *one < 9))] fn plan(a: Vec<u8>) {} }
        { #[pre(!flag)] fn plan(a: u8, #[arg(default = false)] flag: bool) {} }
        { fn plan(a: u8, #[arg(default = true)] flag: bool) {} }
    }
}

fn arguments() -> impl Strategy<Value = Value> {
    let plain = prop_oneof![
        4 => (-2..14_i64).prop_map(Value::from),
        1 => select(vec![255, 256, 300]).prop_map(Value::from),
        1 => select(vec![0.5, 2.5]).prop_map(Value::from),
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        3 => select(vec!["", "a", "ab", "abc", "ä", "äö", "äöü", "ba", "abcd"]).prop_map(Value::from),
    ];
    let list = prop::collection::vec(0..12_u8, 0..4).prop_map(Value::from);
    let a = prop_oneof![3 => plain.clone(), 1 => list];
    let member = |name: &'static str, value: BoxedStrategy<Value>| {
        prop::option::of(value).prop_map(move |value| value.map(|value| (name.to_owned(), value)))
    };
    let flag = any::<bool>().prop_map(Value::from);
    (
        member("a", a.boxed()),
        member("b", plain.boxed()),
        member("flag", flag.boxed()),
    )
        .prop_map(|(a, b, flag)| Value::Object([a, b, flag].into_iter().flatten().collect()))
}

fn takes(registry: &Registry, runtime: &tokio::runtime::Runtime, arguments: &Value) -> bool {
    let call = ToolCall::new("1", "plan", arguments.to_string());
    runtime.block_on(registry.check(call)).is_ok()
}

#[test]
fn what_the_old_edition_takes_a_compatible_one_takes() {
    let editions = editions();
    let manifests: Vec<Manifest> = editions.iter().map(Registry::manifest).collect();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let compatible =
        |old: &usize, new: &usize| !manifests[*new].diff(&manifests[*old]).is_breaking();
    let mut pairs = Vec::new();
    for old in 0..editions.len() {
        pairs.extend(
            (0..editions.len())
                .filter(|new| compatible(&old, new))
                .map(|new| (old, new)),
        );
    }
    // A judge that finds everything breaking is never wrong.
    assert!(pairs.len() > 2 * editions.len(), "{}", pairs.len());
    let mut runner = TestRunner::new(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(800)
    });
    let result = runner.run(&arguments(), |arguments| {
        let taken: Vec<_> = editions
            .iter()
            .map(|one| takes(one, &runtime, &arguments))
            .collect();
        for (old, new) in &pairs {
            prop_assert!(
                taken[*new] || !taken[*old],
                "{} takes {arguments}, and the compatible edition {} does not:\n{}",
                old,
                new,
                manifests[*new].diff(&manifests[*old]),
            );
        }
        Ok(())
    });
    result.unwrap_or_else(|failure| panic!("{failure}"));
}
