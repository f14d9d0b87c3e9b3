//! `#[tool]` on `impl` blocks.

use super::{refused, set};
use crate::model::Member;

#[test]
fn marked_methods_become_tools() {
    let set = set(
        "#[tool(crate = rt)] #[cfg(a)] impl<const N: usize, T> Store<N, T> where T: X {
            const M: u8 = { 1 };
            /// Get it.
            #[cfg(unix)] #[tool(read_only)] #[pre(id > 0)] pub async fn get(&self, id: u64) -> u64 { id }
            #[pre(x > 0)] fn other(&mut self, /** d */ x: u8) {}
            /// Named receiver.
            #[tool] fn by_type(self: &Self) {}
        }",
    );
    assert_eq!(set.members.len(), 4);
    assert_eq!(
        (
            set.attrs.len(),
            set.generics.params.len(),
            set.krate.is_ident("rt")
        ),
        (1, 2, true)
    );
    assert!(set.generics.where_clause.is_some());
    let Member::Tool(get) = &set.members[1] else {
        panic!("not a tool")
    };
    assert_eq!(
        (
            get.name.text.as_str(),
            get.clauses.len(),
            get.krate.is_ident("rt")
        ),
        ("get", 1, true)
    );
    assert_eq!(get.function.attrs_outer.len(), 2);
    let Member::Other(other) = &set.members[2] else {
        panic!("a tool")
    };
    assert_eq!(
        other.to_string(),
        "# [pre (x > 0)] fn other (& mut self , # [doc = \" d \"] x : u8) { }"
    );
}

fn refused_method(method: &str, expected: &str) {
    refused(
        &format!("#[tool] impl S {{ /// D\n #[tool] {method} }}"),
        &[expected],
    );
}

#[test]
fn receivers_are_shared() {
    refused_method(
        "fn f(self) {}",
        "a tool cannot take `self`, because it is called more than once; write `&self`",
    );
    refused_method(
        "fn f(&mut self) {}",
        "a tool cannot take `&mut self`, because calls share the state; write `&self` and keep what changes behind a `Mutex`",
    );
    refused_method(
        "fn f(self: Arc<Self>) {}",
        "a tool cannot take `self:Arc < Self >`; write `&self`",
    );
    refused_method(
        "fn f(a: u8) {}",
        "a tool in an `impl` block has a receiver; make it a free function or take `&self`",
    );
}

#[test]
fn blocks_hold_tools() {
    refused(
        "#[tool] impl S { fn f(&self) {} }",
        &["no method of this block is a tool; write `#[tool]` above those the model may call"],
    );
    refused(
        "#[tool] impl T for S { /// D\n #[tool] fn f(&self) {} }",
        &["tools cannot be methods of a trait; write them in `impl S { .. }`"],
    );
    refused(
        "#[pre(true)] #[tool] impl S { /// D\n #[tool] fn f(&self) {} }",
        &["`#[pre]` belongs above a function, not an `impl` block"],
    );
    refused(
        "#[tool(read_only)] impl S { /// D\n #[tool] fn f(&self) {} }",
        &["`read_only` belongs to one tool; write it in the `#[tool(..)]` above the method"],
    );
    refused(
        "#[tool(nope)] impl S { /// D\n #[tool] fn f(&self) {} }",
        &["unknown argument `nope`; `#[tool]` on an `impl` block takes `crate`"],
    );
    refused(
        "#[tool] impl S { /// D\n #[tool] fn f(&self) {} fn g(&self, #[context] x: u8) {} }",
        &["only a tool takes this; write `#[tool]` above the method, or remove it"],
    );
}

#[test]
fn states_are_kept_and_shared() {
    let borrows = |lifetime: &str| {
        format!(
            "a state with tools cannot borrow, because a registry keeps it; own what `{lifetime}` borrows, or share it in an `Arc`"
        )
    };
    let shared =
        "a state with tools is kept and shared between threads; write `T: Send + Sync + 'static`";
    let block =
        |head: &str| format!("#[tool] {head} {{ /// D\n #[tool] fn f<'b>(&'b self) {{}} }}");
    refused(&block("impl<'a> S<'a>"), &[&borrows("'a")]);
    refused(&block("impl<'a, 'b> S<'a, 'b>"), &[&borrows("'a")]);
    refused(&block("impl S<'_>"), &[&borrows("'_")]);
    refused(&block("impl<T> S<T>"), &[shared]);
    for accepted in [
        "impl S<'static>",
        "impl<T: X> S<T>",
        "impl<T> S<T> where Vec<T>: X",
    ] {
        set(&block(accepted));
    }
}

#[test]
fn every_method_is_checked() {
    refused(
        "#[tool] impl S { #[tool] #[tool] fn f(&self) {} /// D\n #[tool] fn g(&self, _: u8) {} }",
        &[
            "`#[tool]` is given twice; write all its arguments in one",
            "tool `f` has no description; add a `///` comment saying what it does, its units and when it fails",
            "an argument needs a plain name, which the model will see; write `value: u8`",
        ],
    );
}
