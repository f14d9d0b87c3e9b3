//! Counts how often each fault and outcome occurred.

use std::fmt;

/// The totals over many runs.
pub(super) trait Statistics: Default + fmt::Debug + Send {
    fn add(&mut self, other: &Self);

    /// The kinds of event that have not occurred: a fault that never occurs is not tested.
    fn unseen(&self) -> Vec<&'static str>;
}

macro_rules! statistics {
    ($(#[$about:meta])* $name:ident { $($field:ident,)* }) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default)]
        pub(super) struct $name {
            $(pub(super) $field: u64,)*
        }

        impl Statistics for $name {
            fn add(&mut self, other: &Self) {
                $(self.$field += other.$field;)*
            }

            fn unseen(&self) -> Vec<&'static str> {
                [$((self.$field, stringify!($field)),)*]
                    .into_iter()
                    .filter_map(|(count, kind)| (count == 0).then_some(kind))
                    .collect()
            }
        }
    };
}

statistics! {
    /// Of an executor, its backend, and their calls.
    RunStatistics {
        runs,
        frames,
        cuts,
        repeated,
        executors_killed,
        journals_lost,
        executors_replaced,
        executors_late,
        backends_killed,
        absences,
        calls,
        attempts,
        replied,
        unknown,
        not_run,
        cancelled,
        done_again,
    }
}

statistics! {
    /// Of journals that cannot be written for a while.
    DiskStatistics {
        runs,
        disks_filled,
        executors_killed,
        backends_killed,
        replied,
        refused,
    }
}

#[cfg(feature = "redis")]
statistics! {
    /// Of several backends, and the connections between them.
    ClusterStatistics {
        owners_killed,
        others_killed,
        all_killed,
        taken_over,
        races,
        restarted_by_name,
        left,
        parted,
        taken_over_alive,
        moves,
        forwarded,
        late,
    }
}

#[cfg(feature = "redis")]
impl<A: Statistics, B: Statistics> Statistics for (A, B) {
    fn add(&mut self, other: &Self) {
        self.0.add(&other.0);
        self.1.add(&other.1);
    }

    fn unseen(&self) -> Vec<&'static str> {
        [self.0.unseen(), self.1.unseen()].concat()
    }
}
