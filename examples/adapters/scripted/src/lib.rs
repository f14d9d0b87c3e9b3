//! A model that follows a script, and what every adapter must do with it.

mod scene;
mod server;

pub use scene::{Heard, Person, Reply, Scene, asks, corrects, denied, misspelt, not_json};
pub use server::Server;

/// Makes a test of each promise, for an adapter whose host and model are `async fn talk(scene: Scene) -> Heard`.
#[macro_export]
macro_rules! promises {
    ($talk:path) => {
        $crate::promises!($talk; corrects, misspelt, asks, denied, not_json);
    };
    ($talk:path; $($promise:ident),*) => {
        $(
            #[tokio::test]
            async fn $promise() {
                $crate::$promise($talk).await;
            }
        )*
    };
}
