//! Tools that are methods, which need a state before a registry can hold them.

use std::borrow::Cow;
use std::io::{self, Write as _};
use std::{env, fmt};

use crate::tool::shim::RegisteredSet;

/// What accepts a change.
pub const UPDATE_COMMAND: &str = "UPDATE_CONTRACTS=1 cargo test";

/// Whether the tests are to write what they would otherwise compare.
#[must_use]
pub fn is_update() -> bool {
    env::var_os("UPDATE_CONTRACTS").is_some_and(|value| value == "1")
}

/// The tools of an `impl` block.
#[derive(Clone, Copy, Debug)]
pub struct Methods(&'static RegisteredSet);

/// Returns those of a package that are linked into the program, in the order of the source.
#[must_use]
pub fn of_package(package: &str) -> Vec<Methods> {
    let linked = inventory::iter::<RegisteredSet>.into_iter();
    let mut own: Vec<Methods> = linked
        .filter(|set| set.package == package && !set.tools.is_empty())
        .map(Methods)
        .collect();
    own.sort_by_key(|Methods(set)| (set.file, set.position));
    own
}

impl Methods {
    /// Returns the type, as written.
    #[must_use]
    pub fn state(self) -> &'static str {
        self.0.state
    }

    /// Returns the names of the tools.
    #[must_use]
    pub fn tools(self) -> &'static [&'static str] {
        self.0.tools
    }

    /// Whether a method of this file and name is one of them.
    pub(super) fn has(self, (file, name): &(&str, Cow<'_, str>)) -> bool {
        self.0.file == *file && self.0.tools.contains(&&**name)
    }

    /// Returns where the block is, as `file:line:column`.
    #[must_use]
    pub fn location(self) -> String {
        let RegisteredSet { file, position, .. } = self.0;
        let (line, column) = position;
        format!("{file}:{line}:{column}")
    }
}

/// `` `add` and `take` of `Store` (src/store.rs:12:6) ``
impl fmt::Display for Methods {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools = names(self.tools());
        write!(f, "{tools} of `{}` ({})", self.state(), self.location())
    }
}

/// Lists names in backticks: `` `a`, `b` and `c` ``.
#[must_use]
pub fn names(names: &[impl AsRef<str>]) -> String {
    let quoted: Vec<String> = names
        .iter()
        .map(|name| format!("`{}`", name.as_ref()))
        .collect();
    joined(&quoted)
}

/// Joins parts into a list: `a, b and c`.
#[must_use]
pub fn joined(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Says that no tool of a package is there, and what to do.
pub(super) fn not_linked(package: &str) -> String {
    format!(
        "no tool of package `{package}` is linked; write `use {} as _;` in this program or test, so that the linker keeps them, and \
         check with `cargo tree -d` that the package uses the same build of `contract-runtime`",
        package.replace('-', "_")
    )
}

/// Explains why a test of a package has no tool; `write` gives it a registry.
#[must_use]
pub fn none(package: &str, methods: &[Methods], write: &str) -> String {
    if methods.is_empty() {
        return format!("{}; or give a registry: `{write}`", not_linked(package));
    }
    let all: Vec<String> = methods.iter().map(ToString::to_string).collect();
    format!(
        "all tools of package `{package}` are methods, which come with their state: {}; give a registry: `{write}`",
        joined(&all)
    )
}

/// Says it where a person sees it: a test harness keeps to itself what the print macros of a passing test write.
pub fn tell(said: &str) {
    let line = format!("{said}\n");
    let _ = io::stderr().write_all(line.as_bytes());
}
