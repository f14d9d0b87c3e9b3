//! How one case is measured: its calls alone, with their inputs made before and their outputs dropped after.

use std::hint::black_box;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The first argument of this program when it runs under callgrind; the second is the name of a case.
pub(crate) const MARKER: &str = "--under-callgrind";

/// How many calls callgrind counts, of cases that are measured in batches; others take long and are counted once.
const COUNTED: u32 = 50;
/// How long the wall time of one case is sampled.
const SAMPLING: Duration = Duration::from_millis(150);

pub(crate) enum Meter {
    Instructions,
    WallTime,
}

impl Meter {
    /// Measures `call` alone, as nanoseconds per call; under callgrind the figure is callgrind's.
    pub(crate) fn measure<I, O>(
        &self,
        batch: u32,
        mut make: impl FnMut() -> I,
        mut call: impl FnMut(I) -> O,
    ) -> f64 {
        // What is set up once belongs to no call.
        black_box(call(make()));
        match self {
            Self::Instructions => {
                let counted = if batch > 1 { COUNTED } else { 1 };
                for _ in 0..counted {
                    let input = black_box(make());
                    drop(black_box(measured(|| call(input))));
                }
                println!("{counted}");
                f64::NAN
            }
            Self::WallTime => best(batch, make, call),
        }
    }
}

/// The function by whose name callgrind knows when to count.
#[inline(never)]
fn measured<O>(call: impl FnOnce() -> O) -> O {
    call()
}

fn best<I, O>(batch: u32, mut make: impl FnMut() -> I, mut call: impl FnMut(I) -> O) -> f64 {
    let began = Instant::now();
    let mut best = f64::INFINITY;
    let mut outputs = Vec::with_capacity(batch as usize);
    while began.elapsed() < SAMPLING {
        let inputs: Vec<I> = (0..batch).map(|_| make()).collect();
        let start = Instant::now();
        for input in inputs {
            outputs.push(black_box(call(black_box(input))));
        }
        let time = start.elapsed();
        outputs.clear();
        best = best.min(time.as_secs_f64() * 1e9 / f64::from(batch));
    }
    best
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

    /// Instructions per call of one case.
    pub(crate) fn count(&self, case: &str) -> Option<u64> {
        let file = std::env::temp_dir().join(format!("callgrind.{}", std::process::id()));
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--collect-atstart=no"])
            .arg("--toggle-collect=*calls::meter::measured*")
            .arg(format!("--callgrind-out-file={}", file.display()))
            .arg(&self.program)
            .args([MARKER, case])
            // The allocator keeps what is given back in lists of seven. Whether they are full depends on what was set up before.
            .env("GLIBC_TUNABLES", "glibc.malloc.tcache_count=2000")
            .stderr(Stdio::null())
            .output();
        let profile = std::fs::read_to_string(&file);
        let _ = std::fs::remove_file(&file);
        let calls: u64 = String::from_utf8(output.ok()?.stdout)
            .ok()?
            .trim()
            .parse()
            .ok()?;
        let total = profile.ok()?.lines().find_map(|line| {
            let total = line.strip_prefix("totals:")?;
            total.trim().parse::<u64>().ok()
        })?;
        // Zero means that the function was not recognised, never that the call cost nothing.
        (total > 0).then(|| total / calls)
    }
}
