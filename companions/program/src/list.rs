//! `list`: lists the tools.

use contract_runtime::{Hints, Registry, ToolInfo};
use serde::Serialize;

use super::output::{BOLD, FAINT, Output};
use super::{CommandError, exit};

#[derive(Debug, clap::Args)]
pub(super) struct List {
    /// Print the names alone.
    #[arg(long, hide = true)]
    names: bool,
}

/// A tool, as `list --json` shows it.
#[derive(Serialize)]
struct ListedTool<'t> {
    name: &'t str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'t str>,
    description: &'t str,
    package: &'t str,
    hints: Hints,
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<&'static str>,
    conditions: usize,
    location: &'t str,
}

impl List {
    pub(super) fn run(self, registry: &Registry, output: &mut Output) -> Result<u8, CommandError> {
        if output.json() {
            let tools: Vec<_> = registry.tools().map(listed).collect();
            output.data(&tools)?;
        } else if self.names {
            for tool in registry.tools() {
                output.out.write(&format!("{}\n", tool.name()))?;
            }
        } else if output.out.terminal() {
            table(registry, output)?;
        } else {
            for tool in registry.tools() {
                let [name, hints, sentence] = cells(tool);
                let name = output.out.painted(BOLD, &name);
                output
                    .out
                    .write(&format!("{name}\t{hints}\t{sentence}\n"))?;
            }
        }
        Ok(exit::DONE)
    }
}

fn listed(tool: ToolInfo<'_>) -> ListedTool<'_> {
    ListedTool {
        name: tool.name(),
        title: tool.title(),
        description: tool.description(),
        package: tool.package(),
        hints: tool.hints(),
        approval: approval(tool),
        conditions: tool.conditions().len(),
        location: tool.location(),
    }
}

fn table(registry: &Registry, output: &mut Output) -> Result<(), CommandError> {
    let head = ["NAME", "HINTS", "DESCRIPTION"].map(str::to_owned);
    let rows: Vec<_> = registry.tools().map(cells).collect();
    // Names and hints are ASCII, so bytes are columns; the last cell needs no width.
    let width = |of: fn(&[String; 3]) -> &String| {
        let lengths = rows.iter().chain([&head]).map(|row| of(row).len());
        lengths.max().unwrap_or_default()
    };
    let (first, second) = (width(|[name, ..]| name), width(|[_, hints, _]| hints));
    for (index, [name, hints, sentence]) in [&head].into_iter().chain(&rows).enumerate() {
        let name = format!("{name:first$}");
        let hints = format!("{hints:second$}");
        let (of_name, of_hints) = if index == 0 {
            (FAINT, FAINT)
        } else {
            (BOLD, FAINT)
        };
        let line = format!(
            "{}  {}  {}\n",
            output.out.painted(of_name, &name),
            output.out.painted(of_hints, &hints),
            match index {
                0 => output.out.painted(FAINT, sentence),
                _ => output.out.safe(sentence),
            }
        );
        output.out.write(&line)?;
    }
    Ok(())
}

fn cells(tool: ToolInfo<'_>) -> [String; 3] {
    [
        tool.name().to_owned(),
        hints(tool),
        sentence(tool.description()),
    ]
}

/// How often a person is asked before a call, if ever.
pub(super) fn approval(tool: ToolInfo<'_>) -> Option<&'static str> {
    let often = if tool.confirms() {
        "always"
    } else {
        "sometimes"
    };
    tool.asks().then_some(often)
}

/// The hints about its effects that the author gave, and whether it asks.
fn hints(tool: ToolInfo<'_>) -> String {
    let hints = tool.hints();
    let all = [
        ("read_only", hints.read_only),
        ("destructive", hints.destructive),
        ("idempotent", hints.idempotent),
        ("open_world", hints.open_world),
    ];
    let set = all.into_iter().filter(|(_, set)| *set == Some(true));
    let names = set.map(|(name, _)| name);
    let names: Vec<_> = names.chain(tool.asks().then_some("asks")).collect();
    names.join(",")
}

/// The first sentence, which stands alone, on one line.
fn sentence(description: &str) -> String {
    let lines = description.lines().map(str::trim);
    let lines = lines.skip_while(|line| line.is_empty());
    let paragraph: Vec<_> = lines.take_while(|line| !line.is_empty()).collect();
    let words: Vec<_> = paragraph
        .iter()
        .flat_map(|line| line.split_whitespace())
        .collect();
    let text = words.join(" ");
    let first = text.split_once(". ").map_or(&*text, |(first, _)| first);
    first.strip_suffix('.').unwrap_or(first).to_owned()
}
