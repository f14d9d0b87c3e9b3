use shop::routes::answer;

#[test]
fn lists_all_items() {
    assert_eq!(answer("GET", "/items"), (200, "apple\nbread\ntea".to_owned()));
}

#[test]
fn gives_the_price_of_one() {
    assert_eq!(answer("GET", "/items/tea"), (200, "480".to_owned()));
    assert_eq!(answer("GET", "/items/gold").0, 404);
}
