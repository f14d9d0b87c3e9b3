//! An executor that is attached to another backend.

use tokio_util::sync::CancellationToken;

use super::{FORGOTTEN, Open};
use crate::remote::backend::post::{Order, Reason};

/// Another backend, which an executor is attached to.
#[derive(Clone, Debug)]
pub(in crate::remote::backend) struct Host {
    pub(in crate::remote::backend) name: String,
    pub(in crate::remote::backend) epoch: u64,
    /// How many messages of the executor have come.
    heard: u64,
}

impl Open {
    /// The connection of an executor at another backend, and the one before; else what it is to be told.
    pub(in crate::remote::backend) fn take_over_from_afar(
        &self,
        epoch: u64,
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
            return Err(Some(Reason::TakenOver));
        }
        if epoch <= line.early {
            return Err(Some(Reason::Moved));
        }
        let earlier = line.host.take();
        let over = line.taken_over(epoch);
        line.host = Some(Host {
            name: host.to_owned(),
            epoch,
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

    /// Whether the connection of this epoch is the latest that is known here, and is there.
    pub(in crate::remote::backend) fn counts(&self, epoch: u64) -> bool {
        let line = self.line();
        line.epoch > epoch || (line.epoch == epoch && !line.gone)
    }
}
