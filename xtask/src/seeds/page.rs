//! The page.

use std::fmt::Write as _;

use anyhow::Result;
use fwdlab_stats::Confidence;
use fwdlab_stats::machines::{Synthesis, synthesis};

use super::elsewhere::{Saved, Together};
use super::family::Family;
use super::numbers::{Machine, Numbers, Published, Role, percent_of};
use super::plot::{Line, forest};
use super::ratio::{interval, percent, summary};
use super::said;

/// The page of all numbers.
pub(super) fn write(numbers: &Numbers) -> Result<String> {
    let mut text = opening(numbers);
    for family in Family::ALL {
        let _ = writeln!(text, "\n## {}\n", family.name());
        table(&mut text, numbers, family)?;
        together(&mut text, numbers, family)?;
        judged(&mut text, numbers, family)?;
    }
    said::table(&mut text, numbers)?;
    text.push_str(&closing(numbers));
    Ok(text)
}

fn opening(numbers: &Numbers) -> String {
    let (lab, [inet, inet6]) = (&numbers.lab, Family::ALL);
    let guest = |family| numbers.own.guest(family);
    let saved =
        |of: Saved| format!("{:.1} ns of {:.1} [{:.1}, {:.1}]", of.saved, of.of, of.low, of.high);
    format!(
        "# D27401: what was published, what FreeBSD does in a guest, what fwdlab's router does

Written by `cargo xtask seeds` from [seeds.toml](seeds.toml), which has what was published, and from where
fwdlab's own figures stand: the [README](../README.md), [freebsd.md](freebsd.md) and
[what `fwdlab report` says of the logs](../crates/cli/tests/golden/machines.txt), to which a test holds the program.

D27401 gave FreeBSD its modular FIB. Its effect was published for three machines with two routes and
smallest UDP frames (a fourth page, of D11476, is about another change). Three ways to the same number:

- **published**: rates of five runs each, before and with the change. A machine's time per frame is its
  cores divided by its rate, since all of them are busy when it forwards what it can.
- **by instructions**: FreeBSD under QEMU ([freebsd.md](freebsd.md)), one core, no contention:
  {:.0} instructions per IPv4 frame without `FIB_ALGO`, {:.0} with the framework's own choice; {:.0} and
  {:.0} for IPv6. Predicted is the rate if time went by instructions.
- **by fwdlab**: `modular` against `radix` of [modular-fib.toml](../examples/modular-fib.toml) on {}
  at {:.1} GHz: IPv4 saves {}, IPv6 {}. Predicted are as many cycles on the machine's own clock.

Everything here is ns per frame and per cent of the rate; intervals are of 95 %, those by fwdlab of 97.5 %.
",
        guest(inet).before,
        guest(inet).after,
        guest(inet6).before,
        guest(inet6).after,
        lab.machine,
        lab.ghz,
        saved(numbers.own.lab(inet)),
        saved(numbers.own.lab(inet6)),
    )
}

fn table(text: &mut String, numbers: &Numbers, family: Family) -> Result<()> {
    text.push_str(
        "| machine | change | ns per frame | saved | published | by instructions | by fwdlab |\n\
         |---|---|--:|--:|--:|--:|--:|\n",
    );
    for (machine, figure) in numbers.of(family) {
        let [before, after] = figure.ns_per_frame(machine);
        let is_predicted = matches!(figure.role, Role::Figure | Role::Repeat);
        let (time, saved) = if figure.role == Role::Limited {
            (format!("at most {before:.0}"), "unknown".to_owned())
        } else {
            (format!("{before:.0}"), format!("{:+.0}", before - after))
        };
        let [by_instructions, by_fwdlab] = if is_predicted {
            predictions(numbers, machine, family, before)
        } else {
            ["".to_owned(), "".to_owned()]
        };
        let _ = writeln!(
            text,
            "| {} ({} cores {}) | {}{} | {time} | {saved} | {} | {by_instructions} | {by_fwdlab} |",
            machine.name,
            machine.cores,
            clocked(machine),
            figure.change,
            match figure.role {
                Role::Limited => " (all of the load)",
                Role::Other => " (another change)",
                Role::Figure | Role::Repeat => "",
            },
            interval(&percent(&figure.change()?)),
        );
    }
    Ok(())
}

fn clocked(machine: &Machine) -> String {
    match machine.ghz {
        Some(ghz) => format!("{} at {ghz:.1} GHz", machine.processor),
        None => machine.processor.clone(),
    }
}

/// Per cent, and ns saved: by instructions, and by fwdlab's cycles.
fn predictions(numbers: &Numbers, machine: &Machine, family: Family, before: f64) -> [String; 2] {
    let guest = numbers.own.guest(family);
    let say = |saved: f64| format!("{:+.1} % ({saved:+.0} ns)", percent_of(saved, before));
    let by_instructions = say(before * (1.0 - guest.after / guest.before));
    let by_fwdlab =
        machine.ghz.map(|ghz| say(numbers.own.lab(family).saved * numbers.lab.ghz / ghz));
    [by_instructions, by_fwdlab.unwrap_or_default()]
}

/// The machines together, with a plot.
fn together(text: &mut String, numbers: &Numbers, family: Family) -> Result<()> {
    let own: Vec<(&Machine, &Published)> =
        numbers.of(family).filter(|(_, figure)| figure.role == Role::Figure).collect();
    let mut lines = Vec::new();
    let mut figures = Vec::new();
    for (machine, published) in own {
        let figure = published.change()?;
        let percent = percent(&figure);
        lines.push(Line { name: machine.name.clone(), percent, mark: 'o' });
        figures.push(figure);
    }
    let all = synthesis(&figures, Confidence::USUAL)?;
    lines.push(Line {
        name: format!("{} machines together", figures.len()),
        percent: summary(&all),
        mark: '#',
    });
    let guest = numbers.own.guest(family).percent();
    lines.push(Line { name: "FreeBSD in a guest".to_owned(), percent: [guest; 3], mark: 'x' });
    let _ = writeln!(text, "\n```\n{}```\n\n{}", forest(&lines, (-30.0, 30.0)), in_words(&all));
    Ok(())
}

/// What the program says of the logs behind the figures.
fn judged(text: &mut String, numbers: &Numbers, family: Family) -> Result<()> {
    let own: Vec<(&Machine, &Published, &str)> = numbers
        .of(family)
        .filter(|(_, figure)| figure.role == Role::Figure)
        .filter_map(|(machine, figure)| Some((machine, figure, machine.program.as_deref()?)))
        .collect();
    let lines = own.iter().filter_map(|(machine, figure, label)| {
        let why = numbers.own.left_out(family, label)?;
        Some(format!("- {}, {}: {why}\n", machine.name, figure.change))
    });
    let lines: String = lines.collect();
    if !lines.is_empty() {
        let _ = write!(
            text,
            "\n`fwdlab compare` judges the logs behind these figures otherwise, and `fwdlab report` leaves them out of \
             the summary:\n\n{lines}"
        );
    }
    match numbers.own.together(family)? {
        Together::Alone(figure) => {
            let _ = writeln!(
                text,
                "\nSo `fwdlab report --mixed` has no summary of {}: one machine alone has a figure there, {figure}.",
                family.name()
            );
        }
        Together::Summary { interval: all, p } => {
            let _ = writeln!(
                text,
                "\n`fwdlab report --mixed` of the same two directories says {all} together, with p {p} of the test\n\
                 whether the machines differ. Data and method are others: it takes the steady window of each log where\n\
                 published figures drop fixed lines, and quotes the Hodges-Lehmann ratio where this page has that of the\n\
                 published means:\n"
            );
            for (machine, figure, label) in own {
                let Some(there) = numbers.own.machine(family, label) else { continue };
                let here = interval(&percent(&figure.change()?));
                let _ = writeln!(text, "- {}: {there} there, {here} here", machine.name);
            }
            text.push_str("\nWith two machines the interval of both together hangs on their difference alone.\n");
        }
    }
    Ok(())
}

fn in_words(all: &Synthesis) -> String {
    let next = match all.next {
        Some(next) => format!(
            "The next machine will show {:+.0} % to {:+.0} %.",
            next.low.percent(),
            next.high.percent()
        ),
        None => "Two machines say nothing about a third: its prediction interval needs three."
            .to_owned(),
    };
    format!(
        "Machines that have a figure, as random effects: {:+.1} % [{:+.0} %, {:+.0} %]; they differ by \
         {:.1} % ({}). {next}",
        all.estimate.percent(),
        all.interval.low.percent(),
        all.interval.high.percent(),
        100.0 * all.between.exp_m1(),
        match all.same_p {
            p if p < 0.01 => "test of that alone, not of the change: p below 0.01".to_owned(),
            p => format!("test of that alone, not of the change: p {p:.2}"),
        }
    )
}

fn closing(numbers: &Numbers) -> String {
    let guest = numbers.own.guest(Family::Inet);
    let share = 1.0 - guest.after / guest.before;
    let own = numbers.of(Family::Inet).filter(|(_, figure)| figure.role == Role::Figure);
    let ratios = own.map(|(machine, figure)| {
        let [before, after] = figure.ns_per_frame(machine);
        (before - after) / (before * share)
    });
    let (least, most) = ratios
        .fold((f64::INFINITY, 0.0_f64), |(least, most), ratio| (least.min(ratio), most.max(ratio)));
    format!(
        "
## What agrees, and what does not

- **IPv4 is faster** by every way: published on both machines that were measured at their limit, in
  instructions, and in fwdlab's router.
- **By how much does not agree.** The small cores save {least:.1} to {most:.1} times the time that the
  instructions would say. Instructions are not time: what went are the lock and the steps from node to
  node of a tree, each of which waits for the one before, while what stayed are long straight runs
  through the network stack. The guest has one core and no contention. Two earlier forms of the
  change, on the same machine, stayed below what the instructions say.
- **fwdlab's cycles say what the lookup itself costs**, not what a kernel does around it: its table of two
  routes never leaves the nearest cache, and its processor overlaps what small cores wait for. So
  its prediction is far below what was published.
- **IPv6 does not agree with itself**: slower on the GX-412T in every form of the change, faster on the
  C2758. Instructions are fewer, and fwdlab's router is no slower, so neither says why. Two
  machines that differ by so much give a summary without a sign.
- **The Xeon says nothing**: it forwarded what was sent to it, before and with the change. All that is known
  is that its time per frame is less than what stands there, so no summary has it.
- **Intervals are too narrow**: five runs within one boot do not show what the next boot does.
"
    )
}
