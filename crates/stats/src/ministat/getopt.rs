//! Short options as getopt(3) takes them apart, in the manner of the C library of either version.

use super::Version;

/// One step of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    /// An option letter with its argument, if it takes one.
    Option(u8, Vec<u8>),
    /// Something that is not an option; the C library's message about it.
    Unknown(String),
}

/// The options in order, and the operands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Parsed {
    pub(super) items: Vec<Item>,
    pub(super) operands: Vec<Vec<u8>>,
}

/// Takes `args` apart. `spec` lists the letters, a colon behind those that take an argument.
///
/// glibc looks for options behind operands too, BSD's getopt stops at the first operand.
pub(super) fn parse(args: &[Vec<u8>], spec: &[u8], version: Version) -> Parsed {
    let mut parsed = Parsed::default();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match arg.as_slice() {
            b"--" => {
                parsed.operands.extend(rest.by_ref().cloned());
            }
            [b'-', letters @ ..] if !letters.is_empty() => {
                cluster(letters, &mut rest, &mut parsed, (spec, version))
            }
            _ => {
                parsed.operands.push(arg.clone());
                if version != Version::Compat2015 {
                    parsed.operands.extend(rest.by_ref().cloned());
                }
            }
        }
    }
    parsed
}

/// One argument of letters, such as `-sA` or `-w40`.
fn cluster(
    letters: &[u8],
    rest: &mut std::slice::Iter<'_, Vec<u8>>,
    parsed: &mut Parsed,
    (spec, version): (&[u8], Version),
) {
    for (i, letter) in letters.iter().enumerate() {
        let known = spec.iter().position(|known| known == letter).filter(|_| *letter != b':');
        match known.map(|at| spec.get(at + 1) == Some(&b':')) {
            None => parsed.items.push(Item::Unknown(message("option", *letter, version))),
            Some(false) => parsed.items.push(Item::Option(*letter, Vec::new())),
            Some(true) => {
                let attached = &letters[i + 1..];
                let value = if attached.is_empty() {
                    rest.next().cloned()
                } else {
                    Some(attached.to_vec())
                };
                parsed.items.push(match value {
                    Some(value) => Item::Option(*letter, value),
                    None => Item::Unknown(message("argument", *letter, version)),
                });
                return;
            }
        }
    }
}

fn message(missing: &str, letter: u8, version: Version) -> String {
    let letter = letter as char;
    match (missing, version) {
        ("argument", Version::V3 | Version::Compat2016) => {
            format!("ministat: option requires an argument -- {letter}")
        }
        ("argument", Version::Compat2015) => {
            format!("ministat: option requires an argument -- '{letter}'")
        }
        (_, Version::V3 | Version::Compat2016) => format!("ministat: illegal option -- {letter}"),
        (_, Version::Compat2015) => format!("ministat: invalid option -- '{letter}'"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str, version: Version) -> Parsed {
        let args: Vec<Vec<u8>> =
            text.split_whitespace().map(|word| word.as_bytes().to_vec()).collect();
        parse(&args, b"AC:sw:", version)
    }

    #[test]
    fn clusters_and_attached_arguments_come_apart() {
        let parsed = split("-sw40 -C 2 file", Version::V3);
        let want = [
            Item::Option(b's', vec![]),
            Item::Option(b'w', b"40".to_vec()),
            Item::Option(b'C', b"2".to_vec()),
        ];
        assert_eq!(parsed.items, want);
        assert_eq!(parsed.operands, [b"file".to_vec()]);
    }

    #[test]
    fn only_glibc_finds_options_behind_operands() {
        assert_eq!(split("file -s", Version::V3).operands.len(), 2);
        assert_eq!(split("file -s", Version::Compat2015).operands.len(), 1);
        assert_eq!(split("-- -s - x", Version::Compat2015).operands.len(), 3);
    }

    #[test]
    fn unknown_letters_and_missing_arguments_are_told_in_the_library_s_words() {
        let item = split("-z", Version::Compat2015).items;
        assert_eq!(item, [Item::Unknown("ministat: invalid option -- 'z'".to_owned())]);
        let item = split("-w", Version::V3).items;
        assert_eq!(item, [Item::Unknown("ministat: option requires an argument -- w".to_owned())]);
    }
}
