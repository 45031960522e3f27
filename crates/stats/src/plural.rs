//! A count with its noun.

use std::fmt::Display;

/// `1 trial`, `3 trials`: any kind of whole number, the noun as one of it is called.
pub fn plural<N: Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let ending = if count == N::from(1) { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_alone_has_no_ending() {
        assert_eq!(plural(0_usize, "block"), "0 blocks");
        assert_eq!(plural(1_u64, "block"), "1 block");
        assert_eq!(plural(2_u32, "other function"), "2 other functions");
    }
}
