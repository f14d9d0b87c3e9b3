//! The errors of a command, with their exit codes and JSON form.

use std::io;
use std::path::PathBuf;

use contract_dialects::ExportError;
use contract_manifest::ManifestError;
#[cfg(feature = "serve")]
use contract_mcp::ServeError;
use contract_runtime::__family::nearest;
use contract_runtime::{BuildError, Registry, Status};
use serde_json::{Value, json};

use super::exit;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum CommandError {
    #[error("{}", message(.0))]
    Usage(clap::Error),
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error("there is no tool `{name}`; {}", hint(nearest.as_deref()))]
    NoSuchTool {
        name: String,
        nearest: Option<String>,
    },
    #[error("{}", advised(.problem, .forms))]
    Arguments {
        problem: String,
        /// How to write them.
        forms: Vec<String>,
    },
    #[error("`{dialect}` has no strict form; leave out `--strict`")]
    NotStrict { dialect: &'static str },
    #[error("standard input is not UTF-8, from byte {at} on; JSON text is UTF-8")]
    NotUtf8 { at: usize },
    #[error("`{}` is longer than {limit} bytes, so it is not a manifest of these tools; give a file that `manifest` wrote", path.display())]
    TooLong { path: PathBuf, limit: usize },
    #[error("cannot read `{}`: {source}", path.display())]
    Unread { path: PathBuf, source: io::Error },
    #[error("`{}`: {source}", path.display())]
    Manifest {
        path: PathBuf,
        source: ManifestError,
    },
    #[error("cannot write `{}`: {source}", path.display())]
    Unwritten { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Export(#[from] ExportError),
    #[cfg(feature = "serve")]
    #[error(transparent)]
    Serve(#[from] ServeError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl CommandError {
    pub(super) fn no_such_tool(name: String, registry: &Registry) -> Self {
        let names = registry.tools().map(|tool| tool.name());
        let nearest = nearest(&name, names).map(str::to_owned);
        Self::NoSuchTool { name, nearest }
    }

    pub(super) fn code(&self) -> u8 {
        match self {
            Self::Usage(_)
            | Self::Build(_)
            | Self::Arguments { .. }
            | Self::NotStrict { .. }
            | Self::NotUtf8 { .. }
            | Self::TooLong { .. }
            | Self::Unread { .. }
            | Self::Manifest { .. } => exit::USAGE,
            Self::NoSuchTool { .. } => exit::of(Status::UnknownTool),
            #[cfg(feature = "serve")]
            Self::Serve(_) => exit::FAILED,
            Self::Unwritten { .. } | Self::Export(_) | Self::Io(_) => exit::FAILED,
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Usage(_) | Self::NotStrict { .. } | Self::Arguments { .. } => "usage",
            Self::Build(_) => "build",
            Self::NoSuchTool { .. } => "unknown_tool",
            Self::NotUtf8 { .. }
            | Self::TooLong { .. }
            | Self::Unread { .. }
            | Self::Manifest { .. } => "input",
            Self::Export(_) => "export",
            #[cfg(feature = "serve")]
            Self::Serve(_) => "serve",
            Self::Unwritten { .. } | Self::Io(_) => "io",
        }
    }

    /// Renders the error as JSON, for `--json`.
    pub(super) fn json(&self) -> Value {
        let mut error = json!({
            "kind": self.kind(),
            "message": self.to_string(),
            "exit_code": self.code(),
        });
        let problems: Vec<String> = match self {
            Self::Build(error) => error.problems().iter().map(ToString::to_string).collect(),
            Self::Export(error) => error.problems().iter().map(ToString::to_string).collect(),
            _ => Vec::new(),
        };
        if !problems.is_empty() {
            error["problems"] = problems.into();
        }
        if let Self::NoSuchTool {
            nearest: Some(nearest),
            ..
        } = self
        {
            error["nearest"] = nearest.as_str().into();
        }
        json!({ "error": error })
    }
}

/// The first paragraph of an error of clap, without its title; the rest is usage and hints for people.
fn message(error: &clap::Error) -> String {
    let text = error.to_string();
    let first = text.split("\n\n").next().unwrap_or_default().trim();
    first.strip_prefix("error: ").unwrap_or(first).to_owned()
}

fn written(forms: &[String]) -> String {
    let forms: Vec<_> = forms.iter().map(|form| format!("`{form}`")).collect();
    forms.join(" or ")
}

fn advised(problem: &str, forms: &[String]) -> String {
    // A question is a sentence of its own.
    let write = if problem.ends_with('?') {
        " Write"
    } else {
        "; write"
    };
    format!("{problem}{write} {}", written(forms))
}

fn hint(nearest: Option<&str>) -> String {
    match nearest {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => "`list` names all".to_owned(),
    }
}
