//! What is plainly destructive, one program at a time.

use super::Refusal;
use super::expansion::UNKNOWN;
use super::precious::{Ground, Precious, Where};
use super::wrapper::{bare, program};
use crate::path::escape;

/// Devices that may be written: they keep nothing.
const HARMLESS: [&str; 9] = [
    "null", "zero", "full", "random", "urandom", "tty", "stdin", "stdout", "stderr",
];

/// Refuses a command, without anything around it, that is plainly destructive.
pub(super) fn judge(words: &[String], ground: &Ground, place: &Where) -> Result<(), Refusal> {
    let Some((first, rest)) = words.split_first() else {
        return Ok(());
    };
    let name = program(first);
    let loses = |verb: &'static str, operands: &[&str], counts: fn(&Precious) -> bool| {
        let mut precious = operands
            .iter()
            .filter_map(|operand| ground.precious(operand, place));
        match precious.find(counts) {
            Some(Precious { what, .. }) => Err(Refusal::Precious {
                program: escape(name),
                verb: verb.into(),
                what,
            }),
            None => Ok(()),
        }
    };
    let arguments = Arguments::new(rest);
    let stops = |what: &'static str| {
        Err(Refusal::Stops {
            program: escape(name),
            what: what.into(),
        })
    };
    match name {
        "rm" if arguments.any("rR", "recursive") => loses("remove", &arguments.operands, |_| true),
        "mv" => loses("move", sources(&arguments), |precious| {
            !(precious.own && precious.contents)
        }),
        "chmod" | "chown" | "chgrp" if arguments.any("R", "recursive") => {
            loses("change the rights of", &arguments.operands, |precious| {
                !precious.own
            })
        }
        "find" => find(rest, ground, place),
        "dd" => rest
            .iter()
            .filter_map(|word| word.strip_prefix("of="))
            .try_for_each(device),
        "tee" | "shred" | "blkdiscard" | "mkswap" | "mke2fs" => devices(&arguments),
        "wipefs" if arguments.any("af", "all") => devices(&arguments),
        "cp" | "install" => arguments.operands.last().copied().map_or(Ok(()), device),
        _ if name == "mkfs" || name.starts_with("mkfs.") => devices(&arguments),
        "shutdown" | "reboot" | "halt" | "poweroff" => stops("the machine"),
        "init" | "telinit"
            if arguments
                .operands
                .iter()
                .any(|level| matches!(*level, "0" | "6")) =>
        {
            stops("the machine")
        }
        "systemctl" | "loginctl"
            if arguments.operands.first().is_some_and(|verb| {
                matches!(
                    *verb,
                    "reboot" | "halt" | "poweroff" | "kexec" | "suspend" | "hibernate"
                )
            }) =>
        {
            stops("the machine")
        }
        "killall5" => stops("everything that runs"),
        // The first may be the signal.
        "kill" if rest.iter().skip(1).any(|word| word == "-1") => stops("everything that runs"),
        _ => Ok(()),
    }
}

/// Refuses a redirection that writes over a device.
pub(super) fn device(path: &str) -> Result<(), Refusal> {
    let Some(name) = path.strip_prefix("/dev/") else {
        return Ok(());
    };
    let kept = HARMLESS.contains(&name)
        || ["fd/", "shm/", "tcp/", "udp/", "pts/"]
            .iter()
            .any(|folder| name.starts_with(folder))
        || name.is_empty()
        || name.starts_with(UNKNOWN);
    if kept {
        Ok(())
    } else {
        let path = escape(path);
        Err(Refusal::Device { path })
    }
}

fn devices(arguments: &Arguments<'_>) -> Result<(), Refusal> {
    arguments.operands.iter().copied().try_for_each(device)
}

/// All but the last, which is where they go.
fn sources<'a, 'w>(arguments: &'a Arguments<'w>) -> &'a [&'w str] {
    let operands = &arguments.operands;
    operands.split_last().map_or(&[], |(_, sources)| sources)
}

/// `find / -delete`
fn find(words: &[String], ground: &Ground, place: &Where) -> Result<(), Refusal> {
    let mut deletes = words.iter().any(|word| word == "-delete");
    let mut commands = words;
    while let Some(at) = commands
        .iter()
        .position(|word| matches!(word.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir"))
    {
        commands = commands.get(at + 1..).unwrap_or_default();
        deletes |= removes(bare(commands).words);
    }
    if deletes {
        finds(words, ground, place)
    } else {
        Ok(())
    }
}

/// Refuses to remove what is found in precious folders. In the workspace itself, a choice makes it harmless enough.
fn finds(words: &[String], ground: &Ground, place: &Where) -> Result<(), Refusal> {
    let chooses = words.iter().any(|word| {
        matches!(
            word.as_str(),
            "-name"
                | "-iname"
                | "-path"
                | "-ipath"
                | "-regex"
                | "-iregex"
                | "-wholename"
                | "-newer"
                | "-mtime"
                | "-mmin"
                | "-ctime"
                | "-atime"
                | "-size"
                | "-empty"
                | "-user"
                | "-type"
                | "-xtype"
                | "-perm"
                | "-samefile"
                | "-inum"
                | "-links"
                | "-lname"
        )
    });
    let mut folders: Vec<&str> = words
        .iter()
        .map(String::as_str)
        // These may stand before the folders.
        .skip_while(|word| matches!(*word, "-H" | "-L" | "-P"))
        .take_while(|word| !word.starts_with(['-', '(', '!']))
        .collect();
    if folders.is_empty() {
        folders.push(".");
    }
    let precious = folders
        .iter()
        .filter_map(|folder| ground.precious(folder, place))
        .find(|precious| !(chooses && precious.own));
    match precious {
        Some(Precious { what, .. }) => Err(Refusal::Precious {
            program: "find".to_owned(),
            verb: "remove what it finds in".into(),
            what,
        }),
        None => Ok(()),
    }
}

/// `find / | xargs rm`
pub(super) fn found(words: &[String], ground: &Ground, place: &Where) -> Result<(), Refusal> {
    match words.split_first() {
        Some((first, rest)) if program(first) == "find" => finds(rest, ground, place),
        _ => Ok(()),
    }
}

/// Whether a program removes what it is given.
pub(super) fn removes(words: &[String]) -> bool {
    words
        .first()
        .is_some_and(|word| matches!(program(word), "rm" | "unlink" | "shred" | "rmdir"))
}

/// Options and operands, in any order, as the programs of GNU take them.
struct Arguments<'w> {
    options: Vec<&'w str>,
    operands: Vec<&'w str>,
}

impl<'w> Arguments<'w> {
    fn new(words: &'w [String]) -> Self {
        let mut arguments = Self {
            options: Vec::new(),
            operands: Vec::new(),
        };
        let mut words = words.iter().map(String::as_str);
        for word in words.by_ref() {
            if word == "--" {
                break;
            } else if word.len() > 1 && word.starts_with('-') {
                arguments.options.push(word);
            } else {
                arguments.operands.push(word);
            }
        }
        arguments.operands.extend(words);
        arguments
    }

    /// Whether one of the letters is given, or the long name or a beginning of it.
    fn any(&self, letters: &str, long: &str) -> bool {
        self.options
            .iter()
            .any(|option| match option.strip_prefix("--") {
                Some(name) => !name.is_empty() && long.starts_with(name),
                None => option.contains(|letter| letters.contains(letter)),
            })
    }
}
