//! The rules that a tool's signature and options must keep.

use super::{refused, tool};

fn refused_tool(function: &str, expected: &str) {
    refused(&format!("/// Does it.\n #[tool] {function}"), &[expected]);
}

#[test]
fn only_functions_and_blocks() {
    let struct_ = "a tool is a function or an `impl` block, not a struct";
    refused_tool("pub struct S { a: u8 }", struct_);
    refused_tool(
        "pub(crate) enum E { A }",
        "a tool is a function or an `impl` block, not an enum",
    );
    refused_tool(
        "unsafe trait T {}",
        "a tool is a function or an `impl` block, not a trait",
    );
    refused_tool(
        "mod m {}",
        "a tool is a function or an `impl` block, not a module",
    );
    refused_tool(
        "const X: u8 = 1;",
        "a tool is a function or an `impl` block, not a constant",
    );
    refused_tool(
        "static X: u8 = 1;",
        "a tool is a function or an `impl` block, not a static",
    );
    refused_tool(
        "extern \"C\" { fn f(); }",
        "a tool is a function or an `impl` block, not an `extern` block",
    );
    refused_tool(
        "use a::b;",
        "a tool is a function or an `impl` block, not an import",
    );
    refused_tool(
        "thing! {}",
        "a tool is a function or an `impl` block, not a macro call",
    );
    refused(
        "#[pre(true)] struct S;",
        &["a contract belongs above a function, not a struct"],
    );
    refused_tool("fn f();", "a tool needs a body; write it in `{ .. }`");
    refused(
        "#[pre(true)] fn f();",
        &["a contracted function needs a body; write it in `{ .. }`"],
    );
}

#[test]
fn twice_a_tool() {
    refused(
        "/// D\n #[tool] #[tool] fn f() {}",
        &["`#[tool]` is given twice; write all its arguments in one"],
    );
}

#[test]
fn an_expanded_function_is_closed() {
    refused(
        "#[pre(a > 0)] fn f(a: u8) { fn __contract_body(a: u8) {} }",
        &[
            "`#[pre]` is applied to a function that is already expanded, so calls by name would not check it; \
           write it directly above the function",
        ],
    );
}

#[test]
fn names_travel() {
    let advice = "use ASCII letters, digits, `_` and `-`, and begin with a letter or `_`";
    let named = |name: &str, expected: &str| {
        refused(
            &format!("/// D\n #[tool(name = \"{name}\")] fn f() {{}}"),
            &[expected],
        );
    };
    named("", &format!("a tool name cannot be empty; {advice}"));
    named(
        "my tool",
        &format!("`my tool` is not a tool name every model accepts; {advice}"),
    );
    named(
        "1st",
        &format!("`1st` is not a tool name every model accepts; {advice}"),
    );
    named(
        &"x".repeat(65),
        "this name has 65 characters; not every model accepts more than 64",
    );
    refused_tool(
        "fn größe() {}",
        &format!(
            "`größe` is not a tool name every model accepts; add `name = \"..\"`, and {advice}"
        ),
    );
    assert_eq!(
        tool("/// D\n #[tool(name = \"size\")] fn größe() {}")
            .name
            .text,
        "size"
    );
    assert_eq!(tool("/// D\n #[tool] fn r#type() {}").name.text, "type");
}

#[test]
fn argument_names_travel() {
    let letters = "ASCII letters, digits and `_`, and begin with a letter or `_`";
    refused_tool(
        "fn f(größe: u8) {}",
        &format!(
            "`größe` is not an argument name every model accepts; add `#[arg(name = \"..\")]`, and use {letters}"
        ),
    );
    refused_tool(
        "fn f(#[arg(name = \"a-b\")] a: u8) {}",
        &format!("`a-b` is not an argument name every model accepts; use {letters}"),
    );
    refused_tool(
        "fn f(#[arg(name = \"\")] a: u8) {}",
        &format!("an argument name cannot be empty; use {letters}"),
    );
    refused_tool(
        "fn f(#[arg(name = \"b\")] a: u8, b: u8) {}",
        "two arguments are named `b`; rename one",
    );
    tool(
        "/// D\n #[tool] fn f(#[cfg(unix)] a: u8, #[cfg(not(unix))] a: u16, #[context] größe: &S) {}",
    );
}

#[test]
fn described() {
    let expected = "tool `area` has no description; add a `///` comment saying what it does, its units and when it fails";
    refused("#[tool] fn area() {}", &[expected]);
    let empty = "an empty description says nothing; write one, or remove `description` and write a `///` comment";
    refused("#[tool(description = \" \")] fn area() {}", &[empty]);
    refused("/// D\n #[tool(description = \"\")] fn area() {}", &[empty]);
    refused("#[doc(hidden)] #[tool] fn area() {}", &[expected]);
}

#[test]
fn signatures_are_concrete() {
    let generic = |ident: &str| {
        format!(
            "a tool cannot be generic, because its schema needs concrete types; write the type instead of `{ident}`"
        )
    };
    refused_tool("fn f<T>(a: T) {}", &generic("T"));
    refused_tool("fn f<const N: usize>(a: [u8; N]) {}", &generic("N"));
    tool("/// D\n #[tool] fn f<'a>(a: &'a str) -> &'a str where 'a: 'a { a }");
    let argument = "an argument cannot be `impl Trait`, because its schema needs a concrete type; write the type";
    refused_tool("fn f(a: impl Copy) {}", argument);
    refused_tool("fn f(a: Option<impl Copy>) {}", argument);
    let dynamic = "an argument cannot be `dyn Trait`, because its schema needs a concrete type; write the type";
    refused_tool("fn f(a: &dyn T) {}", dynamic);
    refused_tool(
        "fn f() -> ! { loop {} }",
        "a tool must return to its caller; return `()` or a `Result`",
    );
    refused_tool(
        "fn f() -> Result<impl Copy, E> { Ok(1) }",
        "a tool cannot return `impl Trait`, because its schema needs a concrete type; write the type",
    );
}

#[test]
fn qualifiers() {
    refused_tool(
        "unsafe fn f() {}",
        "a tool cannot be `unsafe`, because a model keeps no promises; check what is needed in a safe function",
    );
    refused_tool(
        "const fn f() {}",
        "a tool cannot be `const`, because a registry calls it at run time; remove `const`",
    );
    refused_tool(
        "extern \"C\" fn f() {}",
        "a tool cannot be `extern`; write a Rust function that calls it",
    );
    refused_tool(
        "fn f(a: u8, ...) {}",
        "a tool cannot be variadic; take a `Vec`",
    );
    refused(
        "#[pre(a)] const fn f(a: bool) {}",
        &[
            "a condition cannot be checked in a `const fn`; remove `const`, or use `assert!` in the body",
        ],
    );
    refused(
        "#[pre(a)] extern \"C\" fn f(a: bool) {}",
        &[
            "a violation must not unwind into foreign code; put the contract on a Rust function and call that",
        ],
    );
}

#[test]
fn plain_parameters() {
    let plain = "an argument needs a plain name, which the model will see; write";
    refused_tool(
        "fn f((x, y): (f64, f64)) {}",
        &format!("{plain} `point: (f64, f64)` and take it apart in the body"),
    );
    refused_tool(
        "fn f(Point { x }: MapPoint) {}",
        &format!("{plain} `map_point: MapPoint` and take it apart in the body"),
    );
    refused_tool("fn f(_: u8) {}", &format!("{plain} `value: u8`"));
    refused_tool(
        "fn f(ref a: u8) {}",
        &format!("{plain} `value: u8` and take it apart in the body"),
    );
    refused_tool(
        "fn f(#[context] S(a): S) {}",
        "a context parameter needs a plain name; write `s: S`",
    );
    refused_tool(
        "fn f(a: &mut Vec<u8>) {}",
        "an argument cannot be `&mut`, because nobody would see the change; take `mut a: Vec < u8 >` and return it",
    );
    refused_tool(
        "fn f(a: &mut str) {}",
        "an argument cannot be `&mut`, because nobody would see the change; take `mut a: String` and return it",
    );
    refused_tool(
        "fn f(#[context] a: &mut S) {}",
        "a context parameter is shared between calls; write `&S`, with a `Mutex` around what changes",
    );
}

#[test]
fn options_agree() {
    refused(
        "/// D\n #[tool(read_only, destructive)] fn f() {}",
        &["a tool cannot be both `read_only` and `destructive`; keep one of them"],
    );
    refused(
        "/// D\n #[tool(timeout = \"1s\")] fn f() {}",
        &[
            "`timeout` cannot apply to a sync function, which nothing can interrupt; add `blocking`, or make it `async`",
        ],
    );
    refused(
        "/// D\n #[tool(blocking)] async fn f() {}",
        &[
            "`blocking` is for sync functions, which would hold up an async thread; remove it, or remove `async`",
        ],
    );
    tool("/// D\n #[tool(blocking, timeout = \"1s\")] fn f() {}");
    tool("/// D\n #[tool(read_only, destructive = false, blocking = false)] async fn f() {}");
}

#[test]
fn no_self_type_outside_a_block() {
    let expected = "a tool here cannot name `Self`; write the type, or write `#[tool]` above the `impl` block too";
    refused_tool("fn f() -> Option<Self> { None }", expected);
    refused_tool("fn f(a: &Self) {}", expected);
    tool("/// D\n #[tool] fn f(a: u8) -> u8 { struct S; impl S { fn s() -> Self { Self } } a }");
}

#[test]
fn defaults_stand_alone() {
    refused_tool(
        "fn f(a: u8, #[arg(default = a + 1)] b: u8) {}",
        "a default cannot refer to `a`, because the model sees it before there are arguments; write `Option<..>` and choose in the body",
    );
    tool("/// D\n #[tool] fn f(#[arg(default = a() + x.a + b::a)] a: u8) {}");
    tool("/// D\n #[tool] fn f(#[arg(default = [1].map(|a| a))] a: [u8; 1]) {}");
}

#[test]
fn arguments_are_lent_for_the_call() {
    let lent = |ty: &str, expected: &str| refused_tool(&format!("fn f(a: {ty}) {{}}"), expected);
    lent(
        "&'static str",
        "an argument is borrowed for the duration of the call; write `&str`",
    );
    lent(
        "Option<&'static [u8]>",
        "an argument is borrowed for the duration of the call; write `&[u8]`",
    );
    refused_tool(
        "fn f(#[context] a: &'static Db) {}",
        "a context value is borrowed for the duration of the call; write `&Db`",
    );
    lent(
        "Vec<&'static str>",
        "an argument owns what is inside it; write `String` here",
    );
    lent(
        "Option<&[(u8, &Path)]>",
        "an argument owns what is inside it; write `PathBuf` here",
    );
    lent(
        "Option<Option<&[u8]>>",
        "an argument owns what is inside it; write `Vec<u8>` here",
    );
    for accepted in [
        "&str",
        "Option<&str>",
        "&[String]",
        "Cow<'static, str>",
        "Maybe<&str>",
        "Owned<&'static str>",
    ] {
        tool(&format!("/// D\n #[tool] fn f(a: {accepted}) {{}}"));
    }
}

#[test]
fn context_values_have_a_size() {
    for unsized_type in ["dyn Db", "str", "[u8]"] {
        refused_tool(
            &format!("fn f(#[context] a: &{unsized_type}) {{}}"),
            &format!(
                "a context parameter needs a sized type, because it is looked up by its type; \
                 give the registry an `Arc<{unsized_type}>`, and write `&Arc<{unsized_type}>`"
            ),
        );
    }
    tool("/// D\n #[tool] fn f(#[context] a: &Arc<dyn Db>) {}");
}
