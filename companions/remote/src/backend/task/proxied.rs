//! An executor that is attached to another backend.

use tokio_util::sync::CancellationToken;

use super::{OpenTask, TASK_CLOSED};
use crate::backend::cluster::{Reason, SequenceCheck};
use crate::protocol::{Handshake, JournalId};
use crate::store::StoreError;

/// Another backend that an executor is connected to.
#[derive(Clone, Debug)]
pub(in crate::backend) struct Gateway {
    pub(in crate::backend) name: String,
    pub(in crate::backend) epoch: u64,
    /// The journal of the executor.
    pub(in crate::backend) journal: JournalId,
    /// How many messages of the executor have arrived.
    heard: u64,
}

/// Whether a handshake may be older than calls that the executor received over another connection, to another backend: its
/// epoch is not the previous one. The next handshake is up to date.
pub(in crate::backend) fn may_be_stale(handshake: &Handshake, epoch: u64) -> bool {
    handshake.epoch != 0 && handshake.epoch.saturating_add(1) != epoch
}

impl OpenTask {
    /// Makes a connection to another backend the latest one; returns the previous one, or why it is rejected.
    pub(in crate::backend) fn supersede_proxied(
        &self,
        (epoch, journal): (u64, JournalId),
        gateway: &str,
    ) -> Result<(CancellationToken, Option<Gateway>), Option<Reason>> {
        let mut latest = self.latest();
        if latest.epoch == u64::MAX {
            return Err(Some(Reason::Refused(TASK_CLOSED.to_owned())));
        }
        if epoch == latest.epoch {
            // A duplicate message.
            return Err(None);
        }
        if epoch < latest.epoch {
            return Err(Some(Reason::taken_over(latest.journal == Some(journal))));
        }
        if epoch <= latest.ignored_up_to {
            return Err(Some(Reason::Moved));
        }
        let earlier = latest.gateway.take();
        let over = latest.supersede(epoch, journal);
        latest.is_proxied = true;
        latest.gateway = Some(Gateway {
            name: gateway.to_owned(),
            epoch,
            journal,
            heard: 0,
        });
        Ok((over, earlier))
    }

    /// Checks the sequence number of a forwarded message; `None` if its connection is not the latest.
    pub(in crate::backend) fn check_sequence(
        &self,
        epoch: u64,
        number: u64,
    ) -> Option<SequenceCheck> {
        let mut latest = self.latest();
        if epoch > latest.epoch {
            latest.ignored_up_to = latest.ignored_up_to.max(epoch);
        }
        let gateway = latest
            .gateway
            .as_mut()
            .filter(|gateway| gateway.epoch == epoch)?;
        Some(SequenceCheck::of(&mut gateway.heard, number))
    }

    /// Whether forwarded messages are missing. Reported once.
    pub(in crate::backend) fn has_missed_messages(&self, epoch: u64, number: u64) -> bool {
        let mut latest = self.latest();
        let gateway = latest
            .gateway
            .as_mut()
            .filter(|gateway| gateway.epoch == epoch);
        gateway.is_some_and(|gateway| SequenceCheck::is_behind(&mut gateway.heard, number))
    }

    /// Detaches an executor that was connected to another backend.
    pub(in crate::backend) fn detach_proxied(&self, epoch: u64) {
        {
            let mut latest = self.latest();
            if epoch > latest.epoch {
                latest.ignored_up_to = latest.ignored_up_to.max(epoch);
            }
        }
        self.detach(epoch);
    }

    pub(in crate::backend) fn gateway(&self) -> Option<Gateway> {
        self.latest().gateway.clone()
    }

    /// Ignores connections from before this process owned the task: their messages may be redelivered, and do not know of
    /// calls that an earlier owner sent later.
    pub(in crate::backend) async fn ignore_earlier(&self) -> Result<(), StoreError> {
        let attachment = self.calls.task_store.attachment().await?;
        self.latest().ignored_up_to = attachment.map_or(0, |attachment| attachment.epoch);
        Ok(())
    }

    /// Whether the latest connection is of this executor.
    pub(in crate::backend) fn is_latest_executor(&self, journal: JournalId) -> bool {
        self.latest().journal == Some(journal)
    }

    /// Whether the connection of this epoch, or a later one, is known here.
    pub(in crate::backend) fn is_known(&self, epoch: u64) -> bool {
        let latest = self.latest();
        latest.epoch > epoch || (latest.epoch == epoch && !latest.gone)
    }
}
