//! Memory that processes share and no file holds: it can be full while none of it is in any process.

use std::collections::HashMap;
use std::io;

use super::process_tree::is_gone;

/// Looking takes long where a process has many mappings, so only each of this many times.
const EACH: u32 = 4;

/// The shared memory of some processes. What was written to it stays until its last mapping goes, also when all pages of
/// it have left the processes (`madvise`(2)), so that neither `Rss` nor `Pss` has it.
#[derive(Debug, Default)]
pub(super) struct SharedMemory {
    looks: u32,
    /// How far each reached, as long as it is there: a mapping can be taken down in part.
    reach: HashMap<Object, u64>,
}

/// Device and inode.
type Object = (String, u64);

impl SharedMemory {
    /// How much there is, in bytes, for processes with these numbers and sizes; not asked where all of them are small.
    pub(super) fn measure(
        &mut self,
        processes: impl Iterator<Item = (i32, u64)> + Clone,
        enough: u64,
    ) -> io::Result<u64> {
        let sizes = processes.clone().map(|(_, size)| size);
        let is_due = self.looks.is_multiple_of(EACH);
        self.looks = self.looks.wrapping_add(1);
        if is_due {
            let is_much = sizes.fold(0, u64::saturating_add) > enough;
            if is_much || !self.reach.is_empty() {
                self.count(processes)?;
            }
        }
        Ok(self.reach.values().copied().fold(0, u64::saturating_add))
    }

    fn count(&mut self, processes: impl Iterator<Item = (i32, u64)>) -> io::Result<()> {
        let before = std::mem::take(&mut self.reach);
        for (pid, size) in processes {
            match std::fs::read(format!("/proc/{pid}/maps")) {
                Ok(maps) => {
                    for (object, end) in maps.split(|byte| *byte == b'\n').filter_map(parse) {
                        let old = before.get(&object).copied().unwrap_or_default();
                        let reach = self.reach.entry(object).or_default();
                        *reach = end.max(old).max(*reach);
                    }
                }
                Err(error) if is_gone(&error) => {}
                // It hides from its user, so all of it may be that.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    let number = pid.unsigned_abs().into();
                    self.reach.insert(("hidden".to_owned(), number), size);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// What a line of `/proc/PID/maps` maps, and the end of the part of it, if it is shared memory without a file.
fn parse(line: &[u8]) -> Option<(Object, u64)> {
    let line = String::from_utf8_lossy(line);
    let mut fields = line.split_ascii_whitespace();
    let (begin, end) = fields.next()?.split_once('-')?;
    let modes = fields.next()?;
    let hexadecimal = |text| u64::from_str_radix(text, 16).ok();
    let offset = hexadecimal(fields.next()?)?;
    let device = fields.next()?.to_owned();
    let inode = fields.next()?.parse().ok()?;
    let name = fields.next()?;
    let kinds = ["/dev/zero", "/memfd:", "/SYSV"];
    let is_one = kinds.iter().any(|kind| name.starts_with(kind)) && line.ends_with("(deleted)");
    if !modes.ends_with('s') || !is_one {
        return None;
    }
    let length = hexadecimal(end)?.saturating_sub(hexadecimal(begin)?);
    Some(((device, inode), offset.saturating_add(length)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_shared_memory_without_a_file_is_found() {
        let line = "7f00-9f00 rw-s 00001000 00:01 1033                     /dev/zero (deleted)";
        let object = ("00:01".to_owned(), 1033);
        assert_eq!(parse(line.as_bytes()), Some((object, 0x3000)));
        for other in [
            "",
            "7f00-9f00 rw-p 00000000 00:00 0",
            "7f00-9f00 rw-p 00000000 00:01 7 /dev/zero (deleted)",
            "7f00-9f00 rw-s 00000000 fe:00 7 /tmp/a file (deleted)",
            "7f00 rw-s 00000000 00:01 7 /dev/zero (deleted)",
            "x-y rw-s 00000000 00:01 7 /dev/zero (deleted)",
        ] {
            assert_eq!(parse(other.as_bytes()), None, "{other}");
        }
    }
}
