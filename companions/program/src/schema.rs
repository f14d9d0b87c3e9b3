//! `schema`: exports the tools for a provider or a protocol.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use contract_runtime::{Dialect, McpRevision, Registry};

use super::output::{CAREFUL, Output};
use super::{CommandError, exit};

#[derive(Debug, clap::Args)]
pub(super) struct Schema {
    /// The format: the name of a dialect, or of a provider for its usual one.
    #[arg(long = "for", value_name = "DIALECT", value_parser = dialect())]
    dialect: Dialect,
    /// Use the strict form, which holds the model to the schema.
    #[arg(long)]
    strict: bool,
}

/// Common names for dialects.
const ALIASES: [(&str, Dialect); 4] = [
    ("openai", Dialect::OpenAiChat { strict: false }),
    ("gemini", Dialect::GeminiParameters),
    ("mcp", Dialect::Mcp(McpRevision::July2026)),
    ("json-schema", Dialect::Neutral),
];

pub(super) fn dialect() -> impl TypedValueParser<Value = Dialect> {
    let aliases = ALIASES
        .map(|(name, dialect)| PossibleValue::new(name).help(format!("the same as {dialect}")));
    let names = Dialect::ALL.map(|dialect| {
        let name = dialect.name();
        // `--strict` gives these.
        PossibleValue::new(name).hide(name.ends_with("-strict"))
    });
    let all: Vec<_> = aliases.into_iter().chain(names).collect();
    PossibleValuesParser::new(all).try_map(|name| {
        let alias = ALIASES.into_iter().find(|(alias, _)| *alias == name);
        match alias {
            Some((_, dialect)) => Ok(dialect),
            None => name.parse::<Dialect>(),
        }
    })
}

impl Schema {
    pub(super) fn run(self, registry: &Registry, output: &mut Output) -> Result<u8, CommandError> {
        let dialect = if self.strict {
            strict_form(self.dialect)?
        } else {
            self.dialect
        };
        let export = registry.export(dialect)?;
        output.data(export)?;
        for problem in export.not_strict() {
            output.note(CAREFUL, "not strict", &problem.to_string());
        }
        Ok(exit::DONE)
    }
}

pub(super) fn strict_form(dialect: Dialect) -> Result<Dialect, CommandError> {
    Ok(match dialect {
        Dialect::OpenAiChat { .. } => Dialect::OpenAiChat { strict: true },
        Dialect::OpenAiResponses { .. } => Dialect::OpenAiResponses { strict: true },
        Dialect::Anthropic { .. } => Dialect::Anthropic { strict: true },
        other => {
            return Err(CommandError::NotStrict {
                dialect: other.name(),
            });
        }
    })
}
