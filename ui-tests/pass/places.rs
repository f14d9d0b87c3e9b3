//! Tools in modules, function bodies, macros and `impl` blocks.

// A private tool that is only registered is used, and so are the attributes that were gathered.
#![deny(dead_code, unused_imports)]

use contract_runtime::{Registry, ToolCall, contract_assert, post, pre, registry, tool};

mod inner {
    pub(super) mod deeper {
        use contract_runtime::{pre, tool};

        /// In a module.
        #[tool]
        #[pre(number > super::super::LEAST)]
        pub(in super::super) fn in_module(number: u32) -> u32 {
            number
        }
    }
}

const LEAST: u32 = 0;

/// Never called from Rust.
#[tool]
#[pre(number > LEAST)]
#[post(|result| *result == number)]
fn private(number: u32) -> u32 {
    number
}

macro_rules! scaled {
    ($name:ident, $factor:expr, $ty:ty, $check:expr, $text:literal) => {
        #[doc = $text]
        #[tool(read_only)]
        #[pre(number > 0 && $factor > 0, $text)]
        #[pre(number < 500 && $check)]
        #[post(|scaled| *scaled >= number)]
        fn $name(#[arg(default = $factor)] number: $ty) -> $ty {
            contract_assert!(number < 1000);
            number * $factor
        }
    };
}

scaled!(twice, 2, u32, true, "Twice as much.");
scaled!(thrice, 1 + 2, u64, LEAST == 0, "Thrice as much.");

macro_rules! whole {
    ($(#[$attr:meta])* $name:ident($($param:ident: $ty:ty),*) $body:block) => {
        $(#[$attr])*
        fn $name($($param: $ty),*) -> u32 $body
    };
}

whole! {
    /// All of it from outside.
    #[tool]
    #[pre(a > b, "{a} is not above {b}")]
    difference(a: u32, b: u32) { a - b }
}

struct Store<T>(T);

#[tool]
impl<T> Store<T>
where
    T: ToString + Send + Sync + 'static,
{
    const NAME: &'static str = "store";

    /// Show it.
    #[tool(read_only)]
    #[pre(self.fits(times), "{times} times do not fit")]
    #[post(|text| text.len() >= old(self.0.to_string().len()) && !self.0.to_string().is_empty())]
    fn show(&self, times: usize) -> String {
        format!("{}:{}", Self::NAME, self.0.to_string().repeat(times))
    }

    /// Show it later.
    #[tool]
    #[cfg(all())]
    pub(crate) async fn show_later(self: &Self, prefix: &str) -> String {
        std::future::ready(()).await;
        format!("{prefix}{}", self.0.to_string())
    }

    /// Not there.
    #[tool]
    #[cfg(any())]
    fn missing(&self, value: Missing) -> Missing {
        value
    }

    #[pre(times > 0)]
    fn fits(&self, times: usize) -> bool {
        times < 5
    }
}

fn main() {
    /// In a function.
    #[tool]
    #[pre(number > 0)]
    fn in_function(number: u32) -> u32 {
        number
    }

    let registry: Registry = registry!().with(Store(7)).build().unwrap();
    let names: Vec<&str> = registry.tools().map(|tool| tool.name()).collect();
    assert_eq!(
        names,
        [
            "difference",
            "in_function",
            "in_module",
            "private",
            "show",
            "show_later",
            "thrice",
            "twice"
        ]
    );
    let called = |name: &str, text: &str| {
        let outcome = registry.call(ToolCall::new("1", name, text)).blocking();
        outcome.into_result().text().to_owned()
    };
    assert_eq!(called("in_module", r#"{"number":1}"#), "1");
    assert_eq!(called("in_function", r#"{"number":1}"#), "1");
    assert_eq!(called("private", r#"{"number":1}"#), "1");
    assert_eq!(called("twice", ""), "4");
    assert_eq!(called("thrice", r#"{"number":5}"#), "15");
    assert_eq!(called("difference", r#"{"a":5,"b":1}"#), "4");
    assert!(called("difference", r#"{"a":1,"b":5}"#).contains("1 is not above 5"));
    assert_eq!(called("show", r#"{"times":2}"#), "store:77");
    assert!(called("show", r#"{"times":5}"#).contains("5 times do not fit"));
    assert_eq!(called("show_later", r#"{"prefix":"a"}"#), "a7");
    let predicate = |name| {
        registry.tool(name).unwrap().conditions()[0]
            .condition()
            .predicate()
            .to_owned()
    };
    assert_eq!(predicate("difference"), "a > b");
    assert_eq!(predicate("thrice"), "number > 0 && (1 + 2) > 0");
    assert_eq!(twice(2) as u64 + thrice(1) + u64::from(difference(2, 1)), 8);
    assert_eq!(inner::deeper::in_module(1) + in_function(1), 2);
    assert_eq!(Store(1).show(1), "store:1");
}
