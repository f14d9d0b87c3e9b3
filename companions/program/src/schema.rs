use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::screen::Screen;
use super::{Fault, exit};
use crate::{Dialect, McpRevision, Registry};

#[derive(Debug, clap::Args)]
pub(super) struct Schema {
    /// In whose manner: the name of a dialect, or of a provider for its usual one.
    #[arg(long = "for", value_name = "DIALECT", value_parser = dialect())]
    dialect: Dialect,
    /// In the form that holds the model to the schema.
    #[arg(long)]
    strict: bool,
}

/// Names that people use, beside those of the dialects.
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
    pub(super) fn run(self, registry: &Registry, screen: &mut Screen) -> Result<u8, Fault> {
        let dialect = if self.strict {
            strict_form(self.dialect)?
        } else {
            self.dialect
        };
        screen.data(registry.export(dialect)?)?;
        Ok(exit::DONE)
    }
}

pub(super) fn strict_form(dialect: Dialect) -> Result<Dialect, Fault> {
    Ok(match dialect {
        Dialect::OpenAiChat { .. } => Dialect::OpenAiChat { strict: true },
        Dialect::OpenAiResponses { .. } => Dialect::OpenAiResponses { strict: true },
        Dialect::Anthropic { .. } => Dialect::Anthropic { strict: true },
        other => {
            return Err(Fault::NotStrict {
                dialect: other.name(),
            });
        }
    })
}
