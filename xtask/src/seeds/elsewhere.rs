//! Figures of the page that stand elsewhere already: what the program said, read where a test or a run put it, so that
//! the page cannot say another thing.

use std::path::Path;

use anyhow::{Context, Result};

use super::family::Family;

/// fwdlab's own run.
const README: &str = "README.md";
/// FreeBSD in a guest.
const GUEST: &str = "docs/freebsd.md";
/// `fwdlab report --mixed` of the imported directories; `the_seeds_machines_are_put_together` holds the program to it.
const PROGRAM: &str = "crates/cli/tests/golden/machines.txt";
/// The change, as the program calls it.
const CHANGE: &str = "r368606D27401v4";

/// What is read, IPv4 and IPv6.
#[derive(Default)]
pub(super) struct Elsewhere {
    lab: [Saved; 2],
    guest: [Instructions; 2],
    program: String,
}

/// ns per frame that `modular` saves, of those of `radix`.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
pub(super) struct Saved {
    pub(super) saved: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) of: f64,
}

/// Instructions per frame without `FIB_ALGO` and with the framework's own choice.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
pub(super) struct Instructions {
    pub(super) before: f64,
    pub(super) after: f64,
}

/// What the program says of a family.
pub(super) enum Together<'a> {
    /// The summary of the machines, and the p of "they do not differ".
    Summary { interval: &'a str, p: &'a str },
    /// The only machine with a figure, and that.
    Alone(&'a str),
}

impl Elsewhere {
    pub(super) fn read(root: &Path) -> Result<Self> {
        let read = |name: &str| {
            std::fs::read_to_string(root.join(name)).with_context(|| format!("cannot read {name}"))
        };
        Self::of(&read(README)?, &read(GUEST)?, read(PROGRAM)?)
    }

    pub(super) fn of(readme: &str, guest: &str, program: String) -> Result<Self> {
        let lab = |family: Family| {
            saved(readme, family)
                .with_context(|| format!("{README}: no line '{}: modular is ...'", family.name()))
        };
        let instructions = |family: Family| {
            instructions(guest, family).with_context(|| {
                format!("{GUEST}: no table of {} with 'without' and 'auto'", family.name())
            })
        };
        let [inet, inet6] = Family::ALL;
        Ok(Self {
            lab: [lab(inet)?, lab(inet6)?],
            guest: [instructions(inet)?, instructions(inet6)?],
            program,
        })
    }

    pub(super) fn lab(&self, family: Family) -> Saved {
        self.lab[family.index()]
    }

    pub(super) fn guest(&self, family: Family) -> Instructions {
        self.guest[family.index()]
    }

    /// The interval of a machine, called as the program does.
    pub(super) fn machine(&self, family: Family, label: &str) -> Option<&str> {
        cell(self.section(family)?, label)
    }

    /// Why the program leaves a machine out.
    pub(super) fn left_out(&self, family: Family, label: &str) -> Option<&str> {
        let start = format!("{}, {CHANGE}: ", short(family));
        let is_own = |line: &&str| line.trim_start_matches("- ").starts_with(&start);
        let alone = || self.program.lines().find(is_own);
        let together =
            self.section(family).and_then(|own| own.lines().find(|l| l.starts_with("=>")));
        let (_, all) = together.or_else(alone)?.split_once("left out: ")?;
        let (_, why) = all.split_once(&format!("{label} ("))?;
        let mut depth = 1;
        let end = why.char_indices().find(|(_, letter)| {
            match letter {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        why.get(..end?.0)
    }

    /// What all machines say.
    pub(super) fn together(&self, family: Family) -> Result<Together<'_>> {
        let summary = || {
            let own = self.section(family)?;
            let (_, p) = own.split_once("not of the change: p ")?;
            let p = p.split([')', ';']).next()?;
            Some(Together::Summary { interval: cell(own, "together")?, p })
        };
        let start = format!("- {}, {CHANGE}: only ", short(family));
        let alone = || {
            let line = self.program.lines().find_map(|line| line.strip_prefix(&start))?;
            let (_, figure) = line.split("; left out").next()?.split_once(" has a figure, ")?;
            Some(Together::Alone(figure))
        };
        summary().or_else(alone).with_context(|| {
            format!("{PROGRAM}: nothing of {}, {CHANGE}: bless it again", short(family))
        })
    }

    /// The table and the sentence of a family.
    fn section(&self, family: Family) -> Option<&str> {
        let head = format!("{}, {CHANGE} ", short(family));
        let own = &self.program[self.program.find(&head)?..];
        own.split("\n\n").next()
    }
}

fn short(family: Family) -> &'static str {
    ["inet4", "inet6"][family.index()]
}

/// The second cell of a row of the program's table.
fn cell<'a>(section: &'a str, label: &str) -> Option<&'a str> {
    let row = section.lines().find_map(|line| line.strip_prefix(label))?;
    row.trim().split("  ").next()
}

/// `IPv4: modular is faster than radix by 7.49 ns per frame [7.13, 7.78] of 13.8,`.
fn saved(readme: &str, family: Family) -> Option<Saved> {
    let start = format!("{}: modular is faster than radix by ", family.name());
    let line = readme.lines().find_map(|line| line.strip_prefix(&start))?;
    let (saved, rest) = line.split_once(" ns per frame [")?;
    let (low, rest) = rest.split_once(", ")?;
    let (high, of) = rest.split_once("] of ")?;
    let number = |text: &str| text.trim_end_matches(',').parse::<f64>().ok();
    Some(Saved { saved: number(saved)?, low: number(low)?, high: number(high)?, of: number(of)? })
}

/// The first two columns of the family's table: a name, and the figure of two routes.
fn instructions(guest: &str, family: Family) -> Option<Instructions> {
    let (_, table) = guest.split_once(&format!("| {} | 2 routes |", family.name()))?;
    let table = table.split("\n\n").next()?;
    let of = |name: &str| {
        let row = table.lines().find_map(|line| line.strip_prefix(&format!("| {name} | ")))?;
        row.split([' ', '|']).next()?.parse::<f64>().ok()
    };
    Some(Instructions { before: of("without `FIB_ALGO`")?, after: of("auto")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const README: &str = "IPv4: modular is faster than radix by 7.49 ns per frame [7.13, 7.78] of 13.8,\n\
                          IPv6: modular is faster than radix by 0.90 ns per frame [0.72, 1.66] of 15.7,\n";
    const GUEST: &str = "| IPv4 | 2 routes | 16 routes |\n|---|--:|--:|\n| without `FIB_ALGO` | 1916 | 1939 |\n\
                         | auto | 1763 (`bsearch4`) | 1869 |\n\n| IPv6 | 2 routes | 16 routes |\n\
                         | without `FIB_ALGO` | 1908 | 1931 |\n| auto | 1836 (`x`) | 1860 |\n";
    const PROGRAM: &str = "inet4, r368606D27401v4   change   ns per frame saved\n\
                           A/B (c)                  +17.5 % [+16.6 %, +18.5 %]  214 of 1437 ns\n\
                           together                 +17.0 % [+4.91 %, +30.4 %]\n\
                           => together +17.0 % [+4.91 %, +30.4 %]; machines differ by 0.9 % (test of that alone, not \
                           of the change: p 0.202); two machines say nothing about a third\n\n\
                           - inet6, r368606D27401v4: only A/B (c) has a figure, -7.31 % [-7.91 %, -6.37 %]; left \
                           out: C/D (invalid: sent (-0.84), less), E (again)\n";

    #[test]
    fn figures_are_read_where_they_stand() {
        let own = Elsewhere::of(README, GUEST, PROGRAM.to_owned()).unwrap();
        let [inet, inet6] = Family::ALL;
        assert_eq!(own.lab(inet), Saved { saved: 7.49, low: 7.13, high: 7.78, of: 13.8 });
        assert_eq!(own.guest(inet6), Instructions { before: 1908.0, after: 1836.0 });
        assert_eq!(own.machine(inet, "A/B (c)"), Some("+17.5 % [+16.6 %, +18.5 %]"));
        assert_eq!(own.left_out(inet6, "C/D"), Some("invalid: sent (-0.84), less"));
        assert_eq!(own.left_out(inet, "C/D"), None);
        let Together::Summary { interval, p } = own.together(inet).unwrap() else {
            panic!("alone")
        };
        assert_eq!((interval, p), ("+17.0 % [+4.91 %, +30.4 %]", "0.202"));
        let Together::Alone(figure) = own.together(inet6).unwrap() else { panic!("a summary") };
        assert_eq!(figure, "-7.31 % [-7.91 %, -6.37 %]");
    }

    #[test]
    fn a_figure_that_no_longer_stands_there_is_an_error() {
        for (readme, guest) in [("", GUEST), (README, ""), (README, &GUEST.replace("auto", "dxr"))]
        {
            assert!(Elsewhere::of(readme, guest, String::new()).is_err());
        }
        let own = Elsewhere::of(README, GUEST, "other".to_owned()).unwrap();
        assert!(own.together(Family::Inet).is_err());
    }
}
