//! Other tool libraries with the same tools, beside `contract-runtime` and the same work by hand, from text to text.
//!
//! `./run` prints the table; a word behind it keeps the columns of which the name holds it. `README.md` says what is measured.

// swiftide's macro names its facade, which is stood for by a module here.
extern crate self as swiftide;
pub use libraries::swiftide::{chat_completion, reexports, traits};

mod libraries;
mod meter;
mod tools;
mod work;

use std::process::ExitCode;

use libraries::{LIBRARIES, Library};
use meter::{Callgrind, Meter};
use work::Work;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [marker, library, work] = words.as_slice()
        && marker == meter::MARKER
    {
        return under_callgrind(library, work);
    }
    let Some(callgrind) = Callgrind::find() else {
        println!("NOT RUN: valgrind is not installed");
        return ExitCode::FAILURE;
    };
    let is_wanted = |library: &&Library| {
        library.name == LIBRARIES[0].name
            || words.is_empty()
            || words
                .iter()
                .any(|word| library.name.contains(word.as_str()))
    };
    let libraries: Vec<&Library> = LIBRARIES.iter().filter(is_wanted).collect();
    for library in &libraries {
        if let Err(difference) = check(library) {
            println!("{}: {difference}", library.name);
            return ExitCode::FAILURE;
        }
    }
    print!("|");
    for library in &libraries {
        print!(" | {}", library.name);
    }
    println!(" |\n|---{}|", "|---:".repeat(libraries.len()));
    for work in Work::ALL {
        print!("| {}", work.title());
        let mut by_hand = None;
        for library in &libraries {
            let cost = callgrind.count(library.name, work.name());
            by_hand = by_hand.or(cost);
            print!(
                " | {}",
                cost.map(|cost| cell(cost, by_hand)).unwrap_or_default()
            );
        }
        println!(" |");
    }
    ExitCode::SUCCESS
}

/// One library does one kind of work, and callgrind counts.
fn under_callgrind(library: &str, work: &str) -> ExitCode {
    let library = LIBRARIES.iter().find(|one| one.name == library);
    let work = Work::ALL.into_iter().find(|one| one.name() == work);
    if let Some((library, work)) = library.zip(work) {
        (library.run)(&Meter::Callgrind, work);
    }
    ExitCode::SUCCESS
}

/// Whether a library gives the results that all of them give.
fn check(library: &Library) -> Result<(), String> {
    Work::ALL.into_iter().try_for_each(|work| {
        let meter = Meter::Check(std::cell::RefCell::default());
        (library.run)(&meter, work);
        let Meter::Check(text) = meter else {
            return Ok(());
        };
        match text.into_inner() {
            Some(text) => work.check(&text),
            None => Ok(()),
        }
    })
}

/// Instructions, and how many times those of the work by hand.
fn cell(instructions: u64, by_hand: Option<u64>) -> String {
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    let ratio = by_hand.map_or(1.0, |by_hand| instructions as f64 / by_hand as f64);
    format!("{instructions}, {ratio:.2}x")
}
