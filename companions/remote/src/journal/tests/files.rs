//! Locking, permissions and foreign or damaged files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use redb::{Database, TableDefinition};

use super::super::index::Limits;
use super::medium::Medium;
use super::{Journal, JournalError, hash, key, open, reply, task, wait};

/// A folder of its own, gone with its test.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new(name: &str) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("journal-{name}-{}-{next}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn lives_as_long_as_its_file() {
    let folder = Folder::new("lives");
    let path = folder.path().join("calls.journal");
    let journal = Journal::open(&path).unwrap();
    let (id, clone) = (journal.id(), journal.clone());
    assert_ne!(id, Journal::in_memory().id());
    wait(journal.set_epoch(task(0), 4)).unwrap();
    drop(journal);
    assert_eq!(
        Journal::open(&path).unwrap_err(),
        JournalError::InUse { path: path.clone() }
    );
    drop(clone);

    let journal = Journal::open(&path).unwrap();
    assert_eq!(journal.id(), id);
    assert_eq!(wait(journal.epoch(task(0))), Ok(4));
    drop(journal);

    fs::remove_file(&path).unwrap();
    assert_ne!(Journal::open(&path).unwrap().id(), id);
}

#[cfg(unix)]
#[test]
fn only_its_owner_reads_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new("mode");
    let path = folder.path().join("calls.journal");
    let _journal = Journal::open(&path).unwrap();
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
}

#[test]
fn what_is_no_journal_is_left_alone() {
    let folder = Folder::new("others");
    let others: [(&str, Vec<u8>); 5] = [
        ("short", b"redb".to_vec()),
        ("text", b"dear diary".repeat(1000)),
        ("zeros and more", [vec![0; 4096], vec![1]].concat()),
        ("many zeros", vec![0; (1 << 20) + 1]),
        (
            "almost",
            [b"redb\x1A\x0A\xA9\x0D\x0B".to_vec(), vec![0; 4096]].concat(),
        ),
    ];
    for (name, bytes) in others {
        let path = folder.path().join(name);
        fs::write(&path, &bytes).unwrap();
        assert_eq!(
            Journal::open(&path).unwrap_err(),
            JournalError::NotAJournal { path: path.clone() }
        );
        assert_eq!(fs::read(&path).unwrap(), bytes, "{name}");
    }
}

#[test]
fn other_databases_are_left_alone() {
    let folder = Folder::new("database");
    for (name, table) in [("other", "things"), ("alike", "journal")] {
        let path = folder.path().join(name);
        let things: TableDefinition<'_, u64, u64> = TableDefinition::new(table);
        let database = Database::create(&path).unwrap();
        let transaction = database.begin_write().unwrap();
        transaction
            .open_table(things)
            .unwrap()
            .insert(1, 2)
            .unwrap();
        transaction.commit().unwrap();
        drop(database);
        assert_eq!(
            Journal::open(&path).unwrap_err(),
            JournalError::NotAJournal { path }
        );
    }
}

#[test]
fn a_later_format_is_not_read() {
    let folder = Folder::new("later");
    let path = folder.path().join("calls.journal");
    drop(Journal::open(&path).unwrap());
    let meta: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("journal");
    let database = Database::open(&path).unwrap();
    let transaction = database.begin_write().unwrap();
    let later = 2_u32.to_be_bytes();
    transaction
        .open_table(meta)
        .unwrap()
        .insert("format", later.as_slice())
        .unwrap();
    transaction.commit().unwrap();
    drop(database);
    let error = Journal::open(&path).unwrap_err();
    assert_eq!(
        error,
        JournalError::NewerFormat {
            path,
            found: 2,
            supported: 1
        }
    );
}

#[test]
fn places_without_a_file_are_named() {
    let folder = Folder::new("places");
    for path in [folder.path().join("not/there"), folder.path().to_owned()] {
        let error = Journal::open(&path).unwrap_err();
        assert!(matches!(error, JournalError::Open { .. }), "{error}");
        assert!(
            error.to_string().contains(path.to_str().unwrap()),
            "{error}"
        );
    }
}

#[test]
fn a_file_whose_making_was_cut_off_is_made_anew() {
    let folder = Folder::new("unmade");
    let path = folder.path().join("calls.journal");
    fs::write(&path, vec![0; 73_728]).unwrap();
    let id = Journal::open(&path).unwrap().id();
    assert_eq!(Journal::open(&path).unwrap().id(), id);
}

#[test]
fn a_result_that_cannot_be_read_is_not_made_up() {
    let medium = Medium::default();
    let journal = open(&medium, Limits::default()).unwrap();
    // Enough to leave the cache, so that the disk is read again.
    let text = "x".repeat(1 << 20);
    for number in 0..16 {
        let key = key(number, 1);
        wait(journal.accept(task(0), key, hash(0))).unwrap();
        wait(journal.finish(task(0), key, reply(key, &text))).unwrap();
    }
    for byte in &mut medium.lock().bytes {
        if *byte == b'x' {
            *byte = b'y';
        }
    }
    let damaged = (0..16).filter(|number| {
        let found = wait(journal.accept(task(0), key(*number, 1), hash(0)));
        matches!(found, Err(JournalError::Damaged { .. }))
    });
    assert!(damaged.count() > 8);
}
