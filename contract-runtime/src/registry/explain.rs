//! A tool and the forms of its contract, as text.

use std::fmt::Write as _;

use super::Registry;
use super::findings::{defaulted, probed};
use super::lint::{Finding, FindingKind};
use super::tool_info::ToolInfo;
use crate::contract::condition::{Condition, ConditionKind};
use crate::contract::policy::Policy;
use crate::schema::lower::sentence::quoted;
use crate::schema::{Lowering, PublishedCondition};

impl Registry {
    /// Renders one tool and the forms of its contract as text for people; `None` if there is no such tool.
    ///
    /// ```
    /// use contract_runtime::prelude::*;
    ///
    /// /// Divide one number by another.
    /// #[tool]
    /// #[pre(divisor != 0.0, "cannot divide by zero")]
    /// fn divide(dividend: f64, divisor: f64) -> f64 {
    ///     dividend / divisor
    /// }
    ///
    /// let registry = Registry::builder().tool(divide).build()?;
    /// let text = registry.explain("divide").unwrap();
    /// assert!(text.contains("requires `divisor != 0.0`, else \"cannot divide by zero\", policy enforce"));
    /// # Ok::<(), contract_runtime::BuildError>(())
    /// ```
    #[must_use]
    pub fn explain(&self, name: &str) -> Option<String> {
        let tool = self.tool(name)?;
        let mut text = String::new();
        // Writing to a `String` cannot fail.
        let _ = explain(tool, &mut text);
        let _ = tested(tool, &self.lint(), &mut text);
        Some(text)
    }
}

fn explain(tool: ToolInfo<'_>, text: &mut String) -> std::fmt::Result {
    writeln!(text, "{} ({})", tool.name(), tool.location())?;
    for line in tool.description().lines() {
        writeln!(text, "    {line}")?;
    }
    if tool.is_alone() {
        writeln!(text, "    (the only call of its turn)")?;
    }
    stated(tool, text)?;
    if tool.confirms() {
        let question = tool.entry.tool.spec().and_then(|spec| spec.confirm);
        let question = question.map_or_else(|| "whether to run it".to_owned(), quoted);
        writeln!(text, "\nasks about every call\n    {question}")?;
    }
    shown(tool, text)?;
    sent(tool, text)?;
    if let Some(output) = tool.output_schema() {
        writeln!(text, "\ngives")?;
        pretty(output, text)?;
    }
    Ok(())
}

/// The conditions below what becomes of a call that breaks them.
fn stated(tool: ToolInfo<'_>, text: &mut String) -> std::fmt::Result {
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

fn condition(published: &PublishedCondition, text: &mut String) -> std::fmt::Result {
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

fn shown(tool: ToolInfo<'_>, text: &mut String) -> std::fmt::Result {
    writeln!(text, "\nshown")?;
    for published in tool.conditions() {
        let heading = published
            .heading()
            .map(|heading| format!("below `{heading}:`"));
        let how = match (published.lowering(), heading) {
            (Lowering::Exact, _) => "in the schema".to_owned(),
            (Lowering::Partial, None) => "in the schema in part".to_owned(),
            (Lowering::Partial, Some(below)) => format!("in the schema in part, and {below}"),
            (Lowering::Described, None) => "not shown".to_owned(),
            (Lowering::Described, Some(below)) => below,
        };
        writeln!(text, "    {how}: {}", published.sentence())?;
    }
    pretty(tool.input_schema(), text)
}

fn sent(tool: ToolInfo<'_>, text: &mut String) -> std::fmt::Result {
    let mut rules = tool
        .conditions()
        .iter()
        .filter_map(|one| one.rule())
        .peekable();
    if rules.peek().is_some() {
        writeln!(text, "\nsent")?;
    }
    rules.try_for_each(|rule| writeln!(text, "    {}", rule.rule))
}

/// What the building of the registry and the lint have asked of the conditions themselves.
fn tested(tool: ToolInfo<'_>, findings: &[Finding], text: &mut String) -> std::fmt::Result {
    let mut lines = Vec::new();
    let read = |one: &Condition| one.kind() == ConditionKind::Pre && one.expression().is_some();
    if tool.entry.tool.conditions().iter().any(read) {
        lines.push("no contradiction was found between the preconditions".to_owned());
    }
    for (condition, _, parameter) in probed(tool.entry) {
        let what = match (parameter.default(), parameter.examples()) {
            (None, []) => continue,
            (Some(_), []) => "default satisfies",
            (None, [_]) => "example satisfies",
            (None, _) => "examples satisfy",
            (Some(_), _) => "default and the examples satisfy",
        };
        let (name, predicate) = (&parameter.name, condition.predicate());
        lines.push(format!("of `{name}` the {what} `{predicate}`"));
    }
    for (_, condition, parameters) in defaulted(tool.entry) {
        let names = parameters.iter().map(|one| format!("`{}`", one.name));
        let (names, predicate) = (names.collect::<Vec<_>>(), condition.predicate());
        lines.push(format!(
            "no contradiction was found between the defaults of {} and `{predicate}`",
            names.join(" and "),
        ));
    }
    let own = findings
        .iter()
        .filter(|one| one.tool == tool.name())
        .filter(|one| matches!(one.kind, FindingKind::AlwaysTrue | FindingKind::Implied));
    lines.extend(own.map(|finding| finding.message.clone()));
    if lines.is_empty() {
        lines.push("nothing".to_owned());
    }
    writeln!(text, "\ntested")?;
    lines
        .iter()
        .try_for_each(|line| writeln!(text, "    {line}"))
}

fn pretty(schema: &serde_json::Value, text: &mut String) -> std::fmt::Result {
    for line in format!("{schema:#}").lines() {
        writeln!(text, "    {line}")?;
    }
    Ok(())
}
