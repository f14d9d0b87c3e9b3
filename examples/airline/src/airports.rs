//! The airports that the airline serves.

/// Each airport with its city, after a blank.
pub(crate) const AIRPORTS: &str = "ATL Atlanta, BOS Boston, CLT Charlotte, DEN Denver, DFW Dallas, DTW Detroit, EWR Newark, IAH Houston, \
    JFK New York, LAS Las Vegas, LAX Los Angeles, LGA LaGuardia, MCO Orlando, MIA Miami, MSP Minneapolis, ORD Chicago, \
    PHL Philadelphia, PHX Phoenix, SEA Seattle, SFO San Francisco";
