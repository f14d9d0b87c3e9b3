//! An executor that is attached to another backend.

use tokio_util::sync::CancellationToken;

use super::{FORGOTTEN, Open};
use crate::remote::backend::post::{Order, Reason};
use crate::remote::protocol::{Handshake, JournalId};
use crate::remote::store::StoreError;

/// Another backend, which an executor is attached to.
#[derive(Clone, Debug)]
pub(in crate::remote::backend) struct Host {
    pub(in crate::remote::backend) name: String,
    pub(in crate::remote::backend) epoch: u64,
    /// Of the executor.
    pub(in crate::remote::backend) journal: JournalId,
    /// How many messages of the executor have come.
    heard: u64,
}

/// Whether an executor may have said this before it was sent calls over another connection of its own, at another backend:
/// the one before was not told to it, or not yet when it said this. The next handshake is not in doubt.
pub(in crate::remote::backend) fn may_be_outdated(handshake: &Handshake, epoch: u64) -> bool {
    handshake.epoch != 0 && handshake.epoch.saturating_add(1) != epoch
}

impl Open {
    /// The connection of an executor at another backend, and the one before; else what it is to be told.
    pub(in crate::remote::backend) fn take_over_from_afar(
        &self,
        (epoch, journal): (u64, JournalId),
        host: &str,
    ) -> Result<(CancellationToken, Option<Host>), Option<Reason>> {
        let mut line = self.line();
        if line.epoch == u64::MAX {
            return Err(Some(Reason::Refused(FORGOTTEN.to_owned())));
        }
        if epoch == line.epoch {
            // Its letter has come twice.
            return Err(None);
        }
        if epoch < line.epoch {
            return Err(Some(Reason::taken_over(line.journal == Some(journal))));
        }
        if epoch <= line.early {
            return Err(Some(Reason::Moved));
        }
        let earlier = line.host.take();
        let over = line.taken_over(epoch, journal);
        line.is_afar = true;
        line.host = Some(Host {
            name: host.to_owned(),
            epoch,
            journal,
            heard: 0,
        });
        Ok((over, earlier))
    }

    /// Whether this message of an executor at another backend is the next; `None` if that connection does not count.
    pub(in crate::remote::backend) fn is_next_from_afar(
        &self,
        epoch: u64,
        number: u64,
    ) -> Option<Order> {
        let mut line = self.line();
        if epoch > line.epoch {
            line.early = line.early.max(epoch);
        }
        let host = line.host.as_mut().filter(|host| host.epoch == epoch)?;
        Some(Order::of(&mut host.heard, number))
    }

    /// Whether an executor at another backend has said more than has come. Said once.
    pub(in crate::remote::backend) fn misses_from_afar(&self, epoch: u64, number: u64) -> bool {
        let mut line = self.line();
        let host = line.host.as_mut().filter(|host| host.epoch == epoch);
        host.is_some_and(|host| Order::is_behind(&mut host.heard, number))
    }

    /// An executor at another backend is gone.
    pub(in crate::remote::backend) fn detached_afar(&self, epoch: u64) {
        {
            let mut line = self.line();
            if epoch > line.epoch {
                line.early = line.early.max(epoch);
            }
        }
        self.detached(epoch);
    }

    pub(in crate::remote::backend) fn host(&self) -> Option<Host> {
        self.line().host.clone()
    }

    /// Takes no connection from before this process was the home: its letter may come again, and does not know of the calls
    /// that an earlier home sent after it.
    pub(in crate::remote::backend) async fn leaves_behind(&self) -> Result<(), StoreError> {
        let owner = self.calls.ledger.owner().await?;
        self.line().early = owner.map_or(0, |owner| owner.epoch);
        Ok(())
    }

    /// Whether this executor was the last to come in.
    pub(in crate::remote::backend) fn is_of(&self, journal: JournalId) -> bool {
        self.line().journal == Some(journal)
    }

    /// Whether the connection of this epoch is the latest that is known here, and is there.
    pub(in crate::remote::backend) fn counts(&self, epoch: u64) -> bool {
        let line = self.line();
        line.epoch > epoch || (line.epoch == epoch && !line.gone)
    }
}
