//! No name of a parameter or of a tool can meet one of ours.

use contract_runtime::prelude::*;

/// All of our own names.
#[tool(read_only)]
#[pre(args + ctx + result > 0 && value > 0, "{args} {ctx} {result} {value} {frame}")]
#[pre(details < 100 && judge < 100, "{details} {judge}")]
#[post(|out| *out > old(args) && output > 0 && kept_0 > 0, "{out} {frame} {details} {judge} {value}")]
#[post(|judge| *judge > 0 && out > 0, "{judge}")]
#[post(|value| *value > 0 && details > 0, "{value}")]
#[post(|details| *details > 0 && frame + judge > 0)]
fn names(
    args: u32,
    ctx: u32,
    result: u32,
    value: u32,
    tool: u32,
    output: u32,
    ret: u32,
    frame: u32,
    out: u32,
    call: u32,
    judge: u32,
    details: u32,
    kept_0: u32,
    slot_0: u32,
    generator: u32,
    this: u32,
    tools: u32,
    self_: u32,
    registry: u32,
    text: String,
    old: u32,
) -> u32 {
    let _ = (
        tool, ret, call, slot_0, generator, this, tools, self_, registry, text, old,
    );
    args + ctx + result + value + output + frame + out + judge + details + kept_0
}

/// A tool called like what a call is called.
#[tool]
#[pre(call > 0)]
async fn call(call: u32, frame: u32) -> u32 {
    call + frame
}

/// A tool called like a body.
#[tool]
fn body(checked: u32) -> u32 {
    checked
}

/// A tool called like a type of the runtime.
#[tool(name = "Spec")]
fn spec() {}

struct State;

#[tool]
impl State {
    /// Their names again.
    #[tool]
    #[pre(frame > 0)]
    #[post(|out| *out > 0 && this > 0)]
    fn call(&self, frame: u32, this: u32, call: u32, out: u32, tools: u32) -> u32 {
        frame + this + call + out + tools
    }

    /// A body.
    #[tool(name = "state_body")]
    fn body(&self) {}
}

/// A constant and a unit struct are not names of locals of ours, where a pattern would mean them.
#[allow(
    dead_code,
    non_camel_case_types,
    non_upper_case_globals,
    reason = "they are what is tried"
)]
mod constants {
    use contract_runtime::contract_assert;
    use contract_runtime::prelude::*;

    const call: u8 = 1;
    const details: u8 = 1;
    const frame: u8 = 1;
    const generator: u8 = 1;
    const judge: u8 = 1;
    const judged: u8 = 1;
    const slot_0: u8 = 1;
    const text: u8 = 1;
    const value: u8 = 1;
    struct out;
    struct this;
    struct tools;

    /// Halve a number.
    #[tool(name = "half_beside_constants")]
    #[pre(number % 2 == 0, "{number} is odd")]
    #[post(|half| *half <= old(number), "{half} of {number}")]
    fn half(number: u32) -> u32 {
        contract_assert!(number < 100, "{number} is large");
        number / 2
    }

    struct Other;

    #[tool]
    impl Other {
        /// Halve a number later.
        #[tool]
        #[pre(number % 2 == 0, "{number} is odd")]
        async fn later(&self, number: u32) -> u32 {
            number / 2
        }
    }
}

fn main() {
    let built = registry!().with(State).rename("call", "call_free").build();
    let problem = built.err().map(|error| error.to_string());
    assert!(problem.is_some(), "two tools are called `call`");
    let registry = registry!().build().unwrap();
    let called = |name: &str, text: &str| registry.call(ToolCall::new("1", name, text)).blocking();
    let parameters = registry.tool("names").unwrap().input_schema()["properties"]
        .as_object()
        .unwrap();
    let arguments: serde_json::Map<_, _> = parameters
        .keys()
        .map(|name| {
            (
                name.clone(),
                if name == "text" { "t".into() } else { 1.into() },
            )
        })
        .collect();
    let arguments = serde_json::Value::from(arguments).to_string();
    assert_eq!(called("names", &arguments).output(), Some("10"));
    assert_eq!(
        called("call", r#"{"call":1,"frame":2}"#).output(),
        Some("3")
    );
    assert_eq!(called("body", r#"{"checked":2}"#).output(), Some("2"));
    assert_eq!(called("Spec", "").output(), Some(""));
    let states = Registry::builder().with(State).build().unwrap();
    let text = r#"{"frame":1,"this":1,"call":1,"out":1,"tools":1}"#;
    assert_eq!(
        states
            .call(ToolCall::new("1", "call", text))
            .blocking()
            .output(),
        Some("5")
    );
}
