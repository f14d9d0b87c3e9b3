//! Declarative tool contracts for agents: what stands above a function is enforced wherever the function is called.
//!
//! A plain function with [`#[tool]`](tool) above it can be called by name, with JSON arguments, by a language model.
//! [`#[pre]`](pre) and [`#[post]`](post) say what must hold before it runs and after it has run; a direct Rust call is
//! checked as well.
//!
//! ```
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
//! let outcome = registry.call_blocking(ToolCall::new("1", "book_room", r#"{"start":600,"end":540}"#));
//! assert_eq!(outcome.status(), Status::Violation);
//! assert_eq!(
//!     outcome.error().unwrap(),
//!     "the end (540) must come after the start (600); `book_room` requires `end > start`, got start = 600, end = 540",
//! );
//! assert_eq!(book_room(540, 600), 60);
//! # Ok::<(), BuildError>(())
//! ```
//!
//! | to | see |
//! |---|---|
//! | make tools | [`tool`], [`pre`], [`post`], [`contract_assert!`], [`ToolSet`], [`Tool::dynamic`] |
//! | choose and call them | [`registry!`], [`Builder`], [`Registry`], [`ToolCall`], [`Context`] |
//! | read what came of a call | [`Outcome`], [`Status`], [`ToolResult`], [`Violation`], [`InvalidArguments`] |
//! | say what a failure does | [`Policy`], [`PolicyOrigin`], [`Run`], [`set_process_policy`] |
//! | call contracted functions from Rust | [`catch`](catch()), [`catch_async`], [`ContractScope`] |
//!
//! | feature | adds |
//! |---|---|
//! | `agent` | agents whose whole run is under contract |
//! | `genai` | models of real providers |
//! | `grammar` | replies that are held to a grammar on this side |
//! | `mcp`, `mcp-http` | serving tools over the Model Context Protocol, and the tools of other servers |
//! | `cli` | a program of one's tools |
//! | `verify` | tests that every contract writes for itself |
//! | `remote`, `remote-tls` | tools on another machine, and TLS on the way there; they need Rust 1.90 |
//! | `redis` | several backends that share their work; needs Rust 1.90 |
//!
//! None is on unless it is asked for; without them Rust 1.88 is enough.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "agent")]
pub mod agent;
#[cfg(feature = "cli")]
pub mod cli;
mod contract;
mod futures;
#[cfg(feature = "mcp")]
pub mod mcp;
#[cfg(any(feature = "mcp", feature = "remote"))]
mod patient;
mod registry;
#[cfg(feature = "remote")]
pub mod remote;
mod schema;
mod tool;
#[cfg(feature = "verify")]
pub mod verify;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

pub use contract::{
    Blame, Check, Condition, ConditionKind, ContractScope, Counts, Detection, Location, Policy,
    PolicyOrigin, UnknownPolicy, Violation, Watched, catch, catch_async, matches_pattern,
    process_policy, set_process_handler, set_process_policy,
};
pub use contract_macros::{post, pre, tool};
pub use registry::{
    BuildError, BuildProblem, Builder, Change, ConditionManifest, Diff, ExportError, Finding,
    FindingKind, Manifest, ManifestError, ManifestVersion, Position, Registry, Statistics,
    ToolInfo, ToolManifest, Verdict,
};
pub use schema::{
    Dialect, ExportProblem, Lowering, McpRevision, PortableRule, PublishedCondition, SchemaError,
    UnknownDialect,
};
pub use tokio_util::sync::CancellationToken;
pub use tool::{
    ArgumentProblem, Artifact, CallInfo, Coercion, Content, Context, Deadline, DynamicContext,
    DynamicSpec, Hints, InvalidArguments, MalformedCall, Outcome, ProblemKind, Progress,
    ProgressReport, Run, Status, Tool, ToolCall, ToolResult, ToolSet,
};

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
            .own_package(::core::env!("CARGO_PKG_NAME"))
            .program(
                ::core::env!("CARGO_PKG_NAME"),
                ::core::env!("CARGO_PKG_VERSION"),
            )
    };
}

/// States what must hold at this point of a body, in a tool or in any function it calls.
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

/// Holds the contracts of a package to a file that is committed with it.
///
/// It fails with a report of every change, breaking ones first, and passes when nothing has changed but places in the
/// source. `UPDATE_CONTRACTS=1 cargo test` writes the file instead, which is how a change is accepted. The path is relative
/// to the directory of the package's `Cargo.toml`.
///
/// Without a registry it takes the tools of the calling package; the values of `#[context]` parameters need not be given.
///
/// ```no_run
/// // in tests/contracts.rs
/// use contract_runtime::prelude::*;
/// # mod toolkit {}
/// use toolkit as _; // so that the linker keeps the tools of the package under test
///
/// # fn main() {}
/// #[test]
/// fn contracts_are_frozen() {
///     contract_runtime::assert_frozen!("contracts.json");
/// }
///
/// #[test]
/// fn all_contracts_of_the_server_are_frozen() -> Result<(), BuildError> {
///     let registry = registry!().prefix("server_").build()?;
///     contract_runtime::assert_frozen!("tests/server.json", registry);
///     Ok(())
/// }
/// ```
///
/// # Panics
///
/// When the contracts differ from those in the file, and when the file is missing or is not a [`Manifest`].
#[macro_export]
macro_rules! assert_frozen {
    ($file:expr $(,)?) => {
        $crate::__private::assert_frozen(
            ::core::env!("CARGO_MANIFEST_DIR"),
            $file,
            &$crate::__private::own_registry(::core::env!("CARGO_PKG_NAME")),
        )
    };
    ($file:expr, $registry:expr $(,)?) => {
        $crate::__private::assert_frozen(::core::env!("CARGO_MANIFEST_DIR"), $file, &$registry)
    };
}

/// Says what is missing, where the feature `verify` is.
#[cfg(not(feature = "verify"))]
#[doc(hidden)]
#[macro_export]
macro_rules! verify {
    ($($input:tt)*) => {
        ::core::compile_error! {
            "`verify!` needs the feature `verify`; in `Cargo.toml`, under `[dev-dependencies]`, write `contract-runtime = { version = \"..\", features = [\"verify\"] }`"
        }
    };
}

/// Says what is missing, where the feature `verify` is.
#[cfg(not(feature = "verify"))]
#[doc(hidden)]
#[macro_export]
macro_rules! verify_all {
    ($($input:tt)*) => {
        ::core::compile_error! {
            "`verify_all!` needs the feature `verify`; in `Cargo.toml`, under `[dev-dependencies]`, write `contract-runtime = { version = \"..\", features = [\"verify\"] }`"
        }
    };
}

/// Everything an author of tools uses, for one `use`.
pub mod prelude {
    // Not at the root, where `verify!` has the name.
    pub use contract_macros::verify;

    pub use crate::{
        Artifact, BuildError, CallInfo, CancellationToken, Content, Context, ContractScope,
        Deadline, DynamicSpec, Outcome, Policy, Progress, Registry, Status, Tool, ToolCall,
        ToolResult, ToolSet, Violation, contract_assert, matches_pattern, post, pre, registry,
        tool,
    };
}
