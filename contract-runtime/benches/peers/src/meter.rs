//! What callgrind counts of one call: its instructions.

use std::cell::RefCell;
use std::hint::black_box;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The first argument of this program when it runs under callgrind; a library and its work follow.
pub(crate) const MARKER: &str = "--under-callgrind";

/// How many calls are counted; a listing takes long and is counted once.
const CALLS: u64 = 50;

pub(crate) enum Meter {
    /// Under callgrind.
    Callgrind,
    /// Keeps the result.
    Check(RefCell<Option<String>>),
}

impl Meter {
    /// Measures calls from text to text; the text is dropped outside of what is counted.
    pub(crate) fn call(&self, call: impl FnMut() -> String) {
        self.measure(CALLS, call, |text| text);
    }

    /// Measures the building and the first listing of many tools.
    pub(crate) fn list<R>(&self, mut list: impl FnMut() -> (R, String)) {
        self.measure(1, &mut list, |(_, text)| text);
    }

    fn measure<O>(&self, calls: u64, mut call: impl FnMut() -> O, text: impl Fn(O) -> String) {
        if let Self::Check(kept) = self {
            kept.replace(Some(text(call())));
            return;
        }
        // What a library sets up at its first call belongs to no other; what it would keep of a first listing, it has not.
        if calls > 1 {
            drop(black_box(call()));
        }
        for _ in 0..calls {
            drop(black_box(measured(&mut call)));
        }
        println!("{calls}");
    }
}

/// The function by whose name callgrind knows when to count.
#[inline(never)]
fn measured<O>(call: &mut impl FnMut() -> O) -> O {
    call()
}

/// Valgrind's callgrind, and this program.
pub(crate) struct Callgrind {
    program: PathBuf,
}

impl Callgrind {
    pub(crate) fn find() -> Option<Self> {
        let version = Command::new("valgrind")
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        version.ok().filter(std::process::ExitStatus::success)?;
        std::env::current_exe().ok().map(|program| Self { program })
    }

    /// The instructions of one call; `None` if the library cannot do the work.
    pub(crate) fn count(&self, library: &str, work: &str) -> Option<u64> {
        let file = std::env::temp_dir().join(format!("callgrind.{}", std::process::id()));
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--collect-atstart=no"])
            .arg("--toggle-collect=*contract_peers::meter::measured*")
            .arg(format!("--callgrind-out-file={}", file.display()))
            .arg(&self.program)
            .args([MARKER, library, work])
            .stderr(Stdio::null())
            .output();
        let profile = std::fs::read_to_string(&file);
        let _ = std::fs::remove_file(&file);
        let calls = String::from_utf8(output.ok()?.stdout).ok()?;
        let calls: u64 = calls.trim().parse().ok()?;
        let profile = profile.ok()?;
        let totals = profile
            .lines()
            .find_map(|line| line.strip_prefix("totals:"))?;
        let instructions: u64 = totals.trim().parse().ok()?;
        // Zero means that the function was not recognised, never that the call cost nothing.
        (instructions > 0).then(|| instructions / calls)
    }
}
