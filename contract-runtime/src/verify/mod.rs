//! Tests that every contract writes for itself.
