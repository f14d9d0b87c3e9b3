fn main() {
    println!("{}", sample::double(21));
}
