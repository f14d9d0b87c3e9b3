//! How much of everything a tool takes and gives.

use std::time::Duration;

/// How much of everything the tools take and give; a call that would go beyond says so, and none is cut in silence.
///
/// ```
/// use toolkit::Limits;
///
/// let limits = Limits { read_characters: 20_000, ..Limits::default() };
/// assert_eq!(limits.folder_entries, 1_000);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most that `read_file` gives at once, in characters: 100,000. Its answer as JSON, where a line break takes two
    /// characters, stays below this too, or below 100,000 where this is less: a registry passes on no more than that,
    /// unless `max_output_chars` says so.
    pub read_characters: usize,
    /// The largest file that `read_file` looks into, in bytes: 1 GiB.
    pub read_file_bytes: u64,
    /// The largest file that `write_file` writes and `edit_file` changes, in bytes: 10 MiB.
    pub file_bytes: u64,
    /// The longest that a write waits for other programs that write in the same folder: 10 seconds.
    pub write_wait: Duration,
    /// The most entries that `read_folder` gives: 1,000.
    pub folder_entries: usize,
    /// The most entries that `read_folder` looks at, so that a folder of millions costs no more: 100,000.
    pub folder_scan: usize,
    /// The largest file that a search looks into, in bytes: 16 MiB.
    pub search_file_bytes: u64,
    /// The most files that one search looks into: 200,000.
    pub search_files: usize,
    /// The longest that one search takes: 20 seconds.
    pub search_time: Duration,
    /// The longest line that a search shows whole, in characters: 500.
    pub search_line_characters: usize,
    /// The most that is kept of each stream of a command, in characters, half of it from its beginning and half from
    /// its end: 50,000.
    pub shell_characters: usize,
    /// The longest that a command may ask to run: 10 minutes.
    pub shell_time: Duration,
    /// The memory that all processes of a command may use together, in bytes: 4 GiB.
    pub shell_memory: u64,
    /// The processes that a command may have at once: 256.
    pub shell_processes: u32,
    /// The processor time that each process of a command may use: 10 minutes.
    pub shell_cpu: Duration,
    /// The largest file that a command may write, in bytes: 1 GiB.
    pub shell_file_bytes: u64,
    /// The files that each process of a command may have open: 1,024.
    pub shell_open_files: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            read_characters: 100_000,
            read_file_bytes: 1 << 30,
            file_bytes: 10 << 20,
            write_wait: Duration::from_secs(10),
            folder_entries: 1_000,
            folder_scan: 100_000,
            search_file_bytes: 16 << 20,
            search_files: 200_000,
            search_time: Duration::from_secs(20),
            search_line_characters: 500,
            shell_characters: 50_000,
            shell_time: Duration::from_secs(600),
            shell_memory: 4 << 30,
            shell_processes: 256,
            shell_cpu: Duration::from_secs(600),
            shell_file_bytes: 1 << 30,
            shell_open_files: 1_024,
        }
    }
}
