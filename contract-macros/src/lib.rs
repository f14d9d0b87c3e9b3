//! The attributes of `contract-runtime`: `#[tool]`, `#[pre]`, `#[post]` and `#[verify]`.
//!
//! Use them through `contract_runtime`, which re-exports them; the two crates share a hidden interface.

mod args;
mod attributes;
mod check;
mod clause;
mod describe;
mod errors;
mod expand;
mod facts;
mod fallback;
mod format_string;
mod given;
mod item;
mod message;
mod model;
mod names;
mod options;
mod param;
mod portable;
mod predicate;
mod read;
mod source;
mod spelling;

#[cfg(test)]
mod tests;

use proc_macro::TokenStream;
use proc_macro2::Group;
use syn::Path;
use syn::ext::IdentExt as _;
use syn::parse::{ParseStream, Parser as _};

use attributes::{AttributeSet, Kind};
use errors::Errors;
use item::Item;
use model::Model;

/// Turns a function, or the marked methods of an `impl` block, into tools.
///
/// The function can still be called directly; a registry can call it by name as well.
///
/// ```text
/// /// Divide one number by another.
/// #[tool(read_only)]
/// #[pre(divisor != 0.0, "cannot divide by zero")]
/// fn divide(dividend: f64, divisor: f64) -> f64 {
///     dividend / divisor
/// }
///
/// // becomes, in outline
/// fn divide(dividend: f64, divisor: f64) -> f64 {
///     fn __contract_body(dividend: f64, divisor: f64) -> f64 { dividend / divisor }
///     // conditions, the shim that reads JSON, and the registration
/// }
/// ```
///
/// A model chooses a tool by its description, so one without is refused:
///
/// ```compile_fail
/// #[contract_macros::tool]
/// fn area(width: f64, height: f64) -> f64 {
///     width * height
/// }
/// ```
///
/// | option | means | without it |
/// |---|---|---|
/// | `name = "get_weather"` | the name by which a model calls the tool | the name of the function |
/// | `title = "Get the weather"` | a name for people | none |
/// | `description = ".."` | what a model chooses the tool by | the `///` comment |
/// | `policy = observe` | the policy of its conditions that have none of their own: `ignore`, `observe`, `enforce` or `quick_enforce` | that of the run, the registry or the process |
/// | `read_only` | it changes nothing; such calls of a batch run side by side, and tests run the body | unknown |
/// | `destructive` | it may remove or overwrite something; `destructive = false` says that it only adds | unknown |
/// | `idempotent` | the same call again has no further effect | unknown |
/// | `open_world` | it reaches beyond this program, such as the web | unknown |
/// | `blocking` | a body that is not async runs on a thread for blocking work, and can be abandoned | on the thread of the call |
/// | `timeout = "30s"` | a call that takes longer ends as `timed_out`; also `500ms`, `2m` or `1h`; a body that is not async needs `blocking` | no limit |
/// | `output_schema` | it is a compile error if the type of the result has no schema | a schema where the type has one and is not a plain text |
/// | `coerce` | texts such as `"5"` are accepted for numbers and booleans, and the outcome says so | they are refused |
/// | `confirm = "Cancel order {order_id}?"` | a person is asked this about every call | nobody is asked |
/// | `alone` | a call must be the only one of its turn | it may stand beside others |
/// | `crate = contracts` | the path of `contract_runtime`, where it has another name | `::contract_runtime` |
///
/// On an `impl` block only `crate` is possible; the others belong to its methods.
#[proc_macro_attribute]
pub fn tool(args: TokenStream, item: TokenStream) -> TokenStream {
    attribute(Kind::Tool, args, item)
}

/// Looks something up once, before the body; conditions, messages, the body and postconditions see it by its name.
///
/// It stands among the conditions, in the order in which they are judged. `else` with a message opens an `Option`, and a bare
/// `else` a `Result` whose error is the sentence: without a value the call ends, as a violation of kind `given`. `requires = ".."`
/// behind it says to a model when there is a value. With `?` the call fails with the function's own error. In an `async`
/// function it may `.await`.
///
/// ```text
/// #[tool]
/// #[given(order = self.order(&order_id), else "there is no order {order_id}")]
/// #[pre(order.is_pending(), "{order_id} is {}; only pending orders can be cancelled", order.status)]
/// fn cancel(&self, order_id: String) -> Receipt { self.refund(order) }
/// ```
///
/// What is given lives until the postconditions have been judged, unless the body consumes it: a lock spans check and act.
/// `then` runs after every postcondition held, and not for an `Err`: `#[given(tx = db.transaction()?, then tx.commit()?)]` leaves
/// nothing behind where a promise is broken. A given is not a condition: it is looked up in every call, also by
/// `Registry::check`, and has no policy. Apart from what dropping it gives back, it must have no effect.
///
/// A name is needed, because `_` would drop the value at once:
///
/// ```compile_fail
/// #[contract_macros::given(_ = 5)]
/// fn five() -> u32 {
///     5
/// }
/// ```
#[proc_macro_attribute]
pub fn given(args: TokenStream, item: TokenStream) -> TokenStream {
    attribute(Kind::Given, args, item)
}

/// States a precondition, which must hold before a function runs.
///
/// First the condition, then an optional message with its arguments as in `format!`, then `policy = ..` and `shown`:
/// `#[pre(divisor != 0.0, "cannot divide {dividend} by zero", policy = observe)]`. The condition is a `bool`, or a `Result<(), E>`
/// whose error is the sentence that says what is wrong. It is about parameters, or about state.
///
/// Every condition of a tool is enforced, and as much of it as can be is shown to the model in the schema. With `shown` it is
/// a mistake if some part cannot be, and the message says which.
///
/// A condition compares and never changes anything:
///
/// ```compile_fail
/// #[contract_macros::pre(divisor = 0.0)]
/// fn divide(dividend: f64, divisor: f64) -> f64 {
///     dividend / divisor
/// }
/// ```
#[proc_macro_attribute]
pub fn pre(args: TokenStream, item: TokenStream) -> TokenStream {
    attribute(Kind::Pre, args, item)
}

/// States a postcondition, which must hold after a function has run.
///
/// A closure over the result, the `Ok` value of a `Result`, or with `err` its other side:
/// `#[post(|total| *total >= old(count), "the total shrank")]`, `#[post(err |error| error.is_fatal())]`.
///
/// The result needs a name:
///
/// ```compile_fail
/// #[contract_macros::post(result >= 0.0)]
/// fn root(square: f64) -> f64 {
///     square.sqrt()
/// }
/// ```
#[proc_macro_attribute]
pub fn post(args: TokenStream, item: TokenStream) -> TokenStream {
    attribute(Kind::Post, args, item)
}

/// Configures how the tests that `verify!` and `verify_all!` generate run the body of a tool.
///
/// They run the body of a tool that is `read_only`, and of no other. `#[verify(run)]` says that this one may be run too,
/// `#[verify(run = false)]` that it may not, and `setup` gives what its runs need: a function from a builder to a builder,
/// called anew for each run, so that no state is carried over.
///
/// ```text
/// fn on_paper(builder: Builder) -> Builder {
///     builder.context(Accounts::with_two_of_100_euros())
/// }
///
/// /// Move money between accounts.
/// #[tool]
/// #[pre(cents > 0)]
/// #[verify(run, setup = on_paper)]
/// fn transfer(cents: u64, #[context] accounts: &Accounts) -> u64 { .. }
/// ```
///
/// It has to be imported, with the prelude, only where it stands above `#[tool]`; `contract_verify::verify!` is the macro that
/// writes a test. Without that crate it does nothing, but `setup` must exist. Where only tests have it, write
/// `#[cfg_attr(test, verify(run, setup = on_paper))]` above a function. It belongs to a tool:
///
/// ```compile_fail
/// #[contract_macros::verify(run)]
/// fn double(number: i32) -> i64 {
///     i64::from(number) * 2
/// }
/// ```
#[proc_macro_attribute]
pub fn verify(args: TokenStream, item: TokenStream) -> TokenStream {
    attribute(Kind::Verify, args, item)
}

/// Expands what `tool`, `pre` and `post` have gathered, after every other attribute.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn finish(args: TokenStream, item: TokenStream) -> TokenStream {
    let attributes = attributes::finish(args.into(), &item.into());
    attributes
        .map_or_else(|tokens| tokens, |read| expand(&read))
        .into()
}

/// Expands `contract_assert!` of the runtime crate.
#[doc(hidden)]
#[proc_macro]
pub fn contract_assert(input: TokenStream) -> TokenStream {
    let mut errors = Errors::new();
    let assertion = errors.read(source::grouped(input.into()), clause::assertion);
    match errors.finish(assertion) {
        Ok(assertion) => expand::assertion(&assertion).into(),
        Err(report) => {
            let report = report.to_compile_error();
            quote::quote!({ #report }).into()
        }
    }
}

/// Names the test of `contract_verify::verify!`: `tools::divide { .. }` becomes `#[test] fn verify_divide() { .. }`.
#[doc(hidden)]
#[proc_macro]
pub fn verify_test(input: TokenStream) -> TokenStream {
    let test = |input: ParseStream<'_>| {
        let tool = input.call(Path::parse_mod_style)?;
        let body: Group = input.parse()?;
        let mut words = tool.segments.iter().map(|segment| segment.ident.unraw());
        let name = words
            .next_back()
            .map(|last| quote::format_ident!("verify_{}", last));
        Ok(quote::quote! {
            #[::core::prelude::v1::test]
            fn #name() #body
        })
    };
    let test = test.parse(input);
    test.unwrap_or_else(|error| error.to_compile_error()).into()
}

fn attribute(kind: Kind, args: TokenStream, item: TokenStream) -> TokenStream {
    let args = args.into();
    if attributes::runs_on_nothing(&args) {
        return TokenStream::new();
    }
    let attributes = attributes::start(kind, args, &item.into());
    attributes
        .map_or_else(|tokens| tokens, |read| expand(&read))
        .into()
}

fn expand(attributes: &AttributeSet) -> proc_macro2::TokenStream {
    let (item, model) = read(attributes);
    match model {
        Ok(model) => expand::model(&model),
        Err(report) => fallback::expand(attributes, item.as_ref(), &report),
    }
}

/// Everything before the barrier.
fn read(attributes: &AttributeSet) -> (Option<Item>, syn::Result<Model>) {
    let mut errors = Errors::new();
    let item = item::parse(&mut errors, attributes);
    let model = item
        .as_ref()
        .and_then(|item| read::model(&mut errors, attributes, item))
        .inspect(|model| check::all(&mut errors, model));
    (item, errors.finish(model))
}
