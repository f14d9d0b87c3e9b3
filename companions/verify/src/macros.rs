//! `verify!` and `verify_all!`, and the functions that the generated tests call.

#![allow(
    missing_docs,
    reason = "but for the macros it is the hidden interface of generated code"
)]

use std::path::Path;

use contract_runtime::__family::methods;
use contract_runtime::{BuildError, Builder, Registry, ToolFunction};

use super::Verifier;

/// Generates a `#[test]` that verifies one tool: `verify!(divide)` becomes `fn verify_divide()`.
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
/// contract_verify::verify!(divide);
/// ```
///
/// A path names a tool in another module, `verify!(tools::divide)`. Options may follow, which are methods of the
/// [`Verifier`](crate::Verifier), but for `run`:
///
/// | option | effect |
/// |---|---|
/// | `run` | the body may be run although the tool is not `read_only`; see [`Verifier::run_bodies`](crate::Verifier::run_bodies) |
/// | `setup = on_paper` | the function provides the values that the tool is tested with; see [`Verifier::setup`](crate::Verifier::setup) |
/// | `cases = 1_000` | the number of random inputs |
/// | `seed = 42` | the inputs are those of another [seed](crate::Verifier::seed) than 1 |
/// | `sequences = 1_000` | the number of [sequences of calls](crate::Verifier::sequences), `cases` if nothing is said |
/// | `strict` | what is left out without a decision fails the test; see [`Verifier::strict`](crate::Verifier::strict) |
///
/// Inputs that fail are kept in the folder `verify-regressions` beside the `Cargo.toml` of the package, and are tried first
/// from then on; commit it. `UPDATE_CONTRACTS=1 cargo test` records the boundaries of each contract in `verify-boundaries`
/// beside it, and from then on a bound that moves is a failure; see [`Verifier::boundaries`](crate::Verifier::boundaries).
///
/// Without a run of the body, its postconditions are not tested: if nothing says whether the body of a tool that is not `read_only`
/// may be run, the test passes, and says so on standard error, which `cargo test` shows. `run` or `run = false` decides it.
///
/// The attribute `#[verify]` is another macro: it comes with the [`prelude`](contract_runtime::prelude), and needs no import below
/// `#[tool]`.
///
/// # Panics
///
/// The generated test panics with the [`Report`](crate::Report) if it finds a problem.
#[macro_export]
macro_rules! verify {
    () => {
        ::core::compile_error! {
            "`verify!` needs a tool; write `verify!(divide)`, or `verify_all!()` for the whole package"
        }
    };
    ($tool:path $(, $($options:tt)*)?) => {
        $crate::__private::verify_test! { $tool {
            $crate::__verify! {
                $crate::__private::verifier_of_function($tool, $crate::__verify!(@home));
                $($($options)*)?
            }
        } }
    };
    ($($other:tt)*) => {
        ::core::compile_error! {
            "this is not the path of a tool; write `verify!(divide)` or `verify!(tools::divide)`"
        }
    };
}

/// Generates a `#[test]` that verifies several tools, `fn verify_all()`.
///
/// `verify_all!()` takes the free functions of the calling package, and says on standard error which methods it leaves out.
/// Methods, and values for `#[context]` parameters, come with a [`Registry`], or a [`Builder`] of one:
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
/// contract_verify::verify_all!(registry!().with(Menu(vec!["soup", "bread"])), cases = 500);
/// ```
///
/// The options are those of [`verify!`](crate::verify!).
///
/// # Panics
///
/// The generated test panics with the [`Report`](crate::Report) if it finds a problem, and if there is no tool.
#[macro_export]
macro_rules! verify_all {
    (@test $verifier:expr; $($options:tt)*) => {
        #[::core::prelude::v1::test]
        fn verify_all() {
            $crate::__verify! { $verifier; $($options)* }
        }
    };
    (run $(, $($options:tt)*)?) => {
        $crate::verify_all! { @package run, $($($options)*)? }
    };
    (strict $(, $($options:tt)*)?) => {
        $crate::verify_all! { @package strict, $($($options)*)? }
    };
    ($option:ident = $($options:tt)*) => {
        $crate::verify_all! { @package $option = $($options)* }
    };
    () => {
        $crate::verify_all! { @package }
    };
    (@package $($options:tt)*) => {
        $crate::verify_all! {
            @test $crate::__private::verifier_of_package(
                $crate::__private::package(::core::option_env!("CARGO_PKG_NAME"), ::core::module_path!()),
                $crate::__verify!(@home),
            );
            $($options)*
        }
    };
    ($registry:expr $(, $($options:tt)*)?) => {
        $crate::verify_all! {
            @test $crate::__private::verifier_of_registry($registry, $crate::__verify!(@home));
            $($($options)*)?
        }
    };
}

/// Gives a verifier the options of a macro, which are methods of it but for `run`, and runs it.
#[doc(hidden)]
#[macro_export]
macro_rules! __verify {
    (@home) => {
        ::core::option_env!("CARGO_MANIFEST_DIR").unwrap_or(".")
    };
    (@value) => {
        true
    };
    (@value $value:expr) => {
        $value
    };
    ($verifier:expr;) => {
        $verifier.run().assert()
    };
    ($verifier:expr; run $(= $value:expr)? $(, $($options:tt)*)?) => {
        $crate::__verify! { $verifier; run_bodies = $crate::__verify!(@value $($value)?), $($($options)*)? }
    };
    ($verifier:expr; $option:ident $(= $value:expr)? $(, $($options:tt)*)?) => {
        $crate::__verify! { $verifier.$option($crate::__verify!(@value $($value)?)); $($($options)*)? }
    };
}

/// The folder of failing inputs, beside the manifest of the package.
const REGRESSIONS: &str = "verify-regressions";

/// The folder of recorded boundaries, beside the manifest of the package.
const BOUNDARIES: &str = "verify-boundaries";

/// Returns the verifier of one function.
///
/// # Panics
///
/// If it is not a tool.
#[track_caller]
pub fn verifier_of_function<F: ToolFunction<S>, S>(function: F, home: &str) -> Verifier {
    verifier_of_registry(Registry::builder().tool(function), home)
}

/// Returns the verifier of all functions of a package.
///
/// # Panics
///
/// If there is none.
#[track_caller]
pub fn verifier_of_package(package: &str, home: &str) -> Verifier {
    let left_out = methods::of_package(package);
    let mut builder = Registry::builder();
    let linked = builder.add_package(package);
    assert!(
        linked,
        "{}",
        methods::none(package, &left_out, "verify_all!(registry!().with(state))")
    );
    let mut verifier = verifier_of_registry(builder, home);
    verifier.left_out = left_out;
    verifier
}

/// Returns the verifier of a registry.
///
/// # Panics
///
/// If it cannot be built.
#[track_caller]
pub fn verifier_of_registry(tools: impl Tools, home: &str) -> Verifier {
    let home = Path::new(home);
    Verifier::new(built(tools))
        .regressions(home.join(REGRESSIONS))
        .boundaries(home.join(BOUNDARIES))
}

#[track_caller]
fn built(tools: impl Tools) -> Registry {
    match tools.registry() {
        Ok(registry) => registry,
        Err(error) => panic!("{error}"),
    }
}

/// The argument of `verify_all!`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a registry, so there is nothing to verify",
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

/// Missing context values are reported for each tool, because its `setup` may provide them.
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
