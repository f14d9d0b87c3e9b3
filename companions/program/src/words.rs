//! The words behind the name of a tool, as the command line takes them.

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};

use super::completions::TOOL;

/// How many words are taken one by one: clap knows the options that stand behind a single word, but takes everything behind the
/// first of several for words.
const SINGLE: usize = 64;

/// The words that give the arguments of a call.
#[derive(Debug, Default)]
pub(super) struct Words(pub(super) Vec<String>);

/// An option of `call`, which is its id as well, and what stands behind it.
pub(super) type CallOption = (&'static str, &'static str);

/// All options of `call` but `--help`, behind which nothing is called.
const OPTIONS: [CallOption; 7] = [
    ("approve", " ID"),
    ("check", ""),
    ("explain", ""),
    ("json", ""),
    ("out", " FOLDER"),
    ("policy", " POLICY"),
    ("timeout", " DURATION"),
];

impl clap::Args for Words {
    fn augment_args(command: Command) -> Command {
        let shown = word(0).value_name("ARGUMENTS...").help(
            "Its arguments: `name=value` or `--name value` for each, or one JSON object, which `@FILE` reads from a file and `-` from \
             standard input",
        );
        let hidden = (1..SINGLE).map(|index| word(index).hide(true));
        let others = word(SINGLE).hide(true).num_args(1..);
        command.arg(shown).args(hidden).arg(others)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for Words {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let words = (0..=SINGLE).filter_map(|index| matches.get_many::<String>(&id(index)));
        Ok(Self(words.flatten().cloned().collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The options of `call` that stand behind the name of the tool, where an argument of that name could stand as well.
///
/// It adds nothing to the command, and must be the first field: each field takes its values away.
#[derive(Debug, Default)]
pub(super) struct OptionsBehind(pub(super) Vec<CallOption>);

impl clap::Args for OptionsBehind {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

impl clap::FromArgMatches for OptionsBehind {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let name = matches.index_of(TOOL);
        let is_behind = |(id, _): &CallOption| {
            // `--json` is added by the program around the command.
            matches.try_contains_id(id).unwrap_or(false)
                && matches.value_source(id) == Some(ValueSource::CommandLine)
                && matches.index_of(id) > name
        };
        Ok(Self(OPTIONS.into_iter().filter(is_behind).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

const PREFIX: &str = "word-";

fn id(index: usize) -> String {
    format!("{PREFIX}{index}")
}

fn word(index: usize) -> Arg {
    Arg::new(id(index)).allow_hyphen_values(true)
}

/// Removes the hidden words, which neither completions nor manuals contain.
pub(super) fn without_hidden(command: Command) -> Command {
    let is_hidden = |arg: &Arg| arg.is_hide_set() && arg.get_id().as_str().starts_with(PREFIX);
    let mut command = command;
    let names: Vec<_> = command
        .get_subcommands()
        .map(|one| one.get_name().to_owned())
        .collect();
    for name in names {
        command = command.mut_subcommand(name, without_hidden);
    }
    if !command.get_arguments().any(is_hidden) {
        return command;
    }
    let shown = command.get_arguments().filter(|arg| !is_hidden(arg));
    Command::new(command.get_name().to_owned())
        .about(command.get_about().cloned().unwrap_or_default())
        .after_help(command.get_after_help().cloned().unwrap_or_default())
        .args(shown.cloned().collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_options_of_a_call_are_known() {
        let command = <crate::call::Call as clap::Args>::augment_args(Command::new("call"));
        let names = command.get_opts().filter_map(Arg::get_long);
        let mut names: Vec<_> = names.chain(["json"]).collect();
        names.sort_unstable();
        assert_eq!(names, OPTIONS.map(|(name, _)| name));
    }
}
