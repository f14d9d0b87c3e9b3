#[test]
fn it_doubles() {
    assert_eq!(sample::double(21), 42);
}
