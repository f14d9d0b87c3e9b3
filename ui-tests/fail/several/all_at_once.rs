use contract_runtime::prelude::*;

#[tool(readonly, timeout = "30s", timeout = "1m", name = "to far")]
#[pre("the numbers must differ", first != second)]
#[pre(first = 0.0)]
#[post(distance >= 0.0, policy = loud)]
fn distance((x, y): (f64, f64), _first: impl Into<f64>, #[arg(nme = "b")] _second: f64) -> f64 {
    x.hypot(y)
}

fn main() {
    // A caller of a broken tool gets no second error.
    let _: f64 = distance((1.0, 2.0), 1.0, 2.0);
}
