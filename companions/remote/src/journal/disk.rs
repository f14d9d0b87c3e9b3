//! The journal's file.

use std::collections::{BTreeMap, HashMap};
use std::io::ErrorKind::UnexpectedEof;
use std::ops::Bound::Unbounded;
use std::path::Path;

use redb::{
    BackendError, Builder, Database, DatabaseError, ReadableDatabase as _, ReadableTable as _,
    StorageBackend, StorageError, TableDefinition,
};

use super::JournalError;
use super::index::{CallRef, Index, Limits, Write};
use super::record;
use crate::protocol::{JournalId, TaskId, ToolReply};

const FORMAT: u32 = 1;
const META: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("journal");
const CALLS: TableDefinition<'_, &[u8; 36], &[u8]> = TableDefinition::new("calls");
/// Apart from the calls, so that an acknowledgement does not write a result again.
const REPLIES: TableDefinition<'_, &[u8; 36], &[u8]> = TableDefinition::new("replies");
const TASKS: TableDefinition<'_, &[u8; 16], &[u8]> = TableDefinition::new("tasks");

/// Everything but results is in the index, so that a cache has little to do.
const CACHE: usize = 4 << 20;

#[derive(Debug)]
pub(super) struct Disk(Database);

impl Disk {
    /// Opens a file, or creates one, and loads its index.
    pub(super) fn open<B: StorageBackend>(
        backend: B,
        path: &Path,
        limits: Limits,
    ) -> Result<(Self, Index, JournalId), JournalError> {
        check_file(&backend, path)?;
        let database = Builder::new()
            .set_cache_size(CACHE)
            // A page that something else has changed may hold any key, so every page is checked before one is trusted.
            .set_check_integrity_on_open(true)
            .create_with_backend(backend)
            .map_err(|error| open_error(path, error))?;
        let disk = Self(database);
        let damaged = |error: redb::Error| JournalError::Damaged {
            path: path.to_owned(),
            reason: error.to_string(),
        };
        if disk.is_empty().map_err(damaged)? {
            disk.create().map_err(|error| stopped_error(path, &error))?;
        }
        let id = disk.check(path)?;
        let index = disk.load(limits).map_err(damaged)?;
        let index = index.ok_or_else(|| JournalError::Damaged {
            path: path.to_owned(),
            reason: "a record is not as it was written".to_owned(),
        })?;
        Ok((disk, index, id))
    }

    fn is_empty(&self) -> Result<bool, redb::Error> {
        Ok(self.0.begin_read()?.list_tables()?.next().is_none())
    }

    fn create(&self) -> Result<(), redb::Error> {
        let transaction = self.0.begin_write()?;
        {
            let mut meta = transaction.open_table(META)?;
            meta.insert("format", FORMAT.to_be_bytes().as_slice())?;
            meta.insert("id", JournalId::random().to_bytes().as_slice())?;
            transaction.open_table(CALLS)?;
            transaction.open_table(REPLIES)?;
            transaction.open_table(TASKS)?;
        }
        Ok(transaction.commit()?)
    }

    /// Checks that this is a journal of a supported format; returns its id.
    fn check(&self, path: &Path) -> Result<JournalId, JournalError> {
        let not_a_journal = || JournalError::NotAJournal {
            path: path.to_owned(),
        };
        let read = |key| -> Result<Option<Vec<u8>>, redb::Error> {
            let found = self
                .0
                .begin_read()?
                .open_table(META)?
                .get(key)?
                .map(|value| value.value().to_vec());
            Ok(found)
        };
        let bytes = |key| match read(key) {
            Ok(found) => found.ok_or_else(not_a_journal),
            Err(redb::Error::TableDoesNotExist(_) | redb::Error::TableTypeMismatch { .. }) => {
                Err(not_a_journal())
            }
            Err(error) => Err(JournalError::Damaged {
                path: path.to_owned(),
                reason: error.to_string(),
            }),
        };
        let format = bytes("format")?.try_into().map_err(|_| not_a_journal())?;
        let found = u32::from_be_bytes(format);
        if found > FORMAT {
            return Err(JournalError::NewerFormat {
                path: path.to_owned(),
                found,
                supported: FORMAT,
            });
        }
        let id = bytes("id")?.try_into().map_err(|_| not_a_journal())?;
        Ok(JournalId::from_bytes(id))
    }

    /// Loads the index; `None` if a record fails its checksum.
    fn load(&self, limits: Limits) -> Result<Option<Index>, redb::Error> {
        let transaction = self.0.begin_read()?;
        let mut calls = BTreeMap::new();
        for row in transaction.open_table(CALLS)?.iter()? {
            let (key, value) = row?;
            let body = record::verify("calls", key.value(), value.value());
            let (Some(call_ref), Some(call)) =
                (record::call_ref(key.value()), body.and_then(record::call))
            else {
                return Ok(None);
            };
            calls.insert(call_ref, call);
        }
        let mut tasks = HashMap::new();
        for row in transaction.open_table(TASKS)?.iter()? {
            let (key, value) = row?;
            let body = record::verify("tasks", key.value(), value.value());
            let Some(task) = body.and_then(record::task) else {
                return Ok(None);
            };
            tasks.insert(TaskId::from_bytes(*key.value()), task);
        }
        let floor = match transaction.open_table(META)?.get("floor")? {
            None => None,
            Some(value) => {
                let body = record::verify("journal", b"floor", value.value());
                let Some(key) = body.and_then(|mut body| record::key(&mut body)) else {
                    return Ok(None);
                };
                Some(key)
            }
        };
        Ok(Some(Index::load(calls, tasks, floor, limits)))
    }

    /// Commits changes to the disk, all or none; an empty commit makes the previous one durable twice.
    pub(super) fn commit(&self, writes: Vec<Write>) -> Result<(), redb::Error> {
        let transaction = self.0.begin_write()?;
        if !writes.is_empty() {
            let mut calls = transaction.open_table(CALLS)?;
            let mut replies = transaction.open_table(REPLIES)?;
            let mut tasks = transaction.open_table(TASKS)?;
            for write in writes {
                match write {
                    Write::Call(call_ref, call) => {
                        let key = record::call_ref_bytes(call_ref);
                        let body = record::call_bytes(&call);
                        calls
                            .insert(&key, record::with_checksum("calls", &key, body).as_slice())?;
                    }
                    Write::Reply(call_ref, body) => {
                        let key = record::call_ref_bytes(call_ref);
                        replies.insert(
                            &key,
                            record::with_checksum("replies", &key, body).as_slice(),
                        )?;
                    }
                    Write::Forget(call_ref) => {
                        let key = record::call_ref_bytes(call_ref);
                        calls.remove(&key)?;
                        replies.remove(&key)?;
                    }
                    Write::Task(id, task) => {
                        let (key, body) = (id.to_bytes(), record::task_bytes(&task));
                        tasks
                            .insert(&key, record::with_checksum("tasks", &key, body).as_slice())?;
                    }
                    Write::ForgetTask(id) => {
                        tasks.remove(&id.to_bytes())?;
                    }
                    Write::Floor(key) => {
                        let body = record::key_bytes(key).to_vec();
                        let record = record::with_checksum("journal", b"floor", body);
                        transaction
                            .open_table(META)?
                            .insert("floor", record.as_slice())?;
                    }
                }
            }
        }
        Ok(transaction.commit()?)
    }

    /// Reads the result of a finished call; `None` if it fails its checksum.
    pub(super) fn reply(&self, call_ref: CallRef) -> Result<Option<ToolReply>, redb::Error> {
        let key = record::call_ref_bytes(call_ref);
        let replies = self.0.begin_read()?.open_table(REPLIES)?;
        let record = replies.get(&key)?;
        Ok(record.and_then(|record| {
            record::verify("replies", &key, record.value()).and_then(record::reply)
        }))
    }
}

pub(super) fn stopped_error(path: &Path, error: &redb::Error) -> JournalError {
    JournalError::Stopped {
        path: path.to_owned(),
        reason: error.to_string(),
    }
}

/// Checks a file before the store opens it, under its lock: other files are left alone, and one whose creation was
/// interrupted is created anew.
fn check_file<B: StorageBackend>(backend: &B, path: &Path) -> Result<(), JournalError> {
    let held = match backend.try_lock_range(Unbounded, Unbounded) {
        Ok(true) => true,
        Ok(false) => {
            return Err(JournalError::InUse {
                path: path.to_owned(),
            });
        }
        Err(BackendError::Unsupported) => false,
        Err(error) => return Err(open_error(path, error.into())),
    };
    let ours = is_redb_file(backend).map_err(|error| open_error(path, error.into()));
    if held {
        backend
            .unlock_range(Unbounded, Unbounded)
            .map_err(|error| open_error(path, error.into()))?;
    }
    if ours? {
        Ok(())
    } else {
        Err(JournalError::NotAJournal {
            path: path.to_owned(),
        })
    }
}

/// Whether a file is empty or begins as the store's files do (redb, "Design", section "Database file header").
fn is_redb_file<B: StorageBackend>(backend: &B) -> std::io::Result<bool> {
    const MAGIC: [u8; 9] = *b"redb\x1A\x0A\xA9\x0D\x0A";
    const HEADER: usize = 320;
    /// The store creates its files with zeros, then writes a header without its first nine bytes, then these. A file that
    /// was interrupted before that is at most this long, and has only zeros after the header.
    const MAX_UNINITIALISED: u64 = 1 << 20;

    let length = backend.len()?;
    let mut start = vec![0; usize::try_from(length.min(MAX_UNINITIALISED)).unwrap_or(0)];
    backend.read(0, &mut start)?;
    if start.is_empty() || start.starts_with(&MAGIC) {
        return Ok(true);
    }
    let mut rest = start
        .iter()
        .take(MAGIC.len())
        .chain(start.iter().skip(HEADER));
    if length <= MAX_UNINITIALISED && rest.all(|byte| *byte == 0) {
        backend.set_len(0)?;
        return Ok(true);
    }
    Ok(false)
}

fn open_error(path: &Path, error: DatabaseError) -> JournalError {
    let path = path.to_owned();
    match error {
        DatabaseError::DatabaseAlreadyOpen | DatabaseError::LockProtocolMismatch => {
            JournalError::InUse { path }
        }
        // It refers to offsets beyond the end of the file.
        DatabaseError::Storage(StorageError::Io(error)) if error.kind() == UnexpectedEof => {
            JournalError::Damaged {
                path,
                reason: error.to_string(),
            }
        }
        DatabaseError::Storage(StorageError::Io(error)) => JournalError::Open {
            path,
            reason: error.to_string(),
        },
        other => JournalError::Damaged {
            path,
            reason: other.to_string(),
        },
    }
}
