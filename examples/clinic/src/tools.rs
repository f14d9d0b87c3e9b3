//! The tools: patients, appointments, bills and prescriptions.

use chrono::NaiveDate;
use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use sqlx::{AnyConnection, Result};

use crate::Clinic;
use crate::users::is_doctor;

/// A patient, as a search finds one.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Patient {
    /// The number of the patient.
    pub id: i64,
    /// The full name.
    pub name: String,
    /// The day of birth.
    pub born: String,
}

/// The bill of a patient.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Bill {
    /// The number of the bill.
    pub id: i64,
    /// How many cents it is about.
    pub cents: i64,
    /// How many of them are paid.
    pub paid: i64,
}

/// What a doctor reads about a patient.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Record {
    /// The full name.
    pub name: String,
    /// What the patient must not be given, separated by commas.
    pub allergies: String,
    /// The prescriptions, each with its number.
    pub prescriptions: Vec<(i64, String)>,
}

#[tool]
impl Clinic {
    /// Find patients by a part of their name; at most 20 are found.
    #[tool(read_only)]
    #[pre(name.len() >= 2, "search for at least two letters")]
    async fn find_patients(
        &self,
        /// A part of the name.
        name: &str,
    ) -> Result<Vec<Patient>> {
        let select = "SELECT id, name, born FROM patient WHERE name LIKE '%' || $1 || '%' ORDER BY id LIMIT 20";
        let rows: Vec<(i64, String, String)> = sqlx::query_as(select)
            .bind(name)
            .fetch_all(self.pool())
            .await?;
        let patient = |(id, name, born)| Patient { id, name, born };
        Ok(rows.into_iter().map(patient).collect())
    }

    /// Register a patient, and say which number the patient has.
    #[tool]
    #[pre(!name.trim().is_empty(), "a patient has a name")]
    #[given(mut tx = self.begin(context, json!({"name": name, "born": born})).await?, then tx.commit().await?)]
    #[given(twin = registered(tx.db(), name, born).await?)]
    #[pre(twin.is_none(), "{name} is registered already, with the number {}", twin.unwrap_or_default())]
    async fn register_patient(
        &self,
        /// The full name.
        name: &str,
        /// The day of birth.
        born: NaiveDate,
        /// The telephone number.
        #[arg(secret)]
        phone: &str,
        /// What the patient must not be given, separated by commas; empty if there is nothing.
        allergies: &str,
        #[context] context: &Context,
    ) -> Result<i64> {
        let insert = "INSERT INTO patient SELECT COALESCE(MAX(id), 0) + 1, $1, $2, $3, $4 FROM patient RETURNING id";
        let insert = sqlx::query_scalar(insert).bind(name).bind(born.to_string());
        insert.bind(phone).bind(allergies).fetch_one(tx.db()).await
    }

    /// Say at which hours a doctor is free on a day.
    #[tool(read_only)]
    #[pre(is_doctor(doctor), "there is no doctor {doctor}")]
    #[given(mut db = self.pool().acquire().await?)]
    async fn free_hours(
        &self,
        /// The name of the doctor.
        doctor: &str,
        /// The day.
        day: NaiveDate,
    ) -> Result<Vec<i64>> {
        let taken = taken_hours(&mut db, doctor, day).await?;
        Ok((9..17).filter(|hour| !taken.contains(hour)).collect())
    }

    /// Book an appointment of an hour, and say which number it has.
    #[tool]
    #[pre((9..17).contains(&hour), "appointments begin between 9 and 16 o'clock")]
    #[pre(is_doctor(doctor), "there is no doctor {doctor}")]
    #[given(mut tx = self.begin(context, json!({"patient": patient, "doctor": doctor, "day": day, "hour": hour})).await?, then tx.commit().await?)]
    #[given(_name = name_of(tx.db(), patient).await?, else "there is no patient {patient}")]
    #[given(taken = taken_hours(tx.db(), doctor, day).await?)]
    #[pre(!taken.contains(&hour), "{doctor} has another appointment on {day} at {hour}")]
    async fn book_appointment(
        &self,
        /// The number of the patient.
        patient: i64,
        /// The name of the doctor.
        doctor: &str,
        /// The day.
        day: NaiveDate,
        /// The hour at which it begins.
        hour: i64,
        #[context] context: &Context,
    ) -> Result<i64> {
        let insert = "INSERT INTO appointment SELECT COALESCE(MAX(id), 0) + 1, $1, $2, $3, $4 FROM appointment RETURNING id";
        let insert = sqlx::query_scalar(insert).bind(patient).bind(doctor);
        insert
            .bind(day.to_string())
            .bind(hour)
            .fetch_one(tx.db())
            .await
    }

    /// Cancel an appointment.
    #[tool(destructive, confirm = "Cancel the appointment of {} on {} at {}?", booked.0, booked.1, booked.2)]
    #[given(mut tx = self.begin(context, json!({"appointment": appointment})).await?, then tx.commit().await?)]
    #[given(booked = booked(tx.db(), appointment).await?, else "there is no appointment {appointment}")]
    async fn cancel_appointment(
        &self,
        /// The number of the appointment.
        appointment: i64,
        #[context] context: &Context,
    ) -> Result<()> {
        tx.execute("DELETE FROM appointment WHERE id = $1", appointment)
            .await
    }

    /// Issue a bill, and say which number it has.
    #[tool]
    #[pre(cents > 0)]
    #[given(mut tx = self.begin(context, json!({"patient": patient, "cents": cents})).await?, then tx.commit().await?)]
    #[given(_name = name_of(tx.db(), patient).await?, else "there is no patient {patient}")]
    async fn issue_bill(
        &self,
        /// The number of the patient.
        patient: i64,
        /// How many cents.
        cents: i64,
        #[context] context: &Context,
    ) -> Result<i64> {
        let insert =
            "INSERT INTO bill SELECT COALESCE(MAX(id), 0) + 1, $1, $2, 0 FROM bill RETURNING id";
        let insert = sqlx::query_scalar(insert).bind(patient).bind(cents);
        insert.fetch_one(tx.db()).await
    }

    /// List the bills of a patient.
    #[tool(read_only)]
    async fn list_bills(
        &self,
        /// The number of the patient.
        patient: i64,
    ) -> Result<Vec<Bill>> {
        let select = "SELECT id, cents, paid FROM bill WHERE patient = $1 ORDER BY id";
        let rows = sqlx::query_as(select)
            .bind(patient)
            .fetch_all(self.pool())
            .await?;
        let bill = |(id, cents, paid)| Bill { id, cents, paid };
        Ok(rows.into_iter().map(bill).collect())
    }

    /// Take a payment for a bill, and say how many cents are still open.
    #[tool]
    #[pre(cents > 0)]
    #[given(mut tx = self.begin(context, json!({"bill": bill, "cents": cents})).await?, then tx.commit().await?)]
    #[given(found = find_bill(tx.db(), bill).await?, else "there is no bill {bill}")]
    #[pre(cents <= found.cents - found.paid, "only {} cents of it are open", found.cents - found.paid)]
    #[post(|open| *open == found.cents - found.paid - cents)]
    async fn take_payment(
        &self,
        /// The number of the bill.
        bill: i64,
        /// How many cents.
        cents: i64,
        #[context] context: &Context,
    ) -> Result<i64> {
        Ok(found.cents - pay(tx.db(), bill, cents).await?)
    }

    /// Pay money back, and say how many cents of the bill stay paid.
    #[tool(destructive)]
    #[pre(cents > 0)]
    #[given(mut tx = self.begin(context, json!({"bill": bill, "cents": cents})).await?, then tx.commit().await?)]
    #[given(found = find_bill(tx.db(), bill).await?, else "there is no bill {bill}")]
    #[pre(cents <= found.paid, "only {} cents of it are paid", found.paid)]
    #[pre(cents <= 10_000, "more than 100 EUR need approval", ask = "Pay {cents} of {} cents back?", found.paid)]
    #[post(|paid| *paid == found.paid - cents)]
    async fn refund(
        &self,
        /// The number of the bill.
        bill: i64,
        /// How many cents.
        cents: i64,
        #[context] context: &Context,
    ) -> Result<i64> {
        pay(tx.db(), bill, -cents).await
    }

    /// Read the record of a patient.
    #[tool(read_only)]
    #[given(mut db = self.pool().acquire().await?)]
    #[given(name = name_of(&mut db, patient).await?, else "there is no patient {patient}")]
    async fn read_record(
        &self,
        /// The number of the patient.
        patient: i64,
    ) -> Result<Record> {
        let allergies = allergies_of(&mut db, patient).await?;
        let select = "SELECT id, drug FROM prescription WHERE patient = $1 ORDER BY id";
        let prescriptions = sqlx::query_as(select)
            .bind(patient)
            .fetch_all(&mut *db)
            .await?;
        Ok(Record {
            name,
            allergies,
            prescriptions,
        })
    }

    /// Prescribe a drug, and say which number the prescription has.
    #[tool]
    #[pre((1..=180).contains(&days), "a prescription is for 1 to 180 days")]
    #[given(mut tx = self.begin(context, json!({"patient": patient, "drug": drug, "days": days})).await?, then tx.commit().await?)]
    #[given(name = name_of(tx.db(), patient).await?, else "there is no patient {patient}")]
    #[given(allergies = allergies_of(tx.db(), patient).await?)]
    #[pre(!is_among(drug, &allergies), "the patient must not be given {drug}")]
    #[pre(days <= 30, "more than 30 days need approval", ask = "Prescribe {drug} to {name} for {days} days?")]
    async fn prescribe(
        &self,
        /// The number of the patient.
        patient: i64,
        /// The name of the drug.
        drug: &str,
        /// For how many days.
        days: i64,
        #[context] context: &Context,
    ) -> Result<i64> {
        let insert = "INSERT INTO prescription SELECT COALESCE(MAX(id), 0) + 1, $1, $2, $3, $4 FROM prescription RETURNING id";
        let insert = sqlx::query_scalar(insert)
            .bind(patient)
            .bind(drug)
            .bind(days);
        let doctor = context.caller().unwrap_or_default().to_owned();
        insert.bind(doctor).fetch_one(tx.db()).await
    }

    /// Stop a prescription.
    #[tool(destructive, confirm = "Stop the prescription of {drug}?")]
    #[given(mut tx = self.begin(context, json!({"prescription": prescription})).await?, then tx.commit().await?)]
    #[given(drug = drug_of(tx.db(), prescription).await?, else "there is no prescription {prescription}")]
    async fn stop_prescription(
        &self,
        /// The number of the prescription.
        prescription: i64,
        #[context] context: &Context,
    ) -> Result<()> {
        tx.execute("DELETE FROM prescription WHERE id = $1", prescription)
            .await
    }
}

async fn name_of(db: &mut AnyConnection, patient: i64) -> Result<Option<String>> {
    let select = sqlx::query_scalar("SELECT name FROM patient WHERE id = $1");
    select.bind(patient).fetch_optional(db).await
}

async fn allergies_of(db: &mut AnyConnection, patient: i64) -> Result<String> {
    let select = sqlx::query_scalar("SELECT allergies FROM patient WHERE id = $1");
    select.bind(patient).fetch_one(db).await
}

async fn registered(db: &mut AnyConnection, name: &str, born: NaiveDate) -> Result<Option<i64>> {
    let select = sqlx::query_scalar("SELECT id FROM patient WHERE name = $1 AND born = $2");
    select
        .bind(name)
        .bind(born.to_string())
        .fetch_optional(db)
        .await
}

async fn taken_hours(db: &mut AnyConnection, doctor: &str, day: NaiveDate) -> Result<Vec<i64>> {
    let select = sqlx::query_scalar("SELECT hour FROM appointment WHERE doctor = $1 AND day = $2");
    select
        .bind(doctor)
        .bind(day.to_string())
        .fetch_all(db)
        .await
}

async fn booked(db: &mut AnyConnection, appointment: i64) -> Result<Option<(String, String, i64)>> {
    let select = "SELECT name, day, hour FROM appointment JOIN patient ON patient.id = patient WHERE appointment.id = $1";
    sqlx::query_as(select)
        .bind(appointment)
        .fetch_optional(db)
        .await
}

async fn drug_of(db: &mut AnyConnection, prescription: i64) -> Result<Option<String>> {
    let select = sqlx::query_scalar("SELECT drug FROM prescription WHERE id = $1");
    select.bind(prescription).fetch_optional(db).await
}

async fn find_bill(db: &mut AnyConnection, id: i64) -> Result<Option<Bill>> {
    let select = sqlx::query_as("SELECT cents, paid FROM bill WHERE id = $1");
    let row: Option<(i64, i64)> = select.bind(id).fetch_optional(db).await?;
    Ok(row.map(|(cents, paid)| Bill { id, cents, paid }))
}

/// Returns how many cents of the bill are paid then.
async fn pay(db: &mut AnyConnection, bill: i64, cents: i64) -> Result<i64> {
    let update =
        sqlx::query_scalar("UPDATE bill SET paid = paid + $1 WHERE id = $2 RETURNING paid");
    update.bind(cents).bind(bill).fetch_one(db).await
}

fn is_among(drug: &str, allergies: &str) -> bool {
    let mut allergies = allergies.split(',');
    allergies.any(|one| one.trim().eq_ignore_ascii_case(drug.trim()))
}
