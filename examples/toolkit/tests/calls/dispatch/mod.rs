//! One call in, exactly one outcome out, whatever happens to the tools, beside them and to their callers.

mod dropped;
mod hangs;
mod load;
mod results;
mod trouble;

use contract_runtime::prelude::*;
use serde_json::Value;

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build()
        .unwrap()
}

fn tool_call(name: &str, arguments: &Value) -> ToolCall {
    ToolCall::new("the same id", name, arguments.to_string())
}
