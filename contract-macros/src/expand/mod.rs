//! Expands the model to tokens; cannot fail.
//!
//! ```text
//! #[tool]
//! #[pre(rate > 0.0)]
//! fn convert(amount: f64, rate: f64) -> f64 { amount * rate }
//!
//! // becomes, in outline (rt = ::contract_runtime::__private)
//! fn convert(amount: f64, rate: f64) -> f64 {
//!     fn __contract_body(amount: f64, rate: f64) -> f64 { amount * rate }
//!     fn __contract_checked(mut frame: rt::Frame, amount: f64, rate: f64) -> Result<f64, rt::Stop> {
//!         frame.pre(0, 1, None, &|pass, details| ..)?;
//!         frame.enter()?;
//!         let out = __contract_body(amount, rate);
//!         frame.close();
//!         rt::end(frame);
//!         Ok(out)
//!     }
//!     fn __contract_call(call: rt::Call<'_>) -> rt::Running<'_> { .. }
//!     fn __contract_output() -> Option<rt::Describe> { .. }
//!     static __CONTRACT_SPEC: rt::Spec = ..;
//!     rt::inventory::submit! { .. }
//!     rt::settle(__contract_checked(rt::Frame::direct(&__CONTRACT_SPEC.contract), amount, rate))
//! }
//! ```

mod clauses;
pub(crate) mod data;
mod findings;
mod function;
mod portable;
mod shim;
mod span;
mod tool_set;

use proc_macro2::{Ident, Span, TokenStream};

use crate::model::Model;
use crate::names;

pub(crate) use clauses::assertion;

pub(crate) fn model(model: &Model) -> TokenStream {
    match model {
        Model::Tool(tool) => function::tool(tool),
        Model::Contracted(contracted) => function::contracted(contracted),
        Model::ToolSet(set) => tool_set::expand(set),
    }
}

/// A local of ours, which no token of the author can see; a constant of its name would be taken for a pattern.
fn local(name: &str) -> Ident {
    Ident::new(&format!("{}{name}", names::PREFIX), Span::mixed_site())
}
