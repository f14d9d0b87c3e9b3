//! The steps that several writes share.

use rusqlite::{Connection, Result};
use serde_json::{Map, Value};

use crate::model::{Cabin, Passenger, Payment, PaymentMethod, Reservation, Segment, Source, User};
use crate::policy::Claim;
use crate::store::{changes, departures, reservation};

/// Takes a payment from the profile: of a gift card its amount, of a certificate all of it.
pub(crate) fn spend(user: &mut User, payment: &Payment) {
    let Some(method) = user.payment_methods.get_mut(&payment.payment_id) else {
        return;
    };
    match (method.source, &mut method.amount) {
        (Source::GiftCard, Some(balance)) => *balance -= payment.amount,
        (Source::Certificate, _) => {
            user.payment_methods.remove(&payment.payment_id);
        }
        _ => {}
    }
}

/// Pays the price of a change, or refunds it if it is negative.
pub(crate) fn pay(booked: &mut Reservation, user: &mut User, payment_id: &str, amount: i64) {
    let payment = Payment {
        payment_id: payment_id.to_owned(),
        amount,
    };
    spend(user, &payment);
    if amount != 0 {
        booked.payment_history.push(payment);
    }
}

/// Names flights with their dates and their cabin, for a question.
pub(crate) fn flights_named(segments: &[Segment], cabin: Cabin) -> String {
    let flights = listed(segments, |one| {
        format!("{} on {}", one.flight_number, one.date)
    });
    let cabin = match cabin {
        Cabin::BasicEconomy => "basic economy",
        Cabin::Economy => "economy",
        Cabin::Business => "business",
    };
    format!("{flights} in {cabin}")
}

/// Names passengers, for a question.
pub(crate) fn people_named(passengers: &[Passenger]) -> String {
    listed(passengers, |one| {
        format!("{} {}", one.first_name, one.last_name)
    })
}

/// Names payments with their amounts, for a question.
pub(crate) fn payments_named(payments: &[Payment]) -> String {
    listed(payments, |one| {
        format!("${} from {}", one.amount, one.payment_id)
    })
}

fn listed<T>(all: &[T], name: impl Fn(&T) -> String) -> String {
    all.iter().map(name).collect::<Vec<_>>().join(" and ")
}

/// The ids that the published suites give to new reservations, so that databases can be compared.
const NEW_RESERVATIONS: [&str; 3] = ["HATHAT", "HATHAU", "HATHAV"];

pub(crate) fn new_reservation_id(db: &Connection) -> Result<String> {
    for id in NEW_RESERVATIONS {
        if reservation(db, id)?.is_none() {
            return Ok(id.into());
        }
    }
    db.query_row("SELECT 'HAT' || COUNT(*) FROM reservation", (), |row| {
        row.get(0)
    })
}

/// Adds a certificate to a profile and returns its id; the first is the one of the published suites.
pub(crate) fn new_certificate(user: &mut User, amount: i64) -> String {
    let mut ids = (3_221_322_u32..).map(|number| format!("certificate_{number}"));
    let id = ids
        .find(|id| !user.payment_methods.contains_key(id))
        .unwrap_or_default();
    let rest = Map::from_iter([("id".to_owned(), Value::from(id.as_str()))]);
    let method = PaymentMethod {
        source: Source::Certificate,
        amount: Some(amount),
        rest,
    };
    user.payment_methods.insert(id.clone(), method);
    id
}

/// Returns the user's reservations with what was delayed or cancelled in them.
pub(crate) fn claims(db: &Connection, user: &User) -> Result<Vec<Claim>> {
    let mut claims = Vec::new();
    for id in &user.reservations {
        let Some(booked) = reservation(db, id)? else {
            continue;
        };
        let before = changes(db, id)?;
        let mut days = departures(db, &booked.flights)?;
        for booked in &before {
            days.extend(departures(db, &booked.flights)?);
        }
        claims.push(Claim {
            booked,
            days,
            changed: !before.is_empty(),
        });
    }
    Ok(claims)
}
