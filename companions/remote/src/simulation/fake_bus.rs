use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::dice::Dice;
use super::figures::Shared;
use super::hands::locked;
use super::wire::Weather;
use crate::remote::store::relay::{Carried, Mailbox, Office};
use crate::remote::store::{StoreError, StoreFuture};

/// As those of the relay.
const LEASE: Duration = Duration::from_secs(30);
const DELIVERIES: u32 = 5;

/// How late a letter may be, in milliseconds.
const LATE: u64 = 3_000;

/// How often letters fare badly: once in so many times; 0 is never.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rates {
    lost: u64,
    twice: u64,
    late: u64,
    refused: u64,
}

impl Rates {
    pub(super) fn of(dice: &Dice) -> Self {
        let rate = || [0, 0, 30, 8][usize::try_from(dice.below(4)).unwrap_or(0)];
        Self {
            lost: rate(),
            twice: rate(),
            late: rate(),
            refused: rate(),
        }
    }
}

#[derive(Debug)]
struct Letter {
    place: u64,
    id: String,
    message: Value,
    count: u32,
    /// It is not delivered before.
    from: Instant,
}

#[derive(Debug, Default)]
struct Mail {
    letters: BTreeMap<String, Vec<Letter>>,
    seen: BTreeSet<String>,
    leases: BTreeMap<String, (String, Instant)>,
    places: u64,
    figures: Shared,
    /// What a consumer did that loses letters.
    wrong: Option<String>,
}

/// Carries letters as the relay promises it, and no better; each process has a hand on it, which it loses when it is killed.
#[derive(Clone, Debug)]
pub(super) struct PostOffice {
    mail: Arc<Mutex<Mail>>,
    alive: Arc<AtomicBool>,
    rates: Rates,
    weather: Arc<Weather>,
    dice: Dice,
}

impl PostOffice {
    pub(super) fn new(rates: Rates, weather: &Arc<Weather>, dice: &Dice) -> Self {
        Self {
            mail: Arc::default(),
            alive: Arc::new(AtomicBool::new(true)),
            rates,
            weather: Arc::clone(weather),
            dice: dice.clone(),
        }
    }

    /// For the next process.
    pub(super) fn again(&self) -> Self {
        Self {
            alive: Arc::new(AtomicBool::new(true)),
            ..self.clone()
        }
    }

    pub(super) fn kill(&self) {
        self.alive.store(false, Ordering::SeqCst);
    }

    /// What became of the letters, unless a consumer did what loses some.
    pub(super) fn closes(&self) -> Result<Shared, String> {
        let mail = locked(&self.mail);
        mail.wrong
            .clone()
            .map_or_else(|| Ok(mail.figures.clone()), Err)
    }

    fn strikes(&self, once_in: u64) -> bool {
        let is_calm = self.weather.calm.load(Ordering::Relaxed);
        once_in != 0 && !is_calm && self.dice.once_in(once_in)
    }

    /// The dead wait for ever.
    async fn lives(&self) {
        if !self.alive.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
    }

    fn refusal() -> StoreError {
        StoreError::Unavailable {
            address: "simulated".to_owned(),
            reason: "nobody answers".to_owned(),
            attempts: 1,
            after: Duration::ZERO,
        }
    }

    fn soon<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self, &mut Mail) -> Result<T, StoreError> + Send + 'static,
    ) -> StoreFuture<'static, T> {
        let there = self.clone();
        Box::pin(async move {
            sleep(there.dice.millis(2)).await;
            there.lives().await;
            let did = work(&there, &mut locked(&there.mail));
            sleep(there.dice.millis(1)).await;
            there.lives().await;
            did
        })
    }

    fn put(&self, mail: &mut Mail, to: &str, id: &str, message: &Value) {
        if !mail.seen.insert(id.to_owned()) {
            return;
        }
        mail.figures.letters += 1;
        if self.strikes(self.rates.lost) {
            mail.figures.lost += 1;
            let told = format_args!("a letter to {to} is lost: {message}");
            return self.weather.told.tell(told);
        }
        let twice = self.strikes(self.rates.twice);
        mail.figures.twice += u64::from(twice);
        for _ in 0..=u8::from(twice) {
            let mut from = Instant::now();
            if self.strikes(self.rates.late) {
                mail.figures.late += 1;
                from += self.dice.millis(LATE);
            }
            mail.places += 1;
            let letter = Letter {
                place: mail.places,
                id: id.to_owned(),
                message: message.clone(),
                count: 0,
                from,
            };
            mail.letters.entry(to.to_owned()).or_default().push(letter);
        }
    }

    /// The first that is there, held from here on.
    fn take(&self, mail: &mut Mail, name: &str) -> Option<Carried> {
        let now = Instant::now();
        let letters = mail.letters.get_mut(name)?;
        let before = letters.len();
        letters.retain(|letter| letter.from > now || letter.count < DELIVERIES);
        mail.figures.dead += (before - letters.len()) as u64;
        let letter = letters.iter_mut().find(|letter| letter.from <= now)?;
        letter.count += 1;
        letter.from = now + LEASE;
        mail.figures.come_again += u64::from(letter.count > 1);
        let (name, place, again) = (name.to_owned(), letter.place, letter.count > 1);
        self.weather.told.tell(format_args!(
            "{name} gets letter {place} for the {} time: {}",
            letter.count, letter.message
        ));
        let done = self.soon(move |office, mail| {
            // It is held until its lease is over, and comes again; who fared badly once does so until it is calm.
            let rate = office.rates.refused;
            if office.strikes(if again { rate.min(1) } else { rate }) {
                return Err(Self::refusal());
            }
            let letters = mail.letters.entry(name).or_default();
            letters.retain(|letter| letter.place != place);
            Ok(())
        });
        Some(Carried {
            id: letter.id.clone(),
            message: letter.message.clone(),
            count: letter.count,
            done,
        })
    }
}

impl Office for PostOffice {
    fn publish<'o>(&'o self, to: &'o str, id: &'o str, message: &'o Value) -> StoreFuture<'o, ()> {
        let (to, id, message) = (to.to_owned(), id.to_owned(), message.clone());
        self.soon(move |office, mail| {
            let refused = office.strikes(office.rates.refused);
            // One that is refused may have been taken all the same.
            if !refused || office.dice.once_in(2) {
                office.put(mail, &to, &id, &message);
            }
            if refused {
                mail.figures.refused += 1;
                let told = format_args!("a letter to {to} is refused: {message}");
                office.weather.told.tell(told);
                return Err(Self::refusal());
            }
            Ok(())
        })
    }

    fn inbox(&self, backend: &str, _: &str) -> Result<Box<dyn Mailbox>, StoreError> {
        Ok(Box::new(PigeonHole {
            office: self.clone(),
            name: backend.to_owned(),
            ticked_off: Arc::default(),
        }))
    }

    fn announce<'o>(
        &'o self,
        backend: &'o str,
        owner: &'o str,
        time: Duration,
    ) -> StoreFuture<'o, bool> {
        let (backend, owner) = (backend.to_owned(), owner.to_owned());
        self.soon(move |_, mail| {
            let now = Instant::now();
            let there = mail.leases.get(&backend);
            let is_free = there.is_none_or(|(by, until)| *by == owner || *until <= now);
            if is_free {
                mail.leases.insert(backend, (owner, now + time));
            }
            Ok(is_free)
        })
    }

    fn withdraw<'o>(&'o self, backend: &'o str, owner: &'o str) -> StoreFuture<'o, ()> {
        let (backend, owner) = (backend.to_owned(), owner.to_owned());
        self.soon(move |_, mail| {
            mail.leases
                .retain(|name, (by, _)| *name != backend || *by != owner);
            Ok(())
        })
    }

    fn announced<'o>(&'o self, backend: &'o str) -> StoreFuture<'o, Option<String>> {
        let backend = backend.to_owned();
        self.soon(move |_, mail| {
            let there = mail.leases.get(&backend);
            let there = there.filter(|(_, until)| *until > Instant::now());
            Ok(there.map(|(owner, _)| owner.clone()))
        })
    }
}

struct PigeonHole {
    office: PostOffice,
    name: String,
    /// When the last letter was.
    ticked_off: Arc<Mutex<Option<Instant>>>,
}

impl Mailbox for PigeonHole {
    fn next(&mut self) -> StoreFuture<'_, Carried> {
        Box::pin(async {
            let ticked_off = locked(&self.ticked_off).take();
            // One that dies meanwhile has lost the letter.
            if ticked_off.is_some_and(|when| when != Instant::now()) {
                let wrong = format!("{} ticked a letter off before it was dealt with", self.name);
                locked(&self.office.mail).wrong = Some(wrong);
            }
            loop {
                self.office.lives().await;
                let taken = self.office.take(&mut locked(&self.office.mail), &self.name);
                if let Some(mut carried) = taken {
                    let told = Arc::clone(&self.ticked_off);
                    let done = carried.done;
                    carried.done = Box::pin(async move {
                        let did = done.await;
                        *locked(&told) = Some(Instant::now());
                        did
                    });
                    return Ok(carried);
                }
                sleep(Duration::from_millis(1)).await;
            }
        })
    }
}
