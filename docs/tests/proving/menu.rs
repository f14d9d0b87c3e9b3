struct Menu(Vec<&'static str>);

#[tool]
impl Menu {
    /// Read a line of the menu.
    #[tool(read_only)]
    #[pre(line < self.0.len())]
    fn read(&self, line: usize) -> &str {
        self.0[line]
    }

    /// Order what is on a line of the menu.
    #[tool]
    fn order(&self, line: usize) -> bool {
        line < self.0.len()
    }
}
