//! Parses the arguments of `#[tool(..)]`, `#[verify(..)]`, `verify!` and `verify_all!`.

use std::collections::BTreeMap;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Expr, LitStr, Path, Token};

use crate::args::{self, Entry};
use crate::attributes::{self, ContractAttribute, Kind, of_kind};
use crate::errors::Errors;
use crate::expand::data;
use crate::message::{self, Written};
use crate::model::{Options, Set, Verify};
use crate::names;
use crate::source::{self, is_punct};

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

const VERIFY_KEYS: &str = "run setup cases seed sequences strict";

/// Expands `verify!(tools::divide, cases = 1_000)` and `verify_all!(registry, cases = 1_000)`. The crate's path and `;` come first.
///
/// ```text
/// #[test]
/// fn verify_divide() {
///     rt::verifier_of_function(tools::divide, env!("CARGO_MANIFEST_DIR")).cases(1_000).run().assert();
/// }
/// ```
pub(crate) fn verifier(
    errors: &mut Errors,
    input: ParseStream<'_>,
    all: bool,
) -> Option<TokenStream> {
    let krate = Path::parse_mod_style(input).unwrap_or_else(|_| names::default_crate());
    let _ = input.parse::<Token![;]>();
    let runtime = names::runtime(&krate);
    let home = quote!(::core::option_env!("CARGO_MANIFEST_DIR").unwrap_or("."));
    let of_package = all && (input.is_empty() || args::is_keyed(input));
    let (mut name, mut owner) = (String::from("verify_all"), "`verify_all!`");
    let verifier = if of_package {
        let package = quote!(#runtime::package(::core::option_env!("CARGO_PKG_NAME"), ::core::module_path!()));
        quote!(#runtime::verifier_of_package(#package, #home))
    } else if all {
        let (_, registry) = errors.ok(source::expression(input))?;
        quote!(#runtime::verifier_of_registry(#registry, #home))
    } else {
        let path = verified(errors, input)?;
        let function = path.segments.last()?.ident.unraw();
        (name, owner) = (format!("verify_{function}"), "`verify!`");
        quote!(#runtime::verifier_of_function(#path, #home))
    };
    if !of_package && !input.is_empty() {
        errors.ok(input.parse::<Token![,]>())?;
    }
    let mut values: BTreeMap<String, Option<Set<TokenStream>>> = BTreeMap::new();
    for entry in args::entries(errors, input) {
        let key = entry.name();
        if !VERIFY_KEYS.split(' ').any(|known| key == known) {
            args::unknown(errors, &entry, owner, VERIFY_KEYS);
            continue;
        }
        let value = values.entry(key.clone()).or_default();
        args::set(errors, value, &entry, |errors, entry| match key.as_str() {
            "run" | "strict" => args::flag(errors, entry).map(|flag| quote!(#flag)),
            "setup" => args::setup(errors, entry).map(|setup| data::setup(&setup, &runtime)),
            "seed" => args::value(errors, entry, "42").map(ToTokens::into_token_stream),
            _ => args::value(errors, entry, "1_000").map(ToTokens::into_token_stream),
        });
    }
    let calls = values.iter().filter_map(|(key, value)| {
        let key = if key == "run" { "run_bodies" } else { key };
        let (method, value) = (Ident::new(key, Span::call_site()), value.as_ref()?);
        Some(quote!(.#method(#value)))
    });
    let name = Ident::new(&name, Span::call_site());
    Some(quote! {
        #[::core::prelude::v1::test]
        fn #name() {
            #verifier #(#calls)* .run().assert();
        }
    })
}

/// The path of the tool that is verified.
fn verified(errors: &mut Errors, input: ParseStream<'_>) -> Option<Path> {
    if input.is_empty() {
        let message = "`verify!` needs a tool; write `verify!(divide)`, or `verify_all!()` for the whole package";
        errors.at(Span::call_site(), message);
        return None;
    }
    let (expr, tokens) = errors.ok(source::expression(input))?;
    let path = Path::parse_mod_style.parse2(source::without_invisible_group(tokens));
    if path.is_err() {
        let message =
            "this is not the path of a tool; write `verify!(divide)` or `verify!(tools::divide)`";
        errors.on(expr, message);
    }
    path.ok()
}
