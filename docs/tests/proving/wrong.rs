/// Find the whole number in the middle between two others.
#[tool(read_only)]
#[pre(low <= high, "the lower number comes first")]
#[post(|middle| low <= *middle && *middle <= high)]
fn middle(low: i32, high: i32) -> i32 {
    (low + high) / 2
}
