//! Conditions without a tool: every form of a function takes them.

use std::fmt::Debug;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use contract_runtime::{catch, post, pre};

#[pre(!values.is_empty(), "no values of {least:?}")]
#[post(|found| found.is_none_or(|found| found >= least))]
fn generic<'a, T, const N: usize>(values: &'a [T; N], least: &'a T) -> Option<&'a T>
where
    T: PartialOrd + Debug,
{
    values.iter().find(|value| *value >= least)
}

#[pre(limit > 0)]
fn opaque(limit: u32) -> impl Iterator<Item = u32> {
    0..limit
}

#[pre(step(1) > 0)]
#[post(|result| *result >= start)]
fn opaque_argument(start: u32, step: impl Fn(u32) -> u32) -> u32 {
    start + step(start)
}

#[pre(x > 0 && y > 0, "{x} {y}")]
#[post(|sum| *sum > x)]
fn patterns((x, y): (u32, u32), [first, ..]: [u32; 2], _: u8) -> u32 {
    x + y + first
}

#[post(|_| !values.is_empty() && values.len() == old(values.len()) + 1)]
fn fill(values: &mut Vec<u32>) {
    values.push(1);
}

#[pre(!text.is_empty())]
#[post(|longer| longer.len() > text.len())]
#[post(err |error| !error.is_empty())]
async fn later(text: &str, fail: bool) -> Result<String, String> {
    std::future::ready(()).await;
    if fail {
        Err(String::new())?;
    }
    Ok(format!("{text}."))
}

#[pre(number > 0)]
async fn opaque_later(number: u32) -> impl Debug {
    number
}

#[derive(Clone, Debug)]
struct Basket(Vec<u32>);

struct Sealed(u32);

trait Shop {
    fn sell(&mut self, count: usize) -> usize;
    fn close(self) -> usize;
    fn open(count: u32) -> Self;
}

impl Shop for Basket {
    #[pre(count <= self.0.len(), "only {count} are left")]
    #[post(|sold| self.0.len() + *sold == old(self.0.len()))]
    fn sell(&mut self, count: usize) -> usize {
        self.0.drain(..count).count()
    }

    #[post(|count| *count == self.0.len())]
    fn close(self) -> usize {
        self.0.into_iter().count()
    }

    #[pre(count < 5)]
    #[post(|basket| basket.0.len() == count as usize)]
    fn open(count: u32) -> Self {
        Self((0..count).collect())
    }
}

impl Sealed {
    #[pre(self.0 > 0)]
    #[post(|number| *number == old(self.0))]
    fn unseal(self) -> u32 {
        self.0
    }

    #[post(|number| *number == self.0)]
    fn shared(self: Arc<Self>) -> u32 {
        self.0
    }

    #[pre(by > 0)]
    #[post(|same| same.0 > old(self.0))]
    fn raise(&mut self, by: u32) -> &mut Self {
        self.0 += by;
        self
    }
}

#[pre(number > 0)]
unsafe fn dangerous(number: u32) -> u32 {
    number
}

fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!(),
    }
}

fn main() {
    assert_eq!(generic(&[1, 5], &2), Some(&5));
    assert!(catch(|| generic(&[], &2)).is_err());
    assert_eq!(opaque(3).count(), 3);
    assert!(catch(|| opaque(0).count()).is_err());
    assert_eq!(opaque_argument(3, |number| number), 6);
    assert_eq!(patterns((1, 2), [3, 4], 5), 6);
    assert_eq!(
        catch(|| patterns((1, 0), [3, 4], 5))
            .unwrap_err()
            .message
            .as_deref(),
        Some("1 0")
    );
    fill(&mut Vec::new());
    assert_eq!(now(later("a", false)).as_deref(), Ok("a."));
    assert!(catch(|| now(later("", false))).is_err());
    assert!(catch(|| now(later("a", true))).is_err());
    assert_eq!(format!("{:?}", now(opaque_later(1))), "1");
    let mut basket = Basket::open(3);
    assert_eq!(basket.sell(2), 2);
    assert!(catch(std::panic::AssertUnwindSafe(|| basket.sell(2))).is_err());
    assert_eq!(basket.close(), 1);
    let mut sealed = Sealed(1);
    assert_eq!(sealed.raise(1).0, 2);
    assert_eq!(sealed.unseal(), 2);
    assert_eq!(Arc::new(Sealed(3)).shared(), 3);
    // SAFETY: it asks for nothing.
    assert_eq!(unsafe { dangerous(1) }, 1);
}
