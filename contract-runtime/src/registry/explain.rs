use std::fmt::Write as _;

use super::Registry;
use super::lint::Finding;
use super::list::ToolInfo;
use crate::contract::condition::ConditionKind;
use crate::schema::Lowering;

impl Registry {
    /// One tool in the forms of its contract, as text for people; `None` if there is no such tool.
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
    /// assert!(text.contains("requires `divisor != 0.0` (cannot divide by zero), policy enforce"));
    /// # Ok::<(), contract_runtime::BuildError>(())
    /// ```
    #[must_use]
    pub fn explain(&self, name: &str) -> Option<String> {
        let tool = self.tool(name)?;
        let mut text = String::new();
        // Writing to a `String` cannot fail.
        let _ = explain(&tool, &mut text);
        let _ = tested(&self.lint(), name, &mut text);
        Some(text)
    }
}

fn explain(tool: &ToolInfo<'_>, text: &mut String) -> std::fmt::Result {
    writeln!(text, "{} ({})", tool.name(), tool.location())?;
    for line in tool.description().lines() {
        writeln!(text, "    {line}")?;
    }
    enforced(tool, text)?;
    shown(tool, text)?;
    sent(tool, text)?;
    if let Some(output) = tool.output_schema() {
        writeln!(text, "\ngives")?;
        pretty(output, text)?;
    }
    Ok(())
}

fn enforced(tool: &ToolInfo<'_>, text: &mut String) -> std::fmt::Result {
    writeln!(text, "\nenforced")?;
    if tool.conditions().is_empty() {
        writeln!(text, "    nothing beyond its types")?;
    }
    for published in tool.conditions() {
        let condition = published.condition();
        let verb = match condition.kind() {
            ConditionKind::Pre => "requires",
            _ => "promises",
        };
        write!(text, "    {verb} `{}`", condition.predicate())?;
        if let Some(message) = condition.message() {
            write!(text, " ({message})")?;
        }
        let policy = tool.policy().of_condition(condition.policy()).policy;
        writeln!(text, ", policy {policy}")?;
    }
    Ok(())
}

fn shown(tool: &ToolInfo<'_>, text: &mut String) -> std::fmt::Result {
    writeln!(text, "\nshown")?;
    for published in tool.conditions() {
        let how = match published.lowering() {
            Lowering::Exact => "in the schema",
            Lowering::Implied => "in the schema in part, and told",
            Lowering::Told => "told",
        };
        writeln!(text, "    {how}: {}", published.sentence())?;
    }
    pretty(tool.input_schema(), text)
}

fn sent(tool: &ToolInfo<'_>, text: &mut String) -> std::fmt::Result {
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

/// What the building of the registry and the lint have found of the conditions themselves.
fn tested(findings: &[Finding], tool: &str, text: &mut String) -> std::fmt::Result {
    writeln!(text, "\ntested")?;
    writeln!(
        text,
        "    no contradiction was found between conditions, nor with a default or an example"
    )?;
    let own = findings.iter().filter(|finding| finding.tool == tool);
    own.into_iter()
        .try_for_each(|finding| writeln!(text, "    {}", finding.message))
}

fn pretty(schema: &serde_json::Value, text: &mut String) -> std::fmt::Result {
    for line in format!("{schema:#}").lines() {
        writeln!(text, "    {line}")?;
    }
    Ok(())
}
