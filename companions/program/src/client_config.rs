//! What clients of the Model Context Protocol need in their settings.

use std::path::PathBuf;

use clap::ValueEnum;
use contract_runtime::Registry;
use serde_json::{Value, json};

/// A client, as `--print-config` takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Client {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    #[value(name = "vscode")]
    VsCode,
    Inspector,
}

impl Client {
    /// Where the configuration belongs.
    pub(super) const fn place(self) -> &'static str {
        match self {
            Self::ClaudeCode => ".mcp.json in the folder of a project",
            Self::ClaudeDesktop => {
                "claude_desktop_config.json, which Settings > Developer > Edit Config opens"
            }
            Self::Cursor => {
                ".cursor/mcp.json in the folder of a project, or ~/.cursor/mcp.json for all of them"
            }
            Self::VsCode => {
                ".vscode/mcp.json in the folder of a project; for all of them, `MCP: Open User Configuration`"
            }
            Self::Inspector => {
                "a file, such as mcp.json: npx @modelcontextprotocol/inspector --config mcp.json --server NAME"
            }
        }
    }

    const fn key(self) -> &'static str {
        match self {
            Self::VsCode => "servers",
            _ => "mcpServers",
        }
    }

    /// What HTTP is called; `None` where there is no such key.
    const fn http(self) -> Option<&'static str> {
        match self {
            Self::Inspector => Some("streamable-http"),
            Self::ClaudeCode | Self::VsCode => Some("http"),
            Self::ClaudeDesktop | Self::Cursor => None,
        }
    }

    /// The configuration of one server.
    pub(super) fn config(self, server: &Connection) -> Value {
        let mut entry = match &server.url {
            // It starts programs alone.
            Some(url) if self == Self::ClaudeDesktop => {
                json!({"command": "npx", "args": ["-y", "mcp-remote", url]})
            }
            Some(url) => json!({"url": url}),
            None => json!({"command": server.command, "args": server.arguments}),
        };
        let kind = match server.url {
            Some(_) => self.http(),
            None => self.http().map(|_| "stdio"),
        };
        if let Some(kind) = kind {
            entry["type"] = kind.into();
        }
        json!({ self.key(): { &*server.name: entry } })
    }
}

/// How a client reaches the server.
pub(super) struct Connection {
    pub(super) name: String,
    command: PathBuf,
    arguments: Vec<String>,
    pub(super) url: Option<String>,
}

impl Connection {
    /// By the program that runs, started in the same way; at the URL, if it has one.
    pub(super) fn new(registry: &Registry, url: Option<String>) -> Self {
        let command = std::env::current_exe().unwrap_or_else(|_| "program".into());
        let stem = command
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned());
        let name = registry.program().map(|program| program.name.to_owned());
        Self {
            name: name.or(stem).unwrap_or_else(|| "tools".to_owned()),
            command,
            arguments: arguments(
                std::env::args_os()
                    .skip(1)
                    .map(|word| word.to_string_lossy().into_owned()),
            ),
            url,
        }
    }

    /// The command that starts it, for a shell.
    pub(super) fn line(&self) -> String {
        let command = self.command.to_string_lossy();
        let words = std::iter::once(&*command).chain(self.arguments.iter().map(String::as_str));
        let words: Vec<_> = words.map(quoted).collect();
        words.join(" ")
    }
}

/// The words with which the program was started, without the wish to print the configuration.
fn arguments(words: impl Iterator<Item = String>) -> Vec<String> {
    const PRINT: &str = "--print-config";
    let mut kept = Vec::new();
    let mut words = words;
    while let Some(word) = words.next() {
        if word == PRINT {
            words.next();
        } else if word != "--json" && !word.starts_with(&format!("{PRINT}=")) {
            kept.push(word);
        }
    }
    if kept.iter().any(|word| word == "serve") {
        kept
    } else {
        // The command line was given by the program itself.
        vec!["serve".to_owned()]
    }
}

fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=+,@".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_starts_the_program_as_it_was_started() {
        let kept = |words: &[&str]| arguments(words.iter().map(|word| (*word).to_owned()));
        assert_eq!(
            kept(&[
                "--shop",
                "Corner",
                "serve",
                "--print-config",
                "cursor",
                "--ask-client",
                "--json"
            ]),
            ["--shop", "Corner", "serve", "--ask-client"]
        );
        assert_eq!(kept(&["serve", "--print-config=cursor"]), ["serve"]);
        assert_eq!(kept(&["--nocapture"]), ["serve"]);
        assert_eq!(quoted("/a b/it's"), r"'/a b/it'\''s'");
    }
}
