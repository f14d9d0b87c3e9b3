//! The tools for files and folders.

mod edit;
mod folder;
mod matches;
mod owner;
pub(crate) mod position;
mod read;
pub(crate) mod replace;
mod temporary_file;
pub(crate) mod text;
mod working_directory;
mod write;

pub use edit::{Edited, Lines, edit_file};
pub use folder::{Entry, Folder, read_folder};
pub use read::{FileText, Next, read_file};
pub use working_directory::{Bounds, Commands, WorkingDirectory, get_working_directory};
pub use write::{Written, write_file};
