//! Parses the arguments of `#[tool(..)]`.

use proc_macro2::{Span, TokenStream};
use syn::{Expr, LitStr, Path};

use crate::args::{self, Entry};
use crate::attributes::ContractAttribute;
use crate::errors::Errors;
use crate::message::{self, Written};
use crate::model::{Options, Set};
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
                let message = format!(
                    "`{known}` belongs to one tool; write it in the `#[tool(..)]` above the method"
                );
                errors.at(entry.span(), message);
            }
            _ => args::unknown(errors, &entry, "`#[tool]` on an `impl` block", "crate"),
        }
    }
}

fn entries(errors: &mut Errors, span: Span, tokens: &TokenStream) -> Vec<Entry> {
    let first = tokens.clone().into_iter().next();
    if is_punct(first.as_ref(), '=') {
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
            "name" => {
                args::set(errors, &mut self.name, entry, |errors, entry| {
                    args::string(errors, entry, "\"get_weather\"")
                });
            }
            "title" => args::set(errors, &mut options.title, entry, |errors, entry| {
                args::constant_text(errors, entry, "\"Get the weather\"")
            }),
            "description" => args::set(errors, &mut self.description, entry, |errors, entry| {
                args::constant_text(errors, entry, "\"Tells the weather of a place.\"")
            }),
            "policy" => args::set(errors, &mut options.policy, entry, args::policy),
            "read_only" => args::set(errors, &mut options.read_only, entry, args::flag),
            "destructive" => args::set(errors, &mut options.destructive, entry, args::flag),
            "idempotent" => args::set(errors, &mut options.idempotent, entry, args::flag),
            "open_world" => args::set(errors, &mut options.open_world, entry, args::flag),
            "blocking" => args::set(errors, &mut options.blocking, entry, args::flag),
            "output_schema" => args::set(errors, &mut options.output_schema, entry, args::flag),
            "coerce" => args::set(errors, &mut options.coerce, entry, args::flag),
            "alone" => args::set(errors, &mut options.alone, entry, args::flag),
            "timeout" => args::set(errors, &mut options.timeout, entry, args::duration),
            "confirm" => args::set(errors, &mut self.confirm, entry, message::question),
            "crate" => args::set(errors, &mut self.krate, entry, args::path),
            _ => args::unknown(errors, entry, "`#[tool]`", KEYS),
        }
    }
}
