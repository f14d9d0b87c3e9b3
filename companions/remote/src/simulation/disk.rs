//! A simulated disk for journals.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redb::StorageBackend;

/// What a journal is written to; a copy is what a process leaves that is killed in that moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk {
    bytes: Arc<Mutex<Vec<u8>>>,
    full: Arc<AtomicBool>,
}

impl Disk {
    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn snapshot(&self) -> Self {
        Self {
            bytes: Arc::new(Mutex::new(self.bytes().clone())),
            full: Arc::default(),
        }
    }

    /// Whether it takes nothing more from here on.
    pub(crate) fn fill(&self, full: bool) {
        self.full.store(full, Ordering::SeqCst);
    }

    fn has_room(&self) -> io::Result<()> {
        if self.full.load(Ordering::SeqCst) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }
}

fn place(offset: u64, length: usize) -> io::Result<std::ops::Range<usize>> {
    let start = usize::try_from(offset).map_err(io::Error::other)?;
    Ok(start..start + length)
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes().len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let bytes = self.bytes();
        let found = bytes.get(place(offset, out.len())?);
        out.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.has_room()?;
        let length = usize::try_from(length).map_err(io::Error::other)?;
        self.bytes().resize(length, 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.has_room()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.has_room()?;
        let mut bytes = self.bytes();
        let there = bytes.get_mut(place(offset, data.len())?);
        there
            .ok_or(io::ErrorKind::UnexpectedEof)?
            .copy_from_slice(data);
        Ok(())
    }
}
