//! Programs that run another program: what is it that they run?

use super::source::source;

/// More of them around one command say nothing any more.
const MOST: usize = 32;

/// A program whose operands are a command.
struct Wrapper {
    names: &'static str,
    /// Options whose value is the next word.
    valued: &'static str,
    /// Operands before the command.
    operands: usize,
    /// `NAME=value` may stand before the command.
    assigns: bool,
}

const fn wrapper(names: &'static str, valued: &'static str) -> Wrapper {
    Wrapper {
        names,
        valued,
        operands: 0,
        assigns: false,
    }
}

impl Wrapper {
    const fn assigns(self) -> Self {
        Self {
            assigns: true,
            ..self
        }
    }

    const fn operand(self) -> Self {
        Self {
            operands: 1,
            ..self
        }
    }
}

/// From the manual pages of coreutils 9.5, findutils 4.10, util-linux 2.40, sudo 1.9 and bash 5.2.
const WRAPPERS: [Wrapper; 16] = [
    wrapper(
        "sudo",
        "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir --chroot --role --type --other-user \
         --close-from --command-timeout",
    )
    .assigns(),
    wrapper("doas", "-u -C -a").assigns(),
    wrapper("env", "-u -C --unset --chdir").assigns(),
    wrapper("nohup setsid builtin command busybox toybox unbuffer", ""),
    wrapper("time", "-f -o --format --output"),
    wrapper("exec", "-a"),
    wrapper("nice", "-n --adjustment"),
    wrapper("ionice", "-c -n -p -P -u --class --classdata"),
    wrapper("stdbuf", "-i -o -e --input --output --error"),
    wrapper(
        "xargs",
        "-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-procs --max-chars --replace",
    ),
    wrapper("strace ltrace", "-o -e -s -u -P -E"),
    wrapper("watch", "-n --interval"),
    wrapper("unshare nsenter", "-S -G -t -R -w"),
    wrapper("timeout", "-k -s --kill-after --signal").operand(),
    wrapper("flock", "-w -E --timeout --conflict-exit-code").operand(),
    wrapper("chroot", "--userspec --groups").operand(),
];

/// A command without the programs around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bare<'w> {
    /// The program and its arguments.
    pub(super) words: &'w [String],
    /// More arguments will come from the input.
    pub(super) fed: bool,
}

/// What is really run.
pub(super) fn bare(mut words: &[String]) -> Bare<'_> {
    let mut fed = false;
    for _ in 0..MOST {
        // `env -S` and `flock -c` take a script, not a command.
        if source(words).is_some() {
            break;
        }
        let Some(wrapper) = words.first().and_then(|word| find(program(word))) else {
            break;
        };
        let inner = wrapper.inner(words);
        if inner.is_empty() {
            break;
        }
        fed |= words.first().is_some_and(|word| program(word) == "xargs");
        words = inner;
    }
    Bare { words, fed }
}

/// The name of a program, without its folder.
pub(super) fn program(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

fn find(name: &str) -> Option<&'static Wrapper> {
    WRAPPERS.iter().find(|wrapper| holds(wrapper.names, name))
}

impl Wrapper {
    fn inner<'w>(&self, words: &'w [String]) -> &'w [String] {
        // `command -v rm` only asks where it is.
        let asks = |word: &String| word == "-v" || word == "-V";
        if words.first().is_some_and(|word| program(word) == "command")
            && words.get(1).is_some_and(asks)
        {
            return &[];
        }
        let mut operands = self.operands;
        let mut rest = words.get(1..).unwrap_or_default();
        while let Some(word) = rest.first() {
            let skipped = if word == "--" {
                1
            } else if word.starts_with('-') {
                1 + usize::from(holds(self.valued, word))
            } else if self.assigns && is_assignment(word) {
                1
            } else if operands > 0 {
                operands -= 1;
                1
            } else {
                break;
            };
            rest = rest.get(skipped..).unwrap_or_default();
        }
        rest
    }
}

fn holds(names: &str, name: &str) -> bool {
    names.split_whitespace().any(|one| one == name)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name
                .chars()
                .all(|one| one.is_ascii_alphanumeric() || one == '_')
    })
}
