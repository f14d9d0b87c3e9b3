//! Serves the clinic: `DATABASE_URL=postgres://.. cargo run -p clinic -- 127.0.0.1:8080`, or without a URL on a file of `SQLite`.

use std::error::Error;
use std::num::NonZeroU32;

use clinic::Clinic;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let url = std::env::var("DATABASE_URL");
    let url = url.as_deref().unwrap_or("sqlite://clinic.db?mode=rwc");
    let address = std::env::args().nth(1);
    let address = address.as_deref().unwrap_or("127.0.0.1:8080");
    let clinic = Clinic::open(url).await?;
    let listener = TcpListener::bind(address).await?;
    println!("http://{address}/mcp for clients, with a token such as `of-rosa` or `of-lind`");
    println!("http://{address}/approvals for doctors, with a token as the password");
    clinic::serve(
        listener,
        clinic,
        NonZeroU32::MIN.saturating_add(59),
        async {
            // Where Ctrl-C cannot be waited for, it ends the program at once.
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
        },
    )
    .await
}
