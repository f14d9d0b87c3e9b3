//! The limits of a run.

use std::time::Duration;

use contract_runtime::ToolCall;

use super::loop_detection::LoopDetector;

/// The longest cycle of calls that is looked for; longer ones meet the limit of steps.
const LONGEST_CYCLE: u32 = 8;

/// The limits at which a run that makes no progress is ended; `None` turns one off.
///
/// ```
/// use std::time::Duration;
///
/// use contract_remote::Safeguards;
///
/// let safeguards = Safeguards::default().steps(500).total(Duration::from_secs(8 * 3600));
/// assert_eq!(safeguards.steps, Some(500));
/// assert_eq!(safeguards.equal_calls, Some(4));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct Safeguards {
    /// How many equal calls in a row, or rounds of one short cycle, end a run; the default is 4. The call that completes
    /// the pattern is not run.
    ///
    /// White space and the order of keys make no difference; a call whose last answer was new is not the same call.
    /// Fewer than 2 cannot be in a row and count as 2.
    pub equal_calls: Option<u32>,
    /// Whether equal calls count wherever they are in a run, with whatever answers, instead of in a row; the default is not.
    pub anywhere: bool,
    /// The longest cycle of calls that is detected, at most 8; the default is 3. With 1, only equal calls in a row are.
    pub cycle_length: u32,
    /// The maximum number of calls of one run, including refused ones; the default is 100.
    pub steps: Option<u64>,
    /// Without a call, a result or a report of one under way, or a piece of the model's answer: 20 minutes. That the
    /// executor is attached, and answers when it is asked whether it is there, does not count.
    pub silence: Option<Duration>,
    /// One call: 10 minutes, after which neither a build nor a test run is still worth waiting for, and half of the
    /// silence, so that a slow call ends as one. The executor is told.
    pub call: Option<Duration>,
    /// The time limit of a run; the default is 2 hours, which is 100 steps of more than a minute each.
    pub total: Option<Duration>,
}

impl Default for Safeguards {
    fn default() -> Self {
        Self {
            equal_calls: Some(4),
            anywhere: false,
            cycle_length: 3,
            steps: Some(100),
            silence: Some(Duration::from_secs(20 * 60)),
            call: Some(Duration::from_secs(10 * 60)),
            total: Some(Duration::from_secs(2 * 60 * 60)),
        }
    }
}

impl Safeguards {
    /// Turns all safeguards off.
    pub const fn off() -> Self {
        Self {
            equal_calls: None,
            anywhere: false,
            cycle_length: 1,
            steps: None,
            silence: None,
            call: None,
            total: None,
        }
    }

    /// Ends a run at this many equal calls in a row, or this many rounds of a short cycle.
    pub fn equal_calls(mut self, calls: impl Into<Option<u32>>) -> Self {
        self.equal_calls = calls.into();
        self
    }

    /// Counts equal calls wherever they are in a run: the fourth one ends it, whatever came between them and was answered.
    pub fn anywhere(mut self) -> Self {
        self.anywhere = true;
        self
    }

    /// Returns whether these calls of a run repeat themselves, so that the run would have ended; answers are not known here.
    ///
    /// ```
    /// use contract_remote::Safeguards;
    /// use contract_runtime::ToolCall;
    ///
    /// let look = ToolCall::new("1", "read_file", r#"{"path":"a"}"#);
    /// let write = ToolCall::new("2", "write_file", r#"{"path":"b"}"#);
    /// let mut calls = vec![look.clone(), look.clone(), write, look.clone()];
    /// assert!(!Safeguards::default().anywhere().is_repeated(&calls));
    /// calls.push(look);
    /// assert!(Safeguards::default().anywhere().is_repeated(&calls));
    /// assert!(!Safeguards::default().is_repeated(&calls));
    /// assert!(Safeguards::default().equal_calls(2).is_repeated(&calls));
    /// ```
    #[must_use]
    pub fn is_repeated(&self, calls: &[ToolCall]) -> bool {
        let mut loops = LoopDetector::default();
        calls.iter().any(|call| loops.record(call, self).is_some())
    }

    /// Looks for cycles of at most this many calls.
    pub fn cycle_length(mut self, calls: u32) -> Self {
        self.cycle_length = calls;
        self
    }

    /// Ends a run that makes more calls than this.
    pub fn steps(mut self, calls: impl Into<Option<u64>>) -> Self {
        self.steps = calls.into();
        self
    }

    /// Ends a run in which nothing happens for this long.
    pub fn silence(mut self, time: impl Into<Option<Duration>>) -> Self {
        self.silence = time.into();
        self
    }

    /// Ends a call after this long.
    pub fn call(mut self, time: impl Into<Option<Duration>>) -> Self {
        self.call = time.into();
        self
    }

    /// Ends a run after this long.
    pub fn total(mut self, time: impl Into<Option<Duration>>) -> Self {
        self.total = time.into();
        self
    }

    pub(super) fn rounds(&self) -> Option<usize> {
        let rounds = usize::try_from(self.equal_calls?).ok()?;
        Some(rounds.max(2))
    }

    pub(super) fn longest_cycle(&self) -> usize {
        self.cycle_length.clamp(1, LONGEST_CYCLE) as usize
    }
}
