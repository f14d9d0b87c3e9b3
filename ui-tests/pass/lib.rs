//! Every form that the macros accept: each file of this folder compiles, and runs.
