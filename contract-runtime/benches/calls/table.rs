//! The one table of results.

pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) beside: Option<&'static str>,
    pub(crate) instructions: Option<u64>,
    pub(crate) nanoseconds: f64,
}

pub(crate) fn print(rows: &[Row]) {
    println!("| | instructions | x | ns | x |\n|---|---:|---:|---:|---:|");
    for row in rows {
        let beside = rows.iter().find(|other| Some(other.name) == row.beside);
        let instructions = row.instructions.map(as_f64);
        let ratio = |own: Option<f64>, other: Option<f64>| match (own, other) {
            (Some(own), Some(other)) => format!("{:.2}", own / other),
            _ => String::new(),
        };
        println!(
            "| {} | {} | {} | {:.0} | {} |",
            row.name,
            row.instructions
                .map(|count| count.to_string())
                .unwrap_or_default(),
            ratio(
                instructions,
                beside.and_then(|other| other.instructions).map(as_f64)
            ),
            row.nanoseconds,
            ratio(Some(row.nanoseconds), beside.map(|other| other.nanoseconds)),
        );
    }
}

/// Counts here are far below 2^53.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn as_f64(count: u64) -> f64 {
    count as f64
}
