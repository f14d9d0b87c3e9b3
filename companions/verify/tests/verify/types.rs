//! A tool with an argument of each type that the guide names is right as it is.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use contract_runtime::prelude::*;
use contract_verify::Verifier;
use serde_json::Value;

macro_rules! types {
    ($($name:ident: $type:ty,)*) => {
        mod one {
            use super::*;
            $(
                /// Take a value.
                #[tool(read_only)]
                pub(super) fn $name(value: $type) {
                    let _ = value;
                }
            )*
        }

        fn registry() -> Registry {
            Registry::builder()$(.tool(one::$name))*.build().unwrap()
        }
    };
}

types! {
    small: i8,
    signed: i64,
    size: usize,
    widest: u128,
    widest_signed: i128,
    single: f32,
    double: f64,
    flag: bool,
    letter: char,
    text: String,
    lent: &str,
    lent_or_owned: Cow<'_, str>,
    path: PathBuf,
    lent_path: &Path,
    list: Vec<i32>,
    lent_list: &[u8],
    array: [u8; 3],
    set: BTreeSet<String>,
    pair: (i32, String),
    map: HashMap<String, u8>,
    sorted_map: BTreeMap<String, Vec<f64>>,
    optional: Option<u16>,
    optional_text: Option<&str>,
    lent_number: &u32,
    anything: Value,
    moment: chrono::DateTime<chrono::Utc>,
    date: chrono::NaiveDate,
    time: chrono::NaiveTime,
    timestamp: jiff::Timestamp,
    civil_date: jiff::civil::Date,
    civil_time: jiff::civil::Time,
    id: uuid::Uuid,
    link: url::Url,
    decimal: rust_decimal::Decimal,
    version: semver::Version,
    bytes: bytes::Bytes,
    ordered: indexmap::IndexMap<String, u8>,
    either: either::Either<u8, String>,
    inline: smallvec::SmallVec<[u8; 4]>,
}

#[test]
fn every_type_of_the_guide_is_read_as_its_schema_says() {
    for seed in 1..4 {
        Verifier::new(registry()).seed(seed).run().assert();
    }
}

/// What a schema no longer admits is little.
#[test]
fn decimals_and_times_are_still_read() {
    for (name, value, is_read) in [
        ("decimal", "12.50", true),
        ("decimal", "-79228162514264337593543950335", true),
        ("time", "23:59:59.123456789", true),
        ("civil_time", "00:00:00", true),
        ("time", "24:00:00", false),
    ] {
        let arguments = serde_json::json!({"value": value}).to_string();
        let outcome = registry()
            .call(ToolCall::new("1", name, arguments))
            .blocking();
        assert_eq!(outcome.is_ok(), is_read, "{name} {value}: {outcome:?}");
    }
}
