use contract_runtime::prelude::*;

struct Store(u8);

#[tool]
impl Store {
    /// Read a byte.
    #[tool(readonly)]
    fn read(&self) -> u8 {
        self.0
    }

    #[tool]
    #[post(byte > 0)]
    fn write(&mut self, byte: u8) {
        self.0 = byte;
    }

    fn unmarked(&self) -> u8 {
        self.read()
    }
}

fn main() {
    Store(1).unmarked();
    Store(1).write(2);
}
