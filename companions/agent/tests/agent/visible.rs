//! Runs of callers that do not see every tool.

use std::sync::{Arc, Mutex};

use contract_agent::{
    ConstrainedAgent, ContractAgent, InnerAgent, Model, ReActAgent, Recovery, Reply, Request,
    Scripted, ToolCallingAgent,
};
use contract_runtime::{Context, prelude::*};

use crate::tools::{hide, root};

/// Notes everything that a request says about tools.
#[derive(Clone)]
struct Noted {
    model: Scripted,
    told: Arc<Mutex<String>>,
}

impl Model for Noted {
    fn name(&self) -> &str {
        Model::name(&self.model)
    }

    fn reply<'a>(&'a self, request: Request<'a>) -> Reply<'a> {
        let tools = request.tools.into_iter().flat_map(Registry::tools);
        let names: Vec<&str> = tools.map(|tool| tool.name()).collect();
        let (messages, schema) = (request.messages, request.response_schema);
        let told = format!("{names:?} {:?} {schema:?}\n", messages.first());
        self.told.lock().unwrap().push_str(&told);
        Model::reply(&self.model, request)
    }
}

#[tokio::test]
async fn a_run_lists_and_calls_what_its_caller_sees() {
    let registry = || {
        let tools = Registry::builder().tool(root).tool(hide);
        let seen =
            tools.visible(|context, tool| tool.name() == "root" || context.caller() == Some("ada"));
        seen.build().unwrap()
    };
    for user in ["ada", "bob"] {
        let told = Arc::new(Mutex::new(String::new()));
        let noted = |model| Noted {
            model,
            told: Arc::clone(&told),
        };
        let native = Scripted::new().calls("", [("hide", r#"{"what":"x"}"#)]);
        let text = Scripted::new().text("Action: hide\nAction Input: {\"what\":\"x\"}");
        let object = r#"{"type":"tool_call","tool":"hide","arguments":{"what":"x"}}"#;
        let object = Scripted::new().text(object);
        let last = r#"{"type":"answer","content":"done"}"#;
        let agents: Vec<Box<dyn InnerAgent>> = vec![
            Box::new(ToolCallingAgent::new(
                noted(native.text("done")),
                registry(),
            )),
            Box::new(ReActAgent::new(
                noted(text.text("Answer: done")),
                registry(),
            )),
            Box::new(ConstrainedAgent::new(noted(object.text(last)), registry())),
        ];
        for inner in agents {
            let agent = ContractAgent::builder(inner)
                .recovery(Recovery::retry(2))
                .build();
            let context = Context::new().identified_as(user);
            let result = agent.run("go").context(context).await;
            let said = format!("{:?}", result.messages);
            assert_eq!(
                said.contains("there is no tool of that name"),
                user == "bob",
                "{said}"
            );
            let told = std::mem::take(&mut *told.lock().unwrap());
            assert_eq!(told.contains("hide"), user == "ada", "{told}");
            assert!(told.contains("root"), "{told}");
        }
    }
}
