//! The service on a free port, and clients of it.

#![allow(dead_code, unreachable_pub, reason = "each test uses a part")]

use std::num::NonZeroU32;
use std::time::Duration;

use clinic::Clinic;
use contract_mcp::rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig as Config;
use contract_mcp::{HttpClient, Importer};
use contract_runtime::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub type Error = Box<dyn std::error::Error + Send + Sync>;

pub struct Service {
    pub url: String,
    pub clinic: Clinic,
    pub http: reqwest::Client,
    pub served: JoinHandle<Result<(), Error>>,
    pub stop: CancellationToken,
    pub folder: TempDir,
}

impl Service {
    pub async fn start() -> Self {
        Self::with_limit(1_000).await
    }

    pub async fn with_limit(calls_per_minute: u32) -> Self {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("clinic.db");
        Self::on(
            &format!("sqlite://{}?mode=rwc", file.display()),
            folder,
            calls_per_minute,
        )
        .await
    }

    pub async fn on(database: &str, folder: TempDir, calls_per_minute: u32) -> Self {
        let clinic = Clinic::open(database).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let limit = NonZeroU32::new(calls_per_minute).unwrap();
        let stopped = async move { stopped.cancelled().await };
        let served = tokio::spawn(clinic::serve(listener, clinic.clone(), limit, stopped));
        let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
        let http = http.build().unwrap();
        Self {
            url,
            clinic,
            http,
            served,
            stop,
            folder,
        }
    }

    /// The tools of the service, as the client of a user has them.
    pub async fn client(&self, user: &str) -> Registry {
        let config =
            Config::with_uri(format!("{}/mcp", self.url)).auth_header(format!("of-{user}"));
        let imported = Importer::new()
            .import(HttpClient::from_config(config))
            .await
            .unwrap();
        Registry::builder().with(imported).build().unwrap()
    }

    /// One request of revision 2026-07-28, with more parameters, from a client that can ask its user.
    pub async fn post(
        &self,
        token: Option<&str>,
        tool: &str,
        arguments: Value,
        more: Value,
    ) -> reqwest::Response {
        let mut params = json!({"name": tool, "arguments": arguments, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
            "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        }});
        for (name, value) in more.as_object().unwrap() {
            params[name] = value.clone();
        }
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let request = self.http.post(format!("{}/mcp", self.url));
        let request = match token {
            Some(token) => request.bearer_auth(token),
            None => request,
        };
        let request = request
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream")
            .header("MCP-Protocol-Version", "2026-07-28")
            .header("Mcp-Method", "tools/call")
            .header("Mcp-Name", tool);
        request.body(body.to_string()).send().await.unwrap()
    }

    /// The result of a call.
    pub async fn result(&self, user: &str, tool: &str, arguments: Value, more: Value) -> Value {
        let token = format!("of-{user}");
        let response = self.post(Some(&token), tool, arguments, more).await;
        let text = response.text().await.unwrap();
        let text = text
            .lines()
            .filter_map(|line| line.strip_prefix("data:"))
            .next_back()
            .unwrap_or(&text);
        serde_json::from_str(text).unwrap_or_else(|_| panic!("{text}"))
    }

    /// The text that the model reads.
    pub async fn call(&self, user: &str, tool: &str, arguments: Value) -> String {
        let answer = self.result(user, tool, arguments, json!({})).await;
        let text = &answer["result"]["content"][0]["text"];
        text.as_str()
            .unwrap_or_else(|| panic!("{answer}"))
            .to_owned()
    }

    /// A patient with a bill of 300 EUR that is paid.
    pub async fn with_bill(&self) {
        let ada = json!({"name": "Ada Byron", "born": "1815-12-10", "phone": "555", "allergies": "Penicillin"});
        assert_eq!(self.call("rosa", "register_patient", ada).await, "1");
        assert_eq!(
            self.call("rosa", "issue_bill", json!({"patient": 1, "cents": 30_000}))
                .await,
            "1"
        );
        assert_eq!(
            self.call("rosa", "take_payment", json!({"bill": 1, "cents": 30_000}))
                .await,
            "0"
        );
    }

    /// The page, as the user sees it in a browser.
    pub async fn page(&self, user: &str) -> String {
        let page = self.http.get(format!("{}/approvals", self.url));
        let page = page
            .basic_auth(user, Some(format!("of-{user}")))
            .send()
            .await
            .unwrap();
        page.text().await.unwrap()
    }

    /// Looks at the page until the number of open requests is this one, and returns their ids.
    pub async fn open(&self, number: usize) -> Vec<String> {
        let looking = async {
            loop {
                let page = self.page("lind").await;
                let forms = page.split("action=\"/approvals/").skip(1);
                let ids = forms.filter_map(|form| Some(form.split_once('"')?.0.to_owned()));
                let ids: Vec<String> = ids.collect();
                if ids.len() == number {
                    return ids;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let looking = tokio::time::timeout(Duration::from_secs(20), looking);
        looking
            .await
            .expect("the page never showed so many requests")
    }

    pub async fn answer(&self, user: &str, id: &str, form: &str) -> u16 {
        let answer = self.http.post(format!("{}/approvals/{id}", self.url));
        let answer = answer.basic_auth(user, Some(format!("of-{user}")));
        let answer = answer
            .header("Content-Type", "application/x-www-form-urlencoded")
            .body(form.to_owned());
        answer.send().await.unwrap().status().as_u16()
    }

    /// Stops the service, and returns what the audit holds: the caller, the tool, the arguments, the outcome, the effect and the
    /// error.
    pub async fn audit(self) -> Vec<[String; 6]> {
        drop(self.http);
        self.stop.cancel();
        self.served.await.unwrap().unwrap();
        let select = "SELECT caller, tool, arguments, outcome, effect, error FROM audit";
        let rows: Vec<(String, String, String, String, String, String)> = sqlx::query_as(select)
            .fetch_all(self.clinic.pool())
            .await
            .unwrap();
        rows.into_iter()
            .map(|(a, b, c, d, e, f)| [a, b, c, d, e, f])
            .collect()
    }
}
