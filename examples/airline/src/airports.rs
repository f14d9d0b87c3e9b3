//! The airports that the airline serves.

/// Each airport with its city.
pub const AIRPORTS: [(&str, &str); 20] = [
    ("ATL", "Atlanta"),
    ("BOS", "Boston"),
    ("CLT", "Charlotte"),
    ("DEN", "Denver"),
    ("DFW", "Dallas"),
    ("DTW", "Detroit"),
    ("EWR", "Newark"),
    ("IAH", "Houston"),
    ("JFK", "New York"),
    ("LAS", "Las Vegas"),
    ("LAX", "Los Angeles"),
    ("LGA", "LaGuardia"),
    ("MCO", "Orlando"),
    ("MIA", "Miami"),
    ("MSP", "Minneapolis"),
    ("ORD", "Chicago"),
    ("PHL", "Philadelphia"),
    ("PHX", "Phoenix"),
    ("SEA", "Seattle"),
    ("SFO", "San Francisco"),
];
