//! A model in the loop: one plays the agent under contract, another the user who has a task.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use contract_agent::{ContractAgent, Message, Model, Recovery, ToolCallingAgent};
use contract_runtime::approval::{Approval, ApprovalRequest, Decision};
use contract_runtime::observe::Observer;
use contract_runtime::prelude::*;
use contract_runtime::{BuildError, ConditionKind};
use tokio::sync::Mutex;

use crate::agreement::is_yes;
use crate::golden;
use crate::recording::Task;
use crate::store::Airline;

/// Whether contracts end the calls that break them and ask the user, or only count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contracts {
    /// They do.
    Enforced,
    /// They only count, and nobody is asked.
    Observed,
}

/// How a conversation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lived {
    /// Whether the database is the one that the expected calls leave.
    pub solved: bool,
    /// How many preconditions did not hold: calls that were refused, or would have been.
    pub broken: usize,
}

/// The most messages of a user.
const MESSAGES: usize = 30;
/// How often a model may try again after a refusal.
const RETRIES: u32 = 10;
/// What the user writes at the end.
const STOP: &str = "###STOP###";

/// Lets a model serve a user, whom another model plays, on a copy of the airline.
///
/// # Errors
///
/// Fails if a model cannot be reached, or the airline cannot be copied or read.
pub async fn converse<A: Model, U: Model + 'static>(
    airline: &Airline,
    task: &Task,
    policy: &str,
    (agent, user): (A, U),
    contracts: Contracts,
) -> Result<Lived, String> {
    let airline = Arc::new(airline.copy().map_err(|error| error.to_string())?);
    let expected = golden::after(&airline, task).await?;
    let broken = Arc::new(AtomicUsize::new(0));
    let registry = registry(&airline, contracts, &broken).map_err(|error| error.to_string())?;
    let agent = ContractAgent::builder(ToolCallingAgent::new(agent, registry).system(policy))
        .recovery(Recovery::retry(RETRIES))
        .build();
    let user = Arc::new(User::new(user, task)?);

    let mut past = Vec::new();
    let mut said = user.says("Hello, how can I help you?").await?;
    for _ in 0..MESSAGES {
        if said.contains(STOP) {
            break;
        }
        let asked = Arc::clone(&user);
        let context = Context::new().approver(move |request| decide(Arc::clone(&asked), request));
        let result = agent.run_after(past, said).context(context).await;
        past = result.messages;
        let answer = result
            .answer
            .ok_or_else(|| format!("the agent gave no answer: {:?}", result.error))?;
        said = user.says(answer).await?;
    }
    let solved = airline.contents().map_err(|error| error.to_string())? == expected;
    Ok(Lived {
        solved,
        broken: broken.load(Ordering::Relaxed),
    })
}

fn registry(
    airline: &Arc<Airline>,
    contracts: Contracts,
    broken: &Arc<AtomicUsize>,
) -> Result<Registry, BuildError> {
    let broken = Arc::clone(broken);
    let observer = Observer::new().violations(move |violation| {
        let is_pre = violation.kind == ConditionKind::Pre;
        broken.fetch_add(usize::from(is_pre), Ordering::Relaxed);
    });
    let builder = Registry::builder()
        .with(Arc::clone(airline))
        .observe(observer);
    match contracts {
        Contracts::Enforced => builder.build(),
        Contracts::Observed => builder
            .policy(Policy::Observe)
            .without_ask("cancel_reservation", "reason")
            .without_confirms()
            .build(),
    }
}

/// The user answers what a contract asks, as a message of the conversation.
async fn decide<U: Model>(user: Arc<User<U>>, request: ApprovalRequest) -> Decision {
    match user.says(format!("{request} Answer yes or no.")).await {
        Ok(answer) if is_yes(&answer) => Decision::Approved(Approval::Once),
        Ok(answer) => Decision::Denied(answer),
        Err(error) => Decision::Denied(error),
    }
}

/// A model that plays a user.
struct User<U> {
    agent: ContractAgent<ToolCallingAgent<U>>,
    past: Mutex<Vec<Message>>,
}

impl<U: Model> User<U> {
    fn new(model: U, task: &Task) -> Result<Self, String> {
        let no_tools = Registry::builder()
            .build()
            .map_err(|error| error.to_string())?;
        let system = format!(
            "You write to an airline as a customer. What you want, and who you are:\n{}\nWrite one short message at a time, and \
             reveal only what the agent needs. When you have what you want, or cannot get it, write {STOP}.",
            task.wish
        );
        let agent =
            ContractAgent::builder(ToolCallingAgent::new(model, no_tools).system(system)).build();
        Ok(Self {
            agent,
            past: Mutex::default(),
        })
    }

    /// Returns what the user says to a message of the agent.
    async fn says(&self, heard: impl Into<String>) -> Result<String, String> {
        let mut past = self.past.lock().await;
        let result = self.agent.run_after(past.clone(), heard).await;
        *past = result.messages;
        result
            .answer
            .ok_or_else(|| format!("the user gave no answer: {:?}", result.error))
    }
}
