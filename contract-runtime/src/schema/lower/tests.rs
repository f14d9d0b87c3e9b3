//! The lowering without any macro: trees built by hand and at random, judged by validators nobody here wrote.

mod arguments;
mod described;
mod merging;
mod native;
mod property;
mod subjects;
mod traps;
mod trees;
