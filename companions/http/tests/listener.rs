//! What a listener does with peers that are slow, silent or too many, and how it ends.

use std::convert::Infallible;
use std::future::pending;
use std::net::SocketAddr;
use std::time::Duration;

use contract_http::Limits;
use hyper::service::service_fn;
use hyper::{Request, Response, body::Incoming};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

const SHORT: Duration = Duration::from_millis(100);
const LONG: Duration = Duration::from_secs(10);

/// Serves `/large`, an answer that no socket buffers, and `/slow`, which takes a while.
async fn serve(
    limits: Limits,
    stop: impl Future<Output = ()> + Send + 'static,
) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = service_fn(|request: Request<Incoming>| async move {
        let size = match request.uri().path() {
            "/large" => 64 << 20,
            "/slow" => {
                sleep(SHORT * 3).await;
                5
            }
            _ => 2,
        };
        Ok::<_, Infallible>(Response::new("x".repeat(size)))
    });
    let served = tokio::spawn(limits.serve(listener, service, stop));
    (address, served)
}

async fn send(address: SocketAddr, head: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

/// What is read until the other side closes the connection.
async fn rest(mut stream: TcpStream) -> String {
    let mut read = Vec::new();
    // A reset ends it as well.
    let _ = timeout(LONG, stream.read_to_end(&mut read)).await.unwrap();
    String::from_utf8(read).unwrap()
}

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")
}

#[tokio::test]
async fn a_header_that_does_not_arrive_ends_its_connection() {
    let (address, _served) = serve(Limits::new().header_time(SHORT), pending()).await;
    let answer = rest(send(address, "GET / HTTP/1.1\r\nHost:").await).await;
    assert!(!answer.contains("200 OK"), "{answer}");
}

#[tokio::test]
async fn a_header_that_is_too_long_is_refused() {
    let (address, _served) = serve(Limits::new().header_bytes(0), pending()).await;
    let head = format!("GET / HTTP/1.1\r\nLong: {}\r\n\r\n", "x".repeat(9 << 10));
    let answer = rest(send(address, &head).await).await;
    assert!(!answer.contains("200 OK"), "{answer}");
}

#[tokio::test]
async fn a_peer_that_reads_nothing_makes_room_for_the_next() {
    let limits = Limits::new().connections(1).write_time(SHORT);
    let (address, _served) = serve(limits, pending()).await;
    let silent = send(address, &get("/large")).await;
    let mut next = send(address, &get("/")).await;
    let mut first = [0; 15];
    timeout(LONG, next.read_exact(&mut first))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(&first, b"HTTP/1.1 200 OK");
    drop(silent);
}

#[tokio::test]
async fn a_connection_over_the_limit_waits() {
    let (address, _served) = serve(Limits::new().connections(1), pending()).await;
    let first = send(address, "").await;
    sleep(SHORT).await;
    let mut second = send(address, &get("/")).await;
    let mut byte = [0; 1];
    assert!(timeout(SHORT, second.read_exact(&mut byte)).await.is_err());
    drop(first);
    assert!(timeout(LONG, second.read_exact(&mut byte)).await.is_ok());
}

#[tokio::test]
async fn a_request_in_progress_is_answered_after_the_stop() {
    let (stop, stopped) = oneshot::channel::<()>();
    let stopped = async move { drop(stopped.await) };
    let (address, served) = serve(Limits::new(), stopped).await;
    let slow = send(address, &get("/slow")).await;
    let idle = send(address, "").await;
    sleep(SHORT).await;
    stop.send(()).unwrap();
    assert!(rest(slow).await.ends_with("xxxxx"));
    assert_eq!(rest(idle).await, "");
    timeout(LONG, served).await.unwrap().unwrap();
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn dropping_it_closes_every_connection() {
    let (address, served) = serve(Limits::new(), pending()).await;
    let idle = send(address, "").await;
    sleep(SHORT).await;
    served.abort();
    assert_eq!(rest(idle).await, "");
}
