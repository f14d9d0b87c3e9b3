//! What a registry holds, and everything that may be wrong with it.

use std::sync::Arc;

use contract_runtime::prelude::*;
use contract_runtime::{BuildProblem, Builder, DynamicSpec, Status};
use serde_json::json;

use crate::common::{call, output};

struct User(&'static str);
struct Clock(u8);

/// Say who asks.
#[tool]
fn who(#[context] user: &User) -> String {
    user.0.to_owned()
}

/// Say who asks and when.
#[tool]
fn when(#[context] user: Option<&User>, #[context] clock: Arc<Clock>) -> String {
    format!("{} {}", user.map_or("nobody", |user| user.0), clock.0)
}

/// Say hello.
#[tool]
fn hello() -> &'static str {
    "hello"
}

mod elsewhere {
    use contract_runtime::prelude::*;

    /// Say hello in another way.
    #[tool]
    pub(super) fn hello() -> &'static str {
        "hi"
    }
}

fn no_tool() {}

fn names(registry: &Registry) -> Vec<&str> {
    registry.tools().map(|tool| tool.name()).collect()
}

#[test]
fn every_mistake_is_reported_together() {
    let line = line!();
    let error = Registry::builder()
        .tool(no_tool)
        .tool(hello)
        .tool(elsewhere::hello)
        .tool(who)
        .tool(when)
        .package("nobody-knows")
        .without(["helo"])
        .only(["hello", "who", "when", "wenn"])
        .rename("whoo", "x")
        .rename("when", "not a name")
        .override_policy("hell", Policy::Observe)
        .build()
        .unwrap_err();
    let text = error.to_string();
    assert_eq!(text, format!("{error:?}"));
    let has = |find: &dyn Fn(&BuildProblem) -> bool| {
        assert_eq!(
            error
                .problems()
                .iter()
                .filter(|problem| find(problem))
                .count(),
            1,
            "{text}"
        );
    };
    has(
        &|problem| matches!(problem, BuildProblem::NotATool { location, .. } if location.contains(&format!("builder.rs:{}", line + 2))),
    );
    has(&|problem| {
        matches!(problem, BuildProblem::DuplicateName { name, first, second }
        if name == "hello" && first.contains("builder.rs:") && second.contains("builder.rs:") && first != second)
    });
    has(
        &|problem| matches!(problem, BuildProblem::PackageNotLinked { package, nearest: None } if package == "nobody-knows"),
    );
    has(&|problem| {
        matches!(problem, BuildProblem::NoSuchTool { method: "without", name, nearest: Some(nearest) }
        if name == "helo" && nearest == "hello")
    });
    has(
        &|problem| matches!(problem, BuildProblem::NoSuchTool { method: "only", name, .. } if name == "wenn"),
    );
    has(
        &|problem| matches!(problem, BuildProblem::NoSuchTool { method: "rename", name, .. } if name == "whoo"),
    );
    has(
        &|problem| matches!(problem, BuildProblem::NoSuchTool { method: "override_policy", name, .. } if name == "hell"),
    );
    has(&|problem| matches!(problem, BuildProblem::BadName { name, .. } if name == "not a name"));
    has(&|problem| {
        matches!(problem, BuildProblem::MissingContext { tool, type_name, .. }
        if tool == "who" && type_name.ends_with("User"))
    });
    has(
        &|problem| matches!(problem, BuildProblem::MissingContext { type_name, .. } if type_name.ends_with("Clock")),
    );
    assert_eq!(error.problems().len(), 10, "{text}");
    assert!(text.contains("use nobody_knows as _;"), "{text}");
    for problem in error.problems() {
        assert!(text.contains(&problem.to_string()));
    }
}

#[test]
fn a_schema_that_cannot_be_used_is_a_problem() {
    for schema in [
        json!({"type": "string"}),
        json!({"type": "object", "properties": {"a": {"$ref": "#/nowhere"}}}),
        json!(5),
    ] {
        let tool = Tool::dynamic(
            DynamicSpec::new("odd", "Have an odd schema.").input_schema(schema.clone()),
            |_| async { Ok::<_, String>(Content::text("")) },
        );
        let error = Registry::builder().with(tool).build().unwrap_err();
        assert!(
            matches!(error.problems(), [BuildProblem::Schema { tool, .. }] if tool == "odd"),
            "{schema}: {error}"
        );
    }
}

#[test]
fn a_constant_that_cannot_be_written_is_a_problem() {
    /// Use a default that is no number.
    #[tool]
    fn odd(#[arg(example = panics())] number: u8) -> u8 {
        number
    }
    fn panics() -> u8 {
        panic!("as asked")
    }
    let error = Registry::builder().tool(odd).build().unwrap_err();
    let example = |problem: &BuildProblem| {
        matches!(
            problem,
            BuildProblem::Constant {
                what: "example",
                ..
            }
        )
    };
    assert!(error.problems().iter().any(example), "{error}");
}

#[test]
fn a_default_that_json_cannot_carry_is_a_problem() {
    /// Use a default that is no number.
    #[tool]
    fn odd(#[arg(default = f64::NAN)] number: f64) -> bool {
        number.is_nan()
    }
    let error = Registry::builder()
        .tool(odd)
        .build()
        .map(|_| ())
        .unwrap_err();
    assert!(
        matches!(
            error.problems(),
            [BuildProblem::Constant {
                what: "default",
                ..
            }]
        ),
        "{error}"
    );
}

#[test]
fn names_have_one_to_sixty_four_plain_characters() {
    let named = |name: &str| {
        Registry::builder()
            .tool(hello)
            .rename("hello", name)
            .build()
    };
    for name in ["a", "_", "A-b_9", &"x".repeat(64)] {
        assert!(named(name).is_ok(), "{name}");
    }
    for name in [
        "",
        "9a",
        "-a",
        "a b",
        "ä",
        "a.b",
        "a/b",
        "a\n",
        &"x".repeat(65),
    ] {
        assert!(named(name).is_err(), "{name}");
    }
    let long = Registry::builder()
        .tool(hello)
        .prefix(&"x".repeat(60))
        .build();
    assert!(long.is_err());
}

#[test]
fn tools_are_in_the_order_of_their_bytes_whatever_the_order_of_adding() {
    let one = Registry::builder()
        .tool(hello)
        .rename("hello", "b")
        .tool(elsewhere::hello)
        .rename("hello", "_")
        .tool(hello)
        .rename("hello", "B")
        .tool(hello)
        .rename("hello", "a-")
        .build()
        .unwrap();
    assert_eq!(names(&one), ["B", "_", "a-", "b"]);
}

struct Shelf(u32);

#[tool]
impl Shelf {
    /// Count the books.
    #[tool(read_only)]
    fn count_books(&self) -> u32 {
        self.0
    }
}

#[test]
fn a_selection_that_misses_what_it_is_meant_for_is_reported() {
    let package = env!("CARGO_PKG_NAME");
    let build = |builder: Builder| builder.build().unwrap_err().to_string();
    let text = build(Registry::builder().prefix("inv_").tool(hello));
    assert!(
        text.contains("`.prefix(\"inv_\")` applies to no tool"),
        "{text}"
    );
    let text = build(Registry::builder().package(package));
    assert!(text.contains("`count_books` of `Shelf` ("), "{text}");
    assert!(text.contains("add `.with(state)`"), "{text}");
    let text = build(
        Registry::builder()
            .package(package)
            .with(Shelf(1))
            .without(["count_books"]),
    );
    assert!(!text.contains("`count_books` of `Shelf`"), "{text}");
    let text = build(Registry::builder().tool(Shelf::count_books));
    assert!(text.contains("Shelf::count_books` is not a tool"), "{text}");
    assert!(text.contains("add its state with `.with(..)`"), "{text}");
    let text = build(Registry::builder().package("contract_runtime"));
    assert!(text.contains("did you mean `contract-runtime`?"), "{text}");
    assert!(text.contains("`cargo tree -d`"), "{text}");
}

#[test]
fn a_selection_acts_on_the_tools_added_before_it() {
    let registry = Registry::builder()
        .tool(who)
        .tool(hello)
        .only(["hello"])
        .prefix("en_")
        .rename("en_hello", "greet")
        .tool(when)
        .tool(who)
        .without(["who"])
        .tool(elsewhere::hello)
        .context(Clock(1))
        .build()
        .unwrap();
    assert_eq!(names(&registry), ["greet", "hello", "when"]);
    assert_eq!(output(&registry, "greet", ""), "hello");
    assert_eq!(output(&registry, "hello", ""), "hi");
    assert!(registry.tool("en_hello").is_none());
}

#[test]
fn a_prefix_that_is_empty_ends_what_a_later_one_applies_to() {
    let registry = Registry::builder()
        .tool(hello)
        .prefix("")
        .tool(when)
        .prefix("clock_")
        .context(Clock(1))
        .build()
        .unwrap();
    assert_eq!(names(&registry), ["clock_when", "hello"]);
    // A model that leaves the prefix out, or adds one of its own, is told the name.
    for (called, meant) in [("when", "clock_when"), ("functions.hello", "hello")] {
        let outcome = registry.call(ToolCall::new("1", called, "")).blocking();
        let expected = format!("there is no tool of that name; did you mean `{meant}`?");
        assert_eq!(outcome.error(), Some(expected.as_str()));
    }
}

#[test]
fn the_tools_of_a_package_are_those_that_are_linked() {
    let own = contract_runtime::registry!();
    let package = env!("CARGO_PKG_NAME");
    let all = own.only(["hello"]).build();
    // Two of them have this name.
    assert!(all.is_err());
    let named = Registry::builder()
        .package(package)
        .only(["who"])
        .context(User("x"));
    assert_eq!(names(&named.build().unwrap()), ["who"]);
    let linked = Registry::builder()
        .everything_linked()
        .only(["when"])
        .context(Clock(1));
    let linked = linked.build().unwrap();
    assert_eq!(linked.tool("when").unwrap().package(), package);
}

#[test]
fn a_tool_that_is_added_twice_is_shown_at_one_place() {
    let error = Registry::builder()
        .tool(hello)
        .tool(hello)
        .build()
        .unwrap_err();
    let [BuildProblem::DuplicateName { first, second, .. }] = error.problems() else {
        panic!("{error}");
    };
    assert_eq!(first, second);
    assert_eq!(
        error.to_string(),
        format!(
            "the registry cannot be built: tool `hello` is added twice ({first}); add it once, or put `.prefix(..)` after the first"
        )
    );
}

#[test]
fn an_empty_registry_is_a_registry() {
    let registry = Registry::builder().build().unwrap();
    assert_eq!(registry.tools().len(), 0);
    let dialect = contract_runtime::Dialect::OpenAiChat;
    assert_eq!(registry.export(dialect), &json!([]));
    assert_eq!(call(&registry, "x", "").status(), Status::UnknownTool);
}

#[test]
fn a_call_brings_its_own_context_before_that_of_the_registry() {
    let registry = Registry::builder()
        .tool(who)
        .tool(when)
        .context(User("registry"))
        .context_per_call::<Clock>()
        .build()
        .unwrap();
    let with = |name: &str, context: Context| {
        let outcome = registry
            .call(ToolCall::new("", name, ""))
            .context(context)
            .blocking();
        outcome.output().map(str::to_owned).ok_or(outcome.status())
    };
    assert_eq!(with("who", Context::new()), Ok("registry".to_owned()));
    let own = Context::new().with(User("call"));
    assert_eq!(with("who", own.clone()), Ok("call".to_owned()));
    let both = own.with_arc(Arc::new(Clock(9)));
    assert_eq!(with("when", both), Ok("call 9".to_owned()));
    // It was promised that calls bring it.
    assert_eq!(with("when", Context::new()), Err(Status::Failed));
}

/// Say who is called.
#[tool]
fn info(
    #[context] info: &CallInfo,
    #[context] own: CallInfo,
    #[context] token: &CancellationToken,
    #[context] deadline: Deadline,
    #[context] progress: &Progress,
) -> String {
    progress.report(1.0, Some(2.0), "half");
    let same = *info == own && !token.is_cancelled() && deadline.at().is_none();
    format!("{} {} {same}", info.id, info.tool)
}

#[test]
fn what_belongs_to_a_call_is_there_without_being_given() {
    let registry = Registry::builder()
        .tool(info)
        .prefix("my_")
        .build()
        .unwrap();
    let reports = crate::common::Log::default();
    let heard = reports.clone();
    let context = Context::new().progress(Progress::new(move |report| {
        heard.add(format!(
            "{} of {:?}: {}",
            report.done, report.total, report.message
        ));
    }));
    let outcome = registry
        .call(ToolCall::new("7", "my_info", ""))
        .context(context)
        .blocking();
    assert_eq!(outcome.output(), Some("7 my_info true"));
    assert_eq!(reports.take(), ["1 of Some(2.0): half"]);
    let schema = registry.tool("my_info").unwrap().input_schema();
    assert_eq!(schema["properties"], json!({}));
}
