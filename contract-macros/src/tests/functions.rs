//! Descriptions, attributes and the fallback expansion of functions.

use super::{attribute_set, contracted, tool};
use crate::fallback;
use crate::model::Description;

fn description(source: &str) -> Description {
    tool(&format!("{source} #[tool] fn f() {{}}")).description
}

#[test]
fn docs_become_text() {
    let text = |source: &str| match description(source) {
        Description::Text(text) => text,
        Description::Parts(_) => panic!("parts"),
    };
    assert_eq!(
        text("/// First.\n///\n///   * indented\n"),
        "First.\n\n  * indented"
    );
    assert_eq!(text("#[doc = \"One.\"] #[doc(alias = \"x\")]"), "One.");
    assert_eq!(text("/** First.\n * Second.\n */"), "First.\nSecond.");
}

#[test]
fn included_docs_are_put_together_later() {
    let Description::Parts(parts) =
        description("/// First.\n #[doc = include_str!(\"x.md\")] /// Last.\n")
    else {
        panic!("text")
    };
    assert_eq!(
        quote::quote!(concat!(#(#parts),*)).to_string(),
        "concat ! (\"First.\" , \"\\n\" , include_str ! (\"x.md\") , \"\\nLast.\")"
    );
}

#[test]
fn attributes_are_sorted() {
    let tool = tool(
        "/// D\n #[tool] #[cfg(unix)] #[must_use] #[deprecated] #[allow(x)] #[inline] #[other::thing] \
         pub(crate) async fn f() { 1 + }",
    );
    let path = |attr: &syn::Attribute| attr.path().segments[0].ident.to_string();
    let outer: Vec<_> = tool.function.attrs_outer.iter().map(path).collect();
    let inner: Vec<_> = tool.function.attrs_inner.iter().map(path).collect();
    assert_eq!(outer, ["doc", "cfg", "must_use", "deprecated", "allow"]);
    assert_eq!(inner, ["inline", "other"]);
    assert_eq!(
        tool.function.body.to_string(),
        "{ 1 + }",
        "a body is never parsed"
    );
    assert!(tool.function.is_async);
}

#[test]
fn contracts_leave_ordinary_functions_alone() {
    let function = contracted(
        "#[pre(x > 0)] unsafe fn f<T, const N: usize>(&mut self, (x, y): (u8, u8), t: impl Copy, _: &mut T) -> impl Copy {}",
    );
    assert!(function.function.receiver.is_some());
    assert_eq!(function.function.params.len(), 3);
    assert_eq!(function.function.params[0].ident, "__contract_arg_0");
    assert!(function.function.params[0].pattern.is_some());
}

fn fallback(source: &str) -> String {
    let attributes = attribute_set(source);
    let (item, model) = crate::read(&attributes);
    let report = model.err().expect("a mistake");
    fallback::expand(&attributes, item.as_ref(), &report).to_string()
}

#[test]
fn a_broken_tool_can_still_be_called() {
    let text = fallback(
        "/// D\n #[tool(nope)] #[pre(x)] fn f(/// Doc.\n #[arg(secret)] #[cfg(a)] x: u8, #[context] s: &S) { x }",
    );
    let (before, body) = text.split_once("compile_error !").expect("the report");
    assert_eq!(
        before,
        "# [doc = \" D\"] fn f (# [cfg (a)] x : u8 , s : & S) { :: core :: "
    );
    assert!(
        body.ends_with(
            "} # [tool (__contract_on_nothing)] const _ : () = () ; # [pre (__contract_on_nothing)] const _ : () = () ; \
             let _ = & x ; x }"
        ),
        "{body}"
    );
}

#[test]
fn a_broken_block_keeps_its_methods() {
    let text = fallback(
        "#[tool(nope)] impl<T: A> Store<T> where T: B { const X: u8 = 1; /// D\n #[tool] fn a(&self, #[arg(secret)] x: u8) {} \
         #[pre(y > 0)] fn b(&self, y: u8) {} }",
    );
    let block = &text[text.find("impl <").expect("the block")..];
    assert_eq!(
        block,
        "impl < T : A > Store < T > where T : B { const X : u8 = 1 ; # [doc = \" D\"] fn a (& self , x : u8) { # [tool (__contract_on_nothing)] const _ : () = () ; } \
         # [pre (y > 0)] fn b (& self , y : u8) { } }"
    );
}

#[test]
fn other_items_come_back_as_they_were() {
    assert!(
        fallback("#[tool] #[derive(A)] struct S { a: u8 }")
            .ends_with("# [derive (A)] struct S { a : u8 }")
    );
    assert!(fallback("/// D\n #[tool] fn f(;) {}").ends_with("fn f (;) { }"));
}
