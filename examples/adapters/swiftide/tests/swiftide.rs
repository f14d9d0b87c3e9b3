//! An agent of swiftide, with a scripted model.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use adapter_swiftide::{approve, tools};
use async_trait::async_trait;
use scripted::{Heard, Reply, Scene};
use swiftide_agents::Agent;
use swiftide_core::ChatCompletion;
use swiftide_core::chat_completion::errors::LanguageModelError;
use swiftide_core::chat_completion::{
    ChatCompletionRequest, ChatCompletionResponse, ChatMessage, ToolCall,
};

#[derive(Clone)]
struct Model(Arc<Mutex<VecDeque<Reply>>>);

#[async_trait]
impl ChatCompletion for Model {
    async fn complete(
        &self,
        request: &ChatCompletionRequest<'_>,
    ) -> Result<ChatCompletionResponse, LanguageModelError> {
        let reply = self.0.lock().unwrap().pop_front();
        let mut response = ChatCompletionResponse::default();
        match reply.ok_or_else(|| LanguageModelError::permanent("the script is over"))? {
            Reply::Text(text) => response.message = Some(text.to_owned()),
            Reply::Call(name, arguments) => {
                // Calls are told apart by their ids.
                let call = ToolCall::builder()
                    .id(request.messages().len().to_string())
                    .name(name)
                    .args(arguments)
                    .build();
                response.tool_calls = Some(vec![call.map_err(LanguageModelError::permanent)?]);
            }
        }
        Ok(response)
    }
}

async fn talk(scene: Scene) -> Heard {
    let model = Model(Arc::new(Mutex::new(scene.replies.into())));
    let mut agent = Agent::builder()
        .llm(&model)
        .tools(tools(&scene.registry).unwrap())
        .build()
        .unwrap();
    agent.query("Go.").await.unwrap();
    approve(&mut agent, async |request| scene.person.approve(request))
        .await
        .unwrap();
    let history = agent.history().await.unwrap();
    let results = history.iter().filter_map(|message| match message {
        ChatMessage::ToolOutput(_, output) => output.content().map(str::to_owned),
        _ => None,
    });
    let answer = history.iter().rev().find_map(|message| match message {
        ChatMessage::Assistant(text, _) => text.as_ref().map(ToString::to_string),
        _ => None,
    });
    Heard {
        results: results.collect(),
        answer: answer.unwrap_or_default(),
    }
}

scripted::promises!(talk);
