//! What the airline keeps: users, flights and reservations, as they are in the published data.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

/// The time at which every conversation takes place.
pub const NOW: &str = "2024-05-15T15:00:00";
/// One day before [`NOW`].
pub const A_DAY_AGO: &str = "2024-05-14T15:00:00";

/// Which of the two published suites the airline follows; they differ in a few facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edition {
    /// tau-bench: a gold member has 3 free bags in business, and its databases do not note a change of cabin, though it is paid.
    First,
    /// tau2-bench: a gold member has 4 free bags in business, and its databases note a change of cabin.
    Second,
}

/// A cabin class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cabin {
    /// A class of its own, with fewer rights than economy.
    BasicEconomy,
    /// Economy.
    Economy,
    /// Business.
    Business,
}

/// Whether a trip comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TripType {
    /// From the origin to the destination.
    OneWay,
    /// To the destination and back.
    RoundTrip,
}

/// Whether the passengers are insured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Insurance {
    /// They are.
    Yes,
    /// They are not.
    No,
}

/// A user's membership.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Membership {
    /// Without privileges.
    Regular,
    /// More free bags, and compensation.
    Silver,
    /// Still more free bags, and compensation.
    Gold,
}

/// A flight on a date, as a caller names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = true))] // Models repeat what a search returned.
pub struct FlightDate {
    /// The flight number, such as `HAT001`.
    pub flight_number: String,
    /// The date of departure, as `YYYY-MM-DD`.
    pub date: String,
}

/// A flight of a reservation, with its price for one passenger in dollars.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are named by the data")]
pub struct Segment {
    pub origin: String,
    pub destination: String,
    pub flight_number: String,
    pub date: String,
    pub price: i64,
}

/// A passenger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = true))] // Models repeat what a search returned.
pub struct Passenger {
    /// The first name.
    pub first_name: String,
    /// The last name.
    pub last_name: String,
    /// The date of birth, as `YYYY-MM-DD`.
    pub dob: String,
}

/// Counts passengers, as a number to calculate with.
#[must_use]
pub fn count(passengers: &[Passenger]) -> i64 {
    i64::try_from(passengers.len()).unwrap_or(i64::MAX)
}

/// What is paid with one method, in dollars; negative for a refund.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = true))] // Models repeat what a search returned.
pub struct Payment {
    /// The id of a payment method in the user's profile.
    pub payment_id: String,
    /// The amount in dollars.
    pub amount: i64,
}

/// A reservation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are named by the data")]
pub struct Reservation {
    pub reservation_id: String,
    pub user_id: String,
    pub origin: String,
    pub destination: String,
    pub flight_type: TripType,
    pub cabin: Cabin,
    pub flights: Vec<Segment>,
    pub passengers: Vec<Passenger>,
    pub payment_history: Vec<Payment>,
    pub created_at: String,
    pub total_baggages: i64,
    pub nonfree_baggages: i64,
    pub insurance: Insurance,
    /// `cancelled`, or absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
}

impl Reservation {
    /// Returns what was paid and not refunded, in dollars.
    #[must_use]
    pub fn paid(&self) -> i64 {
        self.payment_history
            .iter()
            .map(|payment| payment.amount)
            .sum()
    }

    /// Says whether these are the flights of the reservation, in their order.
    #[must_use]
    pub fn has_flights(&self, flights: &[FlightDate]) -> bool {
        let same = |(kept, chosen): (&Segment, &FlightDate)| {
            kept.flight_number == chosen.flight_number && kept.date == chosen.date
        };
        self.flights.len() == flights.len() && self.flights.iter().zip(flights).all(same)
    }
}

/// What kind of payment method it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Has no balance of its own.
    CreditCard,
    /// Has a balance.
    GiftCard,
    /// Is used up at once, whatever the amount.
    Certificate,
}

/// A payment method in a user's profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaymentMethod {
    /// Its kind.
    pub source: Source,
    /// The balance in dollars, of a gift card or certificate.
    #[serde(
        default,
        deserialize_with = "dollars",
        skip_serializing_if = "Option::is_none"
    )]
    pub amount: Option<i64>,
    /// The rest of it: the brand, the last digits.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// Reads whole dollars, which one publication of the data writes as `100.0`.
fn dollars<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    let number = Option::<Number>::deserialize(from)?.map(|number| number.to_string());
    let whole = |text: String| text.strip_suffix(".0").unwrap_or(&text).parse();
    number.map(whole).transpose().map_err(D::Error::custom)
}

/// A user with a profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// By id.
    pub payment_methods: BTreeMap<String, PaymentMethod>,
    /// Decides about free bags and compensation.
    pub membership: Membership,
    /// The ids of the user's reservations.
    pub reservations: Vec<String>,
    /// The rest of the profile: name, address, saved passengers.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A flight on one date.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Departure {
    /// `available`, `on time`, `delayed`, `flying`, `landed` or `cancelled`.
    pub status: String,
    /// The seats left in each cabin, if it is available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available_seats: Option<Cabins>,
    /// The price of a seat in each cabin, in dollars, if it is available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<Cabins>,
    /// The rest of it: estimated and actual times.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A number for each cabin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are named by the data")]
pub struct Cabins {
    pub basic_economy: i64,
    pub economy: i64,
    pub business: i64,
}

impl Cabins {
    /// Returns the number for a cabin.
    #[must_use]
    pub fn of(self, cabin: Cabin) -> i64 {
        match cabin {
            Cabin::BasicEconomy => self.basic_economy,
            Cabin::Economy => self.economy,
            Cabin::Business => self.business,
        }
    }
}

/// A flight that can be booked, as a search returns it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the fields are named by the data")]
pub struct Offer {
    pub flight_number: String,
    pub origin: String,
    pub destination: String,
    pub scheduled_departure_time_est: String,
    pub scheduled_arrival_time_est: String,
    pub date: String,
    #[serde(flatten)]
    pub departure: Departure,
}
