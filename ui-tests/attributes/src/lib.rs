//! Attribute macros that rewrite what they stand on, as those of other crates do.

use proc_macro::{Delimiter, Group, Span, TokenStream, TokenTree};

/// Puts `authorise();` in front of the body; the function must be in scope.
#[proc_macro_attribute]
pub fn authorise(_: TokenStream, item: TokenStream) -> TokenStream {
    with_body(item, |body| {
        let mut inside: TokenStream = parsed("authorise();");
        inside.extend([body]);
        inside
    })
}

/// Makes the body a closure and calls it between `enter();` and `leave();`.
#[proc_macro_attribute]
pub fn wrap(_: TokenStream, item: TokenStream) -> TokenStream {
    with_body(item, |body| {
        let closure: TokenStream = TokenStream::from_iter([parsed("move ||"), body.into()]);
        let called = Group::new(Delimiter::Parenthesis, closure);
        TokenStream::from_iter([
            parsed("enter(); let wrapped ="),
            TokenTree::from(called).into(),
            parsed("(); leave(); wrapped"),
        ])
    })
}

fn parsed(source: &str) -> TokenStream {
    source.parse().unwrap_or_default()
}

fn with_body(item: TokenStream, rewrite: impl FnOnce(TokenTree) -> TokenStream) -> TokenStream {
    let mut trees: Vec<TokenTree> = item.into_iter().collect();
    if let Some(body) = trees.pop() {
        let mut body = Group::new(Delimiter::Brace, rewrite(body));
        body.set_span(Span::call_site());
        trees.push(body.into());
    }
    trees.into_iter().collect()
}
