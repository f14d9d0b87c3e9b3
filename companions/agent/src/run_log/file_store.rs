//! A store that keeps each log in a file.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::OwnedMutexGuard;

use super::store::{RunStore, StoreError, Stored, conflict};

/// Keeps each log in a file of one folder. It needs a tokio runtime, whose threads for blocking work write the files.
///
/// Each line is a checksum and a record. A record is synced to the disk before [`append`](RunStore::append) returns. A last line
/// whose checksum is wrong is taken for one that a crash has cut off, and dropped; a damaged line before it is an error. Several
/// processes may use one folder: a file is locked while a record is added, and of two that add the same record one is refused. On Unix
/// only the owner may read the files.
///
/// ```
/// use contract_agent::{FileStore, RunStore as _};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = std::env::temp_dir().join(format!("contract-agent-doc-{}", std::process::id()));
/// let store = FileStore::new(&folder)?;
/// store.append("order-7", 0, "{}").await?;
/// assert_eq!(FileStore::new(&folder)?.read("order-7").await?, ["{}"]);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct FileStore {
    folder: PathBuf,
    /// The bytes and lines of files, so that they are not read again before each record.
    sizes: Sizes,
}

type Sizes = Arc<Mutex<HashMap<PathBuf, Arc<tokio::sync::Mutex<Size>>>>>;

/// The bytes and lines of a file, where they are known. It is locked while the file is written or read, also after the future of that
/// was dropped, so that what comes later finds what came before.
type Size = Option<(u64, u64)>;

impl FileStore {
    /// Opens a folder, and creates it if it does not exist.
    ///
    /// # Errors
    ///
    /// If the folder cannot be created.
    pub fn new(folder: impl Into<PathBuf>) -> io::Result<Self> {
        let folder = folder.into();
        fs::create_dir_all(&folder)?;
        let sizes = Sizes::default();
        Ok(Self { folder, sizes })
    }

    /// Waits until nothing else is done with a file.
    async fn size(&self, file: &Path) -> OwnedMutexGuard<Size> {
        let size = Arc::clone(self.sizes.lock().entry(file.to_owned()).or_default());
        size.lock_owned().await
    }

    /// The file of a run. Characters that a file system could refuse or confuse are written as `%` and their code.
    fn file(&self, run: &str) -> PathBuf {
        use std::fmt::Write as _;
        let mut name = String::new();
        for byte in run.bytes() {
            match byte {
                b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => name.push(char::from(byte)),
                _ => {
                    let _ = write!(name, "%{byte:02x}");
                }
            }
        }
        name.push_str(".log");
        self.folder.join(name)
    }
}

impl RunStore for FileStore {
    fn append<'a>(&'a self, run: &'a str, expected: u64, record: &'a str) -> Stored<'a, ()> {
        let (file, line) = (self.file(run), line(record));
        let is_one_line = !record.contains('\n');
        Box::pin(async move {
            if !is_one_line {
                let error = io::Error::other("a record must be one line");
                return Err(failed(run, "written", &error));
            }
            let mut size = self.size(&file).await;
            match off_the_async_threads(move || append(&file, &mut size, expected, &line)).await {
                Ok(true) => Ok(()),
                Ok(false) => Err(conflict(run, expected)),
                Err(error) => Err(failed(run, "written", &error)),
            }
        })
    }

    fn read<'a>(&'a self, run: &'a str) -> Stored<'a, Vec<String>> {
        let file = self.file(run);
        Box::pin(async move {
            let size = self.size(&file).await;
            let read = move || {
                let bytes = fs::read(file);
                drop(size);
                bytes
            };
            let bytes = match off_the_async_threads(read).await {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
                Err(error) => return Err(failed(run, "read", &error)),
                Ok(bytes) => bytes,
            };
            let lines = whole_lines(&bytes);
            let records = lines.enumerate().map(|(place, line)| {
                record(line).ok_or_else(|| StoreError::Damaged {
                    run: run.to_owned(),
                    record: place as u64,
                    reason: "its checksum is another one".to_owned(),
                })
            });
            records.collect()
        })
    }
}

/// Adds a line to a file with this many lines; false if it has another number of them.
fn append(path: &Path, size: &mut Size, expected: u64, line: &str) -> io::Result<bool> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    // Until the file is closed.
    fs4::FileExt::lock(&file)?;
    let length = file.metadata()?.len();
    let (end, lines) = match *size {
        // What others append makes a file longer.
        Some((end, lines)) if end == length => (end, lines),
        _ => {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            let ends = whole_lines(&bytes).map(|line| line.len() as u64 + 1);
            (ends.sum(), whole_lines(&bytes).count() as u64)
        }
    };
    if lines != expected {
        return Ok(false);
    }
    if end < length {
        file.set_len(end)?;
    }
    file.seek(SeekFrom::Start(end))?;
    file.write_all(line.as_bytes())?;
    file.sync_data()?;
    if expected == 0
        && cfg!(unix)
        && let Some(folder) = path.parent()
    {
        // Otherwise a crash may lose the name of a new file.
        File::open(folder)?.sync_all()?;
    }
    *size = Some((end + line.len() as u64, lines + 1));
    Ok(true)
}

fn line(record: &str) -> String {
    format!("{:08x} {record}\n", crc32fast::hash(record.as_bytes()))
}

/// The lines of a log without their ends, and without a last one that was cut off.
fn whole_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = bytes
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |end| end + 1);
    let whole = bytes.get(..end).unwrap_or_default();
    let last = whole.split_inclusive(|&byte| byte == b'\n').next_back();
    let is_cut =
        last.is_some_and(|last| record(last.strip_suffix(b"\n").unwrap_or(last)).is_none());
    let cut = if is_cut {
        last.map_or(0, <[u8]>::len)
    } else {
        0
    };
    let kept = whole.get(..whole.len() - cut).unwrap_or_default();
    kept.split_inclusive(|&byte| byte == b'\n')
        .map(|line| line.strip_suffix(b"\n").unwrap_or(line))
}

/// The record of a line whose checksum is right.
fn record(line: &[u8]) -> Option<String> {
    let (sum, record) = std::str::from_utf8(line).ok()?.split_once(' ')?;
    let is_right = u32::from_str_radix(sum, 16).ok()? == crc32fast::hash(record.as_bytes());
    is_right.then(|| record.to_owned())
}

async fn off_the_async_threads<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let runtime = tokio::runtime::Handle::try_current().map_err(io::Error::other)?;
    runtime
        .spawn_blocking(work)
        .await
        .map_err(io::Error::other)?
}

fn failed(run: &str, action: &'static str, error: &io::Error) -> StoreError {
    StoreError::Failed {
        run: run.to_owned(),
        action,
        reason: error.to_string(),
    }
}
