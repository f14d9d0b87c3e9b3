#[derive(Default)]
struct Guests(Mutex<Vec<String>>);

#[tool]
impl Guests {
    /// Invite somebody, and say how many guests there are.
    #[tool]
    #[pre(!name.is_empty() && name.len() <= 40)]
    fn invite(&self, name: String) -> usize {
        let mut guests = self.0.lock().unwrap();
        contract_assert!(!guests.contains(&name), "nobody is invited twice");
        guests.push(name);
        guests.len()
    }
}

/// Nobody is invited yet.
fn no_guests(builder: Builder) -> Builder {
    builder.with(Guests::default())
}
