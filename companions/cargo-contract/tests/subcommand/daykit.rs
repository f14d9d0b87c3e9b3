//! Calendar tools for agents: days, months and years of the Gregorian calendar.
//!
//! Source: ISO 8601-1, "Date and time: Basic rules", 2019. Day numbers: H. Hinnant, "chrono-Compatible Low-Level Date
//! Algorithms", 2013, `days_from_civil`.

use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

// Users of this library need the same version: with another one, no tool of this library would be found.
pub use contract_runtime;

/// A date of the Gregorian calendar.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Date {
    #[schemars(range(min = 1583, max = 9999))]
    pub year: i32,
    #[schemars(range(min = 1, max = 12))]
    pub month: u32,
    #[schemars(range(min = 1, max = 31))]
    pub day: u32,
}

impl Date {
    /// Whether there is such a day; otherwise the sentence says what is wrong.
    fn exists(self) -> Result<(), String> {
        let Self { year, month, day } = self;
        if day >= 1 && day <= length(year, month) {
            return Ok(());
        }
        Err(format!("month {month} of {year} has no day {day}"))
    }
}

/// Say whether a year has 366 days.
#[tool(read_only, idempotent)]
#[pre((1583..=9999).contains(&year), "the calendar begins in 1583")]
pub fn is_leap_year(year: i32) -> bool {
    leap(year)
}

/// Say how many days a month has.
#[tool(read_only, idempotent)]
#[pre((1583..=9999).contains(&year), "the calendar begins in 1583")]
#[pre((1..=12).contains(&month), "months go from 1 to 12")]
#[post(|days| (28..=31).contains(days))]
pub fn days_in_month(year: i32, month: u32) -> u32 {
    length(year, month)
}

/// Say the day of the week of a date, in English.
#[tool(read_only, idempotent)]
#[pre((1583..=9999).contains(&year), "the calendar begins in 1583")]
#[pre((1..=12).contains(&month), "months go from 1 to 12")]
#[pre(day >= 1 && day <= length(year, month), "month {month} of {year} has no day {day}")]
#[post(|name| name.ends_with("day"))]
pub fn weekday(year: i32, month: u32, day: u32) -> &'static str {
    match day_number(year, month, day).rem_euclid(7) {
        0 => "Wednesday",
        1 => "Thursday",
        2 => "Friday",
        3 => "Saturday",
        4 => "Sunday",
        5 => "Monday",
        _ => "Tuesday",
    }
}

/// Say which day of its year a date is; 1 January is day 1.
#[tool(read_only, idempotent)]
#[pre(date.exists())]
#[post(|number| (1..=366).contains(number))]
pub fn day_of_year(date: Date) -> i64 {
    day_number(date.year, date.month, date.day) - day_number(date.year, 1, 1) + 1
}

/// Say how many days a year has after one of its days, which is given by its number from 1.
#[tool(read_only, idempotent)]
#[pre((1583..=9999).contains(&year), "the calendar begins in 1583")]
#[pre(day >= 1 && day <= 365 + i64::from(leap(year)), "{year} has no day {day}")]
#[post(|left| *left >= 0 && *left < 366)]
pub fn days_left(year: i32, day: i64) -> i64 {
    365 + i64::from(leap(year)) - day
}

fn leap(year: i32) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn length(year: i32, month: u32) -> u32 {
    match month {
        2 => 28 + u32::from(leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1 March of the year 0; years begin in March, so that a leap day comes last.
fn day_number(year: i32, month: u32, day: u32) -> i64 {
    let (year, month, day) = (i64::from(year), i64::from(month), i64::from(day));
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let before = (153 * month + 2) / 5;
    365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + before + day - 1
}
