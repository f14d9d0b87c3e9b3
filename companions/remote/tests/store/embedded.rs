//! The embedded store: its file, and what survives a kill.

use std::path::PathBuf;
use std::sync::Arc;

use contract_remote::protocol::TaskId;
use contract_remote::store::{EmbeddedStore, StoreLimits};

use crate::{Place, conformance};

/// Gone with its test.
struct File(PathBuf);

impl Drop for File {
    fn drop(&mut self) {
        // Nothing depends on it.
        let _ = std::fs::remove_file(&self.0);
    }
}

mod in_memory {
    use super::*;

    fn place(limits: StoreLimits) -> Place<()> {
        let store = EmbeddedStore::in_memory_with(limits).unwrap();
        Place {
            store: Arc::new(store),
            _guard: (),
        }
    }

    conformance!(place);
}

mod in_a_file {
    use super::*;

    fn place(limits: StoreLimits) -> Place<File> {
        let path = std::env::temp_dir().join(format!("store-{}", TaskId::random()));
        let store = EmbeddedStore::open_with(&path, limits).unwrap();
        Place {
            store: Arc::new(store),
            _guard: File(path),
        }
    }

    conformance!(place);
}

#[cfg(unix)]
#[test]
fn a_new_file_is_its_owners_and_one_that_is_there_is_as_it_was() {
    use std::fs::{Permissions, metadata, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    let file = File(std::env::temp_dir().join(format!("store-{}", TaskId::random())));
    let mode = || metadata(&file.0).unwrap().permissions().mode() & 0o777;
    drop(EmbeddedStore::open(&file.0).unwrap());
    assert_eq!(mode(), 0o600);
    set_permissions(&file.0, Permissions::from_mode(0o640)).unwrap();
    drop(EmbeddedStore::open(&file.0).unwrap());
    assert_eq!(mode(), 0o640);
}

/// A process that ends without a word, again and again on one file.
mod killed {
    use std::env;
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};

    use contract_remote::store::{Expect, Store};

    use super::*;

    const PLACE: &str = "STORE_OF_ONE_WHO_IS_KILLED";

    /// The one who is killed: says each number once it is kept.
    #[tokio::test]
    #[ignore = "it is the other side of the test below"]
    async fn writer() {
        let Some((path, task)) = env::var(PLACE).ok().and_then(|place| {
            let (path, task) = place.rsplit_once(' ')?;
            Some((path.to_owned(), task.parse::<TaskId>().ok()?))
        }) else {
            return;
        };
        let store = EmbeddedStore::open(path).unwrap();
        let mut number = store.tail(task, "log", 0, 0).await.unwrap().last;
        loop {
            number += 1;
            let text = format!(
                "{number} {}",
                "x".repeat(usize::try_from(number * 97 % 9000).unwrap())
            );
            let written = store.write(task, "a", &text, Expect::Any);
            let id = number.to_string();
            let logged = store.append(task, "log", &id, &text);
            let (written, logged) = tokio::join!(written, logged);
            let _ = written.unwrap();
            assert_eq!(logged.unwrap(), number);
            writeln!(std::io::stdout(), "kept {number}").unwrap();
        }
    }

    #[tokio::test]
    async fn what_was_confirmed_is_there() {
        let file = File(env::temp_dir().join(format!("store-{}", TaskId::random())));
        let task = TaskId::random();
        let mut all = 0;
        for round in 1..=6 {
            let program = env::current_exe().unwrap();
            let mut writer = Command::new(program)
                .args([
                    "embedded::killed::writer",
                    "--exact",
                    "--ignored",
                    "--nocapture",
                ])
                .env(PLACE, format!("{} {task}", file.0.display()))
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let told = BufReader::new(writer.stdout.take().unwrap()).lines();
            let kept = told.map_while(Result::ok).filter_map(|line| {
                let number = line.rsplit_once("kept ")?.1.parse::<u64>();
                number.ok()
            });
            // In the middle of work, at another place each time.
            let confirmed = kept
                .take(round * 7 % 23 + 3)
                .last()
                .expect("it kept something");
            writer.kill().unwrap();
            writer.wait().unwrap();

            let store = EmbeddedStore::open(&file.0).unwrap();
            let last = store.tail(task, "log", 0, 0).await.unwrap().last;
            assert!(
                last >= confirmed && confirmed > all,
                "{last} {confirmed} {all}"
            );
            all = confirmed;
            let mut after = 0;
            while after < last {
                for entry in store.tail(task, "log", after, 1000).await.unwrap().entries {
                    after += 1;
                    assert_eq!(entry.sequence, after);
                    assert_eq!(entry.id, after.to_string());
                    assert!(entry.value.starts_with(&format!("{after} ")));
                }
            }
            let there = store.read(task, "a").await.unwrap().unwrap();
            let number: u64 = there.value.split(' ').next().unwrap().parse().unwrap();
            assert!(number >= confirmed, "{number} {confirmed}");
        }
    }
}
