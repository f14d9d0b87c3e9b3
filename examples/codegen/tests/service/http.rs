//! A client that speaks HTTP by hand, so that it may speak it badly.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

use crate::house::{PATIENCE, TOKEN};

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{} {}", self.head, self.body))
    }

    /// What a stream of events told, the last of them a response where there is one.
    pub(crate) fn events(&self) -> Vec<Value> {
        let data = self
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("data: "));
        data.map(|data| serde_json::from_str(data).unwrap_or_else(|_| panic!("{data}")))
            .collect()
    }
}

pub(crate) fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
    stream
}

/// Sends these bytes, and reads until the service closes.
pub(crate) fn raw(address: &str, bytes: &[u8]) -> Answer {
    read(connect(address), bytes)
}

fn read(mut stream: TcpStream, bytes: &[u8]) -> Answer {
    // A service that has closed already may still have answered.
    let _ = stream.write_all(bytes);
    let mut text = Vec::new();
    let _ = stream.read_to_end(&mut text);
    let text = String::from_utf8_lossy(&text);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
    let is_chunked = head
        .to_ascii_lowercase()
        .contains("transfer-encoding: chunked");
    Answer {
        status: status.unwrap_or(0),
        head: head.to_owned(),
        body: if is_chunked {
            unchunked(body)
        } else {
            body.to_owned()
        },
    }
}

fn unchunked(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap_or(0);
        let Some(chunk) = rest.get(..size) else { break };
        whole.push_str(chunk);
        body = rest.get(size + 2..).unwrap_or("");
    }
    whole
}

/// The head of a request that is let in, without its last line.
pub(crate) fn head(method: &str, path: &str, address: &str) -> String {
    format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAuthorization: Bearer {TOKEN}\r\n"
    )
}

pub(crate) fn get(address: &str, path: &str) -> Answer {
    raw(
        address,
        format!("{}\r\n", head("GET", path, address)).as_bytes(),
    )
}

/// What has come of an answer when nothing more has come for so long.
pub(crate) fn get_for(address: &str, path: &str, silence: Duration) -> Answer {
    let stream = connect(address);
    stream.set_read_timeout(Some(silence)).expect("a limit");
    let head = head("GET", path, address);
    read(stream, format!("{head}\r\n").as_bytes())
}

pub(crate) fn post(address: &str, path: &str, body: &str) -> Answer {
    let head = head("POST", path, address);
    let length = body.len();
    let request =
        format!("{head}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}");
    raw(address, request.as_bytes())
}
