//! Which program a command runs, without what stands around it, and which script.

use super::shell_words::{Part, split};
use crate::path::escape;

const SHELLS: &str = "sh bash dash zsh ksh fish";
const INTERPRETERS: &str = "python python3 perl ruby node";

/// Words of the shell's grammar that may stand before a command.
const RESERVED: &str = "if then elif else while until do ! {";

/// Programs that run another program, each with its options whose value is the next word.
const WRAPPERS: [&str; 16] = [
    "sudo -u -g -h -p -C -D -R",
    "doas -u -C",
    "env -u -C",
    "nice -n",
    "ionice -c -n -p",
    "timeout -k -s",
    "stdbuf -i -o -e",
    "xargs -a -d -E -I -L -n -P -s",
    "exec -a",
    "time -f -o",
    "watch -n",
    "nohup",
    "setsid",
    "builtin",
    "command",
    "busybox",
];

/// What a shell runs.
pub(super) enum Script<'w> {
    Text(String),
    /// The word may be unknown.
    File(&'w str),
    /// What it reads.
    Input,
}

pub(super) fn lists(names: &str, name: &str) -> bool {
    names.split_whitespace().any(|one| one == name)
}

pub(super) fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name
                .chars()
                .all(|one| one.is_ascii_alphanumeric() || one == '_')
    })
}

/// A command without reserved words, assignments and the programs around it.
pub(super) fn bare(mut words: &[String]) -> &[String] {
    while let Some((first, rest)) = words.split_first() {
        let name = base_name(first);
        if lists(RESERVED, name) || is_assignment(first) {
            words = rest;
            continue;
        }
        let mut wrappers = WRAPPERS
            .iter()
            .filter_map(|wrapper| wrapper.strip_prefix(name));
        let Some(valued) = wrappers.find(|rest| rest.is_empty() || rest.starts_with(' ')) else {
            break;
        };
        // `timeout` takes the time before the command.
        let mut operands = usize::from(name == "timeout");
        words = rest;
        while let Some((word, rest)) = words.split_first() {
            if lists(valued, word) {
                words = rest.get(1..).unwrap_or_default();
            } else if word.starts_with('-') || is_assignment(word) {
                words = rest;
            } else if operands > 0 {
                operands -= 1;
                words = rest;
            } else {
                break;
            }
        }
    }
    words
}

/// The script that a command runs, if it is a shell or an interpreter.
pub(super) fn run_by(words: &[String]) -> Option<Script<'_>> {
    let (first, rest) = words.split_first()?;
    let name = base_name(first);
    if name == "eval" {
        return Some(Script::Text(rest.join(" ")));
    }
    if name == "source" || name == "." {
        return rest.first().map(|word| Script::File(word));
    }
    if lists(INTERPRETERS, name) {
        let is_input = rest.first().is_none_or(|word| word == "-");
        return is_input.then_some(Script::Input);
    }
    if !lists(SHELLS, name) {
        return None;
    }
    let mut is_text = false;
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        match word.strip_prefix('-') {
            Some("s" | "") => return Some(Script::Input),
            Some(letters) if !letters.starts_with('-') => {
                is_text |= letters.contains('c');
                // `-o` takes a value.
                if letters.ends_with('o') {
                    words.next();
                }
            }
            Some(_) => {}
            None if is_text => return Some(Script::Text(word.clone())),
            None => return Some(Script::File(word)),
        }
    }
    Some(Script::Input)
}

/// The program, if its output comes from elsewhere or was made unreadable.
pub(super) fn fetches(words: &[String]) -> Option<String> {
    let (first, rest) = bare(words).split_first()?;
    let name = base_name(first);
    let decodes = || rest.iter().any(|word| word == "-d" || word == "--decode");
    let fetches = matches!(name, "curl" | "wget" | "fetch") || name == "base64" && decodes();
    fetches.then(|| escape(name))
}

pub(super) fn fetched_within(scripts: &[String]) -> Option<String> {
    let parts = scripts.iter().flat_map(|script| split(script));
    parts.into_iter().find_map(|part| match part {
        Part::Command(command) => fetches(&command.words),
        Part::Open | Part::Close => None,
    })
}
