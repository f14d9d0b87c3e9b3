//! `verify!` and `verify_all!`, and what the tests call that they write.

#![allow(
    missing_docs,
    reason = "but for the macros it is the hidden interface of generated code"
)]

use std::path::Path;

use super::Verifier;
use crate::{BuildError, Builder, Registry};

/// Makes an ordinary `#[test]` that verifies one tool: `verify!(divide)` becomes `fn verify_divide()`.
///
/// ```
/// use contract_runtime::prelude::*;
///
/// /// Divide one number by another, and leave the rest.
/// #[tool(read_only)]
/// #[pre(divisor != 0, "cannot divide by zero")]
/// #[pre(!(dividend == i64::MIN && divisor == -1), "the quotient is too large")]
/// #[post(|quotient| quotient.unsigned_abs() <= dividend.unsigned_abs())]
/// fn divide(dividend: i64, divisor: i64) -> i64 {
///     dividend / divisor
/// }
///
/// # fn main() {}
/// contract_runtime::verify!(divide);
/// ```
///
/// A path names a tool elsewhere, `verify!(tools::divide)`. Behind it may stand, in any order:
///
/// | argument | says |
/// |---|---|
/// | `run` | that the body may be run, of a tool that is not `read_only`; see [`Verifier::run_bodies`](crate::verify::Verifier::run_bodies) |
/// | `setup = on_paper` | which function gives the values that it is tried with; see [`Verifier::setup`](crate::verify::Verifier::setup) |
/// | `cases = 1_000` | how many inputs are tried |
/// | `seed = 42` | that the inputs are the same each time |
///
/// Inputs that fail are kept in the folder `verify-regressions` beside the `Cargo.toml` of the package, and are tried first
/// from then on; commit it. `UPDATE_CONTRACTS=1 cargo test` records in `verify-edges`, beside it, what is just accepted and just
/// refused, and from then on a bound that moves is a failure; see [`Verifier::edges`](crate::verify::Verifier::edges).
///
/// `use contract_runtime::verify` imports this macro; the attribute `#[verify]` comes with the [`prelude`](crate::prelude), and needs
/// no import below `#[tool]`.
///
/// # Panics
///
/// The test does, when something is wrong with the tool, with the [`Report`](crate::verify::Report).
#[macro_export]
macro_rules! verify {
    ($($input:tt)*) => {
        $crate::__private::verify_one! { $crate; $($input)* }
    };
}

/// Makes an ordinary `#[test]` that verifies several tools, `fn verify_all()`.
///
/// `verify_all!()` takes the free functions of the calling package. Methods, and values for `#[context]` parameters, come with a
/// [`Registry`], or a [`Builder`] of one:
///
/// ```
/// use contract_runtime::prelude::*;
///
/// struct Menu(Vec<&'static str>);
///
/// #[tool]
/// impl Menu {
///     /// Read a line of the menu.
///     #[tool(read_only)]
///     #[pre(line < self.0.len(), "there is no line {line}")]
///     #[post(|text| !text.is_empty())]
///     fn read(&self, line: usize) -> &str {
///         self.0[line]
///     }
/// }
///
/// # fn main() {}
/// contract_runtime::verify_all!(registry!().with(Menu(vec!["soup", "bread"])), cases = 500);
/// ```
///
/// The arguments behind it are those of [`verify!`](crate::verify!).
///
/// # Panics
///
/// The test does, when something is wrong with a tool, with the [`Report`](crate::verify::Report), and when there is no tool.
#[macro_export]
macro_rules! verify_all {
    ($($input:tt)*) => {
        $crate::__private::verify_all! { $crate; $($input)* }
    };
}

/// Where inputs that failed are kept, beside the manifest of the package.
const REGRESSIONS: &str = "verify-regressions";

/// Where edges are recorded, beside it.
const EDGES: &str = "verify-edges";

/// The verifier of one function.
///
/// # Panics
///
/// When it is no tool.
#[track_caller]
pub fn verifier_of_function<F: 'static>(function: F, home: &str) -> Verifier {
    verifier_of_registry(Registry::builder().tool(function), home)
}

/// The verifier of all functions of a package.
///
/// # Panics
///
/// When there is none.
#[track_caller]
pub fn verifier_of_package(package: &str, home: &str) -> Verifier {
    let registry = built(Registry::builder().own_package(package));
    assert!(
        registry.tools().len() > 0,
        "no tool of package `{package}` is linked into this test; write `use {} as _;` beside it so that the linker keeps \
         them, or give those of a state: `verify_all!(registry!().with(state))`",
        package.replace('-', "_")
    );
    verifier_of_registry(registry, home)
}

/// The verifier of a registry.
///
/// # Panics
///
/// When it cannot be built.
#[track_caller]
pub fn verifier_of_registry(tools: impl Tools, home: &str) -> Verifier {
    let home = Path::new(home);
    Verifier::new(built(tools))
        .regressions(home.join(REGRESSIONS))
        .edges(home.join(EDGES))
}

#[track_caller]
fn built(tools: impl Tools) -> Registry {
    match tools.registry() {
        Ok(registry) => registry,
        Err(error) => panic!("{error}"),
    }
}

/// What `verify_all!` takes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no registry, so there is nothing to verify",
    label = "neither a registry nor a builder of one",
    note = "give a `Registry` or a `Builder`, such as `registry!().context(store)`"
)]
pub trait Tools {
    #[allow(clippy::missing_errors_doc, reason = "hidden")]
    fn registry(self) -> Result<Registry, BuildError>;
}

impl Tools for Registry {
    fn registry(self) -> Result<Registry, BuildError> {
        Ok(self)
    }
}

/// Values that are missing are reported of each tool by itself, because its `setup` may give them.
impl Tools for Builder {
    fn registry(self) -> Result<Registry, BuildError> {
        self.without_contexts().build()
    }
}

#[diagnostic::do_not_recommend]
impl<T: Tools> Tools for Result<T, BuildError> {
    fn registry(self) -> Result<Registry, BuildError> {
        self.and_then(Tools::registry)
    }
}
