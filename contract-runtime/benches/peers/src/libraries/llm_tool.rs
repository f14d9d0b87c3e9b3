//! llm-tool: `ToolRegistry::dispatch_str`, and its definitions.

use std::pin::pin;

use llm_tool::{
    OutputSanitization, RustTool, ToolContext, ToolError, ToolOutput, ToolRegistry, llm_tool,
};

use crate::meter::Meter;
use crate::tools::{self, FIND_PAGES, Order, Prices, Search, Unit, for_500, json, once};
use crate::work::Work;

/// The tools, with their output cleaned or as it is.
macro_rules! tools {
    ($module:ident, $sanitization:literal) => {
        mod $module {
            use super::*;

            /// Add two numbers.
            #[llm_tool(sanitization = $sanitization)]
            fn add(
                /// One.
                a: i64,
                /// The other.
                b: i64,
            ) -> Result<i64, ToolError> {
                Ok(a.wrapping_add(b))
            }

            /// Add two numbers, later.
            #[llm_tool(sanitization = $sanitization)]
            async fn add_async(
                /// One.
                a: i64,
                /// The other.
                b: i64,
            ) -> Result<i64, ToolError> {
                Ok(a.wrapping_add(b))
            }

            /// Search for something.
            #[llm_tool(sanitization = $sanitization)]
            fn search(
                /// What the pages are about.
                query: String,
                /// How many pages are wanted at most.
                limit: Option<u32>,
                /// Words that each of the pages has.
                tags: Vec<String>,
            ) -> Result<tools::Found, ToolError> {
                Ok(tools::found(query, limit, tags))
            }

            /// Place an order.
            #[llm_tool(sanitization = $sanitization)]
            fn place(
                /// What is wanted.
                order: Order,
            ) -> Result<u64, ToolError> {
                Ok(tools::size(&order))
            }

            /// Convert a length.
            #[llm_tool(sanitization = $sanitization)]
            fn convert(
                /// How many.
                length: i64,
                /// Of what.
                unit: Unit,
            ) -> Result<i64, ToolError> {
                Ok(tools::metres(length, &unit))
            }

            /// Add up prices.
            #[llm_tool(sanitization = $sanitization)]
            fn total(
                /// The price of each item.
                prices: Prices,
            ) -> Result<i64, ToolError> {
                Ok(tools::sum(&prices))
            }

            pub(super) fn registry() -> ToolRegistry {
                ToolRegistry::new()
                    .with_tool(Add)
                    .with_tool(AddAsync)
                    .with_tool(Search)
                    .with_tool(Place)
                    .with_tool(Convert)
                    .with_tool(Total)
            }
        }
    };
}

tools!(cleaned, "sanitize_tokens");
tools!(bare, "none");

pub(super) fn run(meter: &Meter, work: Work) {
    match work {
        Work::List => meter.list(list),
        _ => call(meter, work, &cleaned::registry()),
    }
}

pub(super) fn run_bare(meter: &Meter, work: Work) {
    if work != Work::List {
        call(
            meter,
            work,
            &bare::registry().with_output_floor(OutputSanitization::None),
        );
    }
}

fn call(meter: &Meter, work: Work, registry: &ToolRegistry) {
    let context = ToolContext::new();
    meter.call(|| {
        let output = once(pin!(registry.dispatch_str(
            work.name(),
            work.arguments(),
            &context
        )));
        output.expect("the arguments are right").into_content()
    });
}

/// One tool of a listing. The name is a constant of the type, so that each tool takes a type; the macro cannot number them.
struct FindPages<const N: usize>;

impl<const N: usize> FindPages<N> {
    /// `find_pages_` and three digits at most.
    const BYTES: ([u8; 14], usize) = {
        let mut bytes = *b"find_pages_000";
        let digits = if N < 10 {
            1
        } else if N < 100 {
            2
        } else {
            3
        };
        let (mut at, mut rest) = (11 + digits, N);
        while at > 11 {
            at -= 1;
            bytes[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        (bytes, 11 + digits)
    };
}

impl<const N: usize> RustTool for FindPages<N> {
    type Params = Search;

    const NAME: &'static str = match std::str::from_utf8(Self::BYTES.0.split_at(Self::BYTES.1).0) {
        Ok(name) => name,
        Err(_) => panic!("digits are UTF-8"),
    };
    const DESCRIPTION: &'static str = FIND_PAGES;

    async fn call(&self, params: Search, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        ToolOutput::json(&tools::found(params.query, params.limit, params.tags))
    }
}

fn register<const N: usize>(registry: &mut ToolRegistry) {
    registry.register(FindPages::<N>);
}

fn list() -> (ToolRegistry, String) {
    let mut registry = ToolRegistry::new();
    for_500!(register, &mut registry);
    let text = json(&&*registry.definitions_slice());
    (registry, text)
}
