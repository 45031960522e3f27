//! The axes of a run: which image was booted, which configuration was set, which traffic was sent.
//!
//! Their names stand one after another in the names of files (`bench.IMAGE.CFG.PKTGEN.RUN.…`); each
//! may hold dots or be absent. `.info` files say which is which; where there is none, a name that
//! begins with a revision begins with its image, and what names an address family is the traffic.

use super::info::Info;
use super::name::family_word;
use super::revision::Revision;

/// What was varied, as the names say it; absent parts are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Axes {
    /// Name of the image.
    pub image: String,
    /// Name of the configuration.
    pub configuration: String,
    /// Name of the traffic.
    pub traffic: String,
}

impl Axes {
    /// The axes of a prefix: joined with dots, the parts that are not empty give it again, byte for
    /// byte.
    pub fn of(prefix: &str, info: &Info) -> Self {
        let (variant, traffic) = split_traffic(prefix, info);
        let (image, configuration) = split_image(variant, info);
        Self {
            image: image.to_owned(),
            configuration: configuration.to_owned(),
            traffic: traffic.to_owned(),
        }
    }

    /// The same where only the name of the traffic is known.
    pub fn of_traffic(prefix: &str, traffic: &str) -> Self {
        Self::of(prefix, &Info::naming_traffic(traffic))
    }

    /// Image and configuration, as in the prefix.
    pub fn variant(&self) -> String {
        joined([&self.image, &self.configuration])
    }

    /// The prefix.
    pub fn prefix(&self) -> String {
        joined([&self.image, &self.configuration, &self.traffic])
    }

    /// What the image says of a revision.
    pub fn revision(&self) -> Option<Revision> {
        Revision::parse(&self.image).or_else(|| Revision::within(&self.image))
    }
}

fn joined<const N: usize>(parts: [&String; N]) -> String {
    let named: Vec<&str> =
        parts.into_iter().filter(|p| !p.is_empty()).map(String::as_str).collect();
    named.join(".")
}

/// `head` of a text that is `head`, `tail` or `head.tail`.
fn before<'a>(text: &'a str, tail: &str) -> Option<&'a str> {
    if text == tail {
        return Some("");
    }
    text.strip_suffix(tail)?.strip_suffix('.')
}

fn split_traffic<'a>(prefix: &'a str, info: &Info) -> (&'a str, &'a str) {
    let named = info.traffic().and_then(|traffic| before(prefix, traffic));
    let last = prefix.rsplit('.').next().unwrap_or(prefix);
    let by_family = || family_word(last).and_then(|_| before(prefix, last));
    match named.or_else(by_family) {
        Some(head) => (head, prefix[head.len()..].trim_start_matches('.')),
        None => (prefix, ""),
    }
}

fn split_image<'a>(variant: &'a str, info: &Info) -> (&'a str, &'a str) {
    let after = |image: &str| {
        let rest = variant.strip_prefix(image)?;
        (rest.is_empty() || rest.starts_with('.')).then_some(image.len())
    };
    let by_configuration =
        || info.configuration().and_then(|cfg| before(variant, cfg)).map(str::len);
    let at = info.image().and_then(after).or_else(by_configuration).or_else(|| by_name(variant));
    let (image, rest) = variant.split_at(at.unwrap_or(0));
    (image, rest.strip_prefix('.').unwrap_or(rest))
}

/// Length of an image that begins the name: a revision, or the numbers of a release.
fn by_name(variant: &str) -> Option<usize> {
    let first = variant.split('.').next()?;
    let is_revision = |part: &str| {
        Revision::parse(part).is_some()
            || part.rsplit(['-', '_']).next().and_then(Revision::parse).is_some()
    };
    if is_revision(first) {
        return Some(first.len());
    }
    let ends = variant.match_indices('.').map(|(i, _)| i).chain([variant.len()]);
    ends.rev().find(|&end| Revision::parse(&variant[..end]).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(prefix: &str, info: &str) -> [String; 3] {
        let axes = Axes::of(prefix, &Info::parse(info.as_bytes()));
        assert_eq!(axes.prefix(), prefix);
        [axes.image, axes.configuration, axes.traffic]
    }

    #[test]
    fn names_are_kept_byte_for_byte() {
        assert_eq!(of("2048-default", ""), ["", "2048-default", ""]);
        assert_eq!(of("r368606D27401v4.inet4", ""), ["r368606D27401v4", "", "inet4"]);
        assert_eq!(of("293069.pf-statefull", ""), ["293069", "pf-statefull", ""]);
        assert_eq!(
            of("318516current.forwarding.inet4", ""),
            ["318516current", "forwarding", "inet4"]
        );
        assert_eq!(
            of("11.1BETA1.ipfw-statefull.inet4", ""),
            ["11.1BETA1", "ipfw-statefull", "inet4"]
        );
        assert_eq!(of("forwarding.inet6", ""), ["", "forwarding", "inet6"]);
        assert_eq!(of("100", ""), ["", "100", ""]);
        assert_eq!(of("", ""), ["", "", ""]);
    }

    #[test]
    fn the_info_file_knows_better() {
        let info = "IMAGE=\"a.b\"\nCFG=\"c.d\"\nPKTGEN=\"load\"";
        assert_eq!(of("a.b.c.d.load", info), ["a.b", "c.d", "load"]);
        assert_eq!(of("x.c.d.load", info), ["x", "c.d", "load"]);
        assert_eq!(of("abc", info), ["", "abc", ""]);
    }
}
