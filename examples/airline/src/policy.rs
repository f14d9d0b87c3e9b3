//! The conditions of the policy. Each is a function whose error is the sentence that the model reads.

use crate::model::{
    A_DAY_AGO, Cabin, Departure, Edition, FlightDate, Insurance, Membership, Payment, Reservation,
    Segment, Source, TripType, User, count,
};

/// What a condition says.
pub(crate) type Verdict = Result<(), String>;

/// The paragraph of the policy that a condition comes from, by the name under which a replay lists it.
pub(crate) const PARAGRAPHS: [(&str, &str); 13] = [
    ("is_served", "Book flight: user id"),
    ("flights_join", "Book flight"),
    ("is_standing", "Cancel flight"),
    ("payments_", "Book flight: payment"),
    ("bags_are_charged", "Book flight: checked bag allowance"),
    ("flights_may_change", "Modify flight: change flights"),
    ("keeps_its_route", "Modify flight: change flights"),
    ("cabin_may_change", "Modify flight: change cabin"),
    ("total_baggages", "Modify flight: change baggage"),
    ("is_unflown", "Cancel flight"),
    ("may_be_cancelled", "Cancel flight"),
    ("is_owed", "Refund"),
    ("history", "Refund"),
];

/// The price of a bag beyond the free ones, in dollars.
pub(crate) const BAG: i64 = 50;
/// The price of insurance for one passenger, in dollars.
pub(crate) const INSURANCE: i64 = 30;

/// Returns how many bags are free for each passenger ("Book flight", checked bag allowance).
pub(crate) fn free_bags(membership: Membership, cabin: Cabin, edition: Edition) -> i64 {
    let cabin_bags = match cabin {
        Cabin::BasicEconomy => 0,
        Cabin::Economy => 1,
        Cabin::Business => 2,
    };
    match membership {
        Membership::Regular => cabin_bags,
        Membership::Silver => cabin_bags + 1,
        Membership::Gold if cabin == Cabin::Business && edition == Edition::First => 3,
        Membership::Gold => cabin_bags + 2,
    }
}

/// Every extra bag is paid, and no free one ("Book flight", checked bag allowance). `before` counts those already paid.
pub(crate) fn bags_are_charged(total: i64, charged: i64, before: i64, free: i64) -> Verdict {
    let extra = (total - free).max(0);
    if (extra..=extra.max(before)).contains(&charged) {
        return Ok(());
    }
    Err(format!(
        "{free} bags are free, so of {total} bags {extra} must be paid, not {charged}; set nonfree_baggages to {extra}"
    ))
}

/// One certificate, one credit card and three gift cards at most ("Book flight", payment).
pub(crate) fn payments_combine(user: &User, payments: &[Payment]) -> Verdict {
    let limits = [
        (Source::Certificate, 1, "travel certificate"),
        (Source::CreditCard, 1, "credit card"),
        (Source::GiftCard, 3, "gift card(s)"),
    ];
    for (source, limit, name) in limits {
        let methods = payments
            .iter()
            .filter_map(|payment| user.payment_methods.get(&payment.payment_id));
        let count = methods.filter(|method| method.source == source).count();
        if count > limit {
            return Err(format!(
                "a reservation takes at most {limit} {name}, and this has {count}"
            ));
        }
    }
    Ok(())
}

/// Every payment method is in the profile and holds enough ("Book flight", payment).
pub(crate) fn payments_are_covered(user: &User, payments: &[Payment]) -> Verdict {
    payments
        .iter()
        .try_for_each(|payment| covered(user, &payment.payment_id, payment.amount))
}

fn covered(user: &User, id: &str, amount: i64) -> Verdict {
    let method = user.payment_methods.get(id);
    let method = method.ok_or_else(|| {
        format!("{id} is not in the user's profile; only methods of the profile pay")
    })?;
    match method.amount {
        Some(balance) if balance < amount => Err(format!(
            "{id} holds ${balance}, which does not cover ${amount}"
        )),
        _ => Ok(()),
    }
}

/// One gift card or credit card of the profile pays a change or takes its refund ("Modify flight", payment).
pub(crate) fn change_is_covered(user: &User, id: &str, amount: i64) -> Verdict {
    covered(user, id, amount)?;
    match user.payment_methods.get(id) {
        Some(method) if method.source == Source::Certificate => Err(format!(
            "{id} is a certificate; a change is paid or refunded with one gift card or credit card"
        )),
        _ => Ok(()),
    }
}

/// Basic economy keeps its flights ("Modify flight", change flights).
pub(crate) fn flights_may_change(booked: &Reservation, flights: &[FlightDate]) -> Verdict {
    if booked.cabin != Cabin::BasicEconomy || booked.has_flights(flights) {
        return Ok(());
    }
    let id = &booked.reservation_id;
    Err(format!(
        "{id} is basic economy, whose flights cannot be modified; only its cabin can change, with the same flights"
    ))
}

/// Other flights keep the origin, the destination and the trip type ("Modify flight", change flights).
pub(crate) fn keeps_its_route(booked: &Reservation, segments: &[Segment]) -> Verdict {
    let (from, to) = (&booked.origin, &booked.destination);
    if is_trip(segments, from, to, booked.flight_type) {
        return Ok(());
    }
    let (id, trip) = (&booked.reservation_id, kind(booked.flight_type));
    Err(format!(
        "{id} is {trip} from {from} to {to}, which cannot change; list all flights of such a trip"
    ))
}

/// The flights of a booking join: each starts where the one before has ended, and not before that.
pub(crate) fn flights_join(
    segments: &[Segment],
    times: &[[String; 2]],
    (from, to, trip): (&str, &str, TripType),
) -> Verdict {
    if !is_trip(segments, from, to, trip) {
        let trip = kind(trip);
        return Err(format!(
            "the flights are not {trip} from {from} to {to}; list all of them in their order, each from where the last one ends"
        ));
    }
    for (pair, time) in segments.windows(2).zip(times.windows(2)) {
        let (arrives, departs) = (&time[0][1], &time[1][0]);
        if departs < arrives {
            let (first, next) = (&pair[0].flight_number, &pair[1].flight_number);
            return Err(format!(
                "{next} leaves at {departs}, before {first} arrives at {arrives}; choose a later flight"
            ));
        }
    }
    Ok(())
}

/// Whether flights lead from one airport to the other, and back on a round trip.
fn is_trip(segments: &[Segment], from: &str, to: &str, trip: TripType) -> bool {
    let end = match trip {
        TripType::OneWay => to,
        TripType::RoundTrip => from,
    };
    segments.first().is_some_and(|first| first.origin == from)
        && segments.last().is_some_and(|last| last.destination == end)
        && segments.iter().any(|segment| segment.destination == to)
        && segments
            .windows(2)
            .all(|pair| pair[0].destination == pair[1].origin)
}

fn kind(trip: TripType) -> &'static str {
    match trip {
        TripType::OneWay => "a one-way trip",
        TripType::RoundTrip => "a round trip",
    }
}

/// A cancelled reservation is neither changed nor cancelled again.
pub(crate) fn is_standing(booked: &Reservation) -> Verdict {
    match booked.status.as_deref() {
        Some("cancelled") => Err(format!(
            "{} is cancelled, and stays so",
            booked.reservation_id
        )),
        _ => Ok(()),
    }
}

/// A conversation is with one user: after profiles were looked up, the one that a write is about is among them.
pub(crate) fn is_served(owner: &str, looked_up: usize, is_among_them: bool) -> Verdict {
    if looked_up == 0 || is_among_them {
        return Ok(());
    }
    Err(format!(
        "this belongs to {owner}, and another user is served here; ask who the user is, and look up that profile"
    ))
}

/// A cabin changes only while no flight has been flown ("Modify flight", change cabin).
pub(crate) fn cabin_may_change(booked: &Reservation, cabin: Cabin, days: &[Departure]) -> Verdict {
    if booked.cabin == cabin {
        Ok(())
    } else {
        is_unflown(booked, days)
    }
}

/// A trip is cancelled as a whole, before any of it is flown ("Cancel flight").
pub(crate) fn is_unflown(booked: &Reservation, days: &[Departure]) -> Verdict {
    if days
        .iter()
        .any(|day| matches!(day.status.as_str(), "flying" | "landed"))
    {
        return Err(format!(
            "a flight of {} has been flown; transfer to a human agent",
            booked.reservation_id
        ));
    }
    Ok(())
}

/// Booked within a day, cancelled by the airline, in business, or insured ("Cancel flight").
pub(crate) fn may_be_cancelled(booked: &Reservation, days: &[Departure]) -> Verdict {
    if needs_no_reason(booked, days) || booked.insurance == Insurance::Yes {
        return Ok(());
    }
    Err(format!(
        "{} was booked more than 24 hours ago, is not business, has no insurance, and the airline has not cancelled a flight \
         of it; it cannot be cancelled",
        booked.reservation_id
    ))
}

/// Whether a trip can be cancelled without its insurance, which pays for health and weather only ("Cancel flight").
pub(crate) fn needs_no_reason(booked: &Reservation, days: &[Departure]) -> bool {
    let by_airline = days.iter().any(|day| day.status == "cancelled");
    booked.created_at.as_str() >= A_DAY_AGO || by_airline || booked.cabin == Cabin::Business
}

/// What a reservation says about compensation.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    /// The reservation as it is.
    pub(crate) booked: Reservation,
    /// The departures of its flights, also of those before a change.
    pub(crate) days: Vec<Departure>,
    /// Whether it has been changed or cancelled.
    pub(crate) changed: bool,
}

impl Claim {
    /// For members, the insured and business.
    fn is_entitled(&self, user: &User) -> bool {
        let booked = &self.booked;
        user.membership != Membership::Regular
            || booked.insurance == Insurance::Yes
            || booked.cabin == Cabin::Business
    }

    fn amounts(&self) -> impl Iterator<Item = i64> {
        let passengers = count(&self.booked.passengers);
        let has = |status| self.days.iter().any(|day| day.status == status);
        let cancelled = has("cancelled").then_some(100 * passengers);
        let delayed = (has("delayed") && self.changed).then_some(50 * passengers);
        cancelled.into_iter().chain(delayed)
    }

    /// Says whether the reservation gives the user a right to this amount.
    pub(crate) fn owes(&self, amount: i64, user: &User) -> bool {
        self.is_entitled(user) && self.amounts().any(|owed| owed == amount)
    }
}

/// A certificate is $100 for each passenger of a cancelled flight, $50 of a delayed one that was then changed or cancelled;
/// for members, the insured and business ("Refund").
pub(crate) fn is_owed(amount: i64, user: &User, claims: &[Claim]) -> Verdict {
    let entitled = claims.iter().filter(|claim| claim.is_entitled(user));
    let mut owed: Vec<i64> = entitled.flat_map(Claim::amounts).collect();
    if owed.contains(&amount) {
        return Ok(());
    }
    owed.sort_unstable();
    owed.dedup();
    if owed.is_empty() {
        return Err(
            "no reservation gives a right to compensation: a member, insured or business passenger needs a cancelled \
             flight, or a delayed one that was then changed or cancelled"
                .into(),
        );
    }
    Err(format!(
        "compensation can be {owed:?} dollars here, not {amount}: $100 or $50 for each passenger"
    ))
}
