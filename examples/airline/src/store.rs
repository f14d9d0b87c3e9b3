//! The database of the airline: documents in `SQLite`, read and written in transactions.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::backup::Backup;
use rusqlite::types::Type;
use rusqlite::{Connection, Error, OptionalExtension as _, Result, ToSql};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::fares::next_day;
use crate::model::{Departure, Edition, FlightDate, Offer, Reservation, Segment, User};

/// The airline: its database, and which suite it follows.
#[derive(Debug)]
pub struct Airline {
    db: Mutex<Connection>,
    edition: Edition,
}

const TABLES: &str = "
    CREATE TABLE user (id TEXT PRIMARY KEY, document TEXT NOT NULL);
    CREATE TABLE reservation (id TEXT PRIMARY KEY, document TEXT NOT NULL);
    CREATE TABLE flight (number TEXT PRIMARY KEY, origin TEXT, destination TEXT, departs TEXT, arrives TEXT);
    CREATE TABLE departure (number TEXT, date TEXT, document TEXT NOT NULL, PRIMARY KEY (number, date));
    -- What a reservation was before it was changed or cancelled.
    CREATE TABLE change (reservation TEXT NOT NULL, document TEXT NOT NULL);
    CREATE INDEX route ON flight (origin, destination);";

impl Airline {
    /// Opens an airline in memory with the published data: `users`, `reservations` and `flights`, each an object by id.
    ///
    /// # Errors
    ///
    /// Fails if a document lacks what the airline needs, or the database cannot be made.
    pub fn open(data: &Value, edition: Edition) -> Result<Self> {
        let mut db = Connection::open_in_memory()?;
        db.execute_batch(TABLES)?;
        let tx = db.transaction()?;
        for (id, document) in entries(data, "users") {
            put_user(&tx, id, &read::<User>(&document.to_string())?)?;
        }
        for (_, document) in entries(data, "reservations") {
            put_reservation(&tx, &read(&document.to_string())?)?;
        }
        for (number, flight) in entries(data, "flights") {
            let text = |key: &str| flight[key].as_str().unwrap_or_default();
            tx.execute(
                "INSERT INTO flight VALUES (?1, ?2, ?3, ?4, ?5)",
                (
                    number,
                    text("origin"),
                    text("destination"),
                    text("scheduled_departure_time_est"),
                    text("scheduled_arrival_time_est"),
                ),
            )?;
            for (date, day) in entries(flight, "dates") {
                tx.execute(
                    "INSERT INTO departure VALUES (?1, ?2, ?3)",
                    (number, date, day.to_string()),
                )?;
            }
        }
        tx.commit()?;
        Ok(Self {
            db: Mutex::new(db),
            edition,
        })
    }

    /// Copies the airline as it is now.
    ///
    /// # Errors
    ///
    /// Fails if the database cannot be copied.
    pub fn copy(&self) -> Result<Self> {
        let mut db = Connection::open_in_memory()?;
        Backup::new(&self.lock(), &mut db)?.step(-1)?;
        Ok(Self {
            db: Mutex::new(db),
            edition: self.edition,
        })
    }

    /// Returns what calls can change, in the form of the published data: `users` and `reservations`.
    ///
    /// # Errors
    ///
    /// Fails if the database cannot be read.
    pub fn contents(&self) -> Result<Value> {
        let db = self.lock();
        let table = |name: &str| -> Result<Value> {
            let mut select = db.prepare(&format!("SELECT id, document FROM {name}"))?;
            let rows = select.query_map((), |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
            })?;
            let mut table = Map::new();
            for row in rows {
                let (id, document) = row?;
                table.insert(id, read(&document)?);
            }
            Ok(Value::Object(table))
        };
        let mut reservations = table("reservation")?;
        if self.edition == Edition::First {
            let mut select = db.prepare("SELECT document FROM change ORDER BY rowid DESC")?;
            for document in select.query_map((), |row| row.get::<_, String>(0))? {
                let before: Reservation = read(&document?)?;
                reservations[before.reservation_id]["cabin"] = json!(before.cabin);
            }
        }
        Ok(json!({"users": table("user")?, "reservations": reservations}))
    }

    /// Takes over a reservation as a recording shows it.
    ///
    /// The first suite shows the old cabin after a change, so a cabin that was changed here stays.
    ///
    /// # Errors
    ///
    /// Fails if the database cannot be read or written.
    pub fn follow(&self, mut shown: Reservation) -> Result<()> {
        let db = self.lock();
        if self.edition == Edition::First
            && let Some(ours) = reservation(&db, &shown.reservation_id)?
        {
            shown.cabin = ours.cabin;
        }
        put_reservation(&db, &shown)
    }

    /// Returns which suite the airline follows.
    #[must_use]
    pub fn edition(&self) -> Edition {
        self.edition
    }

    /// A connection that a panic has left is sound: its transaction was rolled back.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Connection> {
        self.db.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn entries<'v>(data: &'v Value, key: &str) -> impl Iterator<Item = (&'v String, &'v Value)> {
    data[key].as_object().into_iter().flatten()
}

fn read<T: DeserializeOwned>(document: &str) -> Result<T> {
    serde_json::from_str(document)
        .map_err(|error| Error::FromSqlConversionFailure(0, Type::Text, error.into()))
}

fn write(document: &impl Serialize) -> Result<String> {
    serde_json::to_string(document).map_err(|error| Error::ToSqlConversionFailure(error.into()))
}

fn find<T: DeserializeOwned>(
    db: &Connection,
    select: &str,
    key: &[&dyn ToSql],
) -> Result<Option<T>> {
    db.query_row(select, key, |row| row.get::<_, String>(0))
        .optional()?
        .map(|document| read(&document))
        .transpose()
}

pub(crate) fn user(db: &Connection, id: &str) -> Result<Option<User>> {
    find(db, "SELECT document FROM user WHERE id = ?1", &[&id])
}

pub(crate) fn reservation(db: &Connection, id: &str) -> Result<Option<Reservation>> {
    find(db, "SELECT document FROM reservation WHERE id = ?1", &[&id])
}

pub(crate) fn departure(db: &Connection, number: &str, date: &str) -> Result<Option<Departure>> {
    find(
        db,
        "SELECT document FROM departure WHERE number = ?1 AND date = ?2",
        &[&number, &date],
    )
}

pub(crate) fn put_user(db: &Connection, id: &str, user: &User) -> Result<()> {
    db.execute(
        "INSERT OR REPLACE INTO user VALUES (?1, ?2)",
        (id, write(user)?),
    )?;
    Ok(())
}

pub(crate) fn put_reservation(db: &Connection, reservation: &Reservation) -> Result<()> {
    let values = (&reservation.reservation_id, write(reservation)?);
    db.execute("INSERT OR REPLACE INTO reservation VALUES (?1, ?2)", values)?;
    Ok(())
}

/// Remembers what a reservation was before it was changed or cancelled.
pub(crate) fn remember(db: &Connection, before: &Reservation) -> Result<()> {
    db.execute(
        "INSERT INTO change VALUES (?1, ?2)",
        (&before.reservation_id, write(before)?),
    )?;
    Ok(())
}

/// Returns what the reservation was before each of its changes.
pub(crate) fn changes(db: &Connection, id: &str) -> Result<Vec<Reservation>> {
    let mut select = db.prepare("SELECT document FROM change WHERE reservation = ?1")?;
    select
        .query_map([id], |row| row.get::<_, String>(0))?
        .map(|row| read(&row?))
        .collect()
}

/// Returns the departures of a reservation's flights; a date without the flight has none.
pub(crate) fn departures(db: &Connection, flights: &[Segment]) -> Result<Vec<Departure>> {
    let found = flights
        .iter()
        .map(|segment| departure(db, &segment.flight_number, &segment.date));
    found.filter_map(Result::transpose).collect()
}

/// Returns the flights that leave an airport on a date and can be booked, to one destination or to any.
pub(crate) fn offers(
    db: &Connection,
    origin: &str,
    destination: Option<&str>,
    date: &str,
) -> Result<Vec<Offer>> {
    let mut select = db.prepare(
        "SELECT number, origin, destination, departs, arrives, document FROM flight JOIN departure USING (number)
         WHERE origin = ?1 AND (?2 IS NULL OR destination = ?2) AND date = ?3
         AND document ->> 'status' = 'available' ORDER BY number",
    )?;
    let rows = select.query_map((origin, destination, date), |row| {
        Ok(Offer {
            flight_number: row.get(0)?,
            origin: row.get(1)?,
            destination: row.get(2)?,
            scheduled_departure_time_est: row.get(3)?,
            scheduled_arrival_time_est: row.get(4)?,
            date: date.into(),
            departure: read(&row.get::<_, String>(5)?)?,
        })
    })?;
    rows.collect()
}

/// Returns when each flight of a reservation leaves and when it arrives, as `YYYY-MM-DDTHH:MM:SS`.
pub(crate) fn times(db: &Connection, flights: &[Segment]) -> Result<Vec<[String; 2]>> {
    let mut select = db.prepare("SELECT departs, arrives FROM flight WHERE number = ?1")?;
    let mut times = |Segment {
                         flight_number,
                         date,
                         ..
                     }: &Segment| {
        select.query_row([flight_number], |row| {
            let (departs, arrives): (String, String) = (row.get(0)?, row.get(1)?);
            let arrives = match arrives.strip_suffix("+1") {
                Some(time) => format!("{}T{time}", next_day(date)),
                None => format!("{date}T{arrives}"),
            };
            Ok([format!("{date}T{departs}"), arrives])
        })
    };
    flights.iter().map(&mut times).collect()
}

/// Returns the ends of a flight's route.
pub(crate) fn route(db: &Connection, flight: &FlightDate) -> Result<Option<(String, String)>> {
    let select = "SELECT origin, destination FROM flight WHERE number = ?1";
    db.query_row(select, [&flight.flight_number], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })
    .optional()
}
