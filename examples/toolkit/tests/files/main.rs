//! The tools for files: what they give, change and refuse, whoever else is at work, and that they stay inside of the roots.

mod confinement;
mod crash;
mod edit;
mod folder;
mod links;
mod program;
mod protected;
mod races;
mod read;
#[path = "../common/reexec.rs"]
mod reexec;
mod several_programs;
mod write;
mod writing;
