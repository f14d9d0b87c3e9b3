//! Tests of the file: damage, a full disk, other processes' files.

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use redb::StorageBackend;
use redb::backends::InMemoryBackend;

use super::*;

/// A disk that can be full, and that can be held in the middle of a commit.
#[derive(Clone, Debug)]
struct Disk(Arc<Held>);

#[derive(Debug)]
struct Held {
    disk: InMemoryBackend,
    /// Bytes that can be written yet.
    left: AtomicU64,
    /// How often it was told to make sure.
    syncs: AtomicU64,
    gate: Mutex<()>,
}

impl Disk {
    fn new() -> Self {
        Self(Arc::new(Held {
            disk: InMemoryBackend::new(),
            left: AtomicU64::new(u64::MAX),
            syncs: AtomicU64::new(0),
            gate: Mutex::new(()),
        }))
    }

    fn take(&self, bytes: usize) -> io::Result<()> {
        let bytes = bytes as u64;
        let left = &self.0.left;
        let taken = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
            left.checked_sub(bytes)
        });
        taken
            .map(drop)
            .map_err(|_| io::ErrorKind::StorageFull.into())
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        self.0.disk.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.disk.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.disk.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.syncs.fetch_add(1, Ordering::SeqCst);
        drop(self.0.gate.lock().unwrap());
        self.0.disk.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.take(data.len())?;
        self.0.disk.write(offset, data)
    }
}

fn task() -> TaskId {
    TaskId::random()
}

struct Place(PathBuf);

impl Place {
    fn new() -> Self {
        Self(std::env::temp_dir().join(format!("contract-store-{}", task())))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // It may never have been made.
        let _ = fs::remove_file(&self.0);
    }
}

#[tokio::test]
async fn a_full_disk_is_said_and_nothing_is_pretended_after_it() {
    let disk = Disk::new();
    let left = &disk.0.left;
    let store = EmbeddedStore::on(disk.clone(), StoreLimits::default()).unwrap();
    let task = task();
    let written = store.write(task, "a", "1", Expect::Absent).await.unwrap();
    assert_eq!(written, Written::Done { version: 1 });

    left.store(3000, Ordering::SeqCst);
    let text = "x".repeat(20_000);
    let error = store
        .write(task, "b", &text, Expect::Any)
        .await
        .unwrap_err();
    assert!(matches!(&error, StoreError::File { .. }), "{error}");
    assert!(
        error.to_string().contains("open the store again"),
        "{error}"
    );

    // Also when there is room again: what redb holds in memory is not what is on the disk.
    left.store(u64::MAX, Ordering::SeqCst);
    let again = store.write(task, "c", "1", Expect::Any).await.unwrap_err();
    assert!(matches!(again, StoreError::File { .. }), "{again}");
}

#[tokio::test]
async fn writes_that_come_during_a_commit_share_the_next() {
    let disk = Disk::new();
    let store = EmbeddedStore::on(disk.clone(), StoreLimits::default()).unwrap();
    let task = task();
    let _ = store.write(task, "a", "1", Expect::Any).await.unwrap();

    let before = disk.0.syncs.load(Ordering::SeqCst);
    let mut first = store.write(task, "a", "2", Expect::Any);
    let mut others: FuturesUnordered<_> = (0..BATCH)
        .map(|index| {
            let store = &store;
            async move {
                let name = format!("n{index}");
                store.write(task, &name, "1", Expect::Absent).await
            }
        })
        .collect();
    {
        let _held = disk.0.gate.lock().unwrap();
        assert!((&mut first).now_or_never().is_none());
        while disk.0.syncs.load(Ordering::SeqCst) == before {
            thread::yield_now();
        }
        assert!(
            others.next().now_or_never().is_none(),
            "they wait for the disk"
        );
    }
    let _ = first.await.unwrap();
    while let Some(written) = others.next().await {
        assert_eq!(written.unwrap(), Written::Done { version: 1 });
    }
    let all = disk.0.syncs.load(Ordering::SeqCst) - before;
    // One each if they did not share; a few, because the file grows.
    assert!(all < BATCH as u64 / 8, "{all} for {BATCH} writes");
}

#[test]
fn a_file_that_is_open_is_left_alone() {
    let place = Place::new();
    let store = EmbeddedStore::open(&place.0).unwrap();
    let second = EmbeddedStore::open(&place.0).unwrap_err();
    assert!(matches!(second, StoreError::InUse { .. }), "{second}");
    drop(store);
    drop(EmbeddedStore::open(&place.0).unwrap());
}

#[test]
fn a_file_that_is_something_else_is_refused_and_not_changed() {
    let place = Place::new();
    fs::write(&place.0, "a letter to somebody ".repeat(1000)).unwrap();
    let error = EmbeddedStore::open(&place.0).unwrap_err();
    assert!(matches!(error, StoreError::NotAStore { .. }), "{error}");
    let text = fs::read_to_string(&place.0).unwrap();
    assert!(text == "a letter to somebody ".repeat(1000));

    fs::remove_file(&place.0).unwrap();
    let other = Database::create(&place.0).unwrap();
    let transaction = other.begin_write().unwrap();
    let table = redb::TableDefinition::<&str, &str>::new("songs");
    transaction
        .open_table(table)
        .unwrap()
        .insert("a", "b")
        .unwrap();
    transaction.commit().unwrap();
    drop(other);
    let error = EmbeddedStore::open(&place.0).unwrap_err();
    assert!(matches!(error, StoreError::NotAStore { .. }), "{error}");
}

#[test]
fn a_newer_format_is_refused() {
    let place = Place::new();
    drop(EmbeddedStore::open(&place.0).unwrap());
    let database = Database::create(&place.0).unwrap();
    let transaction = database.begin_write().unwrap();
    let about = redb::TableDefinition::<&str, u64>::new("contract-store");
    transaction
        .open_table(about)
        .unwrap()
        .insert("format", 2)
        .unwrap();
    transaction.commit().unwrap();
    drop(database);
    let error = EmbeddedStore::open(&place.0).unwrap_err();
    let (found, known) = (2, 1);
    let path = place.0.clone();
    assert_eq!(error, StoreError::Newer { path, found, known });
}

#[test]
fn a_folder_and_a_missing_folder_are_said() {
    for path in [std::env::temp_dir(), "/nowhere/at/all".into()] {
        let error = EmbeddedStore::open(&path).unwrap_err();
        assert!(matches!(error, StoreError::Open { .. }), "{error}");
        let what = "give the path of a file that can be read and written";
        assert!(error.to_string().contains(what), "{error}");
    }
}

/// A bit that has flipped since is noticed when the file is opened, or lies where nothing is kept.
#[test]
fn flipped_bits_are_noticed_or_change_nothing() {
    let place = Place::new();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let task = task();
    let open = || EmbeddedStore::open(&place.0);
    let store = open().unwrap();
    runtime.block_on(async {
        for index in 0..40 {
            let name = format!("n{index:02}");
            let text = format!("value {index} ").repeat(30);
            let _ = store.write(task, &name, &text, Expect::Any).await.unwrap();
            store.append(task, "log", &name, &text).await.unwrap();
        }
    });
    let said = |store: &EmbeddedStore| {
        runtime.block_on(async {
            let listed = store.list(task, "").await?;
            Ok::<_, StoreError>((listed, store.tail(task, "log", 0, 100).await?))
        })
    };
    let right = said(&store).unwrap();
    drop(store);
    let whole = fs::read(&place.0).unwrap();

    let (mut refused, mut unchanged) = (0, 0);
    // Spread over the file, the header included; a prime, so that every place in a page has its turn.
    for at in (0..whole.len()).step_by(whole.len() / 250 + 13) {
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << (at % 8);
        fs::write(&place.0, &flipped).unwrap();
        match open().and_then(|store| said(&store)) {
            Ok(found) => {
                assert!(found == right, "a flip at {at} changed what is read");
                unchanged += 1;
            }
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 20 && unchanged > 0, "{refused}, {unchanged}");
}
