//! `schema`: exports the tools for a provider or a protocol.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use contract_dialects::{ExportError, ExportProblem, StrictDialect, StrictExport as _};
use contract_runtime::{Dialect, McpRevision, Registry};
use serde_json::Value;

use super::output::{CAREFUL, Output};
use super::{CommandError, exit};

#[derive(Debug, clap::Args)]
pub(super) struct Schema {
    /// The format: the name of a dialect, or of a provider for its usual one.
    #[arg(long = "for", value_name = "DIALECT", value_parser = format())]
    format: Format,
    /// Use the strict form, which holds the model to the schema.
    #[arg(long)]
    strict: bool,
}

/// A dialect, plain or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Plain(Dialect),
    Strict(StrictDialect),
}

/// Common names for dialects.
const ALIASES: [(&str, Format); 4] = [
    ("openai", Format::Plain(Dialect::OpenAiChat)),
    ("gemini", Format::Strict(StrictDialect::GeminiParameters)),
    ("mcp", Format::Plain(Dialect::Mcp(McpRevision::July2026))),
    ("json-schema", Format::Plain(Dialect::Neutral)),
];

pub(super) fn format() -> impl TypedValueParser<Value = Format> {
    let aliases = ALIASES.map(|(name, format)| {
        PossibleValue::new(name).help(format!("the same as {}", format.name()))
    });
    let names = Format::all().map(|format| {
        let name = format.name();
        // `--strict` gives these.
        PossibleValue::new(name).hide(name.ends_with("-strict"))
    });
    let all: Vec<_> = aliases.into_iter().chain(names).collect();
    PossibleValuesParser::new(all).try_map(|name| {
        let names = Format::all().map(|format| (format.name(), format));
        let mut all = ALIASES.into_iter().chain(names);
        let found = all.find(|(known, _)| *known == name);
        found.map(|(_, format)| format).ok_or("unknown format")
    })
}

impl Format {
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let strict = StrictDialect::ALL.map(Self::Strict);
        Dialect::ALL.map(Self::Plain).into_iter().chain(strict)
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Plain(dialect) => dialect.name(),
            Self::Strict(dialect) => dialect.name(),
        }
    }

    /// Its strict form, which may be itself.
    pub(super) fn strict(self) -> Result<Self, CommandError> {
        let plain = match self {
            Self::Plain(plain) => Some(plain),
            Self::Strict(strict) => strict.plain(),
        };
        let mut all = StrictDialect::ALL.into_iter();
        let strict = all.find(|one| plain.is_some() && one.plain() == plain);
        let dialect = self.name();
        strict
            .map(Self::Strict)
            .ok_or(CommandError::NotStrict { dialect })
    }

    /// The tools in it, and why some of them are not strict.
    pub(super) fn export(
        self,
        registry: &Registry,
    ) -> Result<(Value, Vec<ExportProblem>), ExportError> {
        match self {
            Self::Plain(dialect) => Ok((registry.export(dialect).clone(), Vec::new())),
            Self::Strict(dialect) => {
                let exported = registry.export_strict(dialect)?;
                Ok((exported.tools, exported.not_strict))
            }
        }
    }
}

impl Schema {
    pub(super) fn run(self, registry: &Registry, output: &mut Output) -> Result<u8, CommandError> {
        let format = if self.strict {
            self.format.strict()?
        } else {
            self.format
        };
        let (tools, not_strict) = format.export(registry)?;
        output.data(&tools)?;
        for problem in not_strict {
            output.note(CAREFUL, "not strict", &problem.to_string());
        }
        Ok(exit::DONE)
    }
}
