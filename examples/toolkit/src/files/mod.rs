//! The tools for files and folders.

mod edit;
mod folder;
mod here;
mod matches;
mod owner;
mod position;
mod read;
pub(crate) mod replace;
pub(crate) mod text;
mod unfinished;
mod write;

pub use edit::{Edited, Lines, edit_file};
pub use folder::{Entry, Folder, read_folder};
pub use here::{Bounds, Commands, WorkingDirectory, get_working_directory};
pub use read::{FileText, Next, read_file};
pub use write::{Written, write_file};
