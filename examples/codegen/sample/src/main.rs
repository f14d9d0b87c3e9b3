use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

use shop::routes::answer;

fn main() -> std::io::Result<()> {
    for stream in TcpListener::bind("127.0.0.1:8000")?.incoming() {
        let mut stream = stream?;
        let mut line = String::new();
        BufReader::new(&stream).read_line(&mut line)?;
        let mut words = line.split(' ');
        let (status, text) = answer(words.next().unwrap_or(""), words.next().unwrap_or(""));
        write!(stream, "HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{text}", text.len())?;
    }
    Ok(())
}
