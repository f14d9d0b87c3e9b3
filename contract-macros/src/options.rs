//! Parses the arguments of `#[tool(..)]` and `#[verify(..)]`.

use proc_macro2::{Ident, Span, TokenStream};
use syn::{Attribute, Expr, LitStr, Path};

use crate::args::{self, Entry};
use crate::attributes::{self, ContractAttribute, Kind, of_kind};
use crate::errors::Errors;
use crate::message::{self, Written};
use crate::model::{Options, Set, Verify};
use crate::source::is_punct;

/// The arguments of one `#[tool(..)]`, before the function is looked at.
#[derive(Default)]
pub(crate) struct ToolArgs {
    pub(crate) name: Option<Set<LitStr>>,
    pub(crate) description: Option<Set<Expr>>,
    pub(crate) options: Options,
    pub(crate) confirm: Option<Set<Written>>,
    krate: Option<Set<Path>>,
}

const KEYS: &str = "name title description policy read_only destructive idempotent open_world blocking timeout \
    output_schema coerce confirm alone crate";

const FLAGS: &str =
    "read_only destructive idempotent open_world blocking output_schema coerce alone";

/// Reads the arguments of `#[tool(..)]` on a function.
pub(crate) fn parse(errors: &mut Errors, contract: &ContractAttribute) -> ToolArgs {
    let mut args = ToolArgs::default();
    for entry in entries(errors, contract.span, &contract.args) {
        args.take(errors, &entry);
    }
    args
}

/// Reads the arguments of `#[tool(..)]` on an `impl` block, where only the crate can be named.
pub(crate) fn parse_block(errors: &mut Errors, contract: &ContractAttribute) {
    let mut krate = None;
    for entry in entries(errors, contract.span, &contract.args) {
        match entry.name().as_str() {
            "crate" => args::set(errors, &mut krate, &entry, args::path),
            known if KEYS.split(' ').any(|key| key == known) => {
                let advice = "write it in the `#[tool(..)]` above the method";
                errors.at(
                    entry.span(),
                    format_args!("`{known}` belongs to one tool; {advice}"),
                );
            }
            _ => args::unknown(errors, &entry, "`#[tool]` on an `impl` block", "crate"),
        }
    }
}

fn entries(errors: &mut Errors, span: Span, tokens: &TokenStream) -> Vec<Entry> {
    if is_punct(tokens.clone().into_iter().next().as_ref(), '=') {
        let message =
            "`#[tool]` takes its arguments in parentheses; write `#[tool(name = \"..\")]`";
        errors.at(span, message);
        return Vec::new();
    }
    args::parse(errors, tokens.clone())
}

impl ToolArgs {
    fn take(&mut self, errors: &mut Errors, entry: &Entry) {
        let options = &mut self.options;
        match entry.name().as_str() {
            "name" => args::set(errors, &mut self.name, entry, |errors, entry| {
                args::string(errors, entry, "\"get_weather\"")
            }),
            "title" => args::set(errors, &mut options.title, entry, |errors, entry| {
                args::constant_text(errors, entry, "\"Get the weather\"")
            }),
            "description" => args::set(errors, &mut self.description, entry, |errors, entry| {
                args::constant_text(errors, entry, "\"Tells the weather of a place.\"")
            }),
            "policy" => args::set(errors, &mut options.policy, entry, args::policy),
            "timeout" => args::set(errors, &mut options.timeout, entry, args::duration),
            "confirm" => args::set(errors, &mut self.confirm, entry, message::question),
            "crate" => args::set(errors, &mut self.krate, entry, args::path),
            flag if FLAGS.split(' ').any(|known| flag == known) => {
                let flag = options.flags.entry(entry.name()).or_default();
                args::set(errors, flag, entry, args::flag);
            }
            _ => args::unknown(errors, entry, "`#[tool]`", KEYS),
        }
    }
}

/// Reads the `#[verify(..)]` of a tool.
pub(crate) fn verify(errors: &mut Errors, contracts: &[ContractAttribute]) -> Option<Verify> {
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
    let verified = of_kind(contracts, Kind::Verify);
    errors.each(verified.map(|contract| contract.span), message);
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
