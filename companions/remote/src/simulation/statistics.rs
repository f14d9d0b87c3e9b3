use std::fmt;

/// What so many runs came to.
pub(super) trait Figures: Default + fmt::Debug + Send {
    fn add(&mut self, other: &Self);

    /// Seeds that never come to a fault say nothing about it.
    fn has_seen_everything(&self);
}

macro_rules! figures {
    ($(#[$about:meta])* $name:ident { $($field:ident,)* }) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default)]
        pub(super) struct $name {
            $(pub(super) $field: u64,)*
        }

        impl Figures for $name {
            fn add(&mut self, other: &Self) {
                $(self.$field += other.$field;)*
            }

            fn has_seen_everything(&self) {
                $(assert!(self.$field > 0, "{}: {self:?}", stringify!($field));)*
            }
        }
    };
}

figures! {
    /// Of an executor, its backend, and their calls.
    Usual {
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

#[cfg(feature = "redis")]
figures! {
    /// Of backends that share their work, and their letters.
    Shared {
        homes_killed,
        others_killed,
        all_killed,
        taken_over,
        races,
        restarted_by_name,
        moves,
        letters,
        lost,
        twice,
        late,
        refused,
        come_again,
        dead,
    }
}

#[cfg(feature = "redis")]
impl<A: Figures, B: Figures> Figures for (A, B) {
    fn add(&mut self, other: &Self) {
        self.0.add(&other.0);
        self.1.add(&other.1);
    }

    fn has_seen_everything(&self) {
        self.0.has_seen_everything();
        self.1.has_seen_everything();
    }
}
