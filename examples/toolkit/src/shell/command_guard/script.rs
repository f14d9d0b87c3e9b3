//! Walking through a script, and through the scripts within it.

use std::path::Path;

use tree_sitter::{Node, Tree};

use super::Refusal;
use super::expansion::{Variables, Words};
use super::parser::{Budget, child, children, raw};
use super::precious::{Ground, Where};
use super::source::{Source, is_unseen, source};
use super::wrapper::{bare, program};
use super::{destructive, pipeline};
use crate::path::escape;

/// Scripts in scripts are not followed further.
const DEEPEST: u32 = 8;

/// Reads one command, and what it holds.
pub(super) struct Reader<'g> {
    pub(super) ground: &'g Ground,
    pub(super) place: Where,
    variables: Variables,
    budget: Budget,
    depth: u32,
}

/// What is left to do; a stack of its own, because scripts may be nested as deeply as they like.
enum Step<'t> {
    Visit(Node<'t>),
    /// A subshell ends: its `cd` holds no longer.
    Leave(Where),
}

impl<'g> Reader<'g> {
    pub(super) fn new(ground: &'g Ground, directory: &Path) -> Self {
        Self {
            ground,
            place: Where::new(directory),
            variables: Variables::default(),
            budget: Budget::new(),
            depth: 0,
        }
    }

    /// A program and its arguments; `input` is what it is given to read, where that is known.
    pub(super) fn command(&mut self, words: &[String], input: Option<&str>) -> Result<(), Refusal> {
        let command = bare(words).words;
        match (source(command), input) {
            (Some(Source::Text(text)), _) => self.script(&text),
            (Some(Source::Input), Some(text)) => self.script(text),
            _ => {
                self.moves(command);
                destructive::judge(command, self.ground, &self.place)
            }
        }
    }

    fn moves(&mut self, command: &[String]) {
        let mut words = command.iter().map(String::as_str);
        match words.next() {
            Some("cd" | "pushd") => {
                let to = words.find(|word| !word.starts_with('-') || *word == "-");
                self.place = match to {
                    Some("-") => Where::unknown(),
                    Some(word) => self.place.then(word),
                    None => self.place.then(&super::expansion::HOME.to_string()),
                };
            }
            Some("popd") => self.place = Where::unknown(),
            _ => {}
        }
    }

    /// A script of its own, in the place that is reached.
    pub(super) fn script(&mut self, text: &str) -> Result<(), Refusal> {
        if self.depth == DEEPEST {
            return Err(Refusal::Tangled {
                why: "nested too deeply".into(),
            });
        }
        self.depth += 1;
        let place = self.place.clone();
        let text = ascii(text);
        let tree = self.budget.parse(&text)?;
        let judged = self.walk(&text, &tree);
        self.place = place;
        self.depth -= 1;
        judged
    }

    fn walk(&mut self, text: &str, tree: &Tree) -> Result<(), Refusal> {
        let mut steps = vec![Step::Visit(tree.root_node())];
        while let Some(step) = steps.pop() {
            self.budget.step()?;
            match step {
                Step::Leave(place) => self.place = place,
                Step::Visit(node) => {
                    if matches!(
                        node.kind(),
                        "subshell" | "command_substitution" | "process_substitution"
                    ) {
                        steps.push(Step::Leave(self.place.clone()));
                    }
                    self.node(text, node)?;
                    steps.extend(children(node).into_iter().rev().map(Step::Visit));
                }
            }
        }
        Ok(())
    }

    fn node(&mut self, text: &str, node: Node<'_>) -> Result<(), Refusal> {
        match node.kind() {
            "command" => {
                let words = self.read(text, node)?;
                let here = children(node)
                    .into_iter()
                    .find(|child| child.kind() == "herestring_redirect")
                    .and_then(|redirect| children(redirect).pop())
                    .map(|word| self.reading(text).text(word));
                self.unseen(text, node, &words)?;
                self.command(&words, here.as_deref())
            }
            "redirected_statement" => self.here_document(text, node),
            "pipeline" => {
                let stages = children(node);
                pipeline::judge(self, text, &stages)
            }
            "file_redirect" => self.redirect(text, node),
            "function_definition" => self.function(text, node),
            "variable_assignment" => {
                if let (Some(name), Some(value)) = (child(node, "name"), child(node, "value")) {
                    let value = self.reading(text).text(value);
                    self.variables.set(raw(text, name), &value);
                }
                Ok(())
            }
            "for_statement" => {
                let Some(name) = child(node, "variable") else {
                    return Ok(());
                };
                let mut cursor = node.walk();
                let values = node.children_by_field_name("value", &mut cursor);
                let values = self.reading(text).any(values);
                self.variables.set(raw(text, name), &values);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    pub(super) fn reading<'s>(&'s self, text: &'s str) -> Words<'s> {
        Words {
            source: text,
            variables: &self.variables,
        }
    }

    /// The words of a command.
    pub(super) fn read(&mut self, text: &str, command: Node<'_>) -> Result<Vec<String>, Refusal> {
        let mut words = Vec::new();
        let mut cursor = command.walk();
        let mut more = cursor.goto_first_child();
        while more {
            self.budget.step()?;
            match (cursor.field_name(), cursor.node()) {
                (Some("name"), node) => {
                    if let Some(name) = children(node).first() {
                        words.extend(self.reading(text).all(*name));
                    }
                }
                (Some("argument"), node) => words.extend(self.reading(text).all(node)),
                _ => {}
            }
            more = cursor.goto_next_sibling();
        }
        Ok(words)
    }

    /// Each command in a part of a script, with the words it consists of.
    pub(super) fn commands<'t>(
        &mut self,
        text: &str,
        node: Node<'t>,
    ) -> Result<Vec<(Node<'t>, Vec<String>)>, Refusal> {
        let mut found = Vec::new();
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            self.budget.step()?;
            if node.kind() == "command" {
                found.push((node, self.read(text, node)?));
            }
            open.extend(children(node).into_iter().rev());
        }
        Ok(found)
    }

    /// `sh -c "$(curl ..)"`, `bash <(curl ..)`
    fn unseen(&mut self, text: &str, node: Node<'_>, words: &[String]) -> Result<(), Refusal> {
        if !source(bare(words).words).is_some_and(|source| source.is_unknown()) {
            return Ok(());
        }
        let within = self.commands(text, node)?;
        within
            .iter()
            .skip(1)
            .try_for_each(|(_, words)| unseen(words))
    }

    /// `sh <<EOF`, and `cat <<EOF | sh`, where the rest of the pipeline is a part of the redirection.
    fn here_document(&mut self, text: &str, node: Node<'_>) -> Result<(), Refusal> {
        let Some(body) = child(node, "body") else {
            return Ok(());
        };
        let parts: Vec<_> = children(node)
            .into_iter()
            .filter(|redirect| redirect.kind() == "heredoc_redirect")
            .flat_map(children)
            .collect();
        let part = |kind: &str| parts.iter().find(|part| part.kind() == kind).copied();
        if part("heredoc_start").is_none() {
            return Ok(());
        }
        let input = part("heredoc_body").map(|body| raw(text, body));
        if let Some(pipeline) = part("pipeline") {
            let mut stages = vec![node];
            stages.extend(children(pipeline));
            return pipeline::judge(self, text, &stages);
        }
        if body.kind() == "command" {
            let words = self.read(text, body)?;
            self.command(&words, input)?;
        }
        Ok(())
    }

    fn redirect(&mut self, text: &str, node: Node<'_>) -> Result<(), Refusal> {
        let Some(destination) = child(node, "destination") else {
            return Ok(());
        };
        let whole = raw(text, node);
        if whole
            .trim_start_matches(|one: char| one.is_ascii_digit())
            .starts_with(['>', '&'])
            || whole.contains("<>")
        {
            destructive::device(&self.reading(text).text(destination))?;
        }
        Ok(())
    }

    /// A function that starts itself twice at once, or leaves itself running.
    fn function(&mut self, text: &str, node: Node<'_>) -> Result<(), Refusal> {
        let (Some(name), Some(body)) = (child(node, "name"), child(node, "body")) else {
            return Ok(());
        };
        let name = raw(text, name).to_owned();
        let mut open = vec![body];
        while let Some(node) = open.pop() {
            self.budget.step()?;
            let parts = children(node);
            if node.kind() == "pipeline" {
                let own = self
                    .commands(text, node)?
                    .iter()
                    .filter(|(_, words)| words.first() == Some(&name))
                    .count();
                if own > 1 {
                    return Err(Refusal::ForkBomb {
                        name: escape(&name),
                    });
                }
            }
            let mut cursor = node.walk();
            let all: Vec<_> = node.children(&mut cursor).collect();
            for pair in all.windows(2) {
                if let [part, next] = pair
                    && (part.kind(), next.kind()) == ("command", "&")
                    && self.read(text, *part)?.first() == Some(&name)
                {
                    return Err(Refusal::ForkBomb {
                        name: escape(&name),
                    });
                }
            }
            open.extend(parts);
        }
        Ok(())
    }
}

/// The scanner of tree-sitter-bash 0.25.1 gives every code point to `isdigit`, which reads outside of its table for most of
/// them, and crashes. To the grammar, all of them are letters; and nothing that is looked for holds one.
fn ascii(text: &str) -> String {
    let plain = |character: char| if character.is_ascii() { character } else { 'x' };
    text.chars().map(plain).collect()
}

/// Refuses what a command gives out as a script.
pub(super) fn unseen(words: &[String]) -> Result<(), Refusal> {
    let words = bare(words).words;
    match words.first() {
        Some(word) if is_unseen(words) => Err(Refusal::Unseen {
            source_program: escape(program(word)),
        }),
        _ => Ok(()),
    }
}
