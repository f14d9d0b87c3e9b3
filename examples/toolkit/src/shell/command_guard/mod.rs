//! A first courtesy to the model: plainly destructive commands are refused with a sentence, before anything is run.
//!
//! **This is not the boundary.** Whoever wants to get around it can (`python -c`, a script written to a file and then run),
//! and nothing here tries to stop that: what a command can reach is decided by the [sandbox](crate::Sandbox) alone. This
//! only tells a model that blunders what it was about to do, in words, where the sandbox would give it an error number.
//!
//! The command is parsed as bash does (tree-sitter-bash); no text is searched for. So `echo "rm -rf /"` and
//! `rm -rf /srv/build` pass, and `rm  -fr /`, `sudo rm -r -f -- /.` and `sh -c 'rm -rf "$HOME"'` do not.

mod destructive;
mod expansion;
mod parser;
mod pipeline;
mod precious;
mod refusal;
mod script;
mod source;
mod wrapper;

use std::path::{Path, PathBuf};

pub use refusal::Refusal;

use expansion::without_signs;
use precious::Ground;
use script::Reader;

/// Refuses a command that is plainly destructive, run in one folder of a workspace with these roots.
///
/// The parser is a C library and the script is a stranger's, so this is called where the command itself would be: in its own
/// process, and behind everything that confines it.
pub(crate) fn judge(argv: &[String], directory: &Path, roots: &[PathBuf]) -> Result<(), Refusal> {
    let argv: Vec<_> = argv.iter().map(|word| without_signs(word)).collect();
    Reader::new(&Ground::new(roots), directory).command(&argv, None)
}
