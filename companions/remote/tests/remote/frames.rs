//! Frames that no client of ours sends (RFC 6455, 2011).

use std::sync::Arc;
use std::time::Duration;

use contract_manifest::ToManifest as _;
use contract_remote::Backend;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::plain::{Doorway, head, status};
use crate::raw::handshake;
use crate::tools::{Tested, registry};

/// Bytes of one message.
const CAP: usize = 8 << 20;

/// First byte of a frame: the last of a message of text, and others.
const TEXT: u8 = 0x81;
const FIRST: u8 = 0x01;
const MORE: u8 = 0x00;
const LAST: u8 = 0x80;
const BINARY: u8 = 0x82;
const CLOSE: u8 = 0x88;
const PING: u8 = 0x89;
const PONG: u8 = 0x8a;

fn header(first: u8, length: usize, masked: bool) -> Vec<u8> {
    let mask = if masked { 0x80 } else { 0 };
    let mut bytes = vec![first];
    match u16::try_from(length) {
        Ok(short) if short < 126 => bytes.push(mask | short.to_be_bytes()[1]),
        Ok(short) => {
            bytes.push(mask | 0x7e);
            bytes.extend(short.to_be_bytes());
        }
        Err(_) => {
            bytes.push(mask | 0x7f);
            bytes.extend((length as u64).to_be_bytes());
        }
    }
    if masked {
        // A mask of zeros masks nothing.
        bytes.extend([0; 4]);
    }
    bytes
}

fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    [header(first, payload.len(), true), payload.to_vec()].concat()
}

struct Line {
    stream: TcpStream,
    read: Vec<u8>,
}

#[derive(Debug, PartialEq)]
enum Heard {
    Message(Value),
    Pong,
    Closed(u16),
    Gone,
}

impl Line {
    async fn attached(door: &Doorway) -> Result<Self, Box<dyn std::error::Error>> {
        let mut stream = TcpStream::connect(&door.host).await?;
        let request = door.lines().join("\r\n") + "\r\n\r\n";
        stream.write_all(request.as_bytes()).await?;
        assert_eq!(status(&head(&mut stream).await?), 101);
        let read = Vec::new();
        let mut line = Self { stream, read };
        let shake = handshake(&door.task, &["halve"], &json!([])).to_string();
        line.say(&frame(TEXT, shake.as_bytes())).await;
        assert!(matches!(line.heard().await, Heard::Message(_)));
        Ok(line)
    }

    /// The other side may close before all of it is written.
    async fn say(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes).await;
    }

    /// The next frame, asking whether anybody is there left out.
    async fn heard(&mut self) -> Heard {
        loop {
            if let Some((opcode, payload)) = self.frame() {
                match opcode {
                    0x8 => {
                        let code = payload.first_chunk().copied().map(u16::from_be_bytes);
                        return Heard::Closed(code.unwrap_or(1005));
                    }
                    0xa => return Heard::Pong,
                    0x1 => {
                        let said: Value = serde_json::from_slice(&payload).unwrap_or_default();
                        if said["type"] != "ping" {
                            return Heard::Message(said);
                        }
                    }
                    _ => {}
                }
                continue;
            }
            let read = self.stream.read_buf(&mut self.read);
            match timeout(Duration::from_secs(60), read).await {
                Ok(Ok(1..)) => {}
                _ => return Heard::Gone,
            }
        }
    }

    fn frame(&mut self) -> Option<(u8, Vec<u8>)> {
        let (first, second) = (*self.read.first()?, *self.read.get(1)?);
        let (begins, length) = match second {
            126 => (
                4,
                usize::from(u16::from_be_bytes(*self.read.get(2..)?.first_chunk()?)),
            ),
            length => (2, usize::from(length)),
        };
        let payload = self.read.get(begins..begins + length)?.to_vec();
        self.read.drain(..begins + length);
        Some((first & 0xf, payload))
    }

    async fn is_alive(&mut self) -> bool {
        self.say(&frame(TEXT, br#"{"type":"ping"}"#)).await;
        self.heard().await == Heard::Message(json!({"type": "pong"}))
    }
}

async fn doorway() -> Result<Doorway, Box<dyn std::error::Error>> {
    let backend = Backend::new(registry(&Arc::default())?.manifest());
    Doorway::of(backend).await
}

#[tokio::test]
async fn frames_that_break_the_rules_end_their_connection_and_no_other() -> Tested {
    let door = doorway().await?;
    let ping = br#"{"type":"ping"}"#;
    let long = vec![b' '; 126];
    let unmasked = [header(TEXT, ping.len(), false), ping.to_vec()].concat();
    let deflated = [0xaa, 0x56, 0x2a, 0xa9, 0x2c, 0x48, 0x55, 0xb2, 0x52, 0x2a];
    let cases = [
        ("binary", frame(BINARY, ping), 1003),
        ("unmasked", unmasked, 1002),
        (
            "compressed, which was not agreed on",
            frame(TEXT | 0x40, &deflated),
            1002,
        ),
        ("the second reserved bit", frame(TEXT | 0x20, ping), 1002),
        ("the third reserved bit", frame(TEXT | 0x10, ping), 1002),
        ("a reserved kind of data", frame(0x83, ping), 1002),
        ("a reserved kind of control", frame(0x8b, ping), 1002),
        ("a ping of 126 bytes", frame(PING, &long), 1002),
        ("a ping in pieces", frame(0x09, b"x"), 1002),
        ("a goodbye of 126 bytes", frame(CLOSE, &long), 1002),
        ("a goodbye of one byte", frame(CLOSE, &[3]), 1002),
        (
            "a goodbye with a code that is for nobody",
            frame(CLOSE, &1005_u16.to_be_bytes()),
            1002,
        ),
        ("more of nothing", frame(LAST, ping), 1002),
        (
            "a message inside a message",
            [frame(FIRST, b"{"), frame(TEXT, ping)].concat(),
            1002,
        ),
        ("no UTF-8", frame(TEXT, &[0xff, 0xfe]), 1007),
        (
            "no UTF-8, in pieces",
            [frame(FIRST, &[0xc3]), frame(LAST, b"(")].concat(),
            1007,
        ),
        ("a byte above the cap", header(TEXT, CAP + 1, true), 1009),
        ("an exbibyte", header(TEXT, 1 << 60, true), 1009),
    ];
    for (what, bytes, code) in cases {
        let mut line = Line::attached(&door).await?;
        line.say(&bytes).await;
        assert_eq!(line.heard().await, Heard::Closed(code), "{what}");
        assert_eq!(line.heard().await, Heard::Gone, "{what}");
    }
    // In pieces that are each small enough.
    let mut line = Line::attached(&door).await?;
    line.say(&frame(FIRST, &[b' '; 1])).await;
    for _ in 0..128 {
        line.say(&frame(MORE, &vec![b' '; 64 << 10])).await;
    }
    assert!(matches!(
        line.heard().await,
        Heard::Closed(1009) | Heard::Gone
    ));
    // A goodbye is answered with its own code.
    let mut line = Line::attached(&door).await?;
    line.say(&frame(CLOSE, &1000_u16.to_be_bytes())).await;
    assert_eq!(line.heard().await, Heard::Closed(1000));
    assert!(Line::attached(&door).await?.is_alive().await);
    Ok(())
}

#[tokio::test]
async fn what_is_allowed_is_heard_however_it_is_cut() -> Tested {
    let door = doorway().await?;
    let mut line = Line::attached(&door).await?;
    let pong = json!({"type": "pong"});
    let mut padded = br#"{"type":"ping"}"#.to_vec();

    padded.resize(CAP, b' ');
    line.say(&frame(TEXT, &padded)).await;
    assert_eq!(
        line.heard().await,
        Heard::Message(pong.clone()),
        "as large as the cap"
    );

    // A million pieces of a byte each, with a ping and an empty piece in between.
    padded.truncate(1_000_000);
    let mut bytes = frame(FIRST, &padded[..1]);
    for (n, byte) in padded[1..padded.len() - 1].iter().enumerate() {
        bytes.extend(frame(MORE, &[*byte]));
        if n == 1_000 {
            bytes.extend(frame(PING, b"still there?"));
            bytes.extend(frame(MORE, &[]));
        }
    }
    bytes.extend(frame(LAST, &padded[padded.len() - 1..]));
    line.say(&bytes).await;
    assert_eq!(line.heard().await, Heard::Pong);
    assert_eq!(
        line.heard().await,
        Heard::Message(pong),
        "in a million pieces"
    );

    let empty = [frame(FIRST, &[]), frame(MORE, &[]).repeat(100_000)].concat();
    line.say(&empty).await;
    line.say(&frame(LAST, br#"{"type":"ping"}"#)).await;
    assert_eq!(line.heard().await, Heard::Message(json!({"type": "pong"})));
    Ok(())
}

#[tokio::test]
async fn a_flood_of_pings_is_answered_without_being_kept() -> Tested {
    let door = doorway().await?;
    let mut line = Line::attached(&door).await?;
    // Nothing is read meanwhile: what is kept of the answers is what a connection holds.
    let flood = [frame(PING, &[b'x'; 125]), frame(PONG, b"unasked")].concat();
    for _ in 0..200 {
        line.say(&flood.repeat(500)).await;
    }
    let mut other = Line::attached(&door).await?;
    assert!(other.is_alive().await);
    Ok(())
}
