//! What one command gives the next one to read.

use tree_sitter::Node;

use super::Refusal;
use super::destructive;
use super::parser::{child, children, raw};
use super::script::{Reader, unseen};
use super::source::{Source, source};
use super::wrapper::{bare, program};

/// Refuses a pipeline whose stages do together what none does alone: `curl .. | sh`, `echo / | xargs rm -rf`.
pub(super) fn judge(
    reader: &mut Reader<'_>,
    text: &str,
    stages: &[Node<'_>],
) -> Result<(), Refusal> {
    let mut before: Vec<Vec<String>> = Vec::new();
    let mut given: Option<String> = None;
    for stage in stages {
        let commands: Vec<_> = reader
            .commands(text, *stage)?
            .into_iter()
            .map(|(_, words)| words)
            .collect();
        for words in &commands {
            let command = bare(words);
            if source(command.words) == Some(Source::Input) {
                before.iter().try_for_each(|words| unseen(words))?;
                if let Some(given) = &given {
                    reader.script(given)?;
                }
            } else if command.fed {
                if destructive::removes(command.words) {
                    for words in &before {
                        destructive::found(bare(words).words, reader.ground, &reader.place)?;
                    }
                }
                if let Some(given) = &given {
                    let mut whole = command.words.to_vec();
                    whole.extend(given.split_whitespace().map(str::to_owned));
                    reader.command(&whole, None)?;
                }
            }
        }
        given = gives(text, *stage, &commands);
        before.extend(commands);
    }
    Ok(())
}

/// What a stage writes, where that is plain to see.
fn gives(text: &str, stage: Node<'_>, commands: &[Vec<String>]) -> Option<String> {
    let [words] = commands else {
        return here(text, stage);
    };
    let (first, rest) = bare(words).words.split_first()?;
    match program(first) {
        "echo" | "printf" => {
            let words: Vec<&str> = rest
                .iter()
                .map(String::as_str)
                .skip_while(|word| {
                    matches!(*word, "-n" | "-e" | "-ne" | "-en" | "--" | "%s" | "%s\\n")
                })
                .collect();
            Some(words.join(" ").replace("\\n", "\n"))
        }
        "cat" => here(text, stage),
        _ => None,
    }
}

/// The text of a here-document or a here-string.
fn here(text: &str, stage: Node<'_>) -> Option<String> {
    let first = child(stage, "body")?;
    if first.kind() != "command" || !raw(text, first).starts_with("cat") {
        return None;
    }
    children(stage)
        .into_iter()
        .filter(|redirect| redirect.kind() == "heredoc_redirect")
        .flat_map(children)
        .find(|part| part.kind() == "heredoc_body")
        .map(|body| raw(text, body).to_owned())
}
