use std::fmt::Write as _;

use super::Registry;
use super::list::ToolInfo;
use crate::contract::condition::ConditionKind;

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
        Some(text)
    }
}

fn explain(tool: &ToolInfo<'_>, text: &mut String) -> std::fmt::Result {
    writeln!(text, "{} ({})", tool.name(), tool.location())?;
    for line in tool.description().lines() {
        writeln!(text, "    {line}")?;
    }
    writeln!(text, "\nenforced")?;
    if tool.conditions().is_empty() {
        writeln!(text, "    nothing beyond its types")?;
    }
    for condition in tool.conditions() {
        let verb = match condition.kind() {
            ConditionKind::Pre => "requires",
            _ => "promises",
        };
        write!(text, "    {verb} `{}`", condition.predicate())?;
        if let Some(message) = condition.message() {
            write!(text, " ({message})")?;
        }
        let base = tool.policy();
        writeln!(
            text,
            ", policy {}",
            base.of_condition(condition.policy()).policy
        )?;
    }
    writeln!(text, "\nshown")?;
    pretty(tool.input_schema(), text)?;
    if let Some(output) = tool.output_schema() {
        writeln!(text, "\ngives")?;
        pretty(output, text)?;
    }
    Ok(())
}

fn pretty(schema: &serde_json::Value, text: &mut String) -> std::fmt::Result {
    for line in format!("{schema:#}").lines() {
        writeln!(text, "    {line}")?;
    }
    Ok(())
}
