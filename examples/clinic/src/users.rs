//! Who may do what: users, their tokens and their roles.

/// What a user does at the clinic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Registers patients, books appointments and handles bills. What it asks, a doctor decides.
    Reception,
    /// Reads records, prescribes, and is asked by their own client.
    Doctor,
}

impl Role {
    /// Returns whether a user with this role may call a tool.
    #[must_use]
    pub fn may_call(self, tool: &str) -> bool {
        match tool {
            "find_patients" | "free_hours" | "book_appointment" | "cancel_appointment" => true,
            "read_record" | "prescribe" | "stop_prescription" => self == Self::Doctor,
            _ => self == Self::Reception,
        }
    }
}

/// A user of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct User {
    /// The name, which no other user has.
    pub name: &'static str,
    /// What the user may do.
    pub role: Role,
}

const fn user(name: &'static str, role: Role) -> User {
    User { name, role }
}

const USERS: [User; 4] = [
    user("rosa", Role::Reception),
    user("ravi", Role::Reception),
    user("lind", Role::Doctor),
    user("okafor", Role::Doctor),
];

/// Finds out whose token it is. This stub has the tokens `of-rosa`, `of-lind` and so on; a real service verifies the signature, the
/// expiry and the audience of a token, or asks the server that issued it.
#[must_use]
pub fn user_of(token: &str) -> Option<User> {
    let name = token.strip_prefix("of-")?;
    USERS.into_iter().find(|user| user.name == name)
}

/// Returns whether a doctor has this name.
#[must_use]
pub(crate) fn is_doctor(name: &str) -> bool {
    let is_meant = |user: &User| user.name == name && user.role == Role::Doctor;
    USERS.iter().any(is_meant)
}
