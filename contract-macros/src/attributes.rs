//! Collects the contract attributes of an item and expands them after all other attributes.
//!
//! ```text
//! #[tool(read_only)]                 #[instrument]
//! #[require(x > 0)]           ->     #[require(x > 0)]
//! #[instrument]                      #[::contract_runtime::__private::finish(tool(read_only))]
//! fn f(x: i64) ..                    fn f(x: i64) ..
//! ```
//!
//! `instrument` then rewrites the plain function, and so acts on every way in. `require`, which is `pre` under another
//! name, finds `finish` and merges with it. `finish` itself never defers.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, Path, Token};

use crate::errors::Errors;
use crate::names;
use crate::source::{self, is_punct};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Tool,
    Given,
    Pre,
    Post,
    Verify,
}

impl Kind {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Given => "given",
            Self::Pre => "pre",
            Self::Post => "post",
            Self::Verify => "verify",
        }
    }

    pub(crate) fn named(word: &Ident) -> Option<Self> {
        [Self::Tool, Self::Given, Self::Pre, Self::Post, Self::Verify]
            .into_iter()
            .find(|kind| word == kind.word())
    }
}

#[derive(Clone)]
pub(crate) struct ContractAttribute {
    pub(crate) kind: Kind,
    pub(crate) args: TokenStream,
    pub(crate) span: Span,
    /// The path as the author wrote it, if the attribute was taken before it ran: its import must still count as used.
    pub(crate) path: Option<Path>,
}

/// An item and its contract attributes, in source order.
pub(crate) struct AttributeSet {
    pub(crate) contracts: Vec<ContractAttribute>,
    pub(crate) attrs: Vec<Attribute>,
    /// The item without attributes.
    pub(crate) rest: TokenStream,
    pub(crate) krate: Path,
}

/// The tokens for an item whose attributes cannot be parsed, or that waits for its other attributes.
type Expansion = TokenStream;

/// Runs the first contract attribute of an item.
pub(crate) fn start(
    kind: Kind,
    args: TokenStream,
    item: &TokenStream,
) -> Result<AttributeSet, Expansion> {
    // Resolved as the author's own token, so that the compiler does not add a note on where the error comes from.
    let author = item.clone().into_iter().next();
    let span = author.map_or_else(Span::call_site, |tree| {
        tree.span().located_at(Span::call_site())
    });
    let first = ContractAttribute {
        kind,
        args: source::grouped(args),
        span,
        path: None,
    };
    let attributes = AttributeSet::new(vec![first], item)?;
    if attributes.attrs.iter().all(is_inert) {
        return Ok(attributes);
    }
    let (rest, runtime) = (&attributes.rest, names::runtime(&attributes.krate));
    let contracts = attributes.contracts.iter().map(ContractAttribute::deferred);
    let attrs = attributes.attrs.iter();
    let attrs = attrs.map(|attr| resolvable(attr, &runtime));
    Err(quote!(#(#attrs)* #[#runtime::finish(#(#contracts)*)] #rest))
}

/// Runs the hidden attribute, after all others.
pub(crate) fn finish(args: TokenStream, item: &TokenStream) -> Result<AttributeSet, Expansion> {
    AttributeSet::new(sequence.parse2(args).unwrap_or_default(), item)
}

impl AttributeSet {
    fn new(mut contracts: Vec<ContractAttribute>, item: &TokenStream) -> Result<Self, Expansion> {
        let parser =
            |input: ParseStream<'_>| Ok((input.call(Attribute::parse_outer)?, input.parse()?));
        let (attrs, rest) = parser.parse2(item.clone()).map_err(|error| {
            let error = error.to_compile_error();
            quote!(#error #item)
        })?;
        let (siblings, attrs) = split(attrs);
        contracts.extend(siblings);
        contracts.sort_by_key(|contract| place(contract.span));
        let mut krates = contracts
            .iter()
            .filter_map(|contract| crate_in(&contract.args));
        Ok(Self {
            krate: krates.next().unwrap_or_else(names::default_crate),
            contracts,
            attrs,
            rest,
        })
    }
}

impl ContractAttribute {
    fn new(attr: &Attribute) -> Option<Self> {
        let word = &attr.path().segments.last()?.ident;
        let kind = Kind::named(word).filter(|kind| *kind != Kind::Verify || is_own(attr.path()))?;
        let args = match &attr.meta {
            Meta::Path(_) => TokenStream::new(),
            Meta::List(list) => source::grouped(list.tokens.clone()),
            // Kept with its sign, so that reading it reports the form.
            Meta::NameValue(pair) => {
                let (sign, value) = (&pair.eq_token, &pair.value);
                quote!(#sign #value)
            }
        };
        Some(Self {
            kind,
            args,
            span: word.span(),
            path: Some(attr.path().clone()),
        })
    }

    /// As an argument of `finish`: `pre(x > 0)`, or `pre[rt::pre](x > 0)` with the author's own path.
    fn deferred(&self) -> TokenStream {
        let word = Ident::new(self.kind.word(), self.span);
        let args = TokenTree::Group(Group::new(Delimiter::Parenthesis, self.args.clone()));
        let path = self.path.as_ref().map(|path| quote!([#path]));
        quote!(#word #path #args)
    }
}

pub(crate) fn of_kind(
    contracts: &[ContractAttribute],
    kind: Kind,
) -> impl Iterator<Item = &ContractAttribute> {
    let all = contracts.iter();
    all.filter(move |contract| contract.kind == kind)
}

/// The attribute of a kind that may be given once.
pub(crate) fn only<'c>(
    errors: &mut Errors,
    contracts: &'c [ContractAttribute],
    kind: Kind,
) -> Option<&'c ContractAttribute> {
    let mut written = of_kind(contracts, kind);
    let first = written.next();
    let message = format!("`{kind}` is given twice; write all its arguments in one");
    errors.each(written.map(|second| second.span), message);
    first
}

/// Separates the contract attributes, those in a `finish` included, from the others.
pub(crate) fn split(attrs: Vec<Attribute>) -> (Vec<ContractAttribute>, Vec<Attribute>) {
    let mut contracts = Vec::new();
    let mut others = Vec::new();
    for attr in attrs {
        if let Some(contract) = ContractAttribute::new(&attr) {
            contracts.push(contract);
        } else if let Some(args) = deferred_args(&attr) {
            contracts.extend(sequence.parse2(args).into_iter().flatten());
        } else {
            others.push(attr);
        }
    }
    (contracts, others)
}

/// Whether a path is `verify` or leads to ours. The word is common, and other crates have attributes of that name.
fn is_own(path: &Path) -> bool {
    let before = path.segments.iter().rev().nth(1);
    before.is_none_or(|module| module.ident == "prelude" || module.ident == "__private")
}

fn deferred_args(attr: &Attribute) -> Option<TokenStream> {
    let list = attr.meta.require_list().ok()?;
    let mut words = list.path.segments.iter().rev().map(|one| &one.ident);
    let is_ours = words.next()? == "finish" && words.next()? == "__private";
    is_ours.then(|| list.tokens.clone())
}

/// Reads `tool(..) pre[path](..) post(..)`.
fn sequence(input: ParseStream<'_>) -> syn::Result<Vec<ContractAttribute>> {
    let mut contracts = Vec::new();
    while !input.is_empty() {
        let word = input.call(Ident::parse_any)?;
        let mut path = None;
        if input.peek(syn::token::Bracket) {
            let inside;
            syn::bracketed!(inside in input);
            path = Some(inside.call(Path::parse_mod_style)?);
        }
        let inside;
        syn::parenthesized!(inside in input);
        let args = inside.parse()?;
        let span = word.span();
        contracts.extend(Kind::named(&word).map(|kind| ContractAttribute {
            kind,
            args,
            span,
            path,
        }));
    }
    Ok(contracts)
}

/// The paths of the attributes that were taken before they ran, if they may need an import.
pub(crate) fn uses(contracts: &[ContractAttribute]) -> Vec<Path> {
    // Below `tool`, the attribute `verify` need not be imported.
    let taken = contracts
        .iter()
        .filter(|contract| contract.kind != Kind::Verify);
    let paths = taken.filter_map(|contract| contract.path.clone());
    let is_imported = |path: &Path| {
        path.segments
            .first()
            .is_some_and(|first| first.ident != "$crate")
    };
    paths.filter(is_imported).collect()
}

/// Lets attributes that were taken run once, on nothing: otherwise the import of one would be reported as unused, and none
/// that is not imported would be missed.
pub(crate) fn run_on_nothing(paths: &[Path]) -> TokenStream {
    let marker = Ident::new(names::ON_NOTHING, Span::call_site());
    quote!(#(#[#paths(#marker)] const _: () = ();)*)
}

/// Whether the arguments are those of [`run_on_nothing`].
pub(crate) fn runs_on_nothing(args: &TokenStream) -> bool {
    matches!(args.clone().into_iter().next(), Some(TokenTree::Ident(word)) if word == names::ON_NOTHING)
}

/// Line and column inside a compiler; elsewhere all places are equal, and a stable sort keeps the order.
fn place(span: Span) -> (usize, usize) {
    if !proc_macro::is_available() {
        return (0, 0);
    }
    let start = span.unwrap().start();
    (start.line(), start.column())
}

/// Finds the path in `crate = path` without parsing the other arguments.
pub(crate) fn crate_in(args: &TokenStream) -> Option<Path> {
    let trees: Vec<TokenTree> = args.clone().into_iter().collect();
    let mut arguments = trees.split(|tree| is_punct(Some(tree), ','));
    arguments.find_map(|argument| match argument {
        [TokenTree::Ident(key), sign, value @ ..]
            if key == "crate" && is_punct(Some(sign), '=') =>
        {
            let value = value.iter().cloned().collect();
            Path::parse_mod_style.parse2(value).ok()
        }
        _ => None,
    })
}

/// Attributes of the language itself: they are not macros, so nothing is gained by waiting for them.
/// `cfg_attr` is not among them, because what it holds may be one.
const INERT: &str = "allow automatically_derived cfg cold coverage deny deprecated doc expect export_name forbid inline \
    instruction_set link_section must_use no_mangle optimize target_feature track_caller unsafe used warn";

/// Modules of attributes that are not macros.
const INERT_ROOTS: &str = "clippy diagnostic miri rust_analyzer rustfmt";

/// The condition of a `cfg_attr`, and the attributes that it holds.
pub(crate) fn conditional(attr: &Attribute) -> Option<(Meta, Vec<Meta>)> {
    let metas = Punctuated::<Meta, Token![,]>::parse_terminated;
    let list = attr.meta.require_list().ok()?;
    let metas = list.parse_args_with(metas).ok();
    let mut metas = metas
        .filter(|_| attr.path().is_ident("cfg_attr"))?
        .into_iter();
    Some((metas.next()?, metas.collect()))
}

/// Gives `verify` in `#[cfg_attr(test, verify(run))]` a path that needs no import, because the compiler will resolve it.
fn resolvable(attr: &Attribute, runtime: &TokenStream) -> TokenStream {
    let Some((condition, metas)) = conditional(attr) else {
        return quote!(#attr);
    };
    let metas = metas.iter().map(|meta| match meta.path().get_ident() {
        Some(word) if word == Kind::Verify.word() => {
            quote_spanned!(word.span()=> #runtime::#meta)
        }
        _ => quote!(#meta),
    });
    quote!(#[cfg_attr(#condition #(, #metas)*)])
}

fn is_inert(attr: &Attribute) -> bool {
    let segments = &attr.path().segments;
    let known = if segments.len() == 1 {
        INERT
    } else {
        INERT_ROOTS
    };
    let is_known = |root: &syn::PathSegment| {
        known
            .split_whitespace()
            .any(|word| root.ident.unraw() == word)
    };
    segments.first().is_none_or(is_known)
}

/// The attribute as it is shown to its author: `#[pre]`.
impl std::fmt::Display for Kind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "#[{}]", self.word())
    }
}
