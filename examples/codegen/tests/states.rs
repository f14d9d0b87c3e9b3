//! Runs take legal steps and no others, whatever is tried.

use codegen::contract::{Lifecycle, RunState, Step};
use proptest::prelude::*;

const STEPS: [Step; 8] = [
    Step::Start,
    Step::Ask,
    Step::Request,
    Step::Decide,
    Step::Complete,
    Step::Fail,
    Step::Cancel,
    Step::Continue,
];

/// Every step that there is, written down apart from the type.
const LEGAL: [(RunState, Step, RunState); 16] = [
    (RunState::Queued, Step::Start, RunState::Running),
    (RunState::Queued, Step::Fail, RunState::Failed),
    (RunState::Queued, Step::Cancel, RunState::Cancelled),
    (RunState::Running, Step::Ask, RunState::WaitingInput),
    (RunState::Running, Step::Complete, RunState::Completed),
    (RunState::Running, Step::Fail, RunState::Failed),
    (RunState::Running, Step::Cancel, RunState::Cancelled),
    (RunState::Running, Step::Request, RunState::WaitingApproval),
    (RunState::WaitingApproval, Step::Decide, RunState::Running),
    (RunState::WaitingApproval, Step::Fail, RunState::Failed),
    (RunState::WaitingApproval, Step::Cancel, RunState::Cancelled),
    (RunState::WaitingInput, Step::Start, RunState::Running),
    (RunState::WaitingInput, Step::Fail, RunState::Failed),
    (RunState::WaitingInput, Step::Cancel, RunState::Cancelled),
    (RunState::Completed, Step::Continue, RunState::Queued),
    (RunState::Failed, Step::Continue, RunState::Queued),
];

proptest! {
    #[test]
    fn a_run_is_where_its_legal_steps_led(steps in prop::collection::vec(prop::sample::select(&STEPS[..]), 0..40)) {
        let mut life = Lifecycle::default();
        for step in steps {
            let from = life.state();
            let legal = LEGAL.iter().find(|(state, one, _)| (*state, *one) == (from, step));
            match (life.take(step), legal) {
                (Ok(to), Some((_, _, expected))) => {
                    prop_assert_eq!(to, *expected);
                    prop_assert_eq!(life.state(), to);
                    prop_assert_eq!(from.is_over(), step == Step::Continue);
                }
                (Err(illegal), None) => {
                    prop_assert_eq!((illegal.from, illegal.step), (from, step));
                    prop_assert_eq!(life.state(), from);
                }
                (taken, legal) => prop_assert!(false, "{from:?} and {step:?}: {taken:?}, not {legal:?}"),
            }
        }
    }
}

#[test]
fn a_cancelled_run_is_over_for_good_and_others_wait_for_their_turn_again() {
    for (from, _, to) in LEGAL.iter().filter(|(from, _, _)| from.is_over()) {
        assert_ne!(*from, RunState::Cancelled);
        assert_eq!(*to, RunState::Queued);
    }
}

#[test]
fn a_state_is_read_as_it_was_written() {
    for state in LEGAL.iter().flat_map(|(from, _, to)| [from, to]) {
        let text = serde_json::to_string(state).expect("it is written");
        assert_eq!(text, format!("\"{}\"", state.name()));
        let life: Lifecycle = serde_json::from_str(&text).expect("it is read");
        assert_eq!(life.state(), *state);
    }
    serde_json::from_str::<Lifecycle>("\"paused\"").expect_err("there is no such state");
}
