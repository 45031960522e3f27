//! Command lines and files for the differential test: all options, edge cases and errors.

use std::ffi::OsString;

/// One command line with the files that it names and its standard input.
pub struct Case {
    pub args: Vec<OsString>,
    pub files: Vec<(String, Vec<u8>)>,
    pub stdin: Vec<u8>,
}

/// Small generator of pseudo-random numbers (SplitMix64, Steele et al. 2014).
pub struct Generator {
    state: u64,
}

impl Generator {
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len() as u64) as usize]
    }

    /// The next command line.
    pub fn case(&mut self) -> Case {
        let layout = Layout::draw(self);
        let mut args = self.options(&layout);
        let count = match self.below(12) {
            0 => 0,
            1 => 3 + self.below(5) as usize,
            2 if self.one_in(4) => 8,
            n => 1 + (n % 2) as usize,
        };
        let shape = Shape::draw(self);
        let files: Vec<(String, Vec<u8>)> =
            (0..count).map(|i| (format!("f{i}"), self.file(&shape, &layout))).collect();
        let mut operands: Vec<OsString> = files.iter().map(|(name, _)| name.into()).collect();
        if count > 0 && self.one_in(25) {
            let at = self.below(count as u64) as usize;
            operands[at] = self.pick(&["missing", "-", ".", "f0/x"]).into();
        }
        if self.one_in(20) {
            args.push("--".into());
        }
        args.extend(operands);
        if self.one_in(20) {
            args.push(self.pick(&["-s", "-A", "-n"]).into());
        }
        let stdin = self.file(&shape, &layout);
        Case { args, files, stdin }
    }

    fn options(&mut self, layout: &Layout) -> Vec<OsString> {
        let mut args: Vec<OsString> = Vec::new();
        for flag in ["-A", "-n", "-s"] {
            if self.one_in(5) {
                args.push(flag.into());
            }
        }
        if self.one_in(8) {
            args.push(self.pick(&["-As", "-ns", "-sA", "-snA"]).into());
        }
        if self.one_in(3) {
            let level = self.pick(&["80", "90", "95", "98", "99", "99.5", "9.5e1", " 95", "0x5f"]);
            self.push_valued(&mut args, "-c", level.to_owned());
        }
        if self.one_in(4) {
            let width = self.pick(&["0", "2", "3", "5", "10", "40", "74", "100", "251", "+9", ""]);
            self.push_valued(&mut args, "-w", width.to_owned());
        }
        if layout.column != 1 || self.one_in(10) {
            self.push_valued(&mut args, "-C", layout.column.to_string());
        }
        if let Some(delimiter) = layout.delimiter_option {
            self.push_valued(&mut args, "-d", delimiter.to_owned());
        }
        if self.one_in(15) {
            self.push_broken_option(&mut args);
        }
        args
    }

    /// With the value attached or as an argument of its own.
    fn push_valued(&mut self, args: &mut Vec<OsString>, option: &str, value: String) {
        if self.one_in(2) && !value.is_empty() {
            args.push(format!("{option}{value}").into());
        } else {
            args.extend([option.into(), value.into()]);
        }
    }

    fn push_broken_option(&mut self, args: &mut Vec<OsString>) {
        let broken = [
            "-c|97",
            "-c|95%",
            "-c|",
            "-c|nan",
            "-c|x",
            "-C|0",
            "-C|-1",
            "-C|1x",
            "-C|",
            "-C| 1 ",
            "-C|4294967297",
            "-w|-1",
            "-w|x",
            "-w|5 ",
            "-w|4294967300",
            "-w|99999999999999999999",
            "-d|",
            "-z",
            "-q",
            "-sz",
            "--x",
            "-h",
            "-?",
        ];
        args.extend(self.pick(&broken).split('|').map(OsString::from));
    }

    fn file(&mut self, shape: &Shape, layout: &Layout) -> Vec<u8> {
        let count = match self.below(20) {
            0 => self.below(3),
            1..=4 => 3,
            5 => 50 + self.below(300),
            _ => 3 + self.below(30),
        };
        let shift = if self.one_in(2) { 0.0 } else { shape.spread * (self.unit() * 6.0 - 3.0) };
        let mut text = Vec::new();
        for _ in 0..count {
            let value = shape.value(self, shift);
            self.line(&value, layout, &mut text);
        }
        if self.one_in(10) {
            text.pop();
        }
        text
    }

    fn line(&mut self, value: &str, layout: &Layout, text: &mut Vec<u8>) {
        if self.one_in(30) {
            let odd = ["", "#", "# comment", "   ", "\t", "\r"];
            text.extend_from_slice(self.pick(&odd).as_bytes());
            text.push(b'\n');
        }
        for _ in 1..layout.column {
            text.extend_from_slice(self.pick(&["a", "17", "x=y", "-", "1.5"]).as_bytes());
            text.extend_from_slice(layout.separator.as_bytes());
        }
        if self.one_in(12) && layout.delimiter_option.is_none() {
            text.extend_from_slice(self.pick(&[" ", "\t", "  "]).as_bytes());
        }
        text.extend_from_slice(value.as_bytes());
        match self.below(1200) {
            0 => text.extend_from_slice(b"x"),
            1 => text.extend_from_slice(b"\0junk"),
            2 => text.extend_from_slice(b"e"),
            3..=50 => {
                text.extend_from_slice(layout.separator.as_bytes());
                text.extend_from_slice(b"tail");
            }
            51..=70 => text.extend_from_slice(b" \r"),
            71..=73 => {
                text.extend_from_slice(layout.separator.as_bytes());
                text.resize(text.len() + 8150 + self.below(60) as usize, b'7');
            }
            _ => {}
        }
        text.push(b'\n');
    }
}

/// Which column holds the values, and what separates columns.
struct Layout {
    column: u32,
    delimiter_option: Option<&'static str>,
    separator: &'static str,
}

impl Layout {
    fn draw(generator: &mut Generator) -> Self {
        let column = if generator.one_in(4) { 1 + generator.below(4) as u32 } else { 1 };
        let (delimiter_option, separator) = match generator.below(10) {
            0 => (Some(","), ","),
            1 => (Some(",;"), ";,"),
            2 => (Some(":"), ":"),
            3 => (Some(" "), " "),
            4 => (None, "\t"),
            _ => (None, " "),
        };
        Self { column, delimiter_option, separator }
    }
}

/// How the values of a case are spread and written.
struct Shape {
    centre: f64,
    spread: f64,
    style: u64,
}

impl Shape {
    fn draw(generator: &mut Generator) -> Self {
        let centre = match generator.below(8) {
            0 => 0.0,
            1 => 1e6 * generator.unit(),
            2 => -1e4 * generator.unit(),
            3 => 1.4e9 * generator.unit(),
            4 => 1e-7 * generator.unit(),
            5 => 1e12 * generator.unit(),
            _ => 1000.0 * generator.unit(),
        };
        let scale: f64 = if centre == 0.0 { 1.0 } else { centre.abs() };
        let share = [0.0, 0.001, 0.01, 0.1, 1.0][generator.below(5) as usize];
        Self { centre, spread: scale * share, style: generator.below(7) }
    }

    fn value(&self, generator: &mut Generator, shift: f64) -> String {
        let value = self.centre + shift + self.spread * (generator.unit() + generator.unit() - 1.0);
        match self.style {
            0 => format!("{}", value.round()),
            1 => format!("{value:.1}"),
            2 => format!("{value:e}"),
            3 => format!("{value:+.3}"),
            4 if value.abs() < 1e15 => {
                format!("{}0x{:x}", if value < 0.0 { "-" } else { "" }, value.abs() as u64)
            }
            5 => format!("{:.2}", (value * 4.0).round() / 4.0),
            _ => format!("{value}"),
        }
    }
}
