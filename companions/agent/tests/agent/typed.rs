//! Answers of a type.

use std::sync::Arc;

use contract_agent::{
    ConstrainedAgent, ContractAgent, ContractAgentBuilder, Event, InnerAgent, Message, Model,
    ReActAgent, Recovery, Reply, Request, RunError, RunState, Scripted, ToolCallingAgent,
};
use contract_runtime::Policy;
use contract_runtime::prelude::*;
use proptest::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What is to be paid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Invoice {
    /// In cents.
    total: u32,
    currency: Currency,
    #[serde(default)]
    lines: Vec<Line>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
enum Currency {
    Eur,
    Usd,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Line {
    text: String,
    cents: Option<i64>,
}

const GOOD: &str = r#"{"total": 12, "currency": "Eur", "lines": [{"text": "tea", "cents": 12}]}"#;
const BAD: &str = r#"{"total": "many", "currency": "Yen", "totl": 1}"#;

fn good() -> Invoice {
    Invoice {
        total: 12,
        currency: Currency::Eur,
        lines: vec![Line {
            text: "tea".to_owned(),
            cents: Some(12),
        }],
    }
}

type AnyAgent = Box<dyn InnerAgent>;

/// Each inner agent with a model that gives these answers, in the form of that agent.
fn agents(answers: &[&str]) -> Vec<(Scripted, ContractAgentBuilder<AnyAgent>)> {
    let registry = || Registry::builder().build().unwrap();
    let script = |form: fn(&str) -> String| {
        answers
            .iter()
            .fold(Scripted::new(), |script, answer| script.text(form(answer)))
    };
    let native = script(str::to_owned);
    let react = script(|answer| format!("Answer: {answer}"));
    let constrained = script(|answer| json!({"type": "answer", "content": answer}).to_string());
    let inner: [(Scripted, AnyAgent); 3] = [
        (
            native.clone(),
            Box::new(ToolCallingAgent::new(native, registry())),
        ),
        (react.clone(), Box::new(ReActAgent::new(react, registry()))),
        (
            constrained.clone(),
            Box::new(ConstrainedAgent::new(constrained, registry())),
        ),
    ];
    inner
        .into_iter()
        .map(|(model, inner)| (model, ContractAgent::builder(inner)))
        .collect()
}

fn last_user(model: &Scripted) -> String {
    let requests = model.requests();
    let mut users = requests
        .last()
        .unwrap()
        .iter()
        .filter_map(|message| match message {
            Message::User { text } => Some(text.clone()),
            _ => None,
        });
    users.next_back().unwrap()
}

#[tokio::test]
async fn an_answer_is_read_as_its_type_and_the_model_knows_the_schema() {
    for (model, agent) in agents(&[GOOD]) {
        let result = agent.build().run("What do I owe?").typed::<Invoice>().await;
        assert_eq!(result.value, Some(good()), "{:?}", result.run.error);
        assert!(result.run.success);
        assert_eq!(result.run.statistics.checks, 1);
        let task = last_user(&model);
        assert!(task.starts_with("What do I owe?\n\n"), "{task}");
        assert!(
            task.contains("In cents.") && task.contains("\"Usd\""),
            "{task}"
        );
    }
}

#[tokio::test]
async fn the_model_reads_all_problems_at_once_and_tries_again() {
    for (model, agent) in agents(&[BAD, "twelve", GOOD]) {
        let agent = agent.recovery(Recovery::retry(2)).build();
        let result = agent.run("What do I owe?").typed::<Invoice>().await;
        assert_eq!(result.value, Some(good()), "{:?}", result.run.error);
        let statistics = result.run.statistics;
        assert_eq!((statistics.violations, statistics.retries), (2, 2));
        let requests = model.requests();
        let told = format!("{:?}", requests[1]);
        for place in ["/total", "/currency", "totl", "Yen"] {
            assert!(told.contains(place), "{place} in {told}");
        }
        assert!(
            last_user(&model).contains("it is not JSON"),
            "{}",
            last_user(&model)
        );
        // What was rejected is in no event and in no message.
        let shown = serde_json::to_string(&result.run).unwrap();
        assert!(!shown.contains("Yen") && !shown.contains("many"), "{shown}");
    }
}

#[tokio::test]
async fn without_recovery_the_run_ends_and_says_what_is_wrong() {
    for (model, agent) in agents(&[BAD, GOOD]) {
        let result = agent
            .policy(Policy::Ignore)
            .build()
            .run("What do I owe?")
            .typed::<Invoice>()
            .await;
        assert_eq!((result.value, result.run.answer), (None, None));
        let Some(RunError::Contract {
            contract,
            terminated: true,
            ..
        }) = &result.run.error
        else {
            panic!("{:?}", result.run.error);
        };
        assert_eq!(contract, "agent.answer.type: Invoice");
        let sentence = result.run.error.unwrap().to_string();
        for part in ["3 problems", "/total", "/currency", "Recovery::retry"] {
            assert!(sentence.contains(part), "{part} in {sentence}");
        }
        assert!(!sentence.contains("Yen"), "{sentence}");
        assert_eq!(model.requests().len(), 1);
    }
}

#[tokio::test]
async fn one_code_fence_is_understood_and_text_around_it_is_not() {
    for fenced in ["```json\n[1, 2]\n```", "```\n[1, 2]\n```\n", "  [1, 2]\n"] {
        for (_, agent) in agents(&[fenced]) {
            let result = agent.build().run("Count.").typed::<Vec<u8>>().await;
            assert_eq!(
                result.value,
                Some(vec![1, 2]),
                "{fenced} {:?}",
                result.run.error
            );
        }
    }
    for refused in [
        "Here:\n```json\n[1]\n```",
        "```json\n[1]\n```\n```json\n[2]\n```",
        "```yaml\n[1]\n```",
        "[1] and more",
        "[1][2]",
    ] {
        let model = Scripted::new().text(refused);
        let inner = ToolCallingAgent::new(model, Registry::builder().build().unwrap());
        let result = ContractAgent::builder(inner)
            .build()
            .run("Count.")
            .typed::<Vec<u8>>()
            .await;
        assert_eq!(result.value, None, "{refused}");
        assert!(!result.run.success, "{refused}");
    }
}

#[tokio::test]
async fn a_root_need_not_be_an_object() {
    for (_, agent) in agents(&["-3"]) {
        assert_eq!(
            agent.build().run("A number.").typed::<i8>().await.value,
            Some(-3)
        );
    }
    for (_, agent) in agents(&["null"]) {
        assert_eq!(
            agent
                .build()
                .run("A number?")
                .typed::<Option<u8>>()
                .await
                .value,
            Some(None)
        );
    }
    for (_, agent) in agents(&["300"]) {
        let result = agent.build().run("A number.").typed::<u8>().await;
        assert!(result.value.is_none() && !result.run.success);
    }
    for (_, agent) in agents(&[r#""tea""#]) {
        assert_eq!(
            agent
                .build()
                .run("A drink.")
                .typed::<String>()
                .await
                .value
                .as_deref(),
            Some("tea")
        );
    }
}

#[tokio::test]
async fn conditions_are_judged_on_the_value() {
    let nothing = r#"{"total": 0, "currency": "Eur"}"#;
    for (model, agent) in agents(&[nothing, GOOD]) {
        let agent = agent
            .recovery(Recovery::retry(1))
            .answer_post_of("positive", |invoice: &Invoice| invoice.total > 0)
            .build();
        let result = agent.run("What do I owe?").typed::<Invoice>().await;
        assert_eq!(result.value, Some(good()));
        let statistics = result.run.statistics;
        assert_eq!(
            (statistics.checks, statistics.violations, statistics.retries),
            (4, 1, 1)
        );
        assert!(
            last_user(&model).contains("`positive`"),
            "{}",
            last_user(&model)
        );
        let retried = result.run.steps.iter().any(|event| {
            matches!(event, Event::Retry { contract, .. } if contract == "agent.answer.positive")
        });
        assert!(retried);
    }
    // Without a type, an answer that cannot be read breaks the condition.
    for (_, agent) in agents(&["nothing"]) {
        let agent = agent
            .answer_post_of("positive", |total: &u32| *total > 0)
            .build();
        assert!(!agent.run("What do I owe?").await.success);
    }
}

#[tokio::test]
async fn a_run_that_goes_on_is_held_to_the_type() {
    for (_, agent) in agents(&[GOOD]) {
        let agent = agent.build();
        let first = agent.run("What do I owe?").typed::<Invoice>().await;
        let again = agent
            .resume(first.run.state.clone())
            .typed::<Invoice>()
            .await;
        assert_eq!((again.value, again.run.success), (Some(good()), true));
        let other = agent.resume(first.run.state).typed::<Vec<u8>>().await;
        assert_eq!((other.value, other.run.success), (None, false));
    }
    for (_, agent) in agents(&["12"]) {
        let task = Message::User {
            text: "What do I owe?".to_owned(),
        };
        let state = RunState::from(vec![task]);
        let result = agent.build().resume(state).typed::<u32>().await;
        assert_eq!(result.value, Some(12));
    }
}

/// A number that its type refuses although its schema admits it.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Pair {
    #[serde(deserialize_with = "even")]
    number: u8,
}

fn even<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    let number = u8::deserialize(deserializer)?;
    if number % 2 == 0 {
        return Ok(number);
    }
    Err(serde::de::Error::custom(format!("{number} is odd")))
}

#[tokio::test]
async fn what_only_the_type_refuses_is_told_to_the_model_alone() {
    for (model, agent) in agents(&[r#"{"number": 77}"#, r#"{"number": 4}"#]) {
        let agent = agent.recovery(Recovery::retry(1)).build();
        let result = agent.run("An even number.").typed::<Pair>().await;
        assert_eq!(result.value, Some(Pair { number: 4 }));
        assert!(
            last_user(&model).contains("77 is odd"),
            "{}",
            last_user(&model)
        );
        let shown = serde_json::to_string(&result.run).unwrap();
        assert!(!shown.contains("77"), "{shown}");
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Unjudged {
    #[expect(dead_code, reason = "no answer is read")]
    #[schemars(extend("pattern" = "(?<=a)b"))]
    text: String,
}

#[tokio::test]
async fn a_type_whose_schema_cannot_be_enforced_asks_no_model() {
    for (model, agent) in agents(&["{}"]) {
        let result = agent.build().run("Speak.").typed::<Unjudged>().await;
        let error = result.run.error.unwrap();
        assert!(matches!(error, RunError::AnswerType { .. }), "{error}");
        assert!(error.to_string().contains("`Unjudged`"), "{error}");
        assert!(result.value.is_none() && model.requests().is_empty());
    }
}

/// Keeps the schemas that come with requests.
#[derive(Clone)]
struct Watched {
    model: Scripted,
    schemas: Arc<std::sync::Mutex<Vec<Option<Value>>>>,
}

impl Model for Watched {
    fn name(&self) -> &'static str {
        "watched"
    }

    fn reply<'a>(&'a self, request: Request<'a>) -> Reply<'a> {
        self.schemas
            .lock()
            .unwrap()
            .push(request.response_schema.cloned());
        Model::reply(&self.model, request)
    }
}

#[tokio::test]
async fn the_schema_of_an_object_goes_along_with_the_request() {
    let schemas = Arc::default();
    let model = Watched {
        model: Scripted::new().text(GOOD).text("1").text("free"),
        schemas: Arc::clone(&schemas),
    };
    let inner = ToolCallingAgent::new(model, Registry::builder().build().unwrap());
    let agent = ContractAgent::builder(inner).build();
    assert!(
        agent
            .run("What do I owe?")
            .typed::<Invoice>()
            .await
            .value
            .is_some()
    );
    assert!(agent.run("How many?").typed::<u8>().await.value.is_some());
    assert!(agent.run("Speak.").await.success);
    let schemas = schemas.lock().unwrap();
    assert!(schemas[0].as_ref().unwrap()["properties"]["total"].is_object());
    assert_eq!(schemas[1..], [None, None]);
}

/// Any value, and often one that is nearly an invoice.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0_u32..20).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop_oneof![Just("Eur"), Just("Usd"), Just("Yen"), Just("")].prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let key = prop_oneof![Just("total"), Just("currency"), Just("lines"), Just("text"), Just("cents"), Just("x")];
        let key = key.prop_map(str::to_owned);
        let lines = proptest::collection::vec(inner.clone(), 0..3);
        prop_oneof![
            lines.prop_map(Value::Array),
            proptest::collection::btree_map(key, inner.clone(), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
            (0_u32..20, prop_oneof![Just("Eur"), Just("Yen")], inner)
                .prop_map(|(total, currency, lines)| json!({"total": total, "currency": currency, "lines": [lines]})),
            (0_u32..20, Just("Usd"), any::<Option<i32>>())
                .prop_map(|(total, currency, cents)| json!({"total": total, "currency": currency, "lines": [{"text": "", "cents": cents}]})),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn nothing_is_accepted_that_the_schema_or_the_type_refuses(value in values()) {
        let judge = jsonschema::validator_for(schemars::schema_for!(Invoice).as_value()).unwrap();
        let expected: Option<Invoice> = serde_json::from_value(value.clone()).ok();
        let expected = expected.filter(|_| judge.is_valid(&value));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for (_, agent) in agents(&[&value.to_string()]) {
            let result = runtime.block_on(agent.build().run("What do I owe?").typed::<Invoice>());
            prop_assert_eq!(result.run.success, expected.is_some());
            prop_assert_eq!(&result.value, &expected);
        }
    }
}
