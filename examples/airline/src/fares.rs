//! What flights cost, and whether they have seats.

use rusqlite::{Connection, Result};

use crate::model::{Cabin, FlightDate, Reservation, Segment, count};
use crate::store::{departure, route};

/// Returns flights with today's prices, or says which of them cannot be booked.
pub(crate) fn priced(
    db: &Connection,
    flights: &[FlightDate],
    cabin: Cabin,
    seats: i64,
) -> Result<Result<Vec<Segment>, String>> {
    flights
        .iter()
        .map(|flight| fare(db, flight, cabin, seats))
        .collect()
}

/// Returns flights with their prices, which stay for those that the reservation has in this cabin.
pub(crate) fn repriced(
    db: &Connection,
    booked: &Reservation,
    flights: &[FlightDate],
    cabin: Cabin,
) -> Result<Result<Vec<Segment>, String>> {
    let price = |flight: &FlightDate| {
        let same = |kept: &&Segment| {
            kept.flight_number == flight.flight_number && kept.date == flight.date
        };
        match booked.flights.iter().find(same) {
            Some(kept) if cabin == booked.cabin => Ok(Ok(kept.clone())),
            _ => fare(db, flight, cabin, count(&booked.passengers)),
        }
    };
    flights.iter().map(price).collect()
}

fn fare(
    db: &Connection,
    flight: &FlightDate,
    cabin: Cabin,
    seats: i64,
) -> Result<Result<Segment, String>> {
    let (flight_number, date) = (&flight.flight_number, &flight.date);
    let Some((origin, destination)) = route(db, flight)? else {
        return Ok(Err(format!("there is no flight {flight_number}")));
    };
    let Some(day) = departure(db, flight_number, date)? else {
        return Ok(Err(format!("there is no flight {flight_number} on {date}")));
    };
    let (Some(free), Some(prices), "available") =
        (day.available_seats, day.prices, day.status.as_str())
    else {
        return Ok(Err(format!(
            "{flight_number} on {date} is {} and cannot be booked",
            day.status
        )));
    };
    let free = free.of(cabin);
    if seats <= free {
        return Ok(Ok(Segment {
            origin,
            destination,
            flight_number: flight_number.clone(),
            date: date.clone(),
            price: prices.of(cabin),
        }));
    }
    Ok(Err(format!(
        "{flight_number} on {date} has {free} free seats in this cabin, and {seats} are needed"
    )))
}

/// Returns the price of flights for one passenger, in dollars.
pub(crate) fn price_of(segments: &[Segment]) -> i64 {
    segments.iter().map(|segment| segment.price).sum()
}

/// Returns the next day of a date in May, the month of the published flights.
pub(crate) fn next_day(date: &str) -> String {
    let (month, day) = date.split_at_checked(8).unwrap_or((date, ""));
    day.parse().map_or_else(
        |_| date.to_owned(),
        |day: u8| format!("{month}{:02}", day.saturating_add(1)),
    )
}
