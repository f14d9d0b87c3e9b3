//! What the shop answers, without a network.

pub mod routes;

/// The items and their prices, in cents.
pub const ITEMS: [(&str, u32); 3] = [("apple", 45), ("bread", 320), ("tea", 480)];
