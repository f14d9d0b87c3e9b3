//! Parses the arguments of `#[verify(..)]`.

use proc_macro2::Ident;
use syn::Attribute;

use crate::args;
use crate::attributes::{self, ContractAttribute, Kind, of_kind};
use crate::errors::Errors;
use crate::model::Verify;
use crate::source::is_punct;

/// Reads the `#[verify(..)]` of a tool.
pub(crate) fn parse(errors: &mut Errors, contracts: &[ContractAttribute]) -> Option<Verify> {
    let first = attributes::only(errors, contracts, Kind::Verify)?;
    let begins = first.args.clone().into_iter().next();
    if begins.is_none() || is_punct(begins.as_ref(), '=') {
        let message = "`#[verify]` says how the body may be run; write `#[verify(run)]`, or `#[verify(run, setup = on_paper)]`";
        errors.at(first.span, message);
        return None;
    }
    let mut verify = Verify::default();
    for entry in args::parse(errors, first.args.clone()) {
        match entry.name().as_str() {
            "run" => args::set(errors, &mut verify.run, &entry, args::flag),
            "setup" => args::set(errors, &mut verify.setup, &entry, args::setup),
            _ => args::unknown(errors, &entry, "`#[verify]`", "run setup"),
        }
    }
    Some(verify)
}

/// Only tools are called by name, so only their bodies are run in tests.
pub(crate) fn only_on_tools(errors: &mut Errors, contracts: &[ContractAttribute]) {
    let message = "only a tool is verified; add `#[tool]` above the function, or remove this";
    errors.each(
        of_kind(contracts, Kind::Verify).map(|contract| contract.span),
        message,
    );
}

/// Items are generated beside a method, so a contract attribute in a `cfg_attr` would be seen too late.
pub(crate) fn no_conditional_sibling(errors: &mut Errors, attrs: &[Attribute]) {
    for (kind, word) in attrs.iter().flat_map(conditional_siblings) {
        let message = format!(
            "`{kind}` cannot be conditional above a method, because it would be seen too late; write it without `cfg_attr`, or make this a free function"
        );
        errors.at(word.span(), message);
    }
}

/// The contract attributes in a `cfg_attr`.
pub(crate) fn conditional_siblings(attr: &Attribute) -> Vec<(Kind, Ident)> {
    let metas = attributes::conditional(attr).map_or_else(Vec::new, |(_, metas)| metas);
    let words = metas.iter().filter_map(|meta| meta.path().get_ident());
    words
        .filter_map(|word| Some((Kind::named(word)?, word.clone())))
        .collect()
}
