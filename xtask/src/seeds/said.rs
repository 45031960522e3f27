//! What the pages say in their own words, beside what their figures give here.

use std::fmt::Write as _;

use anyhow::Result;

use super::numbers::{About, Numbers, Said};
use super::ratio::{interval, of_all, percent};

/// The table of all sentences.
pub(super) fn table(text: &mut String, numbers: &Numbers) -> Result<()> {
    text.push_str(
        "\n## What the pages say\n\nEach sentence beside the ratio of its own runs, and beside all machines \
         together where it is about the same change.\n\n\
         | page | its words | here | it holds | machines together |\n|---|---|--:|---|--:|\n",
    );
    for said in &numbers.said {
        let about = numbers.about(said)?;
        let own = percent(&about.change);
        let all = match about.is_figure {
            true => {
                format!("{}: {}", about.family.name(), interval(&of_all(numbers, about.family)?))
            }
            false => String::new(),
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {all} |",
            said.page,
            said.words,
            interval(&own),
            holds(said, &about, own)
        );
    }
    Ok(())
}

/// Whether a sentence fits its figure.
fn holds(said: &Said, about: &About, [estimate, low, high]: [f64; 3]) -> String {
    let is_proven = low * high > 0.0;
    let word = match said.percent {
        None if is_proven => "no: there is a difference".to_owned(),
        None => {
            let most = low.abs().max(high.abs());
            format!("none is proven; {most:.1} % are not excluded")
        }
        Some(percent) if percent * estimate < 0.0 && (low..=high).contains(&-percent) => {
            format!("its size; {} is slower", about.family.name())
        }
        Some(percent) if (low..=high).contains(&percent) => "yes".to_owned(),
        Some(percent) if (estimate - percent).abs() < 1.0 => "cut off, not rounded".to_owned(),
        Some(_) => "no".to_owned(),
    };
    if said.limited { format!("{word}; at least: the load was the limit") } else { word }
}

#[cfg(test)]
mod tests {
    use super::super::family::Family;
    use super::*;
    use fwdlab_stats::machines::{Figure, Runs};

    fn word(percent: Option<f64>, own: [f64; 3]) -> String {
        let runs = Runs { n: 5, mean: 100.0, sd: 1.0 };
        let change = Figure::of_runs(runs, runs).unwrap();
        let about = About { family: Family::Inet6, change, is_figure: false };
        let said = Said {
            page: String::new(),
            words: String::new(),
            percent,
            of: None,
            rates: None,
            limited: false,
        };
        holds(&said, &about, own)
    }

    #[test]
    fn a_sentence_is_held_against_the_interval_of_its_runs() {
        assert_eq!(word(Some(17.5), [17.4, 16.7, 18.2]), "yes");
        assert_eq!(word(Some(5.7), [-5.7, -6.2, -5.2]), "its size; IPv6 is slower");
        assert_eq!(word(Some(17.0), [17.6, 17.1, 18.0]), "cut off, not rounded");
        assert_eq!(word(Some(30.0), [17.6, 17.1, 18.0]), "no");
        assert_eq!(word(None, [0.8, -0.6, 2.3]), "none is proven; 2.3 % are not excluded");
        assert_eq!(word(None, [2.0, 1.0, 3.0]), "no: there is a difference");
    }
}
