//! The tools, in the order of the policy: look up, book, modify, cancel, compensate.

use std::collections::BTreeMap;

use contract_runtime::prelude::*;
use rusqlite::Result;

use crate::airports::AIRPORTS;
use crate::arithmetic::evaluate;
use crate::fares::{next_day, price_of, priced, repriced};
use crate::model::{
    Cabin, FlightDate, Insurance, NOW, Offer, Passenger, Payment, Reservation, TripType, User,
    count,
};
use crate::policy::{
    BAG, INSURANCE, bags_are_charged, cabin_may_change, change_is_covered, flights_join,
    flights_may_change, free_bags, is_owed, is_served, is_standing, is_unflown, keeps_its_route,
    may_be_cancelled, needs_no_reason, payments_are_covered, payments_combine,
};
use crate::store::{
    Airline, departure, departures, offers, put_reservation, put_user, remember, reservation,
    times, user,
};
use crate::writes::{
    claims, flights_named, new_certificate, new_reservation_id, pay, payments_named, people_named,
    spend,
};

#[tool]
impl Airline {
    /// Get the profile of a user: payment methods, membership, reservation ids.
    #[tool(read_only)]
    #[given(db = self.lock())]
    #[given(user = user(&db, user_id)?, else "there is no user {user_id}")]
    fn get_user_details(
        &self,
        /// The user's id, such as `sara_doe_496`.
        user_id: &str,
    ) -> Result<User> {
        Ok(user)
    }

    /// Get a reservation: flights, passengers, payments, bags and insurance.
    #[tool(read_only)]
    #[given(db = self.lock())]
    #[given(booked = reservation(&db, reservation_id)?, else "there is no reservation {reservation_id}")]
    fn get_reservation_details(
        &self,
        /// The reservation's id, such as `8JX2WO`.
        reservation_id: &str,
    ) -> Result<Reservation> {
        Ok(booked)
    }

    /// Get the status of a flight on a date.
    #[tool(read_only)]
    #[given(db = self.lock())]
    #[given(day = departure(&db, flight_number, date)?, else "there is no flight {flight_number} on {date}")]
    fn get_flight_status(
        &self,
        /// The flight number, such as `HAT001`.
        flight_number: &str,
        /// The date, as `YYYY-MM-DD`.
        date: &str,
    ) -> Result<String> {
        Ok(day.status)
    }

    /// List the airports that the airline serves, with their cities.
    #[tool(read_only)]
    fn list_all_airports(&self) -> BTreeMap<&'static str, &'static str> {
        let airports = AIRPORTS.split(", ");
        airports
            .filter_map(|airport| airport.split_once(' '))
            .collect()
    }

    /// Search direct flights that can be booked between two airports on a date.
    #[tool(read_only)]
    #[given(db = self.lock())]
    fn search_direct_flight(
        &self,
        /// The airport of departure, such as `JFK`.
        origin: &str,
        /// The airport of arrival, such as `LAX`.
        destination: &str,
        /// The date, as `YYYY-MM-DD`.
        date: &str,
    ) -> Result<Vec<Offer>> {
        offers(&db, origin, Some(destination), date)
    }

    /// Search pairs of flights with one stop that can be booked between two airports on a date.
    #[tool(read_only)]
    #[given(db = self.lock())]
    fn search_onestop_flight(
        &self,
        /// The airport of departure, such as `JFK`.
        origin: &str,
        /// The airport of arrival, such as `LAX`.
        destination: &str,
        /// The date, as `YYYY-MM-DD`.
        date: &str,
    ) -> Result<Vec<[Offer; 2]>> {
        let mut pairs = Vec::new();
        for first in offers(&db, origin, None, date)? {
            let arrival = first.scheduled_arrival_time_est.as_str();
            let day = if arrival.contains("+1") {
                next_day(date)
            } else {
                date.to_owned()
            };
            for second in offers(&db, &first.destination, Some(destination), &day)? {
                if second.scheduled_departure_time_est.as_str() >= arrival {
                    pairs.push([first.clone(), second]);
                }
            }
        }
        Ok(pairs)
    }

    /// Calculate the value of an expression with numbers, + - * / and parentheses.
    #[tool(read_only)]
    fn calculate(
        &self,
        /// The expression, such as `2 * (3 + 4)`.
        expression: &str,
    ) -> Result<f64, String> {
        evaluate(expression)
    }

    /// Book a reservation.
    #[expect(clippy::too_many_arguments, reason = "the published tool has them")]
    #[tool(
        confirm = "Book {} for {}, and take {}?",
        flights_named(&segments, cabin), people_named(&passengers), payments_named(&payment_methods)
    )]
    #[given(mut db = self.lock())]
    #[given(tx = db.transaction()?, then tx.commit()?)]
    #[given(mut user = user(&tx, &user_id)?, else "there is no user {user_id}")]
    #[pre(is_served(&user_id, history().count(Self::get_user_details),
        history().with("user_id", &user_id).seen(Self::get_user_details)), "another user is served here")]
    #[pre((1..=5).contains(&passengers.len()), "a reservation has one to five passengers, and this has {}", passengers.len())]
    #[given(segments = priced(&tx, &flights, cabin, count(&passengers))?, else)]
    #[given(times = times(&tx, &segments)?)]
    #[pre(flights_join(&segments, &times, (&origin, &destination, flight_type)), "the flights must join")]
    #[given(seats = count(&passengers))]
    #[given(insured = if insurance == Insurance::Yes { INSURANCE * seats } else { 0 })]
    #[given(total = price_of(&segments) * seats + insured + BAG * nonfree_baggages)]
    #[given(free = free_bags(user.membership, cabin, self.edition()) * seats)]
    #[pre(
        bags_are_charged(total_baggages, nonfree_baggages, 0, free),
        "the number of paid bags is wrong"
    )]
    #[pre(payments_combine(&user, &payment_methods), "too many payment methods of one kind")]
    #[pre(payments_are_covered(&user, &payment_methods), "a payment method is not in the profile or holds too little")]
    #[pre(payment_methods.iter().map(|p| p.amount).sum::<i64>() == total, "the payments must add up to ${}", total)]
    #[post(|booked| booked.paid() == total)]
    fn book_reservation(
        &self,
        /// The id of the user who books, such as `sara_doe_496`.
        user_id: String,
        /// The airport where the trip begins, such as `SFO`.
        origin: String,
        /// The airport that the trip goes to, such as `JFK`.
        destination: String,
        /// Whether the trip comes back.
        flight_type: TripType,
        /// The cabin for all flights and passengers.
        cabin: Cabin,
        /// All flights of the trip, in their order.
        flights: Vec<FlightDate>,
        /// All passengers.
        passengers: Vec<Passenger>,
        /// What is paid with which method of the user's profile.
        payment_methods: Vec<Payment>,
        /// The number of checked bags.
        total_baggages: i64,
        /// The number of checked bags that are paid.
        nonfree_baggages: i64,
        /// Whether the passengers are insured.
        insurance: Insurance,
    ) -> Result<Reservation> {
        let booked = Reservation {
            reservation_id: new_reservation_id(&tx)?,
            user_id,
            origin,
            destination,
            flight_type,
            cabin,
            flights: segments,
            passengers,
            payment_history: payment_methods,
            created_at: NOW.into(),
            total_baggages,
            nonfree_baggages,
            insurance,
            status: None,
        };
        for payment in &booked.payment_history {
            spend(&mut user, payment);
        }
        user.reservations.push(booked.reservation_id.clone());
        put_user(&tx, &booked.user_id, &user)?;
        put_reservation(&tx, &booked)?;
        Ok(booked)
    }

    /// Change the flights or the cabin of a reservation.
    #[tool(confirm = "Change {reservation_id} to {} for ${}, with {payment_id}?", flights_named(&segments, cabin), difference)]
    #[given(mut db = self.lock())]
    #[given(tx = db.transaction()?, then tx.commit()?)]
    #[given(mut booked = reservation(&tx, &reservation_id)?, else "there is no reservation {reservation_id}")]
    #[pre(is_served(&booked.user_id, history().count(Self::get_user_details),
        history().with("user_id", &booked.user_id).seen(Self::get_user_details)), "another user is served here")]
    #[pre(is_standing(&booked), "a cancelled reservation stays as it is")]
    #[given(mut user = user(&tx, &booked.user_id)?, else "the reservation has no user")]
    #[given(days = departures(&tx, &booked.flights)?)]
    #[pre(flights_may_change(&booked, &flights), "basic economy keeps its flights")]
    #[pre(cabin_may_change(&booked, cabin, &days), "a flight has been flown")]
    #[given(segments = repriced(&tx, &booked, &flights, cabin)?, else)]
    #[pre(keeps_its_route(&booked, &segments), "origin, destination and trip type cannot change")]
    #[given(difference = (price_of(&segments) - price_of(&booked.flights)) * count(&booked.passengers))]
    #[pre(change_is_covered(&user, &payment_id, difference), "one gift card or credit card must cover the difference")]
    #[post(|changed| changed.paid() == old(booked.paid()) + difference)]
    fn update_reservation_flights(
        &self,
        /// The reservation's id, such as `8JX2WO`.
        reservation_id: String,
        /// The cabin for all flights, changed or not.
        cabin: Cabin,
        /// All flights of the trip in their order, also those that stay.
        flights: Vec<FlightDate>,
        /// The gift card or credit card that pays the difference or takes the refund.
        payment_id: String,
    ) -> Result<Reservation> {
        remember(&tx, &booked)?;
        booked.flights = segments;
        booked.cabin = cabin;
        pay(&mut booked, &mut user, &payment_id, difference);
        put_user(&tx, &booked.user_id, &user)?;
        put_reservation(&tx, &booked)?;
        Ok(booked)
    }

    /// Add checked bags to a reservation.
    #[tool(
        confirm = "Have {total_baggages} bags on {reservation_id} for ${}, with {payment_id}?",
        price
    )]
    #[given(mut db = self.lock())]
    #[given(tx = db.transaction()?, then tx.commit()?)]
    #[given(mut booked = reservation(&tx, &reservation_id)?, else "there is no reservation {reservation_id}")]
    #[pre(is_served(&booked.user_id, history().count(Self::get_user_details),
        history().with("user_id", &booked.user_id).seen(Self::get_user_details)), "another user is served here")]
    #[pre(is_standing(&booked), "a cancelled reservation stays as it is")]
    #[given(mut user = user(&tx, &booked.user_id)?, else "the reservation has no user")]
    #[pre(total_baggages >= booked.total_baggages, "bags can be added, not removed; there are {}", booked.total_baggages)]
    #[given(free = free_bags(user.membership, booked.cabin, self.edition()) * count(&booked.passengers))]
    #[pre(bags_are_charged(total_baggages, nonfree_baggages, booked.nonfree_baggages, free), "the number of paid bags is wrong")]
    #[given(price = BAG * (nonfree_baggages - booked.nonfree_baggages).max(0))]
    #[pre(change_is_covered(&user, &payment_id, price), "one gift card or credit card must cover the price")]
    #[post(|changed| changed.paid() == old(booked.paid()) + price)]
    fn update_reservation_baggages(
        &self,
        /// The reservation's id, such as `8JX2WO`.
        reservation_id: String,
        /// The number of checked bags, with those already there.
        total_baggages: i64,
        /// The number of checked bags that are paid, with those already paid.
        nonfree_baggages: i64,
        /// The gift card or credit card that pays.
        payment_id: String,
    ) -> Result<Reservation> {
        booked.total_baggages = total_baggages;
        booked.nonfree_baggages = nonfree_baggages;
        pay(&mut booked, &mut user, &payment_id, price);
        put_user(&tx, &booked.user_id, &user)?;
        put_reservation(&tx, &booked)?;
        Ok(booked)
    }

    /// Change the names and dates of birth of a reservation's passengers.
    #[tool(alone, confirm = "Change the passengers of {reservation_id} to {}?", people_named(&passengers))]
    #[given(mut db = self.lock())]
    #[given(tx = db.transaction()?, then tx.commit()?)]
    #[given(mut booked = reservation(&tx, &reservation_id)?, else "there is no reservation {reservation_id}")]
    #[pre(is_served(&booked.user_id, history().count(Self::get_user_details),
        history().with("user_id", &booked.user_id).seen(Self::get_user_details)), "another user is served here")]
    #[pre(is_standing(&booked), "a cancelled reservation stays as it is")]
    #[pre(
        passengers.len() == booked.passengers.len(),
        "the number of passengers cannot change, not even by a human agent; there are {}", booked.passengers.len()
    )]
    #[post(|changed| changed.paid() == old(booked.paid()))]
    fn update_reservation_passengers(
        &self,
        /// The reservation's id, such as `8JX2WO`.
        reservation_id: String,
        /// All passengers, also those that stay.
        passengers: Vec<Passenger>,
    ) -> Result<Reservation> {
        booked.passengers = passengers;
        put_reservation(&tx, &booked)?;
        Ok(booked)
    }

    /// Cancel a whole reservation; the refund goes to the original payment methods.
    #[tool(
        alone, destructive,
        confirm = "Cancel {reservation_id}, {}, and refund ${}?", flights_named(&booked.flights, booked.cabin), booked.paid()
    )]
    #[given(mut db = self.lock())]
    #[given(tx = db.transaction()?, then tx.commit()?)]
    #[given(mut booked = reservation(&tx, &reservation_id)?, else "there is no reservation {reservation_id}")]
    #[pre(is_served(&booked.user_id, history().count(Self::get_user_details),
        history().with("user_id", &booked.user_id).seen(Self::get_user_details)), "another user is served here")]
    #[pre(is_standing(&booked), "a cancelled reservation stays as it is")]
    #[given(days = departures(&tx, &booked.flights)?)]
    #[pre(is_unflown(&booked, &days), "a flight has been flown")]
    #[pre(may_be_cancelled(&booked, &days), "not within a day of booking, in business, insured or cancelled by the airline")]
    #[pre(
        needs_no_reason(&booked, &days), "insurance pays for health and weather only",
        ask = "Is health or weather the reason to cancel {reservation_id}? Its insurance pays for nothing else.", id = "reason"
    )]
    #[post(|cancelled| cancelled.paid() == 0)]
    fn cancel_reservation(
        &self,
        /// The reservation's id, such as `8JX2WO`.
        reservation_id: String,
    ) -> Result<Reservation> {
        remember(&tx, &booked)?;
        let refund = |paid: &Payment| Payment {
            payment_id: paid.payment_id.clone(),
            amount: -paid.amount,
        };
        let refunds: Vec<Payment> = booked.payment_history.iter().map(refund).collect();
        booked.payment_history.extend(refunds);
        booked.status = Some("cancelled".into());
        put_reservation(&tx, &booked)?;
        Ok(booked)
    }

    /// Send a certificate to a user who asks for compensation after a cancelled or delayed flight.
    #[tool(alone)]
    #[given(mut db = self.lock())]
    #[given(tx = db.transaction()?, then tx.commit()?)]
    #[given(mut user = user(&tx, &user_id)?, else "there is no user {user_id}")]
    #[pre(is_served(&user_id, history().count(Self::get_user_details),
        history().with("user_id", &user_id).seen(Self::get_user_details)), "another user is served here")]
    #[given(claims = claims(&tx, &user)?)]
    #[pre(history().seen(Self::get_reservation_details), "look at the reservation first, to confirm the facts")]
    #[pre(is_owed(amount, &user, &claims), "no such compensation is owed")]
    #[pre(
        history().with("user_id", &user_id).with("amount", &amount).count(Self::send_certificate)
            < claims.iter().filter(|claim| claim.owes(amount, &user)).count(),
        "{user_id} has got this compensation already"
    )]
    fn send_certificate(
        &self,
        /// The user's id, such as `sara_doe_496`.
        user_id: String,
        /// The amount in dollars.
        amount: i64,
    ) -> Result<String> {
        let id = new_certificate(&mut user, amount);
        put_user(&tx, &user_id, &user)?;
        Ok(format!(
            "{id} with ${amount} is in the profile of {user_id}"
        ))
    }

    /// Transfer the user to a human agent, if the request is outside of what the tools and the policy allow.
    #[tool(read_only)]
    fn transfer_to_human_agents(
        &self,
        /// What the user wants.
        summary: String,
    ) -> String {
        format!("transferred with this summary: {summary}")
    }
}
