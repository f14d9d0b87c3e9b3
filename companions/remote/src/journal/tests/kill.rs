//! Recovery after the process is killed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use super::super::{Admission, Journal, State};
use super::files::Folder;
use super::{hash, key, reply, task, wait};

const FOLDER: &str = "JOURNAL_TEST_FOLDER";
const ROUNDS: usize = 8;
/// Calls of one process at most.
const CALLS: u32 = 2000;

/// The process that is killed: it runs what it may, and says after each step that it is over.
#[test]
#[ignore = "run by the other test, in a process of its own"]
fn works_until_it_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let folder = Path::new(&folder);
    let journal = Journal::open(folder.join("calls.journal")).unwrap();
    let mut effects = OpenOptions::new()
        .create(true)
        .append(true)
        .open(folder.join("effects"))
        .unwrap();
    for number in 0..CALLS {
        let key = key(number, 1);
        if wait(journal.accept(task(0), key, hash(0))).unwrap() != Admission::New {
            continue;
        }
        println!("\naccepted {number}");
        wait(journal.start(task(0), key)).unwrap();
        println!("started {number}");
        effects.write_all(format!("{number}\n").as_bytes()).unwrap();
        wait(journal.finish(task(0), key, reply(key, &number.to_string()))).unwrap();
        println!("finished {number}");
        if number % 3 == 0 {
            wait(journal.acknowledge(task(0), key)).unwrap();
        }
    }
}

/// Kills it after so many lines, and gives back what it said.
fn kill_after(lines: usize, folder: &Path) -> Vec<(String, u32)> {
    let name = module_path!().split_once("::").unwrap().1;
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            &format!("{name}::works_until_it_is_killed"),
            "--ignored",
            "--nocapture",
        ])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        let Some((step, number)) = line.split_once(' ') else {
            continue;
        };
        if let ("accepted" | "started" | "finished", Ok(number)) = (step, number.parse()) {
            said.push((step.to_owned(), number));
        }
        if said.len() == lines {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    assert!(
        said.len() >= lines,
        "it ended by itself after {} lines",
        said.len()
    );
    said
}

#[test]
fn what_a_killed_process_did_is_known() {
    let folder = Folder::new("kill");
    let mut last: BTreeMap<u32, String> = BTreeMap::new();
    for round in 0..ROUNDS {
        for (step, number) in kill_after(1 + round * 5, folder.path()) {
            last.insert(number, step);
        }
        let effects = std::fs::read_to_string(folder.path().join("effects")).unwrap_or_default();
        let effects: Vec<u32> = effects.lines().map(|line| line.parse().unwrap()).collect();
        let once: BTreeSet<u32> = effects.iter().copied().collect();
        assert_eq!(once.len(), effects.len(), "{effects:?}");

        let journal = Journal::open(folder.path().join("calls.journal")).unwrap();
        let keys = once
            .iter()
            .chain(last.keys())
            .copied()
            .collect::<BTreeSet<u32>>();
        for number in keys {
            let key = key(number, 1);
            let found = wait(journal.accept(task(0), key, hash(0))).unwrap();
            let said = last.get(&number).map_or("nothing", String::as_str);
            let ran = once.contains(&number);
            match found {
                Admission::Known(State::Finished(found)) => {
                    assert!(ran, "{number} said {said}");
                    assert_eq!(*found, reply(key, &number.to_string()));
                }
                Admission::Known(State::InDoubt) => assert_ne!(said, "finished", "{number}"),
                Admission::New => assert!(
                    !ran && ["nothing", "accepted"].contains(&said),
                    "{number} said {said}"
                ),
                other => panic!("{number} said {said} and is {other:?}"),
            }
        }
    }
    assert!(last.len() > ROUNDS, "{last:?}");
}
