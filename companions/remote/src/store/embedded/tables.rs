//! The tables of the file, and the operations on them.

use redb::{ReadTransaction, ReadableTable, Table, TableDefinition, WriteTransaction};

use crate::store::limits::{PAGE_BYTES, StoreLimits};
use crate::store::{Expect, Logged, StoreError, Stored, Tail, Written};

/// By task and name: version and value.
const VALUES: TableDefinition<'_, (&str, &str), (u64, &str)> = TableDefinition::new("values");
/// By task: when it expires, in milliseconds since 1970, its number of names and of logs.
const TASKS: TableDefinition<'_, &str, (u64, u64, u64)> = TableDefinition::new("tasks");
/// By task and log: the newest number, the newest number that was cut, bytes.
const LOGS: TableDefinition<'_, (&str, &str), (u64, u64, u64)> = TableDefinition::new("logs");
/// By task, log and number: id and value.
const ENTRIES: TableDefinition<'_, (&str, &str, u64), (&str, &str)> =
    TableDefinition::new("entries");
/// By task, log and id: the number.
const IDS: TableDefinition<'_, (&str, &str, &str), u64> = TableDefinition::new("ids");
/// The format of the file.
const FORMAT_TABLE: TableDefinition<'_, &str, u64> = TableDefinition::new("contract-store");

/// The version of all of the above.
pub(super) const FORMAT: u64 = 1;

/// Comes after every name, whose characters are all below it.
const END: &str = "\u{7f}";

/// How many expired tasks one batch drops, so that it stays short.
const SWEEP_BATCH: usize = 64;

/// The result of an operation: an error of the file, or an answer, which may be a refusal that changed nothing.
pub(super) type Applied<T> = Result<Result<T, StoreError>, redb::Error>;

/// Returns the format of the file, 0 if it is not a store; initialises a new one.
pub(super) fn format(transaction: &WriteTransaction) -> Result<u64, redb::Error> {
    let ours = transaction
        .list_tables()?
        .any(|table| redb::TableHandle::name(&table) == "contract-store");
    let empty = transaction.list_tables()?.next().is_none();
    if !ours && !empty {
        return Ok(0);
    }
    let mut about = transaction.open_table(FORMAT_TABLE)?;
    let found = about.get("format")?.map(|found| found.value());
    if let Some(found) = found {
        return Ok(found);
    }
    about.insert("format", FORMAT)?;
    drop(about);
    Tables::open(transaction, 0, &StoreLimits::default())?;
    Ok(FORMAT)
}

/// The open tables of a batch.
pub(super) struct Tables<'t> {
    values: Table<'t, (&'static str, &'static str), (u64, &'static str)>,
    tasks: Table<'t, &'static str, (u64, u64, u64)>,
    logs: Table<'t, (&'static str, &'static str), (u64, u64, u64)>,
    entries: Table<'t, (&'static str, &'static str, u64), (&'static str, &'static str)>,
    ids: Table<'t, (&'static str, &'static str, &'static str), u64>,
    limits: &'t StoreLimits,
    /// Milliseconds since 1970.
    now: u64,
}

impl<'t> Tables<'t> {
    pub(super) fn open(
        transaction: &'t WriteTransaction,
        now: u64,
        limits: &'t StoreLimits,
    ) -> Result<Self, redb::Error> {
        Ok(Self {
            values: transaction.open_table(VALUES)?,
            tasks: transaction.open_table(TASKS)?,
            logs: transaction.open_table(LOGS)?,
            entries: transaction.open_table(ENTRIES)?,
            ids: transaction.open_table(IDS)?,
            limits,
            now,
        })
    }

    pub(super) fn write(
        &mut self,
        task: &str,
        name: &str,
        value: &str,
        expect: Expect,
    ) -> Applied<Written> {
        let (names, logs) = self.kept(task)?;
        let version = {
            let there = self.values.get((task, name))?;
            let there = there.as_ref().map(redb::AccessGuard::value);
            let version = there.map_or(0, |(version, _)| version);
            let holds = match expect {
                Expect::Any => true,
                Expect::Absent => version == 0,
                Expect::Version(expected) => expected == version && version != 0,
            };
            if !holds {
                let there = there.map(|(version, value)| Stored::new(version, value));
                return Ok(Ok(Written::Conflict { current: there }));
            }
            version
        };
        let new = version == 0;
        if new && names >= self.limits.names {
            return Ok(Err(StoreError::Full {
                what: "names in this task",
                most: self.limits.names,
            }));
        }
        let version = version.saturating_add(1);
        self.values.insert((task, name), (version, value))?;
        self.renew(task, names + u64::from(new), logs)?;
        Ok(Ok(Written::Done { version }))
    }

    pub(super) fn remove(&mut self, task: &str, names: &[String]) -> Result<(), redb::Error> {
        let (there, logs) = self.kept(task)?;
        let mut left = there;
        for name in names {
            let removed = self.values.remove((task, name.as_str()))?.is_some();
            left = left.saturating_sub(u64::from(removed));
        }
        if left < there {
            self.renew(task, left, logs)?;
        }
        Ok(())
    }

    pub(super) fn append(&mut self, task: &str, log: &str, id: &str, value: &str) -> Applied<u64> {
        let (names, logs) = self.kept(task)?;
        if let Some(there) = self.ids.get((task, log, id))? {
            return Ok(Ok(there.value()));
        }
        let there = self.logs.get((task, log))?.map(|there| there.value());
        if there.is_none() && logs >= self.limits.logs {
            return Ok(Err(StoreError::Full {
                what: "logs in this task",
                most: self.limits.logs,
            }));
        }
        let (last, mut cut, mut bytes) = there.unwrap_or_default();
        let last = last.saturating_add(1);
        self.entries.insert((task, log, last), (id, value))?;
        self.ids.insert((task, log, id), last)?;
        bytes += length(id, value);
        while cut + 1 < last && (last - cut > self.limits.entries || bytes > self.limits.log_bytes)
        {
            cut += 1;
            if let Some(oldest) = self.entries.remove((task, log, cut))? {
                let (id, value) = oldest.value();
                bytes = bytes.saturating_sub(length(id, value));
                self.ids.remove((task, log, id))?;
            }
        }
        self.logs.insert((task, log), (last, cut, bytes))?;
        self.renew(task, names, logs + u64::from(there.is_none()))?;
        Ok(Ok(last))
    }

    pub(super) fn forget(&mut self, task: &str) -> Result<(), redb::Error> {
        self.tasks.remove(task)?;
        self.values
            .retain_in((task, "")..(task, END), |_, _| false)?;
        self.logs.retain_in((task, "")..(task, END), |_, _| false)?;
        self.entries
            .retain_in((task, "", 0)..(task, END, 0), |_, _| false)?;
        self.ids
            .retain_in((task, "", "")..(task, END, ""), |_, _| false)?;
        Ok(())
    }

    /// Drops expired tasks; returns whether there may be more of them.
    pub(super) fn sweep(&mut self) -> Result<bool, redb::Error> {
        let mut over = Vec::new();
        for task in self.tasks.iter()? {
            let (task, about) = task?;
            if about.value().0 <= self.now {
                over.push(task.value().to_owned());
            }
            if over.len() == SWEEP_BATCH {
                break;
            }
        }
        for task in &over {
            self.forget(task)?;
        }
        Ok(over.len() == SWEEP_BATCH)
    }

    /// Returns how many names and logs a task has; drops those of an expired one.
    fn kept(&mut self, task: &str) -> Result<(u64, u64), redb::Error> {
        let about = self.tasks.get(task)?.map(|about| about.value());
        match about {
            Some((until, ..)) if until <= self.now => {
                self.forget(task)?;
                Ok((0, 0))
            }
            Some((_, names, logs)) => Ok((names, logs)),
            None => Ok((0, 0)),
        }
    }

    fn renew(&mut self, task: &str, names: u64, logs: u64) -> Result<(), redb::Error> {
        let until = self.now.saturating_add(self.limits.milliseconds());
        self.tasks.insert(task, (until, names, logs))?;
        Ok(())
    }
}

fn length(id: &str, value: &str) -> u64 {
    // A `usize` is never longer.
    (id.len() + value.len()) as u64
}

fn is_expired(transaction: &ReadTransaction, task: &str, now: u64) -> Result<bool, redb::Error> {
    let tasks = transaction.open_table(TASKS)?;
    let until = tasks.get(task)?.map(|about| about.value().0);
    Ok(until.is_none_or(|until| until <= now))
}

pub(super) fn read(
    transaction: &ReadTransaction,
    now: u64,
    task: &str,
    name: &str,
) -> Result<Option<Stored>, redb::Error> {
    if is_expired(transaction, task, now)? {
        return Ok(None);
    }
    let values = transaction.open_table(VALUES)?;
    let there = values.get((task, name))?;
    Ok(there.map(|there| {
        let (version, value) = there.value();
        Stored::new(version, value)
    }))
}

pub(super) fn list(
    transaction: &ReadTransaction,
    now: u64,
    task: &str,
    prefix: &str,
) -> Result<Vec<(String, Stored)>, redb::Error> {
    let mut listed = Vec::new();
    if is_expired(transaction, task, now)? {
        return Ok(listed);
    }
    let values = transaction.open_table(VALUES)?;
    for there in values.range((task, prefix)..(task, END))? {
        let (key, value) = there?;
        let (_, name) = key.value();
        if !name.starts_with(prefix) {
            break;
        }
        let (version, value) = value.value();
        listed.push((name.to_owned(), Stored::new(version, value)));
    }
    Ok(listed)
}

pub(super) fn tail(
    transaction: &ReadTransaction,
    now: u64,
    (task, log): (&str, &str),
    after: u64,
    most: usize,
) -> Result<Tail, redb::Error> {
    if is_expired(transaction, task, now)? {
        return Ok(Tail::default());
    }
    let logs = transaction.open_table(LOGS)?;
    let Some((last, cut, _)) = logs.get((task, log))?.map(|there| there.value()) else {
        return Ok(Tail::default());
    };
    let mut tail = Tail {
        entries: Vec::new(),
        cut,
        last,
    };
    if after >= last {
        return Ok(tail);
    }
    let entries = transaction.open_table(ENTRIES)?;
    let mut bytes = 0;
    let from = (task, log, after.saturating_add(1));
    for entry in entries.range(from..=(task, log, last))?.take(most) {
        let (key, entry) = entry?;
        let (id, value) = entry.value();
        bytes += id.len() + value.len();
        if bytes > PAGE_BYTES && !tail.entries.is_empty() {
            break;
        }
        tail.entries.push(Logged::new(key.value().2, id, value));
    }
    Ok(tail)
}

pub(super) fn tasks(transaction: &ReadTransaction, now: u64) -> Result<Vec<String>, redb::Error> {
    let mut there = Vec::new();
    for task in transaction.open_table(TASKS)?.iter()? {
        let (task, about) = task?;
        if about.value().0 > now {
            there.push(task.value().to_owned());
        }
    }
    Ok(there)
}
