use contract_runtime::prelude::*;

#[post(er |error| error.len() < 80)]
#[post(Err(|error| error.len() < 80))]
#[post(ok |text| text.len() < 80)]
#[post(is |text| text.len() < 80)]
fn read(path: &str) -> Result<String, String> {
    Ok(path.to_owned())
}

fn main() {}
