//! The service: users, limits, metrics, MCP over HTTP and the page of approvals.

use std::error::Error;
use std::future::{Ready, ready};
use std::num::NonZeroU32;
use std::time::Duration;

use axum::Router;
use contract_mcp::{Principal, Refusal, Server};
use contract_runtime::Status;
use contract_runtime::observe::Observer;
use contract_runtime::prelude::*;
use governor::clock::Clock as _;
use governor::{Quota, RateLimiter};
use opentelemetry::metrics::Meter;
use opentelemetry::{KeyValue, global};
use tokio::net::TcpListener;

use crate::Clinic;
use crate::approvals::Desk;
use crate::database::audit;
use crate::users::{Role, User, user_of};

/// Serves the tools of a clinic at `/mcp` and the open approvals at `/approvals`, until `stop` is ready and every call has ended or
/// had 30 seconds to do so.
///
/// Each user may make so many calls in a minute.
///
/// # Errors
///
/// Fails if the registry cannot be built or the listener is broken.
pub async fn serve(
    listener: TcpListener,
    clinic: Clinic,
    calls_per_minute: NonZeroU32,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let (audit, writer) = audit(&clinic);
    let registry = Registry::builder()
        .with(clinic)
        .visible(|context, tool| may_call(context, tool.name()))
        .before_call(limit(calls_per_minute))
        .observe(audit)
        .observe(durations(&global::meter("clinic")))
        .build()?;
    let desk = Desk::default();
    let mcp = Server::new(registry)
        .authorize({
            let desk = desk.clone();
            move |credentials| ready(principal(credentials.bearer(), &desk))
        })
        .ask_client(Duration::from_mins(5))
        .grace(Duration::from_secs(30))
        .into_service()?;
    let app = Router::new()
        .route_service("/mcp", mcp.clone())
        .merge(desk.routes());
    axum::serve(listener, app)
        .with_graceful_shutdown(async move {
            stop.await;
            mcp.shutdown().await; // before axum waits for its connections
        })
        .await?;
    Ok(writer.await?)
}

/// Returns who has a token, and who is asked what their calls ask: a doctor by their own client, the reception on the page.
fn principal(token: Option<&str>, desk: &Desk) -> Result<Principal, Refusal> {
    let token = token.ok_or(Refusal::NoToken)?;
    let user = user_of(token).ok_or_else(|| Refusal::InvalidToken {
        reason: "the token is unknown or has expired".to_owned(),
    })?;
    let context = Context::new().with(user);
    let context = match user.role {
        Role::Doctor => context,
        Role::Reception => {
            let desk = desk.clone();
            context.approver(move |request| desk.clone().decide(request))
        }
    };
    Ok(Principal::new(user.name).context(context))
}

/// Returns whether a tool is for the role of the user.
fn may_call(context: &Context, tool: &str) -> bool {
    let user = context.get::<User>();
    user.is_some_and(|user| user.role.may_call(tool))
}

/// Refuses the calls of a user who has made too many.
fn limit(calls_per_minute: NonZeroU32) -> impl Fn(ToolCall, Context) -> Ready<Result<(), String>> {
    let limiter = RateLimiter::keyed(Quota::per_minute(calls_per_minute));
    move |_, context| {
        let user = context.caller().unwrap_or_default().to_owned();
        ready(limiter.check_key(&user).map_err(|until| {
            let wait = until.wait_time_from(limiter.clock().now());
            format!("too many calls; try again in {} s", wait.as_secs() + 1)
        }))
    }
}

/// Records how long calls take, by the names of the OpenTelemetry conventions ("Semantic conventions for generative AI metrics",
/// `gen_ai.execute_tool.duration`).
fn durations(meter: &Meter) -> Observer {
    let histogram = meter
        .f64_histogram("gen_ai.execute_tool.duration")
        .with_unit("s");
    let bounds = (0..14).map(|power| 0.01 * f64::from(1 << power)).collect();
    let histogram = histogram.with_boundaries(bounds).build();
    Observer::new().call_ended(move |observed, outcome, duration| {
        let status = outcome.status();
        // Clients choose the names of unknown tools, and each would be a series of its own.
        let tool = if status == Status::UnknownTool {
            "_OTHER"
        } else {
            &*observed.call.name
        };
        let mut attributes = vec![KeyValue::new("gen_ai.tool.name", tool.to_owned())];
        if !matches!(status, Status::Ok | Status::Asked) {
            attributes.push(KeyValue::new("error.type", status.name()));
        }
        histogram.record(duration.as_secs_f64(), &attributes);
    })
}
