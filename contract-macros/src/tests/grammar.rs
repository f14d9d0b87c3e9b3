//! The options of `#[tool(..)]` and the helper attributes of parameters.

use super::{contracted, refused, tool};
use crate::args::nearest;
use crate::model::{Policy, Role};

fn refused_option(option: &str, expected: &str) {
    refused(
        &format!("/// D\n #[tool({option})] async fn f() {{}}"),
        &[expected],
    );
}

#[test]
fn every_option_is_read() {
    let tool = tool(
        "#[tool(name = \"n-1\", title = \"T\", description = \" Does. \", policy = quick_enforce, read_only, \
         destructive = false, idempotent = true, open_world, output_schema, coerce, alone, timeout = \"2m\", crate = a::b,)] \
         async fn f() {}",
    );
    let options = &tool.options;
    assert_eq!(tool.name.text, "n-1");
    assert!(matches!(&tool.description, crate::model::Description::Text(text) if text == "Does."));
    assert_eq!(
        options.policy.as_ref().map(|set| set.value),
        Some(Policy::QuickEnforce)
    );
    assert_eq!(options.flag("read_only").map(|set| set.value), Some(true));
    assert_eq!(
        options.flag("destructive").map(|set| set.value),
        Some(false)
    );
    assert_eq!(options.timeout.as_ref().map(|set| set.value), Some(120_000));
    assert!(options.flag("blocking").is_none() && options.title.is_some());
    assert_eq!(tool.krate.segments.len(), 2);
}

#[test]
fn durations_have_units() {
    for (text, expected) in [("250ms", 250), ("30s", 30_000), ("1h", 3_600_000)] {
        let tool = tool(&format!(
            "/// D\n #[tool(timeout = \"{text}\")] async fn f() {{}}"
        ));
        assert_eq!(tool.options.timeout.map(|set| set.value), Some(expected));
    }
    let expected = "this is not a duration; write a whole number and a unit, such as `\"250ms\"`, `\"30s\"`, `\"2m\"` or `\"1h\"`";
    for text in [
        "30",
        "s",
        "1.5s",
        "30 s",
        "-1s",
        "99999999999999999999h",
        "9999999999999999999h",
    ] {
        refused_option(&format!("timeout = \"{text}\""), expected);
    }
    refused_option(
        "timeout = \"0s\"",
        "a timeout must be longer than zero; write `timeout = \"30s\"`",
    );
    refused_option(
        "timeout = 30",
        "`timeout` takes a string; write `timeout = \"30s\"`",
    );
    refused_option(
        "timeout",
        "`timeout` needs a value; write `timeout = \"30s\"`",
    );
    refused_option(
        "timeout(\"30s\")",
        "`timeout` takes its value after `=`; write `timeout = ..`",
    );
    refused_option("coerce()", "`coerce` takes no parentheses; write `coerce`");
}

#[test]
fn unknown_repeated_and_mistyped_options() {
    refused_option(
        "readonly",
        "unknown argument `readonly`; did you mean `read_only`?",
    );
    refused_option(
        "READ_ONLY",
        "unknown argument `READ_ONLY`; did you mean `read_only`?",
    );
    refused_option(
        "timout = \"1s\"",
        "unknown argument `timout`; did you mean `timeout`?",
    );
    refused_option(
        "colour",
        "unknown argument `colour`; `#[tool]` takes `name`, `title`, `description`, `policy`, `read_only`, `destructive`, \
         `idempotent`, `open_world`, `blocking`, `timeout`, `output_schema`, `coerce`, `confirm`, `alone` and `crate`",
    );
    refused_option(
        "timeout = \"1s\", timeout = \"2s\"",
        "`timeout` is given twice",
    );
    refused_option("read_only, read_only = false", "`read_only` is given twice");
    refused_option(
        "read_only = \"yes\"",
        "`read_only` is on or off; write `read_only` or `read_only = false`",
    );
    refused_option(
        "name = 5",
        "`name` takes a string; write `name = \"get_weather\"`",
    );
    refused_option(
        "title = 5",
        "`title` takes a string; write `title = \"Get the weather\"`",
    );
    refused_option(
        "policy = enforced",
        "unknown policy `enforced`; did you mean `enforce`?",
    );
    refused_option(
        "policy = loud",
        "unknown policy `loud`; write one of `ignore`, `observe`, `enforce` and `quick_enforce`",
    );
    refused_option(
        "policy = \"observe\"",
        "`policy` takes a bare word; write one of `ignore`, `observe`, `enforce` and `quick_enforce`",
    );
    refused_option(
        "crate = \"a\"",
        "`crate` takes a path; write `crate = my_crate::contracts`",
    );
    refused_option(
        "\"f\"",
        "an argument is a name, or a name and a value; write `key` or `key = value`",
    );
}

#[test]
fn all_mistakes_are_reported_together() {
    refused(
        "/// D\n #[tool(readonly, timeout = \"30s\", timeout = \"1s\")] fn f(&self, (x, y): (f64, f64)) {}",
        &[
            "unknown argument `readonly`; did you mean `read_only`?",
            "`timeout` is given twice",
            "a tool cannot take `self`; pass the state as an argument, or make this a free function, \
             or write `#[tool]` above the `impl` block too",
            "an argument needs a plain name, which the model will see; write `point: (f64, f64)` and take it apart in the body",
            "`timeout` cannot apply to a sync function, which nothing can interrupt; add `blocking`, or make it `async`",
        ],
    );
}

#[test]
fn helper_attributes_are_read() {
    let tool = tool(
        "/// D\n #[tool] fn f(/// How many.\n #[arg(default = 50, name = \"type\", example = 1, example = 2)] mut r#kind: u8, \
         #[arg(secret)] token: String, #[context] state: &State, #[cfg(unix)] #[allow(unused)] x: u8) {}",
    );
    let params = &tool.function.params;
    let names: Vec<_> = params.iter().map(|param| param.name.as_str()).collect();
    assert_eq!(names, ["type", "token", "state", "x"]);
    assert!(params[0].mutable && params[0].docs.as_deref() == Some("How many."));
    assert!(
        matches!(&params[0].role, Role::Argument { default: Some(_), examples, secret: false } if examples.len() == 2)
    );
    assert!(params[1].is_secret());
    assert!(matches!(params[2].role, Role::Context));
    assert_eq!((params[3].cfgs.len(), params[3].attrs.len()), (1, 1));
    let bare =
        |input: &syn::FnArg| matches!(input, syn::FnArg::Typed(typed) if typed.attrs.is_empty());
    assert!(tool.function.sig.inputs.iter().all(bare));
}

fn refused_param(param: &str, expected: &str) {
    refused(&format!("/// D\n #[tool] fn f({param}) {{}}"), &[expected]);
}

#[test]
fn helper_attributes_are_strict() {
    refused_param(
        "#[arg(defualt = 1)] a: u8",
        "unknown argument `defualt`; did you mean `default`?",
    );
    refused_param(
        "#[arg(default = 1, default = 2)] a: u8",
        "`default` is given twice",
    );
    refused_param(
        "#[arg(default)] a: u8",
        "`default` needs a value; write `default = 50`",
    );
    refused_param(
        "#[arg] a: u8",
        "`#[arg]` takes its arguments in parentheses; write `#[arg(default = ..)]`",
    );
    refused_param(
        "#[context(x)] a: u8",
        "`#[context]` takes no arguments; the parameter's type says what is meant",
    );
    refused_param(
        "#[context] #[arg(secret)] a: u8",
        "a context parameter is filled by the program and never shown to the model; remove `#[arg(..)]` or `#[context]`",
    );
    refused_param(
        "#[doc = include_str!(\"x\")] a: u8",
        "the description of an argument is plain text; write it as a `///` comment",
    );
    refused(
        "#[pre(a > 0)] fn f(#[context] a: u8, #[arg(secret)] b: u8) {}",
        &[
            "only a tool has `#[context]`; add `#[tool]` above the function, or remove this",
            "only a tool has `#[arg(..)]`; add `#[tool]` above the function, or remove this",
        ],
    );
}

#[test]
fn the_nearest_word() {
    let known = ["read_only", "name", "policy"];
    assert_eq!(nearest("ReadOnly", &known), Some("read_only"));
    assert_eq!(nearest("nmae", &known), Some("name"));
    assert_eq!(nearest("polcy", &known), Some("policy"));
    assert_eq!(nearest("colour", &known), None);
    assert_eq!(nearest("", &known), None);
}

#[test]
fn the_crate_of_a_contract() {
    let function = contracted("#[pre(a > 0, crate = my::rt)] fn f(a: i64) {}");
    assert_eq!(function.krate.segments.len(), 2);
    assert_eq!(
        crate::names::runtime(&function.krate).to_string(),
        "my :: rt :: __private"
    );
}
