//! Conditions inside conditions: those without end come to one.

use std::panic::catch_unwind;
use std::sync::Arc;

use contract_runtime::prelude::*;
use contract_runtime::{Detection, catch, catch_async};

use crate::common::{Count, call};

/// How many conditions may be inside one another.
const DEEPEST: usize = 16;

#[post(|same| chicken(*same) == number)]
fn egg(number: u32) -> u32 {
    number
}

#[post(|same| egg(*same) == number)]
fn chicken(number: u32) -> u32 {
    number
}

#[pre(positive(number))]
fn positive(number: u32) -> bool {
    number > 0
}

#[post(|()| old(remembered(number)) == ())]
fn remembered(number: u32) {
    let _ = number;
}

fn asserted(number: u32) -> bool {
    contract_assert!(asserted(number) && number > 0);
    true
}

/// Give a number back.
#[tool]
#[post(|same| tool_itself(*same) == number)]
fn tool_itself(number: u32) -> u32 {
    number
}

/// Look at an egg.
#[tool]
#[pre(egg(number) > 0)]
fn look(number: u32) -> u32 {
    number
}

#[test]
fn conditions_that_call_each_other_come_to_an_end() {
    let calls: [fn(); 5] = [
        || assert!(egg(1) > 0),
        || assert!(positive(1)),
        || remembered(1),
        || assert!(asserted(1)),
        || assert!(tool_itself(1) > 0),
    ];
    for (number, run) in calls.into_iter().enumerate() {
        let violation = catch(run).unwrap_err();
        assert_eq!(violation.detection, Detection::NestedTooDeep, "{number}");
    }
    let violation = catch(|| egg(1)).unwrap_err();
    assert_eq!(
        violation.to_string(),
        "`egg` promises `|same| chicken(*same) == number`, which cannot be evaluated, because conditions call each other more than 16 levels deep, got same = 1, number = 1",
    );
    assert!(catch_unwind(|| egg(1)).is_err());
    // Nothing is left behind.
    assert_eq!(catch(|| counted(10)), Ok(10));
}

#[pre(number > 0 || panics_in_the_same_words())]
fn quoted(number: u32) {
    let _ = number;
}

fn panics_in_the_same_words() -> bool {
    panic!("conditions call each other more than {DEEPEST} levels deep")
}

#[test]
fn a_condition_that_panics_in_the_same_words_is_not_too_deep() {
    let violation = catch(|| quoted(0)).unwrap_err();
    assert_eq!(violation.detection, Detection::Panicked);
}

#[test]
fn a_call_by_name_whose_conditions_have_no_end_is_a_violation() {
    let registry = Registry::builder()
        .tool(look)
        .tool(tool_itself)
        .build()
        .unwrap();
    for name in ["look", "tool_itself"] {
        let outcome = call(&registry, name, r#"{"number":1}"#);
        let violation = outcome.violation().unwrap();
        assert_eq!(violation.tool, name);
        assert_eq!(violation.detection, Detection::NestedTooDeep, "{name}");
    }
}

#[post(|same| egg(*same) == number)]
async fn later(number: u32) -> u32 {
    tokio::task::yield_now().await;
    number
}

#[tokio::test]
async fn a_condition_behind_a_wait_comes_to_an_end_and_leaves_nothing_behind() {
    for _ in 0..3 {
        let (one, other) = tokio::join!(catch_async(later(1)), catch_async(later(2)));
        for violation in [one.unwrap_err(), other.unwrap_err()] {
            assert_eq!(violation.contract, "later.post[0]");
            assert_eq!(violation.detection, Detection::NestedTooDeep);
        }
    }
    assert_eq!(catch(|| counted(10)), Ok(10));
}

/// As deep as it says.
#[post(|same| *same == 0 || counted(*same - 1) == *same - 1)]
fn counted(number: u32) -> u32 {
    number
}

#[test]
fn the_deepest_that_is_judged_is_16() {
    let deepest = u32::try_from(DEEPEST).unwrap();
    assert!(catch(|| counted(deepest - 1)).is_ok());
    assert!(catch(|| counted(deepest)).is_err());
}

#[post(|same| spacious(*same) == number)]
fn roomy(number: u32) -> u32 {
    number
}

/// Takes 100 kB of stack, such as for a buffer.
#[allow(clippy::large_stack_arrays, reason = "the stack is what is tested")]
fn spacious(number: u32) -> u32 {
    let room = [0_u8; 100_000];
    roomy(number) + u32::from(std::hint::black_box(&room)[0])
}

#[test]
fn the_deepest_fits_the_stack_of_a_thread() {
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    let detection = || catch(|| roomy(1)).unwrap_err().detection;
    let detection = thread.spawn(detection).unwrap().join().unwrap();
    assert_eq!(detection, Detection::NestedTooDeep);
}

#[pre(number < u32::MAX)]
fn recursive(number: u32) -> u32 {
    if number == 0 {
        0
    } else {
        1 + recursive(number - 1)
    }
}

#[test]
fn bodies_that_call_themselves_are_not_counted() {
    assert_eq!(recursive(1_000), 1_000);
}

#[post(|_| both(count) && both(count), policy = observe)]
fn twice(count: &Count) -> bool {
    count.up();
    true
}

fn both(count: &Count) -> bool {
    twice(count) && twice(count)
}

#[test]
fn observed_conditions_that_branch_come_to_an_end_soon() {
    let count = Count::default();
    assert!(twice(&count));
    // Once the depth is reached, nothing is judged any more below the first condition.
    assert!(count.get() <= 5 * DEEPEST, "{}", count.get());
}

struct Guard<'c>(&'c Count);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        contract_assert!(self.0.up() > 0);
        assert!(touched(self.0));
    }
}

#[post(|touched| *touched && guarded(count))]
fn touched(count: &Count) -> bool {
    count.up();
    true
}

#[post(|held| *held && guarded(count))]
fn guarded(count: &Count) -> bool {
    let _guard = Guard(count);
    true
}

#[pre({ let _guard = Guard(count); held_open(count) })]
fn held_open(count: &Count) -> bool {
    count.up() > 0
}

#[test]
fn a_destructor_in_the_way_of_the_refusal_does_not_end_the_process() {
    let count = Count::default();
    for run in [guarded as fn(&Count) -> bool, held_open] {
        assert!(catch(|| run(&count)).is_err());
    }
}

/// Pay money out of an account, if somebody lets it.
#[given(left = { gate.notified().await; account - cents })]
#[pre(left >= 0)]
#[post(|left| *left >= 0)]
async fn pay_when_let(gate: &tokio::sync::Notify, account: i64, cents: i64) -> i64 {
    left
}

#[tokio::test]
async fn direct_calls_that_wait_for_what_is_given_do_not_stand_in_each_others_way() {
    let gate = Arc::new(tokio::sync::Notify::new());
    let calls = (0..40).map(|_| {
        let gate = Arc::clone(&gate);
        tokio::spawn(async move { pay_when_let(&gate, 5, 2).await })
    });
    let calls: Vec<_> = calls.collect();
    for _ in 0..40 {
        tokio::task::yield_now().await;
    }
    gate.notify_waiters();
    for call in calls {
        assert_eq!(call.await.unwrap(), 3);
    }
    // Given up while it waits, it leaves nothing behind.
    for _ in 0..40 {
        let waits = pay_when_let(&gate, 5, 2);
        assert!(
            tokio::time::timeout(std::time::Duration::from_millis(1), waits)
                .await
                .is_err()
        );
    }
    gate.notify_one();
    assert_eq!(pay_when_let(&gate, 5, 2).await, 3);
}
