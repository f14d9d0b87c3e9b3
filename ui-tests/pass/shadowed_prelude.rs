//! Everything generated means the types of `core`, whatever the author's module calls so.

/// What derives write does not survive in the shop.
mod coins {
    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    pub enum Coin {
        Penny,
        Pound,
    }
}

mod shop {
    #![allow(dead_code, non_camel_case_types, unused_macros)]

    use super::coins::Coin;
    use contract_runtime::{contract_assert, post, pre, tool};

    pub struct Option;
    pub struct Result;
    pub struct String;
    pub struct Vec;
    pub struct Box;
    pub struct Ok;
    pub struct Err;
    pub struct Some;
    pub struct None;
    pub struct Registry;
    pub struct Context;
    pub struct Policy;
    pub struct Send;
    pub trait Clone {}
    pub trait FnOnce {}
    pub trait From {}
    pub trait Into {}
    pub trait Default {}
    pub struct u64;
    pub struct str;

    const MOST: u32 = 1_000;

    macro_rules! format_args {
        () => {};
    }
    macro_rules! file {
        () => {};
    }
    macro_rules! env {
        () => {};
    }
    macro_rules! concat {
        () => {};
    }
    /// Buy it.
    ///
    /// Twice.
    #[tool(read_only, timeout = "1s")]
    #[pre(count > 0, "{count} is too few")]
    #[pre(count < MOST && more.is_none_or(|more| more < 9), shown)]
    #[pre(coin != Coin::Penny)]
    #[post(|_| count > 0, "{count} was too few")]
    #[post(err |_| old(count) > 0)]
    pub async fn buy(
        #[arg(default = 5)] count: u32,
        more: ::core::option::Option<u8>,
        #[arg(default = Coin::Pound)] coin: Coin,
    ) -> ::core::result::Result<u32, std::string::String> {
        contract_assert!(count < 100, "{count} is too many");
        let _ = coin;
        ::core::result::Result::Ok(count + u32::from(more.is_some()))
    }

    pub struct Till;

    #[tool]
    impl Till {
        /// Open it.
        #[tool]
        #[pre(count > 0, "{count} is too few")]
        fn open(&self, #[arg(default = 5)] count: u32) -> u32 {
            count
        }
    }
}

fn main() {
    use contract_runtime::prelude::*;
    let registry = Registry::builder()
        .tool(shop::buy)
        .with(shop::Till)
        .build()
        .unwrap();
    let call = |name, text: &str| registry.call(ToolCall::new("1", name, text)).blocking();
    assert_eq!(call("buy", "{}").output(), Some("5"));
    assert_eq!(
        call("open", r#"{"count":0}"#)
            .error()
            .unwrap()
            .lines()
            .count(),
        1
    );
}
