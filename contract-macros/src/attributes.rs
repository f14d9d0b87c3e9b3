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
use syn::{Attribute, Meta, Path};

use crate::names;
use crate::source::{self, is_punct};

/// Which of the attributes.
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

/// One contract attribute.
#[derive(Clone)]
pub(crate) struct ContractAttribute {
    pub(crate) kind: Kind,
    pub(crate) args: TokenStream,
    /// The attribute's own place.
    pub(crate) span: Span,
    /// How the author spelled an attribute that was taken before it could run: its import must still count as used.
    pub(crate) path: Option<Path>,
}

/// An item and its contract attributes, in source order.
pub(crate) struct AttributeSet {
    pub(crate) contracts: Vec<ContractAttribute>,
    /// All other attributes.
    pub(crate) attrs: Vec<Attribute>,
    /// The item without attributes.
    pub(crate) rest: TokenStream,
    pub(crate) krate: Path,
}

/// What the first attribute to run does.
pub(crate) enum Next {
    Expand(AttributeSet),
    Defer(TokenStream),
}

/// What to emit when not even the attributes of the item can be read.
type Unreadable = TokenStream;

/// The work of the first contract attribute to run.
pub(crate) fn start(kind: Kind, args: TokenStream, item: &TokenStream) -> Result<Next, Unreadable> {
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
        return Ok(Next::Expand(attributes));
    }
    let AttributeSet {
        contracts,
        attrs,
        rest,
        krate,
    } = attributes;
    let runtime = names::runtime(&krate);
    let contracts = contracts.iter().map(ContractAttribute::deferred);
    let attrs = attrs.iter().map(|attr| resolvable(attr, &runtime));
    Ok(Next::Defer(
        quote!(#(#attrs)* #[#runtime::finish(#(#contracts)*)] #rest),
    ))
}

/// The work of the hidden attribute that runs last.
pub(crate) fn finish(args: TokenStream, item: &TokenStream) -> Result<AttributeSet, Unreadable> {
    AttributeSet::new(sequence(args), item)
}

impl AttributeSet {
    fn new(mut contracts: Vec<ContractAttribute>, item: &TokenStream) -> Result<Self, Unreadable> {
        let parser = |input: ParseStream<'_>| {
            Ok((
                input.call(Attribute::parse_outer)?,
                input.parse::<TokenStream>()?,
            ))
        };
        let (attrs, rest) = match parser.parse2(item.clone()) {
            Ok(parts) => parts,
            Err(error) => {
                let error = error.to_compile_error();
                return Err(quote!(#error #item));
            }
        };
        let (siblings, attrs) = split(attrs);
        contracts.extend(siblings);
        contracts.sort_by_key(|contract| place(contract.span));
        let krate = contracts
            .iter()
            .find_map(|contract| crate_in(&contract.args));
        Ok(Self {
            contracts,
            attrs,
            rest,
            krate: krate.unwrap_or_else(names::default_crate),
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

/// Takes the contract attributes out, opening a `finish` that stands among them.
pub(crate) fn split(attrs: Vec<Attribute>) -> (Vec<ContractAttribute>, Vec<Attribute>) {
    let mut contracts = Vec::new();
    let mut others = Vec::new();
    for attr in attrs {
        if let Some(contract) = ContractAttribute::new(&attr) {
            contracts.push(contract);
        } else if let Some(args) = deferred_args(&attr) {
            contracts.extend(sequence(args));
        } else {
            others.push(attr);
        }
    }
    (contracts, others)
}

/// `verify`, or a path to it: the word is common, and under another module it belongs to somebody else.
fn is_own(path: &Path) -> bool {
    let before = path.segments.iter().rev().nth(1);
    before.is_none_or(|module| module.ident == "prelude" || module.ident == "__private")
}

fn deferred_args(attr: &Attribute) -> Option<TokenStream> {
    let Meta::List(list) = &attr.meta else {
        return None;
    };
    let mut words = list
        .path
        .segments
        .iter()
        .rev()
        .map(|segment| &segment.ident);
    let ours = words.next()? == "finish" && words.next()? == "__private";
    ours.then(|| list.tokens.clone())
}

/// Reads `tool(..) pre[path](..) post(..)`.
fn sequence(args: TokenStream) -> Vec<ContractAttribute> {
    let mut contracts = Vec::new();
    let (mut word, mut path) = (None, None);
    for tree in args {
        match tree {
            TokenTree::Ident(ident) => word = Some(ident),
            TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
                path = Path::parse_mod_style.parse2(group.stream()).ok();
            }
            TokenTree::Group(group) => {
                let path = path.take();
                if let Some((kind, word)) = word
                    .take()
                    .and_then(|word| Some((Kind::named(&word)?, word)))
                {
                    contracts.push(ContractAttribute {
                        kind,
                        args: group.stream(),
                        span: word.span(),
                        path,
                    });
                }
            }
            _ => {}
        }
    }
    contracts
}

/// The paths of the attributes that were taken before they could run, except those that no import can be needed for.
pub(crate) fn uses(contracts: &[ContractAttribute]) -> Vec<Path> {
    let mut paths: Vec<Path> = contracts
        .iter()
        // Below `tool` it is an attribute that nobody has to import.
        .filter(|contract| contract.kind != Kind::Verify)
        .filter_map(|contract| contract.path.clone())
        .collect();
    paths.retain(|path| {
        path.segments
            .first()
            .is_some_and(|first| first.ident != "$crate")
    });
    paths
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

/// The path in `crate = path`, found without understanding the rest.
pub(crate) fn crate_in(args: &TokenStream) -> Option<Path> {
    let trees: Vec<TokenTree> = args.clone().into_iter().collect();
    let key = (0..trees.len()).find(|&at| {
        let starts = at
            .checked_sub(1)
            .is_none_or(|before| is_punct(trees.get(before), ','));
        let named = matches!(&trees[at], TokenTree::Ident(word) if word == "crate");
        starts && named && is_punct(trees.get(at + 1), '=') && !is_punct(trees.get(at + 2), '=')
    })?;
    let value = trees.into_iter().skip(key + 2);
    let value: TokenStream = value
        .take_while(|tree| !is_punct(Some(tree), ','))
        .collect();
    Path::parse_mod_style.parse2(value).ok()
}

/// Attributes of the language itself: they are not macros, so nothing is gained by waiting for them.
/// `cfg_attr` is not among them, because what it holds may be one.
const INERT: &[&str] = &[
    "allow",
    "automatically_derived",
    "cfg",
    "cold",
    "coverage",
    "deny",
    "deprecated",
    "doc",
    "expect",
    "export_name",
    "forbid",
    "inline",
    "instruction_set",
    "link_section",
    "must_use",
    "no_mangle",
    "optimize",
    "target_feature",
    "track_caller",
    "unsafe",
    "used",
    "warn",
];

/// Roots of attributes that belong to tools, not to macros.
const INERT_ROOTS: &[&str] = &["clippy", "diagnostic", "miri", "rust_analyzer", "rustfmt"];

/// `#[cfg_attr(test, verify(run))]` with a path that needs no import, because it will have to be found like any attribute.
fn resolvable(attr: &Attribute, runtime: &TokenStream) -> TokenStream {
    let list = match &attr.meta {
        Meta::List(list) if attr.path().is_ident("cfg_attr") => list,
        _ => return quote!(#attr),
    };
    let mut tokens = TokenStream::new();
    let mut begins = false;
    for tree in list.tokens.clone() {
        match &tree {
            TokenTree::Ident(word) if begins && word == Kind::Verify.word() => {
                tokens.extend(quote_spanned!(word.span()=> #runtime::verify));
            }
            _ => tokens.extend([tree.clone()]),
        }
        begins = is_punct(Some(&tree), ',');
    }
    quote!(#[cfg_attr(#tokens)])
}

fn is_inert(attr: &Attribute) -> bool {
    let segments = &attr.path().segments;
    let Some(root) = segments.first() else {
        return true;
    };
    let known = if segments.len() == 1 {
        INERT
    } else {
        INERT_ROOTS
    };
    known.iter().any(|word| root.ident.unraw() == word)
}

/// The attribute as it is shown to its author: `#[pre]`.
impl std::fmt::Display for Kind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "#[{}]", self.word())
    }
}
