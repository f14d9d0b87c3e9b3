//! Calls from a backend to an executor beside a bare WebSocket echo, and a backend with thousands of executors.
//!
//! `cargo bench -p contract-remote --bench remote` prints calls per second over a loopback connection; a
//! word after `--` keeps the rows that hold it. `-- storm 5000` starts a backend as a process of its own, lets that many idle
//! executors in, and prints what each costs it, what half-open sockets do to calls, and how long it takes until all are back
//! after the backend was killed and started again. `.ci/nightly.d/storm.sh` allows the open files that this needs.
//! `--features redis .. -- forwarded` compares executors at the home of their task with others, over two backends and a Redis
//! server of its own.

mod backend;
mod calls;
#[cfg(feature = "redis")]
mod forwarded;
#[cfg(feature = "redis")]
#[path = "../../tests/store/server.rs"]
#[allow(dead_code, reason = "the server does more elsewhere")]
mod server;
mod storm;
mod tools;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments
        .iter()
        .map(String::as_str)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    match words[..] {
        ["backend", address, folder, tasks] => {
            runtime.block_on(backend::serve(address, folder.as_ref(), tasks.parse()?))
        }
        #[cfg(feature = "redis")]
        ["forwarded"] => runtime.block_on(forwarded::run()),
        ["storm", executors] => runtime.block_on(storm::run(executors.parse()?)),
        _ => runtime.block_on(calls::run(&words)),
    }
}
