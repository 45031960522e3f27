//! When a kernel was built, as `uname -a` says it.

/// The name under which a trial's proof holds it. It is not when the trial started: a kernel is built once
/// and measured often, and no log of pkt-gen holds a date.
pub const KERNEL_BUILT: &str = "kernel-built";

/// Days of a week and months as ctime(3) writes them.
const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The build's day and time as `2017-07-04T21:50:10Z`; the time is that of the builder's clock, whose
/// zone is not known by name alone, so it may be half a day off.
pub fn built(uname: &str) -> Option<String> {
    let words: Vec<&str> = uname.split_whitespace().collect();
    words.windows(4).enumerate().find_map(|(at, window)| {
        let [day, month, number, time] = window else { return None };
        let is_day = DAYS.contains(&day.trim_end_matches(','));
        let month = MONTHS.iter().position(|m| m == month)? + 1;
        let number: u32 = number.parse().ok().filter(|n| (1..=31).contains(n) && is_day)?;
        let clock: Vec<u32> = time.split(':').filter_map(|part| part.parse().ok()).collect();
        let &[hours, minutes, seconds] = clock.as_slice() else { return None };
        let is_clock = hours < 24 && minutes < 60 && seconds < 61;
        // the year follows the clock, or the name of a zone
        let year = words
            .get(at + 4..(at + 6).min(words.len()))?
            .iter()
            .find_map(|w| w.parse::<u32>().ok().filter(|year| (1990..2100).contains(year)))?;
        is_clock
            .then(|| format!("{year}-{month:02}-{number:02}T{hours:02}:{minutes:02}:{seconds:02}Z"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_both_with_and_without_a_zone() {
        let freebsd =
            "FreeBSD n.b.net 12.0-CURRENT #0 r320657M: Tue Jul  4 21:50:10 CEST 2017     o@l:/usr";
        assert_eq!(built(freebsd).as_deref(), Some("2017-07-04T21:50:10Z"));
        let older = "FreeBSD router 11.0-CURRENT #1: Sun Jan 4 01:02:03 2015 root@x";
        assert_eq!(built(older).as_deref(), Some("2015-01-04T01:02:03Z"));
        for none in ["", "FreeBSD a b c", "Tue Jul 99 21:50:10 2017", "Tue Jul 4 21:50 2017"] {
            assert_eq!(built(none), None, "{none}");
        }
    }
}
