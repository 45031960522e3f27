//! Texts that differ in nothing but numbers: of one cause, with what was counted in each trial.

/// Texts that are the same but for some numbers, as one, with what belongs to each of them.
#[derive(Debug)]
pub struct Alike<T> {
    words: Vec<Word>,
    /// Whose texts they are, where they quote settings: those of two are two causes, whatever their numbers.
    of: Option<String>,
    /// What belongs to each text, in their order.
    pub items: Vec<T>,
}

/// Text up to a space.
#[derive(Debug, PartialEq)]
enum Word {
    Same(String),
    /// A number between what stands around it, and the range that it takes.
    Number {
        before: String,
        least: String,
        most: String,
        behind: String,
    },
}

impl<T> Alike<T> {
    /// Each text with whom it is of and what belongs to it, in groups, in the order of their first.
    pub fn groups<'a>(texts: impl IntoIterator<Item = (&'a str, &'a str, T)>) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        for (text, of, item) in texts {
            let words: Vec<Word> = text.split(' ').map(Word::of).collect();
            let of = quotes_settings(text).then(|| of.to_owned());
            match groups.iter_mut().find(|own| own.takes(&words, of.as_deref())) {
                Some(group) => {
                    group.words.iter_mut().zip(words).for_each(|(own, other)| own.widen(other));
                    group.items.push(item);
                }
                None => groups.push(Self { words, of, items: vec![item] }),
            }
        }
        groups
    }

    /// Whether these words differ in numbers alone; not even in these, where they are settings of somebody else.
    fn takes(&self, words: &[Word], of: Option<&str>) -> bool {
        let is_alike = |(own, other): (&Word, &Word)| match self.of.as_deref() == of {
            true => own.is_alike(other),
            false => own == other,
        };
        self.words.len() == words.len() && self.words.iter().zip(words).all(is_alike)
    }

    /// The text; a number that is not the same in all as `LEAST to MOST`.
    pub fn text(&self) -> String {
        self.words.iter().map(Word::shown).collect::<Vec<_>>().join(" ")
    }
}

/// Whether a reason tells what a variant sets.
fn quotes_settings(text: &str) -> bool {
    text.contains(" = ") || text.contains(" was set to ")
}

impl Word {
    fn of(word: &str) -> Self {
        let is_around = |c: char| "()[],;:".contains(c);
        let number = word.trim_matches(is_around).trim_end_matches('.');
        let is_number = number.chars().all(|c| c.is_ascii_digit() || c == '.');
        match word.split_once(number) {
            Some((before, behind)) if is_number && number.parse::<f64>().is_ok() => Self::Number {
                before: before.to_owned(),
                least: number.to_owned(),
                most: number.to_owned(),
                behind: behind.to_owned(),
            },
            _ => Self::Same(word.to_owned()),
        }
    }

    fn is_alike(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number { before, behind, .. }, Self::Number { before: b, behind: e, .. }) => {
                before == b && behind == e
            }
            _ => self == other,
        }
    }

    /// Takes the range of another one in.
    fn widen(&mut self, other: Self) {
        let value = |text: &str| text.parse::<f64>().unwrap_or_default();
        if let (Self::Number { least, most, .. }, Self::Number { least: low, most: high, .. }) =
            (self, other)
        {
            if value(&low) < value(least) {
                *least = low;
            }
            if value(&high) > value(most) {
                *most = high;
            }
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Same(word) => word.clone(),
            Self::Number { before, least, most, behind } if least == most => {
                format!("{before}{least}{behind}")
            }
            Self::Number { before, least, most, behind } => {
                format!("{before}{least} to {most}{behind}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(texts: &[(&str, &str)]) -> Vec<(String, Vec<usize>)> {
        let texts = texts.iter().enumerate().map(|(at, (of, text))| (*text, *of, at));
        let groups = Alike::groups(texts).into_iter();
        groups.map(|own| (own.text(), own.items)).collect()
    }

    /// Each of 96 trials on a busy machine had a paragraph of its own.
    #[test]
    fn what_was_counted_is_a_range_and_other_words_are_another_cause() {
        let cores = |n: u32, share: &str| {
            format!(
                "{n} frames came back, but none within an interval: they had cores for {share} % of the time."
            )
        };
        let (a, b, c) = (cores(90, "37"), cores(1200, "9"), cores(90, "41.5"));
        let told = folded(&[("x", &a), ("y", "it hangs"), ("y", &b), ("x", &c)]);
        let wanted = "90 to 1200 frames came back, but none within an interval: they had cores for 9 to 41.5 % of \
                      the time.";
        assert_eq!(told, [(wanted.to_owned(), vec![0, 2, 3]), ("it hangs".to_owned(), vec![1])]);
        assert_eq!(folded(&[("x", "(7,"), ("x", "(8,")]), [("(7 to 8,".to_owned(), vec![0, 1])]);
        assert_eq!(folded(&[("x", "7 s"), ("x", "7 ms")]).len(), 2);
        assert_eq!(folded(&[("x", "198.18.0.1 v6.1 a"), ("x", "198.18.0.2 v6.2 a")]).len(), 2);
    }

    #[test]
    fn numbers_that_variants_set_are_no_range() {
        let set = |n: u32| format!("w was set to {n}, but the device answers 0");
        let (one, two) = (set(1), set(2));
        assert_eq!(folded(&[("x", &one), ("y", &two), ("y", &two)]).len(), 2);
        assert_eq!(folded(&[("x", &one), ("y", &one)]), [(one.clone(), vec![0, 1])]);
        let of = |n: u32| format!("no frame of {n} came back: check what the variant sets (w = 1)");
        let (few, many) = (of(3), of(5));
        let told = folded(&[("x", &few), ("x", &many)]);
        assert_eq!(told[0].0, "no frame of 3 to 5 came back: check what the variant sets (w = 1)");
    }
}
