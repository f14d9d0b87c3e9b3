//! The streams that a client has opened by `GET`, each of which holds a connection.

use std::collections::VecDeque;

use tokio_util::sync::CancellationToken;

/// How many streams of one session are open at once. One more ends the oldest, whose client can come back for what follows.
const OPEN: usize = 16;

/// The streams of one session by their names, the oldest first.
#[derive(Clone, Default)]
pub(super) struct OpenStreams(VecDeque<(String, CancellationToken)>);

impl OpenStreams {
    /// Adds a stream, which ends the one that it replaces; the token is cancelled when it is to end itself.
    ///
    /// Whoever has the stream cancels the token when it has ended.
    pub(super) fn open(&mut self, name: String) -> CancellationToken {
        self.0.retain(|(other, end)| {
            if *other == name {
                end.cancel();
            }
            !end.is_cancelled()
        });
        while self.0.len() >= OPEN
            && let Some((_, oldest)) = self.0.pop_front()
        {
            oldest.cancel();
        }
        let end = CancellationToken::new();
        self.0.push_back((name, end.clone()));
        end
    }
}
