//! Nothing: the judges are tests.
