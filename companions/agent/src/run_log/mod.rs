//! The stores that keep the logs of runs.

mod file_store;
mod store;

pub use self::file_store::FileStore;
pub use self::store::{MemoryStore, RunStore, StoreError, Stored};
