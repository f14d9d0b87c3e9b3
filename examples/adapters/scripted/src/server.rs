//! Chat completions over HTTP, from a script.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::Reply;

/// A local server that answers as `OpenAI` does, so that clients run as they are.
pub struct Server {
    url: String,
    requests: Arc<Mutex<Vec<Value>>>,
}

impl Server {
    /// Starts a server, which gives one reply to each request and closes the connection.
    ///
    /// # Errors
    ///
    /// If no local port can be listened on.
    pub async fn start(replies: Vec<Reply>) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/v1/", listener.local_addr()?);
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        tokio::spawn(async move {
            for (number, reply) in replies.into_iter().enumerate() {
                let (stream, _) = listener.accept().await?;
                let request = answer(stream, number, reply).await?;
                kept.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(request);
            }
            io::Result::Ok(())
        });
        Ok(Self { url, requests })
    }

    /// Returns the address, up to the version.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the requests, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<Value> {
        let requests = self.requests.lock();
        requests.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns what the model read of each call.
    #[must_use]
    pub fn results(&self) -> Vec<String> {
        let requests = self.requests();
        let last = requests.last().and_then(|last| last["messages"].as_array());
        let results = last
            .into_iter()
            .flatten()
            .filter(|message| message["role"] == "tool");
        results
            .map(|message| message["content"].as_str().unwrap_or_default().to_owned())
            .collect()
    }
}

async fn answer(stream: TcpStream, number: usize, reply: Reply) -> io::Result<Value> {
    let mut stream = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        let (name, value) = line.trim_end().split_once(':').unwrap_or_default();
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
        if line.trim_end().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    let request: Value = serde_json::from_slice(&body)?;
    let (kind, text) = if request["stream"] == true {
        ("text/event-stream", events(number, reply))
    } else {
        ("application/json", whole(number, reply).to_string())
    };
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        text.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(text.as_bytes()).await?;
    stream.flush().await?;
    Ok(request)
}

fn message(number: usize, reply: Reply) -> (Value, &'static str) {
    match reply {
        Reply::Text(text) => (json!({"role": "assistant", "content": text}), "stop"),
        Reply::Call(name, arguments) => {
            let call = json!({
                "index": 0, "id": format!("call_{number}"), "type": "function",
                "function": {"name": name, "arguments": arguments},
            });
            let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
            (message, "tool_calls")
        }
    }
}

fn whole(number: usize, reply: Reply) -> Value {
    let (message, finish) = message(number, reply);
    json!({
        "id": "1", "object": "chat.completion", "created": 0, "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    })
}

fn events(number: usize, reply: Reply) -> String {
    let (delta, finish) = message(number, reply);
    let chunk = |delta: Value, finish: Value| {
        let chunk = json!({
            "id": "1", "object": "chat.completion.chunk", "created": 0, "model": "scripted",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        });
        format!("data: {chunk}\n\n")
    };
    chunk(delta, Value::Null) + &chunk(json!({}), json!(finish)) + "data: [DONE]\n\n"
}
