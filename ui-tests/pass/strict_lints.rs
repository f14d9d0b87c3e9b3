//! Nothing generated may trip a lint that the author has turned on.

#![forbid(unsafe_code)]
#![deny(
    warnings,
    missing_docs,
    missing_debug_implementations,
    missing_copy_implementations,
    unused,
    unused_qualifications,
    unused_lifetimes,
    unused_results,
    unused_import_braces,
    unreachable_pub,
    single_use_lifetimes,
    elided_lifetimes_in_paths,
    explicit_outlives_requirements,
    trivial_casts,
    trivial_numeric_casts,
    let_underscore_drop,
    non_ascii_idents,
    redundant_lifetimes,
    variant_size_differences,
    meta_variable_misuse,
    keyword_idents,
    macro_use_extern_crate,
    future_incompatible,
    nonstandard_style,
    rust_2018_idioms,
    rust_2021_compatibility,
    rust_2024_compatibility,
    clippy::all,
    clippy::pedantic,
    clippy::nursery,
    clippy::allow_attributes_without_reason,
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::clone_on_ref_ptr,
    clippy::default_numeric_fallback,
    clippy::else_if_without_else,
    clippy::empty_structs_with_brackets,
    clippy::exhaustive_enums,
    clippy::expect_used,
    clippy::float_arithmetic,
    clippy::indexing_slicing,
    clippy::integer_division,
    clippy::let_underscore_untyped,
    clippy::map_err_ignore,
    clippy::missing_docs_in_private_items,
    clippy::multiple_inherent_impl,
    clippy::panic,
    clippy::partial_pub_fields,
    clippy::pattern_type_mismatch,
    clippy::print_stdout,
    clippy::renamed_function_params,
    clippy::shadow_reuse,
    clippy::shadow_same,
    clippy::str_to_string,
    clippy::try_err,
    clippy::undocumented_unsafe_blocks,
    clippy::unreachable,
    clippy::unused_trait_names,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm
)]

use std::borrow::Cow;
use std::path::Path;

use contract_runtime::history;
use contract_runtime::{
    Builder, Registry, ToolCall, contract_assert, given, post, pre, registry, tool,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Keep a number that only a condition looks at.
#[tool]
#[pre(number > 0)]
#[post(|seven| *seven < limit && limit > old(number))]
fn looked_at_by_conditions(number: i64, limit: i64) -> i64 {
    7
}

/// A size.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct Size {
    /// In metres.
    width: f64,
}

/// Only registered, never called from Rust.
#[tool(title = "Everything", read_only)]
#[pre(!name.is_empty() && limit > 0, "`{name}` needs a limit")]
#[pre(token.len() > 2)]
#[post(|text| text.len() >= old(name.len()), "{text} is short", policy = observe)]
fn everything<'a>(
    /// Its name.
    name: &'a str,
    #[arg(default = 5, example = 7)] limit: u32,
    #[arg(default = Size { width: 1.0 })] size: Size,
    #[arg(secret)] token: String,
    maybe: Option<&str>,
    path: &Path,
    numbers: &[u8],
) -> Cow<'a, str> {
    contract_assert!(limit < 100, "{limit} is much", policy = enforce);
    drop((size.width, token, maybe, path.exists(), numbers.len()));
    Cow::Borrowed(name)
}

/// Wait for nothing.
#[tool(idempotent)]
#[post(err |error| !error.is_empty())]
async fn nothing(mut text: String) -> Result<(), String> {
    text.push('.');
    std::future::ready(()).await;
    if text.len() > 5 { Err(text) } else { Ok(()) }
}

/// How much at most.
const MOST: u32 = 5;

/// As much as is half.
const HALF: f64 = 0.5;

/// Conditions that are no more than one call.
#[tool]
#[post(|found| found.is_none())]
#[post(err |error| error.is_empty())]
fn nothing_found(text: &str) -> Result<Option<usize>, String> {
    if text.is_empty() {
        return Err(String::new());
    }
    Ok(None)
}

/// Whether it is wide.
fn is_wide(size: &Size) -> bool {
    size.width > 0.5
}

/// What a run of the next one needs.
fn on_paper(builder: Builder) -> Builder {
    builder.context(Base(2))
}

/// Said of its verification.
#[tool]
#[verify(run, setup = on_paper)]
#[post(|size| is_wide(size))]
fn wide(#[context] base: &Base) -> Size {
    Size {
        width: f64::from(base.0),
    }
}

/// A unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
enum Unit {
    /// A kilogram.
    KG,
    /// A pound.
    Pound,
}

/// Compared with constants, asked of Rust, and shown.
#[tool]
#[pre(count < MOST && much > i128::MIN && share <= HALF && wide < u128::MAX)]
#[pre(unit == Unit::KG || matches!(unit, Unit::Pound))]
#[pre(name.is_none_or(|text| text.len() > 1) && numbers.iter().all(|number| *number > 0), shown)]
fn compared(
    count: u32,
    much: i128,
    share: f64,
    wide: u128,
    #[arg(default = Unit::KG)] unit: Unit,
    name: Option<&str>,
    numbers: Vec<i8>,
) -> u32 {
    let _: (i128, f64, u128, Unit) = (much, share, wide, unit);
    drop((name, numbers));
    count
}

/// Tools with a state.
#[derive(Debug, Clone, Copy)]
struct Base(u32);

#[tool]
impl Base {
    /// More arguments than clippy likes.
    #[tool]
    #[expect(clippy::too_many_arguments, reason = "a test of it")]
    fn many(&self, a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8) -> u32 {
        [a, b, c, d, e, f, g].into_iter().map(u32::from).sum()
    }

    /// As many as clippy likes.
    #[tool]
    fn seven(&self, one: u8, two: u8, three: u8, four: u8, five: u8, six: u8) -> u32 {
        [one, two, three, four, five, six]
            .into_iter()
            .map(u32::from)
            .sum()
    }

    /// The most.
    const MOST: u32 = 50;

    /// The base itself.
    #[tool]
    #[pre(least <= Self::MOST)]
    #[post(|value| *value >= least)]
    fn value(&self, least: u32, #[context] size: Option<&Size>) -> u32 {
        let _: Option<&Size> = size;
        self.0.max(least)
    }

    /// Half of the base and more.
    #[tool]
    #[given(half = self.0.checked_div(2), else "there is no half of {more}")]
    #[given(sum = half.checked_add(more).ok_or("too much")?, then usize::default())]
    #[pre(sum > 0, "{} is nothing", sum)]
    #[post(|value| *value == sum)]
    fn half(&self, more: u32) -> Result<u32, String> {
        Ok(sum)
    }

    /// The first letter of a name, later.
    #[tool]
    #[given(mut letters = std::future::ready(name.chars()).await)]
    #[given(first = letters.next().ok_or("empty"), else)]
    async fn first(&self, name: &str) -> char {
        std::future::ready(first).await
    }

    /// The base, later.
    #[tool]
    #[pre(self.0 > 0)]
    async fn later(&self, name: &str) -> Option<usize> {
        std::future::ready(name.len().checked_sub(1)).await
    }

    /// Says it once.
    #[tool]
    #[deprecated]
    #[given(is_seen = history().seen(wide))]
    #[pre(history().with("least", &more).count(Self::value) < 1, "it was said")]
    fn once(&self, more: u32) -> bool {
        is_seen && more > self.0
    }
}

/// An ordinary function that looks something up.
#[given(half = number.checked_div(2), else "impossible")]
#[post(|value| *value == half)]
fn halved(number: u32) -> u32 {
    half
}

/// An ordinary function with conditions.
#[pre(half < 100)]
#[post(|double| *double >= half)]
fn doubled(half: u32) -> u32 {
    half.saturating_mul(2)
}

/// An ordinary function that waits.
#[pre(half < 100)]
#[post(err |error| !error.is_empty())]
async fn doubled_later(half: u32) -> Result<u32, String> {
    std::future::ready(()).await;
    half.checked_mul(2).ok_or_else(String::new)
}

fn main() {
    assert_eq!(halved(5), 2, "half of five");
    let registry: Registry = match registry!().context(Base(2)).with(Base(2)).build() {
        Ok(registry) => registry,
        Err(error) => {
            eprintln!("{error}");
            return;
        }
    };
    let call = ToolCall::new("1", "value", r#"{"least":3}"#);
    assert_eq!(registry.call(call).blocking().output(), Some("3"));
    assert_eq!(doubled(2), 4);
    drop(doubled_later(2));
}
