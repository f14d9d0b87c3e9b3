//! A secret is shown nowhere, and no value is shown to people who did not ask for it.

use std::fmt;
use std::sync::{Arc, LazyLock, Mutex};

use contract_runtime::observe::Observer;
use contract_runtime::prelude::*;
use contract_runtime::{ContractScope, Run, catch};
use proptest::prelude::*;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::NoSubscriber;
use tracing::{Dispatch, Event, Metadata, Subscriber};
use tracing_core::callsite::rebuild_interest_cache;

/// Everything that reaches the log: spans, events, names, fields.
#[derive(Clone, Default)]
struct Written(
    Arc<Mutex<String>>,
    Arc<Mutex<Option<&'static Metadata<'static>>>>,
);

impl Written {
    fn add(&self, text: impl fmt::Display) {
        use fmt::Write as _;
        let _ = writeln!(self.0.lock().unwrap(), "{text}");
    }

    fn take(&self) -> String {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// With fewer than two listeners, tracing-core takes no lock to find out whether anybody listens at a place.
static LISTENING: LazyLock<[Dispatch; 2]> =
    LazyLock::new(|| [(); 2].map(|()| Dispatch::new(NoSubscriber::new())));

/// What is written where something is done for the second time.
///
/// Another test that reaches the same place first, at the moment when this one begins to listen, has it kept as one that nobody
/// listens to, until the interest is asked for once more.
fn written_by<T>(run: impl Fn() -> T) -> (String, T) {
    LazyLock::force(&LISTENING);
    let written = Written::default();
    let last = tracing::subscriber::with_default(written.clone(), || {
        run();
        rebuild_interest_cache();
        let _ = written.take();
        run()
    });
    (written.take(), last)
}

impl Visit for Written {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(format_args!("{field} = {value:?}"));
    }
}

impl Subscriber for Written {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.add(span.metadata().name());
        *self.1.lock().unwrap() = Some(span.metadata());
        span.record(&mut self.clone());
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut self.clone());
    }
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        self.add(event.metadata().name());
        event.record(&mut self.clone());
    }
    /// No test has more than one span.
    fn current_span(&self) -> tracing_core::span::Current {
        match *self.1.lock().unwrap() {
            Some(metadata) => tracing_core::span::Current::new(Id::from_u64(1), metadata),
            None => tracing_core::span::Current::none(),
        }
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[derive(Clone, Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
struct Login {
    user: String,
    key: String,
}

/// Log in.
#[tool]
#[pre(!token.is_empty() && token.len() < 40, "the token must be short")]
#[pre(pin > 9, "a pin has two digits")]
#[pre(login.user.len() + login.key.len() < 80)]
#[pre(public.len() < 40, "{public} is too long")]
#[post(|out| out.len() != 1 || token == public, "`{out}` is wrong")]
fn log_in(
    #[arg(secret)] token: String,
    #[arg(secret)] pin: i64,
    #[arg(secret)] login: Login,
    public: String,
) -> Result<String, String> {
    if public == "fail" {
        return Err("the door is closed".to_owned());
    }
    let length = token.len() + login.key.len();
    if public == "panic" {
        let _ = pin / i64::from(length == 0);
    }
    Ok("x".repeat(usize::from(public == "one")))
}

/// Log in, later.
#[tool]
#[pre(token.parse::<u8>().unwrap_or(0) > 9)]
async fn log_in_later(#[arg(secret, example = "42")] token: &str, public: &str) -> usize {
    tokio::task::yield_now().await;
    token.len() + public.len()
}

const SECRET: &str = "S3CR3T";
const PUBLIC: &str = "PUBL1C";

/// Texts with a secret, well or badly formed, where a secret belongs.
fn sent() -> impl Strategy<Value = String> {
    let secret = prop_oneof![
        Just(format!("\"{SECRET}\"")),
        Just(format!("\"{}\"", SECRET.repeat(10))),
        Just(format!("[\"{SECRET}\"]")),
        Just(format!("{{\"user\":\"{SECRET}\",\"key\":\"{SECRET}\"}}")),
        Just(format!("{{\"user\":\"{SECRET}\",\"kee\":5}}")),
        Just(format!("{{\"user\":\"{SECRET}\",\"key\":[\"{SECRET}\"]}}")),
        Just(format!("{{\"{SECRET}\":1,\"{SECRET}\":2}}")),
        Just("5".to_owned()),
        Just("50".to_owned()),
        Just("null".to_owned()),
        Just(format!("\"{SECRET}\\uD800\"")),
        Just(format!("\"{SECRET}")),
    ];
    let public = prop_oneof![
        Just("\"one\"".to_owned()),
        Just("\"fail\"".to_owned()),
        Just("\"panic\"".to_owned()),
        Just(format!("\"{}\"", PUBLIC.repeat(8))),
        Just("5".to_owned()),
    ];
    (
        secret.clone(),
        secret.clone(),
        secret,
        public,
        any::<bool>(),
    )
        .prop_map(|(token, pin, login, public, all)| {
            let login = if all {
                format!(r#","login":{login}"#)
            } else {
                String::new()
            };
            format!(r#"{{"token":{token},"pin":{pin}{login},"public":{public}}}"#)
        })
}

fn registry(policy: Policy) -> Registry {
    Registry::builder()
        .tool(log_in)
        .tool(log_in_later)
        .policy(policy)
        .coerce(true)
        .build()
        .unwrap()
}

/// Every text that a call leaves behind for a model or for people.
fn texts(outcome: &Outcome) -> Vec<String> {
    let mut texts = vec![
        format!("{outcome:?}"),
        outcome.error().unwrap_or_default().to_owned(),
        format!("{:?}", outcome.coercions()),
    ];
    for violation in outcome.violation().into_iter().chain(outcome.observed()) {
        texts.push(violation.to_string());
        texts.push(format!("{violation:?}"));
        texts.push(serde_json::to_string(violation).unwrap());
        texts.push(serde_json::to_string(&violation.masked()).unwrap());
    }
    if let Some(invalid) = outcome.invalid_arguments() {
        texts.push(serde_json::to_string(invalid).unwrap());
        texts.push(format!("{invalid:?}"));
    }
    let masked = outcome.masked();
    for outcome in [outcome, &masked] {
        texts.push(serde_json::to_string(outcome).unwrap());
    }
    texts.extend([
        format!("{masked:?}"),
        masked.error().unwrap_or_default().to_owned(),
    ]);
    let result = outcome.clone().into_result();
    texts.push(serde_json::to_string(&result).unwrap());
    texts
}

fn nothing_leaks(name: &str, arguments: &str, policy: Policy) {
    let registry = registry(policy);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let (log, outcome) = written_by(|| {
        let run = Run::new();
        let call = ToolCall::new("1", name, arguments);
        runtime.block_on(registry.call(call).context(Context::new().run(&run)))
    });
    for text in texts(&outcome) {
        assert!(!text.contains(SECRET), "{arguments} shows {text}");
    }
    assert!(log.contains("execute_tool"), "{log}");
    assert!(!log.contains(SECRET), "{arguments} logs {log}");
    assert!(!log.contains(PUBLIC), "{arguments} logs {log}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_secret_is_nowhere_and_no_value_is_in_the_log(arguments in sent(), observe in any::<bool>()) {
        let policy = if observe { Policy::Observe } else { Policy::Enforce };
        nothing_leaks("log_in", &arguments, policy);
        if let Some((token, _)) = arguments.split_once(r#","pin""#) {
            let arguments = format!(r#"{token},"public":"{PUBLIC}"}}"#);
            nothing_leaks("log_in_later", &arguments, policy);
        }
    }
}

#[test]
fn a_direct_call_masks_a_secret_too() {
    let login = Login {
        user: SECRET.repeat(10),
        key: SECRET.repeat(10),
    };
    for token in [SECRET.repeat(10), "fine".to_owned()] {
        let login = login.clone();
        let violation = catch(|| log_in(token, 12, login, "x".to_owned())).unwrap_err();
        assert!(!violation.to_string().contains(SECRET));
        assert!(!format!("{violation:?}").contains(SECRET));
        assert!(violation.values.iter().any(|(_, value)| value == "***"));
    }
}

/// Show the scope.
#[tool]
fn show_scope(#[arg(secret)] token: &str) -> String {
    let scope = format!("{:?}", ContractScope::current());
    scope.replace(token, "LEAKED")
}

#[test]
fn the_scope_of_a_call_does_not_show_its_arguments() {
    let registry = Registry::builder().tool(show_scope).build().unwrap();
    let arguments = format!(r#"{{"token":"{SECRET}"}}"#);
    let outcome = crate::common::call(&registry, "show_scope", &arguments);
    assert!(!outcome.output().unwrap().contains("LEAKED"));
}

#[test]
fn the_span_of_a_call_has_the_names_of_the_genai_conventions() {
    let registry = registry(Policy::Enforce);
    let (log, ()) = written_by(|| {
        let call = ToolCall::new("the id", "log_in_later", "{}");
        let _ = registry.call(call).blocking();
    });
    for part in [
        "execute_tool",
        "gen_ai.operation.name = \"execute_tool\"",
        "gen_ai.tool.name = log_in_later",
        "gen_ai.tool.call.id = the id",
        "gen_ai.tool.type = \"function\"",
        "outcome = \"invalid_arguments\"",
    ] {
        assert!(log.contains(part), "{part} is not in\n{log}");
    }
}

#[test]
fn a_span_escapes_what_moves_the_cursor_in_a_name_or_an_id() {
    let registry = registry(Policy::Enforce);
    let (log, ()) = written_by(|| {
        let call = ToolCall::new("a\u{1b}[2J\r", "b\n\u{9b}31m\u{202e}", "{}");
        let _ = registry.call(call).blocking();
    });
    for part in [
        r"gen_ai.tool.call.id = a\u{1b}[2J\u{d}",
        r"gen_ai.tool.name = b\n\u{9b}31m\u{202e}",
        r"otel.name = execute_tool b\n\u{9b}31m\u{202e}",
    ] {
        assert!(log.contains(part), "{part} is not in\n{log}");
    }
}

#[test]
fn a_violation_is_an_event_without_its_values() {
    let registry = registry(Policy::Observe);
    let arguments = format!(
        r#"{{"token":"{SECRET}","pin":50,"login":{{"user":"","key":""}},"public":"{}"}}"#,
        PUBLIC.repeat(10)
    );
    let (log, ()) = written_by(|| {
        let outcome = crate::common::call(&registry, "log_in", &arguments);
        assert_eq!(outcome.observed().len(), 1, "{:?}", outcome.error());
    });
    assert!(log.contains("contract = log_in.pre[3]"), "{log}");
    assert!(log.contains("policy = \"observe\""), "{log}");
    assert!(!log.contains(PUBLIC) && !log.contains(SECRET), "{log}");
}

/// What a tool calls with its secret under another name.
#[pre(text.len() > 100, "{text} is too short")]
fn long_enough(text: &str) {}

/// Log in with help.
#[tool]
fn log_in_with_help(#[arg(secret)] token: String) {
    long_enough(&token);
}

#[test]
fn a_secret_is_hidden_below_the_call_and_in_arguments_of_the_wrong_shape() {
    let told = Arc::new(Mutex::new(String::new()));
    let hears = Arc::clone(&told);
    let registry = Registry::builder()
        .tool(log_in_with_help)
        .observe(Observer::new().violations(move |violation| {
            hears.lock().unwrap().push_str(&violation.to_string());
        }))
        .build()
        .unwrap();
    for arguments in [
        r#"{"token":"S3CR3T"}"#,
        r#""S3CR3T""#,
        r#""{\"token\":\"S3CR3T\"}""#,
        r#"["S3CR3T"]"#,
    ] {
        let call = ToolCall::new("1", "log_in_with_help", arguments);
        let shown = format!("{call:?}");
        let outcome = registry.call(call).blocking();
        let violation = serde_json::to_string(&outcome.violation()).unwrap();
        let said = format!("{shown} {outcome:?} {:?} {violation}", outcome.error());
        assert!(!outcome.is_ok() && !said.contains("S3CR3T"), "{said}");
    }
    assert!(told.lock().unwrap().contains("***"));
    assert!(!told.lock().unwrap().contains("S3CR3T"));
}

/// Sign in.
#[tool]
#[pre(password.len() >= 8, "the password is too short")]
#[pre(password != user, "the password is the name {user}")]
fn sign_in(user: String, #[arg(secret)] password: String) {
    contract_assert!(password.len() > 90, "the password is too simple");
}

#[test]
fn a_sentence_of_the_author_is_not_looked_through() {
    let registry = Registry::builder().tool(sign_in).build().unwrap();
    let said = |user: &str, password: &str| {
        let arguments = format!(r#"{{"user":"{user}","password":"{password}"}}"#);
        let outcome = registry
            .call(ToolCall::new("1", "sign_in", arguments))
            .blocking();
        outcome.violation().unwrap().message.clone().unwrap()
    };
    // With the word replaced, whoever knows the sentence would know the secret.
    assert_eq!(said("ada", "short"), "the password is too short");
    assert_eq!(said("ada", "password"), "the password is too simple");
    assert_eq!(said("lovelace", "lovelace"), "the password is the name ***");
}
