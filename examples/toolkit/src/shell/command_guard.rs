//! Refuses plainly destructive commands with a sentence, before anything runs.
//!
//! This helps a model that blunders, and is **not the boundary**: a variable, a script in a file or another language gets
//! around it, and the [sandbox](crate::Sandbox) alone decides what a command can reach. A script is split into words as a
//! shell splits it (POSIX.1-2024, 2.3), and only `~` and `$HOME` are expanded: `echo "rm -rf /"` and `rm -rf /srv/build` pass;
//! `sudo rm  -fr -- /.` and `sh -c 'rm -rf "$HOME"'` do not.

mod programs;
mod shell_words;
#[cfg(test)]
mod tests;

use std::path::{Component, Path, PathBuf};

use programs::{Script, bare, base_name, fetched_within, fetches, lists, run_by};
use shell_words::{Command, HOME, Part, UNKNOWN, split, without_signs};

use crate::path::escape;

/// Why a command counts as plainly destructive, so that it was not run.
///
/// This helps a model that blunders, and is **not the boundary**: a script in a file or another language gets around it. The
/// [`Sandbox`](crate::Sandbox) alone decides what a command can reach.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A home folder, a folder of the system or the workspace would be lost.
    #[error(
        "nothing was run: `{program}` would {verb} {what}; name only the files you mean, further down in the workspace"
    )]
    Precious {
        /// Such as `rm`.
        program: String,
        /// Such as "remove".
        verb: &'static str,
        /// Such as "`/`, the whole file system".
        what: String,
    },
    /// A shell would run a script that nobody has read.
    #[error(
        "nothing was run: this would run the output of `{source_program}` unread; save it to a file, read it, and then run the file"
    )]
    Unread {
        /// Such as `curl`.
        source_program: String,
    },
}

/// Scripts within scripts are read to this depth.
const DEEPEST: u32 = 8;

/// Folders of the system at the top of the file system (Filesystem Hierarchy Standard 3.0, section 3, and macOS).
const SYSTEM: &str = "bin boot dev etc home lib lib32 lib64 media mnt opt proc root run sbin srv sys usr var \
                      Applications Library System Users Volumes";

/// Tests of `find` that choose some of what it finds.
const TESTS: &str = "-name -iname -path -regex -type -size -mtime -mmin -newer -empty";

/// The components of an absolute path, or of one that begins at the home folder.
type Names = Vec<String>;

/// Refuses a command that is plainly destructive, run in one folder of a workspace with these roots.
pub(super) fn judge(argv: &[String], directory: &Path, roots: &[PathBuf]) -> Result<(), Refusal> {
    let mut guard = Guard {
        roots: roots.iter().map(|root| names(root)).collect(),
        directory: Some(names(directory)),
        depth: 0,
    };
    guard.command(&Command {
        words: argv.iter().map(|word| without_signs(word)).collect(),
        ..Command::default()
    })
}

struct Guard {
    roots: Vec<Names>,
    /// Where the next command runs, if that is known.
    directory: Option<Names>,
    depth: u32,
}

/// A path whose loss cannot be meant.
struct Precious {
    what: String,
    is_workspace: bool,
    /// The path stands for everything in the folder, not for the folder.
    is_contents: bool,
}

impl Guard {
    fn script(&mut self, text: &str) -> Result<(), Refusal> {
        if self.depth == DEEPEST {
            return Ok(());
        }
        self.depth += 1;
        let directory = self.directory.clone();
        let mut outer = Vec::new();
        let mut fetched = None;
        for part in split(text) {
            match part {
                Part::Open => outer.push(self.directory.clone()),
                // `case` has closing parentheses of its own.
                Part::Close => {
                    if let Some(directory) = outer.pop() {
                        self.directory = directory;
                    }
                }
                Part::Command(command) => {
                    if !command.is_piped {
                        fetched = None;
                    }
                    let is_input = matches!(run_by(bare(&command.words)), Some(Script::Input));
                    if is_input && let Some(source_program) = fetched.take() {
                        return Err(Refusal::Unread { source_program });
                    }
                    self.command(&command)?;
                    fetched = fetched.or_else(|| fetches(&command.words));
                }
            }
        }
        self.directory = directory;
        self.depth -= 1;
        Ok(())
    }

    fn command(&mut self, command: &Command) -> Result<(), Refusal> {
        for script in &command.substitutions {
            self.script(script)?;
        }
        let words = bare(&command.words);
        let script = run_by(words);
        let unknown = match &script {
            Some(Script::Text(text)) => text.starts_with(UNKNOWN),
            Some(Script::File(word)) => word.starts_with(UNKNOWN),
            Some(Script::Input) | None => false,
        };
        if unknown && let Some(source_program) = fetched_within(&command.substitutions) {
            return Err(Refusal::Unread { source_program });
        }
        match (script, &command.input) {
            (Some(Script::Text(text)), _) => self.script(&text),
            (Some(Script::Input), Some(text)) => self.script(text),
            _ => self.program(words),
        }
    }

    fn program(&mut self, words: &[String]) -> Result<(), Refusal> {
        let Some((first, rest)) = words.split_first() else {
            return Ok(());
        };
        let name = base_name(first);
        let (options, operands) = arguments(rest);
        let has = |letters: &str, long: &str| {
            options
                .iter()
                .any(|option| match option.strip_prefix("--") {
                    Some(name) => !name.is_empty() && long.starts_with(name),
                    None => option.contains(|letter| letters.contains(letter)),
                })
        };
        match name {
            "cd" | "pushd" => {
                let home = HOME.to_string();
                self.directory = self.resolve(operands.first().unwrap_or(&home.as_str()));
                Ok(())
            }
            "popd" => {
                self.directory = None;
                Ok(())
            }
            "rm" if has("rR", "recursive") => self.loses(name, "remove", &operands, |_| true),
            "mv" => {
                let sources = operands
                    .split_last()
                    .map_or(&[][..], |(_, sources)| sources);
                self.loses(name, "move", sources, |found| {
                    !(found.is_workspace && found.is_contents)
                })
            }
            "chmod" | "chown" | "chgrp" if has("R", "recursive") => {
                let verb = "change the permissions of";
                self.loses(name, verb, &operands, |found| !found.is_workspace)
            }
            "find" => self.find(rest),
            _ => Ok(()),
        }
    }

    /// `find / -delete`. In the workspace itself, any test makes it harmless enough.
    fn find(&self, words: &[String]) -> Result<(), Refusal> {
        let removes = |at: usize| {
            let program = words.get(at + 1..).and_then(|rest| bare(rest).first());
            program.is_some_and(|word| base_name(word) == "rm")
        };
        let deletes = words
            .iter()
            .enumerate()
            .any(|(at, word)| match word.as_str() {
                "-delete" => true,
                "-exec" | "-execdir" | "-ok" | "-okdir" => removes(at),
                _ => false,
            });
        if !deletes {
            return Ok(());
        }
        let chooses = words.iter().any(|word| lists(TESTS, word));
        let mut folders: Vec<&str> = words
            .iter()
            .map(String::as_str)
            .skip_while(|word| matches!(*word, "-H" | "-L" | "-P"))
            .take_while(|word| !word.starts_with(['-', '(', '!']))
            .collect();
        if folders.is_empty() {
            folders.push(".");
        }
        self.loses("find", "remove what it finds in", &folders, |found| {
            !(chooses && found.is_workspace)
        })
    }

    fn loses(
        &self,
        program: &str,
        verb: &'static str,
        paths: &[&str],
        counts: impl Fn(&Precious) -> bool,
    ) -> Result<(), Refusal> {
        let mut precious = paths.iter().filter_map(|path| self.precious(path));
        match precious.find(counts) {
            Some(Precious { what, .. }) => Err(Refusal::Precious {
                program: escape(program),
                verb,
                what,
            }),
            None => Ok(()),
        }
    }

    fn precious(&self, word: &str) -> Option<Precious> {
        let names = self.resolve(word)?;
        let is_everything = |name: &String| {
            name.contains('*') && name.chars().all(|one| matches!(one, '*' | '?' | '.'))
        };
        let is_contents = names.last().is_some_and(is_everything);
        let folder = match names.split_last() {
            Some((_, folder)) if is_contents => folder,
            _ => names.as_slice(),
        };
        let (kind, is_workspace) = match folder {
            _ if self.roots.iter().any(|root| root == folder) => {
                ("the folder of the workspace itself", true)
            }
            [] => ("the whole file system", false),
            [name] if name.starts_with(HOME) => ("a home folder", false),
            [homes, _] if homes == "home" || homes == "Users" => ("a home folder", false),
            [name] if lists(SYSTEM, name) => ("a folder of the system", false),
            [name] if name == "tmp" && !is_contents => ("a folder of the system", false),
            [above, _] if above == "usr" || above == "var" => ("a folder of the system", false),
            _ if self.roots.iter().any(|root| root.starts_with(folder)) => {
                ("a folder that holds the workspace", true)
            }
            _ => return None,
        };
        Some(Precious {
            what: format!("`{}`, {kind}", escape(&word.replace(HOME, "~"))),
            is_workspace,
            is_contents,
        })
    }

    /// The place that a word names, if that is known.
    fn resolve(&self, word: &str) -> Option<Names> {
        let mut names = match word.chars().next()? {
            '/' | HOME => Vec::new(),
            _ => self.directory.clone()?,
        };
        for name in word.split('/') {
            match name {
                "" | "." => {}
                ".." => drop(names.pop()),
                name if name.contains(UNKNOWN) => return None,
                name => names.push(name.to_owned()),
            }
        }
        // Deeper than anything precious; a longer list would be copied at every `cd`.
        (names.len() <= 256).then_some(names)
    }
}

fn names(path: &Path) -> Names {
    let mut names = Names::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(name.to_string_lossy().into_owned()),
            Component::ParentDir => drop(names.pop()),
            _ => {}
        }
    }
    names
}

/// Options and operands, in any order, as the GNU programs take them.
fn arguments(words: &[String]) -> (Vec<&str>, Vec<&str>) {
    let end = words.iter().position(|word| word == "--");
    let (before, after) = words.split_at(end.unwrap_or(words.len()));
    let before = before.iter().map(String::as_str);
    let (options, mut operands): (Vec<_>, Vec<_>) =
        before.partition(|word| word.len() > 1 && word.starts_with('-'));
    operands.extend(after.iter().skip(1).map(String::as_str));
    (options, operands)
}
