use contract_runtime::mcp::Server;
use contract_runtime::prelude::*;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// Divide one number by another.
#[tool(read_only)]
#[pre(divisor != 0, "cannot divide by zero")]
fn divide(dividend: i64, divisor: i64) -> i64 {
    dividend.wrapping_div(divisor)
}

#[tokio::test]
async fn a_violation_is_a_result_that_the_model_can_act_on()
-> Result<(), Box<dyn std::error::Error>> {
    let listening = Server::new(Registry::builder().tool(divide).build()?).bind("127.0.0.1:0")?;
    let address = listening.address();
    tokio::spawn(listening.serve());
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"divide","arguments":{"dividend":1,"divisor":0},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}}}"#;
    let mut stream = tokio::net::TcpStream::connect(address).await?;
    stream
        .write_all(
            format!(
                "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\n\
                 Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
                 Mcp-Method: tools/call\r\nMcp-Name: divide\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            )
            .as_bytes(),
        )
        .await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    assert!(answer.contains(r#""isError":true"#), "{answer}");
    assert!(answer.contains("cannot divide by zero"), "{answer}");
    Ok(())
}
