//! Parses the annotated item: a function or an `impl` block, with bodies as untouched tokens.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::discouraged::Speculative;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Generics, Ident, ImplItem, Path, Signature, Token, Type, Visibility};

use crate::attributes::{AttributeSet, ContractAttribute, Kind, of_kind, split};
use crate::errors::Errors;
use crate::names::PREFIX;
use crate::source::since;

pub(crate) enum Item {
    Function(FunctionItem),
    Impl(ImplItems),
}

#[derive(Clone)]
pub(crate) struct FunctionItem {
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    pub(crate) body: Option<Group>,
}

pub(crate) struct ImplItems {
    /// Everything before the braces.
    pub(crate) head: TokenStream,
    pub(crate) generics: Generics,
    pub(crate) trait_: Option<Path>,
    pub(crate) self_ty: Type,
    pub(crate) members: Vec<RawMember>,
}

pub(crate) enum RawMember {
    Function(Box<Method>),
    Other(TokenStream),
}

pub(crate) struct Method {
    pub(crate) contracts: Vec<ContractAttribute>,
    /// The attributes that are not ours.
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) function: FunctionItem,
    /// The whole item as written.
    pub(crate) tokens: TokenStream,
}

/// Reads the item, or reports what it is instead.
pub(crate) fn parse(errors: &mut Errors, attributes: &AttributeSet) -> Option<Item> {
    let first = attributes.contracts.first()?;
    let parsed = match kind(&attributes.rest) {
        What::Function => function.parse2(attributes.rest.clone()).map(Item::Function),
        What::Impl => impl_items.parse2(attributes.rest.clone()).map(Item::Impl),
        What::Other(other, word) => {
            let message = match first.kind {
                Kind::Tool => format!("a tool is a function or an `impl` block, not {other}"),
                Kind::Verify => format!("`#[verify]` belongs above a tool, not {other}"),
                Kind::Given | Kind::Pre | Kind::Post => {
                    format!("a contract belongs above a function, not {other}")
                }
            };
            errors.at(word.unwrap_or(first.span), message);
            return None;
        }
    };
    errors.ok(parsed)
}

enum What {
    Function,
    Impl,
    /// What it is, and the word that says so.
    Other(&'static str, Option<Span>),
}

/// Tells items apart by their first keyword, so that unknown syntax inside them does not matter.
fn kind(item: &TokenStream) -> What {
    let trees: Vec<TokenTree> = item.clone().into_iter().collect();
    let word = |at: usize| match trees.get(at) {
        Some(TokenTree::Ident(word)) => word.to_string(),
        _ => String::new(),
    };
    let is_group = |at: usize| matches!(trees.get(at), Some(TokenTree::Group(_)));
    if matches!(trees.get(1), Some(TokenTree::Punct(punct)) if punct.as_char() == '!') {
        return What::Other("a macro call", trees.first().map(TokenTree::span));
    }
    for at in 0..trees.len() {
        let other = match word(at).as_str() {
            "fn" => return What::Function,
            "impl" => return What::Impl,
            "struct" => "a struct",
            "enum" => "an enum",
            "trait" => "a trait",
            "mod" => "a module",
            "static" => "a static",
            "type" => "a type alias",
            "use" => "an import",
            "const" if !matches!(word(at + 1).as_str(), "fn" | "async" | "unsafe" | "extern") => {
                "a constant"
            }
            "union" if !word(at + 1).is_empty() => "a union",
            "extern" if word(at + 1) == "crate" => "an import",
            "extern" if is_group(at + 1) || is_group(at + 2) => "an `extern` block",
            _ => continue,
        };
        return What::Other(other, trees.get(at).map(TokenTree::span));
    }
    What::Other("this", None)
}

fn function(input: ParseStream<'_>) -> syn::Result<FunctionItem> {
    let vis = input.parse()?;
    let _: Option<Token![default]> = input.parse()?;
    let sig = input.parse()?;
    let body = block(input.parse()?);
    Ok(FunctionItem { vis, sig, body })
}

/// A block, also when `macro_rules!` handed it on.
fn block(tree: TokenTree) -> Option<Group> {
    let TokenTree::Group(group) = tree else {
        return None;
    };
    match group.delimiter() {
        Delimiter::Brace => Some(group),
        Delimiter::None => group.stream().into_iter().next().and_then(block),
        _ => None,
    }
}

fn impl_items(input: ParseStream<'_>) -> syn::Result<ImplItems> {
    let start = input.fork();
    let _: Option<Token![default]> = input.parse()?;
    let _: Option<Token![unsafe]> = input.parse()?;
    input.parse::<Token![impl]>()?;
    let mut generics: Generics = input.parse()?;
    let mut self_ty: Type = input.parse()?;
    let mut trait_ = None;
    if input.peek(Token![for]) {
        if let Type::Path(path) = &self_ty {
            trait_ = Some(path.path.clone());
        }
        input.parse::<Token![for]>()?;
        self_ty = input.parse()?;
    }
    generics.where_clause = input.parse()?;
    let head = since(&start, input);
    let content;
    syn::braced!(content in input);
    let mut members = Vec::new();
    while !content.is_empty() {
        members.push(member(&content)?);
    }
    Ok(ImplItems {
        head,
        generics,
        trait_,
        self_ty,
        members,
    })
}

fn member(input: ParseStream<'_>) -> syn::Result<RawMember> {
    let (start, ahead) = (input.fork(), input.fork());
    let attrs = ahead.call(Attribute::parse_outer)?;
    let read = function(&ahead);
    if read.is_ok() {
        input.advance_to(&ahead);
    } else {
        input.parse::<ImplItem>()?;
    }
    let tokens = since(&start, input);
    let Ok(function) = read else {
        return Ok(RawMember::Other(tokens));
    };
    let (contracts, attrs) = split(attrs);
    Ok(RawMember::Function(Box::new(Method {
        contracts,
        attrs,
        function,
        tokens,
    })))
}

impl RawMember {
    /// The function, if it is a tool.
    pub(crate) fn tool(&self) -> Option<&Method> {
        let Self::Function(method) = self else {
            return None;
        };
        let mut tools = of_kind(&method.contracts, Kind::Tool);
        tools.next().map(|_| &**method)
    }
}

impl FunctionItem {
    /// Whether a contract attribute has already expanded this function.
    pub(crate) fn is_expanded(&self) -> bool {
        let Some(body) = &self.body else { return false };
        body.stream().into_iter().any(
            |tree| matches!(tree, TokenTree::Ident(word) if word.unraw().to_string().starts_with(PREFIX)),
        )
    }

    /// The function without the helper attributes of its parameters.
    pub(crate) fn plain(&self) -> TokenStream {
        let Self { vis, sig, body } = self;
        let mut sig = sig.clone();
        for input in &mut sig.inputs {
            let attrs = match input {
                syn::FnArg::Receiver(receiver) => &mut receiver.attrs,
                syn::FnArg::Typed(typed) => &mut typed.attrs,
            };
            attrs.retain(|attr| !attr.path().is_ident("doc") && !crate::param::is_ours(attr));
        }
        let end = body.is_none().then(<Token![;]>::default);
        quote!(#vis #sig #body #end)
    }

    pub(crate) fn ident(&self) -> &Ident {
        &self.sig.ident
    }
}
