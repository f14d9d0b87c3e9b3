//! Shells and their like: what is the script that they run, and has anybody seen it?

use super::expansion::UNKNOWN;
use super::wrapper::program;

/// What a shell will run.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Source<'w> {
    /// A text among its arguments.
    Text(String),
    /// A file; the word may be unknown.
    File(&'w str),
    /// What comes in.
    Input,
}

const SHELLS: [&str; 9] = [
    "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "fish",
];
const INTERPRETERS: [&str; 7] = ["python", "python3", "perl", "ruby", "node", "php", "lua"];

/// What a command runs as a script, if it is a shell or something like it.
pub(super) fn source(words: &[String]) -> Option<Source<'_>> {
    let (first, rest) = words.split_first()?;
    let name = program(first);
    if name == "eval" {
        return Some(Source::Text(rest.join(" ")));
    }
    if name == "source" || name == "." {
        return rest.first().map(|word| Source::File(word));
    }
    if name == "env" {
        return split_string(rest);
    }
    if name == "su" || name == "runuser" || name == "script" || name == "flock" {
        let at = rest
            .iter()
            .position(|word| word == "-c" || word == "--command")?;
        return rest.get(at + 1).cloned().map(Source::Text);
    }
    if INTERPRETERS.contains(&name) {
        let alone = rest.is_empty() || rest.first().is_some_and(|word| word == "-");
        return alone.then_some(Source::Input);
    }
    SHELLS.contains(&name).then(|| shell(rest))
}

/// `env -S 'rm -rf /'`
fn split_string(words: &[String]) -> Option<Source<'_>> {
    words.iter().enumerate().find_map(|(at, word)| {
        let rest = words.get(at + 1..).unwrap_or_default().join(" ");
        if word == "-S" || word == "--split-string" {
            return Some(Source::Text(rest));
        }
        let text = word
            .strip_prefix("--split-string=")
            .or_else(|| word.strip_prefix("-S"))?;
        Some(Source::Text(format!("{text} {rest}")))
    })
}

fn shell(words: &[String]) -> Source<'_> {
    let (mut text, mut input) = (false, false);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--" || word == "-" {
            break;
        } else if let Some(long) = word.strip_prefix("--") {
            if matches!(long, "rcfile" | "init-file") {
                words.next();
            }
        } else if let Some(letters) = word.strip_prefix(['-', '+']) {
            text |= letters.contains('c');
            input |= letters.contains('s');
            if letters.ends_with(['o', 'O']) {
                words.next();
            }
        } else {
            return operand(word, text, input);
        }
    }
    words
        .next()
        .map_or(Source::Input, |word| operand(word, text, input))
}

fn operand(word: &str, text: bool, input: bool) -> Source<'_> {
    if text {
        Source::Text(word.to_owned())
    } else if input || matches!(word, "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0") {
        Source::Input
    } else {
        Source::File(word)
    }
}

impl Source<'_> {
    /// The script begins with something that only running it would tell.
    pub(super) fn is_unknown(&self) -> bool {
        match self {
            Self::Text(text) => text.trim_start().starts_with(UNKNOWN),
            Self::File(word) => word.starts_with(UNKNOWN),
            Self::Input => false,
        }
    }
}

/// Whether a command gives out what comes from elsewhere, or what was made unreadable.
pub(super) fn is_unseen(words: &[String]) -> bool {
    let Some((first, rest)) = words.split_first() else {
        return false;
    };
    let has = |options: &[&str]| rest.iter().any(|word| options.contains(&word.as_str()));
    match program(first) {
        "curl" | "wget" | "fetch" | "aria2c" | "nc" | "ncat" | "netcat" | "lwp-request"
        | "uudecode" => true,
        "base64" | "base32" | "basenc" | "openssl" => has(&["-d", "-D", "-di", "--decode"]),
        "xxd" => rest
            .iter()
            .any(|word| word.starts_with('-') && word.contains('r')),
        _ => false,
    }
}
