use crate::ITEMS;

/// The status and the text for a request.
pub fn answer(method: &str, path: &str) -> (u16, String) {
    match (method, path) {
        ("GET", "/items") => (200, names()),
        ("GET", path) if path.starts_with("/items/") => price(&path["/items/".len()..]),
        _ => (404, "not found".to_owned()),
    }
}

fn names() -> String {
    let names: Vec<&str> = ITEMS.iter().map(|(name, _)| *name).collect();
    names.join("\n")
}

fn price(wanted: &str) -> (u16, String) {
    match ITEMS.iter().find(|(name, _)| *name == wanted) {
        Some((_, cents)) => (200, cents.to_string()),
        None => (404, format!("no item is called {wanted}")),
    }
}
