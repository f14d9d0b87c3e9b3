//! What a registry says about its contracts to people: lints, and a tool with its forms as text.

use std::fmt::{self, Write as _};

use contract_runtime::__family::{Expression, Subjects, TypeKind};
use contract_runtime::{ConditionKind, Lowering, Policy, PublishedCondition, Registry, ToolInfo};
use serde::Serialize;
use serde_json::Value;

use super::rules::PortableRule;

/// A condition that could be removed, or a condition or parameter that no model is informed about.
///
/// ```
/// use contract_manifest::Inspect as _;
/// use contract_runtime::prelude::*;
///
/// /// Wait.
/// #[tool]
/// #[pre(seconds < 60)]
/// #[pre(seconds < 3_600, "at most an hour")]
/// fn wait(seconds: u32) {}
///
/// let registry = Registry::builder().tool(wait).build()?;
/// let findings = registry.lint();
/// assert_eq!(findings[0].subject, "wait.pre[1]");
/// assert_eq!(findings[0].message, "`seconds < 3_600` already follows from `seconds < 60`; remove it");
/// assert_eq!(findings[1].subject, "wait(seconds)");
/// assert_eq!(findings[1].message, "`seconds` has no description for the model; write one with `///` above it");
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The tool.
    pub tool: String,
    /// The id of the condition in violations, such as `wait.pre[1]`; or tool and parameter, such as `wait(seconds)`.
    pub subject: String,
    /// What is wrong.
    pub kind: FindingKind,
    /// The finding, as a sentence.
    pub message: String,
    /// Where the condition or the tool is defined, as `file:line:column`.
    pub location: String,
}

/// What is wrong.
///
/// ```
/// use contract_manifest::{FindingKind, Inspect as _};
/// use contract_runtime::prelude::*;
///
/// /// Wait twice as carefully as needed.
/// #[tool]
/// #[pre(seconds < 60)]
/// #[pre(seconds < 3_600)]
/// fn wait(
///     /// How long.
///     seconds: u32,
/// ) {
/// }
///
/// let registry = Registry::builder().tool(wait).build()?;
/// let findings = registry.lint();
/// assert_eq!(findings[0].kind, FindingKind::Implied);
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FindingKind {
    /// Every value of the parameter types satisfies it.
    AlwaysTrue,
    /// The other conditions imply it.
    Implied,
    /// A precondition or a lookup refuses calls, and a model is shown nothing of it.
    Unexplained,
    /// It must be published completely, and neither the schema nor a portable rule expresses all of it.
    NotShown,
    /// A parameter has no description, and neither has its type.
    Undescribed,
    /// A type stays behind a `$ref` in the published schema, because the schema would be too long without it.
    Referenced,
    /// A parameter is a map whose keys JSON cannot have, so that every value is refused.
    Unreadable,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.location, self.subject, self.message)
    }
}

/// Lints the tools of a [`Registry`], and explains them to people.
///
/// In a test of a package:
///
/// ```
/// use contract_manifest::Inspect as _;
/// # use contract_runtime::prelude::*;
/// # /// Halve an even number.
/// # #[tool]
/// # #[pre(number % 2 == 0)]
/// # fn halve(
/// #     /// An even number.
/// #     number: i64,
/// # ) -> i64 { number / 2 }
/// # let registry = Registry::builder().tool(halve).build()?;
/// let findings = registry.lint();
/// assert!(findings.is_empty(), "{findings:#?}");
///
/// let text = registry.explain("halve").unwrap();
/// assert!(text.contains("requires `number % 2 == 0`, policy enforce"));
/// # Ok::<(), BuildError>(())
/// ```
pub trait Inspect {
    /// Finds preconditions that could be removed, because they are always true for their types or implied by others, and
    /// those that refuse calls although no model is informed about them, because only the program can evaluate them and
    /// they have no text; those that must be `shown` and are not; parameters without a description; types that stay behind a reference; and maps that no call can give. None
    /// of them is an error.
    ///
    /// It knows what the published contract knows, and is silent where it cannot prove.
    #[must_use]
    fn lint(&self) -> Vec<Finding>;

    /// Finds every precondition that neither the schema nor a portable rule expresses completely. [`lint`](Self::lint) reports only
    /// those that their author marked `shown`.
    #[must_use]
    fn not_shown(&self) -> Vec<Finding>;

    /// Renders one tool and the forms of its contract as text for people; `None` if there is no such tool.
    #[must_use]
    fn explain(&self, name: &str) -> Option<String>;
}

impl Inspect for Registry {
    fn lint(&self) -> Vec<Finding> {
        self.tools().flat_map(findings).collect()
    }

    fn not_shown(&self) -> Vec<Finding> {
        self.tools()
            .flat_map(|tool| not_shown(tool, true))
            .collect()
    }

    fn explain(&self, name: &str) -> Option<String> {
        let tool = self.tool(name)?;
        let mut text = String::new();
        // Writing to a `String` cannot fail.
        let _ = explain(tool, &mut text);
        Some(text)
    }
}

fn findings(tool: ToolInfo<'_>) -> Vec<Finding> {
    let of_part = |kind, part: &str, message| Finding {
        tool: tool.name().to_owned(),
        subject: format!("{}({part})", tool.name()),
        kind,
        message,
        location: tool.location().to_owned(),
    };
    let superfluous = superfluous(tool);
    let mut found: Vec<_> = superfluous
        .map(|(one, kind, message)| of_condition(tool, one, kind, message))
        .collect();
    let unexplained = tool.conditions().iter();
    found.extend(unexplained.filter(|one| one.is_unexplained()).map(|one| {
        let predicate = one.condition().predicate();
        let message = format!(
            "a model is shown nothing of `{predicate}`; add a message, or `requires = \"..\"`"
        );
        of_condition(tool, one, FindingKind::Unexplained, message)
    }));
    found.extend(not_shown(tool, false));
    found.extend(undescribed(tool).into_iter().map(|name| {
        let message =
            format!("`{name}` has no description for the model; write one with `///` above it");
        of_part(FindingKind::Undescribed, name, message)
    }));
    // Several clients drop what is behind a reference.
    found.extend(tool.references().iter().map(|name| {
        let message = format!(
            "`{name}` stays behind a `$ref`, which some clients drop, because the schema is too long without it; use it less often, or make it smaller"
        );
        of_part(FindingKind::Referenced, name, message)
    }));
    found.extend(tool.unreadable().map(|name| {
        let message = format!(
            "every value of `{name}` is refused, because its keys are not strings; use a list of keys with their values"
        );
        of_part(FindingKind::Unreadable, name, message)
    }));
    found
}

fn of_condition(
    tool: ToolInfo<'_>,
    published: &PublishedCondition,
    kind: FindingKind,
    message: String,
) -> Finding {
    Finding {
        tool: tool.name().to_owned(),
        subject: published.id().to_owned(),
        kind,
        message,
        location: tool.location_of(published),
    }
}

/// The preconditions that neither the schema nor a rule expresses completely: those marked `shown`, or `all`.
fn not_shown(tool: ToolInfo<'_>, all: bool) -> impl Iterator<Item = Finding> {
    let refusing = tool.conditions().iter().filter(move |published| {
        let condition = published.condition();
        let is_demanded = condition.is_shown() || all && condition.kind() == ConditionKind::Pre;
        is_demanded && published.refuses()
    });
    let missing = refusing.filter(|published| {
        published.lowering() != Lowering::Exact && PortableRule::of(published).is_none()
    });
    missing.map(move |published| {
        let predicate = published.condition().predicate();
        let read = published.condition().expression().zip(published.subjects());
        let part = read.and_then(|(expression, subjects)| unknown_part(expression, subjects));
        let part = part.unwrap_or(predicate);
        let message = format!(
            "`{predicate}` must be shown, and `{part}` is not portable; compare values that JSON has, or do not demand it"
        );
        of_condition(tool, published, FindingKind::NotShown, message)
    })
}

/// The first part that is known to Rust alone: an opaque one, a test, or a parameter of an unknown type.
fn unknown_part(expression: &'static Expression, subjects: &Subjects) -> Option<&'static str> {
    expression.all().into_iter().find_map(|part| match part {
        Expression::Opaque(text) | Expression::Native { text, .. } => Some(*text),
        Expression::Parameter(name) => {
            let known = subjects.all.iter().find(|one| one.name == *name);
            let is_known = known.is_some_and(|one| {
                !matches!(
                    one.kind,
                    TypeKind::Opaque | TypeKind::Optional(&TypeKind::Opaque)
                )
            });
            (!is_known).then_some(*name)
        }
        _ => None,
    })
}

fn superfluous(
    tool: ToolInfo<'_>,
) -> impl Iterator<Item = (&PublishedCondition, FindingKind, String)> {
    tool.superfluous().into_iter().map(|(one, from)| {
        let predicate = |one: &PublishedCondition| format!("`{}`", one.condition().predicate());
        let own = predicate(one);
        if from.is_empty() {
            let message = format!("{own} holds for every value of its type; remove it");
            return (one, FindingKind::AlwaysTrue, message);
        }
        let from: Vec<_> = from.into_iter().map(predicate).collect();
        let from = from.join(" and ");
        let message = format!("{own} already follows from {from}; remove it");
        (one, FindingKind::Implied, message)
    })
}

/// The parameters without a description. A tool that no macro made has none here, because its schema was written elsewhere.
fn undescribed(tool: ToolInfo<'_>) -> Vec<&str> {
    let schema = tool.input_schema();
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties
        .filter(|(_, property)| !tool.package().is_empty() && !is_described(schema, property))
        .map(|(name, _)| name.as_str())
        .collect()
}

/// Whether a schema has a description, or the only type that it refers to.
fn is_described(root: &Value, schema: &Value) -> bool {
    let target = schema["$ref"].as_str();
    let target = target.and_then(|target| root.pointer(target.strip_prefix('#')?));
    let of_type = target.is_some_and(|target| target["description"].is_string());
    let branches = schema["anyOf"].as_array().into_iter().flatten();
    schema["description"].is_string()
        || of_type
        || branches
            .into_iter()
            .any(|branch| is_described(root, branch))
}

fn explain(tool: ToolInfo<'_>, text: &mut String) -> fmt::Result {
    writeln!(text, "{} ({})", tool.name(), tool.location())?;
    for line in tool.description().lines() {
        writeln!(text, "    {line}")?;
    }
    if tool.is_alone() {
        writeln!(text, "    (the only call of its turn)")?;
    }
    stated(tool, text)?;
    if tool.confirms() {
        let question = tool.question();
        let question = question.map_or_else(|| "whether to run it".to_owned(), quoted);
        writeln!(text, "\nasks about every call\n    {question}")?;
    }
    shown(tool, text)?;
    sent(tool, text)?;
    if let Some(output) = tool.output_schema() {
        writeln!(text, "\ngives")?;
        pretty(output, text)?;
    }
    tested(tool, text)
}

/// The conditions below what becomes of a call that breaks them.
fn stated(tool: ToolInfo<'_>, text: &mut String) -> fmt::Result {
    let parts: [(&str, &[Policy]); 3] = [
        ("enforced", &[Policy::Enforce, Policy::QuickEnforce]),
        ("observed", &[Policy::Observe]),
        ("ignored", &[Policy::Ignore]),
    ];
    for (title, policies) in parts {
        let mut stated = tool
            .conditions()
            .iter()
            .filter(|one| policies.contains(&one.policy()))
            .peekable();
        if stated.peek().is_some() || title == "enforced" {
            writeln!(text, "\n{title}")?;
        }
        if stated.peek().is_none() && title == "enforced" {
            writeln!(text, "    nothing beyond its types")?;
        }
        stated.try_for_each(|one| condition(one, text))?;
    }
    Ok(())
}

fn condition(published: &PublishedCondition, text: &mut String) -> fmt::Result {
    let condition = published.condition();
    let verb = match condition.kind() {
        ConditionKind::Pre => "requires",
        ConditionKind::Given => "looks up",
        _ => "promises",
    };
    write!(text, "    {verb} `{}`", condition.predicate())?;
    if let Some(message) = condition.message() {
        write!(text, ", else {}", quoted(message))?;
    }
    if condition.asks() {
        write!(text, ", and asks")?;
        if let Some(question) = condition.question() {
            write!(text, " {}", quoted(question))?;
        }
    }
    write!(text, ", policy {}", published.policy())?;
    if condition.asks_history() {
        write!(text, ", asks the history of the run")?;
    }
    writeln!(text)
}

fn shown(tool: ToolInfo<'_>, text: &mut String) -> fmt::Result {
    writeln!(text, "\nshown")?;
    for published in tool.conditions() {
        let heading = published
            .heading()
            .map(|heading| format!("below `{heading}:`"));
        let how = match (published.lowering(), heading) {
            (Lowering::Exact, _) => "in the schema".to_owned(),
            (Lowering::Partial, None) => "in the schema in part".to_owned(),
            (Lowering::Partial, Some(below)) => format!("in the schema in part, and {below}"),
            (_, None) => "not shown".to_owned(),
            (_, Some(below)) => below,
        };
        writeln!(text, "    {how}: {}", published.sentence())?;
    }
    pretty(tool.input_schema(), text)
}

fn sent(tool: ToolInfo<'_>, text: &mut String) -> fmt::Result {
    let rules = tool.conditions().iter().filter_map(PortableRule::of);
    let mut rules = rules.peekable();
    if rules.peek().is_some() {
        writeln!(text, "\nsent")?;
    }
    rules.try_for_each(|rule| writeln!(text, "    {}", rule.rule))
}

/// What the building of the registry and the lint have asked of the conditions themselves.
fn tested(tool: ToolInfo<'_>, text: &mut String) -> fmt::Result {
    let mut lines = Vec::new();
    let is_read = |one: &PublishedCondition| {
        one.condition().kind() == ConditionKind::Pre && one.condition().expression().is_some()
    };
    if tool.conditions().iter().any(is_read) {
        lines.push("no contradiction was found between the preconditions".to_owned());
    }
    for published in tool.conditions() {
        let predicate = published.condition().predicate();
        match tool.judged_constants(published).as_slice() {
            [] => {}
            [name] => {
                let property = &tool.input_schema()["properties"][name];
                let examples = property["examples"].as_array().map_or(0, Vec::len);
                let what = match (property.get("default"), examples) {
                    (Some(_), 0) => "default satisfies",
                    (Some(_), _) => "default and the examples satisfy",
                    (None, 1) => "example satisfies",
                    (None, _) => "examples satisfy",
                };
                lines.push(format!("of `{name}` the {what} `{predicate}`"));
            }
            several => lines.push(format!(
                "no contradiction was found between the defaults of `{}` and `{predicate}`",
                several.join("` and `"),
            )),
        }
    }
    lines.extend(superfluous(tool).map(|(.., message)| message));
    if lines.is_empty() {
        lines.push("nothing".to_owned());
    }
    writeln!(text, "\ntested")?;
    lines
        .iter()
        .try_for_each(|line| writeln!(text, "    {line}"))
}

fn pretty(schema: &Value, text: &mut String) -> fmt::Result {
    for line in format!("{schema:#}").lines() {
        writeln!(text, "    {line}")?;
    }
    Ok(())
}

/// Returns the message in quotation marks.
fn quoted(message: &str) -> String {
    format!("\"{}\"", message.replace('"', "'"))
}
