//! Declarative tool contracts for agents: the conditions above a function are enforced wherever it is called.
//!
//! A plain function with [`#[tool]`](tool) above it can be called by name, with JSON arguments, by a language model.
//! [`#[pre]`](pre) and [`#[post]`](post) state conditions that must hold before and after it runs; direct Rust calls are
//! checked as well.
//!
//! ```
//! use contract_runtime::Status;
//! use contract_runtime::prelude::*;
//!
//! /// Book a room for a part of one day.
//! #[tool]
//! #[pre(end > start, "the end ({end}) must come after the start ({start})")]
//! #[post(|minutes| *minutes > 0)]
//! fn book_room(
//!     /// Minutes after midnight.
//!     start: u32,
//!     /// Minutes after midnight.
//!     end: u32,
//! ) -> u32 {
//!     end - start
//! }
//!
//! let registry = Registry::builder().tool(book_room).build()?;
//! let outcome = registry.call(ToolCall::new("1", "book_room", r#"{"start":600,"end":540}"#)).blocking();
//! assert_eq!(outcome.status(), Status::Violation);
//! assert_eq!(
//!     outcome.error().unwrap(),
//!     "the end (540) must come after the start (600)",
//! );
//! assert_eq!(book_room(540, 600), 60);
//! # Ok::<(), BuildError>(())
//! ```
//!
//! | to | see |
//! |---|---|
//! | make tools | [`tool`], [`given`], [`pre`], [`post`], [`contract_assert!`], [`ToolSet`], [`Tool::dynamic`], [`Tool::backed`] |
//! | select and call them | [`registry!`], [`Builder`], [`Registry`], [`ToolCall`], [`Call`](call::Call), [`Context`] |
//! | read the outcome of a call | [`Outcome`], [`Status`], [`Effect`], [`ToolResult`], [`Violation`], [`InvalidArguments`] |
//! | ask a person first | [`approval`], [`Builder::approver`] |
//! | choose what a failure does | [`Policy`], [`PolicyOrigin`], [`Run`], [`set_process_policy`] |
//! | call contracted functions from Rust | [`catch`](catch()), [`catch_async`], [`ContractScope`] |
//! | follow calls, violations and conditions | [`Observer`](observe::Observer) |
//! | give the tools to a model | [`Registry::export`], [`Dialect`] |
//! | keep promises between versions | [`contract_manifest::assert_frozen!`](https://docs.rs/contract-manifest/latest/contract_manifest/macro.assert_frozen.html) |
//! | test contracts with generated inputs | [`verify!`](https://docs.rs/contract-verify/latest/contract_verify/macro.verify.html), [`verify_all!`](https://docs.rs/contract-verify/latest/contract_verify/macro.verify_all.html), [`#[verify]`](macro@verify) |
//! | serve them to a client | [`contract_mcp::Server`](https://docs.rs/contract-mcp/latest/contract_mcp/struct.Server.html) |
//! | make a program of them | [`contract_program::run`](https://docs.rs/contract-program/latest/contract_program/fn.run.html) |
//!
//! The guide is in the folder `docs` of the repository, one page for each topic: `docs/src/first-tool.md` is the first, and
//! `mdbook serve docs` shows it as a book.
//!
//! This crate has no features. What one may do with a registry is in crates of their own:
//!
//! | crate | adds |
//! |---|---|
//! | [`contract-agent`](https://docs.rs/contract-agent) | agents that check contracts on a whole run |
//! | [`contract-dialects`](https://docs.rs/contract-dialects) | the tools in the strict formats of providers, and in those of Gemini |
//! | [`contract-manifest`](https://docs.rs/contract-manifest) | contracts as a document: frozen in a file, compared, linted, explained, sent to peers |
//! | [`contract-mcp`](https://docs.rs/contract-mcp) | serving tools over the Model Context Protocol, and importing those of other servers |
//! | [`contract-verify`](https://docs.rs/contract-verify) | property-based tests derived from contracts |
//! | [`contract-program`](https://docs.rs/contract-program) | a command line for the tools of a program, and a page to inspect them |
//! | [`cargo-contract`](https://docs.rs/cargo-contract) | a subcommand of Cargo that checks, tests and freezes the contracts of a workspace |
//! | [`contract-remote`](https://docs.rs/contract-remote) | tools on another machine; needs Rust 1.90 |
//! | [`contract-http`](https://docs.rs/contract-http) | the listener of all their servers, and the check of `Host` and `Origin` |

#[cfg(test)]
extern crate self as contract_runtime;

mod contract;
mod futures;
mod registry;
mod schema;
mod tool;

#[doc(hidden)]
#[path = "family.rs"]
pub mod __family;
#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

pub use contract::{
    AskedValue, Blame, Condition, ConditionKind, ConditionResult, ContractScope, Detection,
    History, Location, Policy, PolicyOrigin, ToolFunction, UnknownPolicy, Values, Violation, catch,
    catch_async, history, matches_pattern, process_policy, set_process_policy,
};
pub use contract_macros::{given, post, pre, tool, verify};
pub use registry::{BuildError, BuildProblem, Builder, Program, Registry, Statistics, ToolInfo};
pub use schema::{
    ArgumentProblem, Coercion, Definitions, Dialect, Heading, Hints, InvalidArguments, Lowering,
    McpRevision, ProblemKind, PublishedCondition, SchemaError, ToolDescription, UnknownDialect,
    Validator,
};
// Generated code asks for these, and the compiler calls them by the shortest path there is.
pub use tool::{
    Artifact, CallInfo, CancellationToken, Content, Context, Deadline, DynamicSpec, Effect,
    IdempotencyKey, Log, LogLevel, LogRecord, MalformedCall, Outcome, OutputKind, Progress,
    ProgressReport, Run, Status, Tool, ToolCall, ToolResult, ToolSet,
};
#[doc(hidden)]
pub use {
    contract::bounds::Precondition,
    tool::kind::{ContextParameter, Described, SharedContext, ToolArgument},
};

/// What a person is asked before a call goes on, and the answers.
pub mod approval {
    pub use crate::contract::{Answer, Approval, ApprovalRequest, Decided, Decision, Question};
}

/// Calls of tools by name, as values: what they carry is set on them, and they begin when they are first polled.
pub mod call {
    pub use crate::registry::{Call, CallAll, Check, Text, Whole};
    pub use crate::tool::CallInput;
}

/// Tools that something else answers, and what a handler can read of its call. [`Tool::dynamic`] and [`Tool::backed`] make such tools.
pub mod dynamic {
    pub use crate::tool::{Backing, CallError, DynamicContext};
}

/// Observers of calls, and of the conditions, violations and questions inside them.
pub mod observe {
    pub use crate::contract::{Check, CheckEvent, Counts};
    pub use crate::tool::observe::{ObservedCall, Observer, set_process_observer};
}

/// Starts a registry with the tools of the calling package.
///
/// ```standalone_crate
/// use contract_runtime::prelude::*;
///
/// /// Say hello.
/// #[tool]
/// fn hello() -> &'static str {
///     "hello"
/// }
///
/// let registry = registry!().build()?;
/// assert_eq!(registry.tools().len(), 1);
/// # Ok::<(), contract_runtime::BuildError>(())
/// ```
#[macro_export]
macro_rules! registry {
    () => {
        $crate::Registry::builder()
            .own_package($crate::__private::package(
                ::core::option_env!("CARGO_PKG_NAME"),
                ::core::module_path!(),
            ))
            .program(
                $crate::__private::package(
                    ::core::option_env!("CARGO_PKG_NAME"),
                    ::core::module_path!(),
                ),
                ::core::option_env!("CARGO_PKG_VERSION").unwrap_or("0.0.0"),
            )
    };
}

/// States a condition that must hold at this point of a body, in a tool or in any function it calls.
///
/// The condition is evaluated at most once, and not at all under [`Policy::Ignore`].
///
/// ```
/// use contract_runtime::{catch, contract_assert};
///
/// fn half(number: u32) -> u32 {
///     contract_assert!(number % 2 == 0, "{number} is odd");
///     number / 2
/// }
///
/// assert_eq!(catch(|| half(4)), Ok(2));
/// assert_eq!(catch(|| half(3)).unwrap_err().message.as_deref(), Some("3 is odd"));
/// ```
///
/// A policy of its own comes last: `contract_assert!(fresh, "the cache is old", policy = observe)`.
#[macro_export]
macro_rules! contract_assert {
    () => {
        ::core::compile_error! {
            "an assertion needs a condition; write `contract_assert!(total >= 0)`"
        }
    };
    ($($input:tt)*) => {
        $crate::__private::contract_assert! { $crate; $($input)* }
    };
}

/// Everything an author of tools uses, for one `use`.
pub mod prelude {
    pub use crate::{
        Artifact, BuildError, CallInfo, CancellationToken, Content, Context, Deadline,
        IdempotencyKey, Log, Outcome, Policy, Progress, Registry, Run, Tool, ToolCall, ToolSet,
        Violation, contract_assert, given, history, matches_pattern, post, pre, registry, tool,
        verify,
    };
}
