//! A simulated disk that outlives its writer, records every write, and fails on demand.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use redb::StorageBackend;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Write(u64, Vec<u8>),
    Length(u64),
    Sync,
}

#[derive(Debug, Default)]
pub(super) struct Inner {
    pub(super) bytes: Vec<u8>,
    pub(super) events: Vec<Event>,
    /// How many more events succeed.
    pub(super) good_for: Option<usize>,
    paused: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Medium(Arc<(Mutex<Inner>, Condvar)>);

impl Medium {
    pub(super) fn holding(bytes: Vec<u8>) -> Self {
        let medium = Self::default();
        medium.lock().bytes = bytes;
        medium
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.0.lock().unwrap()
    }

    /// Keeps writes waiting.
    pub(super) fn pause(&self, paused: bool) {
        self.lock().paused = paused;
        self.0.1.notify_all();
    }

    fn event(&self, event: Event) -> io::Result<()> {
        let inner = self.lock();
        let mut inner = self.0.1.wait_while(inner, |inner| inner.paused).unwrap();
        if let Some(left) = &mut inner.good_for {
            let Some(fewer) = left.checked_sub(1) else {
                return Err(io::ErrorKind::StorageFull.into());
            };
            *left = fewer;
        }
        apply(&mut inner.bytes, &event);
        inner.events.push(event);
        Ok(())
    }
}

pub(super) fn apply(bytes: &mut Vec<u8>, event: &Event) {
    match event {
        Event::Write(offset, data) => {
            let start = usize::try_from(*offset).unwrap();
            bytes.resize(bytes.len().max(start + data.len()), 0);
            bytes[start..start + data.len()].copy_from_slice(data);
        }
        Event::Length(length) => bytes.resize(usize::try_from(*length).unwrap(), 0),
        Event::Sync => {}
    }
}

impl StorageBackend for Medium {
    fn len(&self) -> io::Result<u64> {
        Ok(self.lock().bytes.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let start = usize::try_from(offset).unwrap();
        let inner = self.lock();
        let found = inner.bytes.get(start..start + out.len());
        out.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.event(Event::Length(length))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.event(Event::Sync)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.event(Event::Write(offset, data.to_vec()))
    }
}
