//! A server that wants a login, its authorization server, and a client that has never heard of either.

use std::sync::{Arc, Mutex};

use axum::extract::{Form, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use contract_mcp::rmcp::transport::auth::{AuthorizationRequest, OAuthState};
use contract_mcp::{ImportError, Principal, Refusal, ResourceMetadata, Server};
use contract_runtime::{Context, prelude::*};
use serde_json::{Value, json};

use crate::fake::within;

struct User(String);

/// Say who is asking.
#[tool(read_only)]
fn whose(#[context] user: &User) -> String {
    user.0.clone()
}

/// What the authorization server was asked.
#[derive(Clone)]
struct Login {
    issuer: String,
    asked: Arc<Mutex<Vec<Value>>>,
}

async fn metadata(State(login): State<Login>) -> Json<Value> {
    let at = |path: &str| format!("{}/{path}", login.issuer);
    Json(json!({
        "issuer": login.issuer,
        "authorization_endpoint": at("authorize"),
        "token_endpoint": at("token"),
        "registration_endpoint": at("register"),
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
        "scopes_supported": ["tools"],
    }))
}

async fn register(Json(mut client): Json<Value>) -> (StatusCode, Json<Value>) {
    client["client_id"] = json!("client-1");
    (StatusCode::CREATED, Json(client))
}

async fn authorize(State(login): State<Login>, Query(asked): Query<Value>) -> Redirect {
    let to = format!(
        "{}?code=the-code&state={}",
        asked["redirect_uri"].as_str().unwrap(),
        asked["state"].as_str().unwrap()
    );
    login.asked.lock().unwrap().push(asked);
    Redirect::to(&to)
}

async fn token(State(login): State<Login>, Form(asked): Form<Value>) -> Response {
    let is_right = asked["code"] == "the-code" && asked["code_verifier"].is_string();
    login.asked.lock().unwrap().push(asked);
    if !is_right {
        return StatusCode::BAD_REQUEST.into_response();
    }
    Json(json!({"access_token": "of-ada", "token_type": "Bearer", "expires_in": 3600, "scope": "tools"}))
        .into_response()
}

/// Listens, and serves tools to those who have logged in at an authorization server on the same listener.
async fn served() -> (String, Login) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let issuer = format!("http://{}", listener.local_addr().unwrap());
    let url = format!("{issuer}/mcp");
    let registry = Registry::builder()
        .tool(whose)
        .context_per_call::<User>()
        .build()
        .unwrap();
    let mcp = Server::new(registry)
        .resource_metadata(ResourceMetadata::new(&url, [&issuer]).scopes(["tools"]))
        .authorize(|credentials| async move {
            match credentials.bearer() {
                Some("of-ada") => {
                    let user = User("ada".to_owned());
                    Ok(Principal::new("ada").context(Context::new().with(user)))
                }
                _ => Err(Refusal::NoToken),
            }
        })
        .into_service()
        .unwrap();
    let login = Login {
        issuer,
        asked: Arc::default(),
    };
    let path = mcp.metadata_path().unwrap().to_owned();
    let app = Router::new()
        .route("/.well-known/oauth-authorization-server", get(metadata))
        .route("/register", post(register))
        .route("/authorize", get(authorize))
        .route("/token", post(token))
        .with_state(login.clone())
        .route_service("/mcp", mcp.clone())
        .route_service(&path, mcp);
    tokio::spawn(async move { axum::serve(listener, app).await });
    (url, login)
}

#[tokio::test]
async fn a_login_is_found_by_the_metadata_of_the_server_and_its_token_is_sent() {
    let (url, login) = served().await;
    let refused = within(contract_mcp::import(contract_mcp::http(&url))).await;
    let refused = refused.unwrap_err();
    let ImportError::Unauthorized {
        status: 401,
        challenge: Some(challenge),
    } = refused
    else {
        panic!("{refused}");
    };
    assert!(
        challenge.contains("/.well-known/oauth-protected-resource/mcp"),
        "{challenge}"
    );

    let mut state = OAuthState::new(&*url, None).await.unwrap();
    let request = AuthorizationRequest::new("http://127.0.0.1:7777/callback");
    let request = request.with_client_name("A test").with_challenge(challenge);
    within(state.start_authorization(request)).await.unwrap();
    let page = state.get_authorization_url().await.unwrap();
    // The browser of the user, who is logged in already.
    let browser = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let answer = browser.build().unwrap().get(page).send().await.unwrap();
    let callback = answer.headers()["location"].to_str().unwrap().to_owned();
    within(state.handle_callback_url(&callback)).await.unwrap();
    let tokens = state.into_authorization_manager().unwrap();

    let transport = contract_mcp::http_with_oauth(&url, tokens);
    let imported = within(contract_mcp::import(transport)).await.unwrap();
    let registry = Registry::builder().with(imported).build().unwrap();
    let outcome = within(registry.call(ToolCall::new("1", "whose", "{}"))).await;
    assert_eq!(outcome.output(), Some("ada"), "{:?}", outcome.error());
    // The token was asked for this server, and no other (RFC 8707).
    let asked = login.asked.lock().unwrap();
    assert_eq!(asked.len(), 2);
    for one in &*asked {
        assert_eq!(one["resource"], url);
    }
}
