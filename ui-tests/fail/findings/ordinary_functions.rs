use contract_runtime::prelude::*;

#[pre(number > 3)]
#[pre(number < 3)]
fn free(number: u8) {}

struct Store<T>(T);

impl<T> Store<T> {
    #[pre(at > 3 && at < i32::MIN)]
    fn generic<U>(&self, at: i32, _: U) {}
}

fn main() {}
