//! Backends that are killed while a run of sixty steps is at work.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::house::House;

/// The calls of a run; its answer is the sixtieth step.
const CALLS: usize = 59;

/// A provider that knows nothing but the conversation: the reply depends on how many calls were answered. It counts requests.
#[derive(Clone, Default)]
struct Provider {
    /// The step that each request asked for.
    asked: Arc<Mutex<Vec<usize>>>,
}

impl Provider {
    /// Serves, and returns its address.
    fn serve(&self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("an address");
        let address = listener.local_addr().expect("an address");
        let provider = self.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let provider = provider.clone();
                // A backend that was killed reads no reply.
                std::thread::spawn(move || provider.answer(stream));
            }
        });
        format!("http://{address}/v1")
    }

    fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let line = line.trim().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        if body.is_empty() {
            // The backend was killed before it had sent its request.
            return Ok(());
        }
        let request: Value = serde_json::from_slice(&body).expect("JSON");
        let answered = answered(&request);
        self.asked.lock().expect("no panic").push(answered);
        let delta = if answered == CALLS {
            json!({"role": "assistant", "content": "All steps are done."})
        } else {
            let step = answered + 1;
            let script = format!("echo {step} >> steps; echo ran {step}");
            let arguments = json!({"argv": ["sh", "-c", script], "timeout_seconds": 60});
            let function = json!({"name": "run_shell", "arguments": arguments.to_string()});
            json!({"role": "assistant", "tool_calls": [
                {"index": 0, "id": format!("call_{step}"), "type": "function", "function": function},
            ]})
        };
        let reason = if answered == CALLS {
            "stop"
        } else {
            "tool_calls"
        };
        let chunk = |delta: Value, reason: Value| {
            let choices = json!([{"index": 0, "delta": delta, "finish_reason": reason}]);
            let chunk = json!({"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "script", "choices": choices});
            format!("data: {chunk}\n\n")
        };
        let chunks = chunk(delta, Value::Null) + &chunk(json!({}), json!(reason));
        write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{chunks}data: [DONE]\n\n"
        )
    }
}

/// How many calls of the run were answered, each with its own result.
fn answered(request: &Value) -> usize {
    let messages = request["messages"].as_array().expect("messages");
    let id = |message: &&Value| {
        let id = message["tool_call_id"].as_str().unwrap_or_default();
        id.starts_with("call_")
    };
    let results: Vec<&Value> = messages.iter().filter(id).collect();
    for (step, result) in (1..).zip(&results) {
        assert_eq!(result["tool_call_id"], format!("call_{step}"));
        let text = result["content"].to_string();
        assert!(text.contains(&format!("ran {step}")), "{text}");
    }
    results.len()
}

/// The calls that took effect, in their order.
fn ran(house: &House) -> Vec<usize> {
    let steps = std::fs::read_to_string(house.root().join("steps")).unwrap_or_default();
    steps.lines().filter_map(|line| line.parse().ok()).collect()
}

/// Kills backends of runs of sixty steps, this often in all; `KILLS=100` at night.
#[test]
fn runs_go_on_wherever_their_backend_is_killed() {
    let kills: usize = std::env::var("KILLS").map_or(4, |kills| kills.parse().expect("a number"));
    let provider = Provider::default();
    let mut house = House::with_provider(provider.serve());
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let (mut killed, mut runs) = (0, 0);
    while killed < kills {
        let id = house.begin("Take sixty steps.");
        let before = killed;
        while killed < kills && killed - before < 20 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            // After none, one, two or three more calls, and at any point of the next one.
            let wanted = ran(&house).len() + (random >> 62) as usize;
            let is_over = || house.look(&id)["is_complete"] == true;
            while ran(&house).len() < wanted && !is_over() {
                std::thread::sleep(Duration::from_millis(5));
            }
            std::thread::sleep(Duration::from_millis((random >> 32) % 100));
            if is_over() {
                break;
            }
            house.restart_backend();
            killed += 1;
        }
        let done = house.until(&id, |seen| seen["is_complete"] == true);
        assert_eq!(done["phase"], "complete", "{done}");
        assert_eq!(done["message"], "All steps are done.");

        let ran = ran(&house);
        assert!(
            ran.iter().copied().eq(1..=CALLS),
            "lost or doubled: {ran:?}"
        );
        std::fs::remove_file(house.root().join("steps")).expect("steps");

        let asked = std::mem::take(&mut *provider.asked.lock().expect("no panic"));
        assert!(
            asked.is_sorted(),
            "a stored reply was asked for again: {asked:?}"
        );
        let again = asked.len() - (CALLS + 1);
        assert!(again <= killed - before, "{again} requests were repeated");
        let events = house.events(&id);
        let ends = events
            .iter()
            .filter(|event| event["type"] == "tool_result" && event["tool"] == "run_shell");
        let statuses: Vec<&Value> = ends.map(|end| &end["status"]).collect();
        assert_eq!(statuses, [&json!("ok"); CALLS]);
        runs += 1;
        println!(
            "run {runs}: {} kills, {again} requests repeated, {} effects",
            killed - before,
            ran.len()
        );
    }
}
