//! Sentences written without sight of the rules, to say how well these do on what they were not made
//! for. Right and wrong ones come in turn, in the manner of published pages; all are invented.

use super::sentences::At::{self, Above4, Above6, Below4, Below6, End};
use super::sentences::found;

const FIRST_WRONG: &[(At, &str)] = &[
    (Below4, "=> D27401 costs us about 12% of the forwarding performance"),
    (Below4, "There is a performance regression with this patch."),
    (Below6, "=> Good news: inet6 benefits from it too"),
    (Below6, "D27401 is a win for IPv6 as well."),
    (Below4, "=> No measurable difference between the two kernels"),
    (Below6, "The two are identical within the error margin."),
    (Below4, "=> +22.3% packets-per-second"),
    (Below6, "=> -2.7% on inet6"),
    (Below4, "we gained 200Kpps with the patch"),
    (Below6, "=> this costs 15 Kpps"),
    (End, "Both inet4 and inet6 see an increase of about 17%."),
    (End, "The patch improves IPv6 more than IPv4."),
    (End, "inet6 isn't slowed down by D27401, inet4 gains 17.5%."),
    (Below4, "Median raises from 696Kpps to 756Kpps (+8.6%)."),
    (Below4, "This review degrades IPv4 forwarding by 17.5%!"),
    (Above4, "A big drop of performance:"),
    (Above6, "A nice improvement for inet6 too:"),
    (Above6, "And the difference for inet6 is not statistically significant:"),
    (Below4, "The improvement is only marginal (less than 2%)."),
    (Below6, "=> IPv6 forwarding performance increased from 772Kpps to 832Kpps"),
    (
        End,
        "| Family | head | head+D27401 | Delta |\n|---|---|---|---|\n\
         | inet4 | 697 Kpps | 819 Kpps | +17.5% |\n| inet6 | 832 Kpps | 772 Kpps | +7.2% |",
    ),
    (
        End,
        "| | base | patched |\n|---|---|---|\n| IPv4 | 0.70 Mpps | 0.92 Mpps |\n\
         | IPv6 | 0.83 Mpps | 0.77 Mpps |",
    ),
    (Below4, "Conclusion: the patched kernel is almost 30% quicker"),
    (Below6, "=> slight decrease (0.7%) with D27401"),
    (Below4, "It almost doubles the number of packets forwarded."),
    (Below6, "We lost a third of the IPv6 throughput."),
    (End, "So: +17.5% for inet4 and +7.2% for inet6"),
    (Below4, "=> performance drops to 696Kpps once the patch is applied"),
    (Below6, "No negative impact has been noticed on inet6."),
    (End, "Neither inet4 nor inet6 is impacted by this patch."),
];

const FIRST_RIGHT: &[(At, &str)] = &[
    (Below4, "=> D27401 saves us about 15% of the time of each packet"),
    (Below4, "No regression on IPv4 with this patch."),
    (Below6, "=> Bad news: there is a regression with inet6"),
    (Below6, "D27401 isn't a win for IPv6."),
    (Below4, "=> A measurable difference between the two kernels"),
    (Below6, "The sets do not overlap at all."),
    (Below4, "=> +17.4% (medians)"),
    (Below6, "=> -7.2% on inet6, which is less than what was feared (10%)"),
    (Below4, "we gained 120Kpps with the patch"),
    (Below6, "=> this costs 60 Kpps"),
    (End, "Only inet4 sees an increase of about 17%."),
    (End, "The patch improves IPv4 but not IPv6."),
    (End, "inet6 is slowed down by D27401, inet4 gains 17.5%."),
    (Below4, "Median raises from 697Kpps to 818Kpps (+17.4%)."),
    (Below6, "This review degrades IPv6 forwarding by 7.2%!"),
    (Above6, "A drop of performance:"),
    (Above4, "A big improvement for inet4:"),
    (Above4, "The following benches were done with 5 runs of 60 seconds each, after a reboot:"),
    (Below4, "Compared to the Xeon, this machine is 10 times slower."),
    (Below6, "=> IPv6 forwarding performance decreased from 832Kpps to 772Kpps"),
    (
        End,
        "| Family | head | head+D27401 | Delta |\n|---|---|---|---|\n\
         | inet4 | 697 Kpps | 819 Kpps | +17.5% |\n| inet6 | 832 Kpps | 772 Kpps | -7.2% |",
    ),
    (
        End,
        "| | base | patched |\n|---|---|---|\n| IPv4 | 0.70 Mpps | 0.82 Mpps |\n\
         | IPv6 | 0.83 Mpps | 0.77 Mpps |",
    ),
    (Below4, "Conclusion: the patched kernel is almost 18% quicker"),
    (Below4, "Be careful: a gain of 17.5% doesn't mean the same gain on a 10G machine."),
    (Below4, "We are still at half of the gigabit line rate."),
    (Below6, "With 4 cores instead of 2 we would expect twice this rate."),
    (End, "So: +17.5% for inet4 and -7.2% for inet6"),
    (Below4, "=> performance climbs to 819Kpps once the patch is applied"),
    (Below4, "No negative impact has been noticed on inet4."),
    (Below4, "The lock contention (34% of the cycles on the flamegraph) is gone with D27401."),
];

const SECOND_WRONG: &[(At, &str)] = &[
    (Below4, "=> D27401: -17.5% for IPv4 forwarding"),
    (Below4, "Impact on IPv4: negligible."),
    (Below6, "Impact on IPv6: none"),
    (Below6, "The patch speeds up IPv6 by 7.2%."),
    (Below4, "Packets per second go down after applying D27401."),
    (Above4, "Patched kernel is 5% better than the unpatched one:"),
    (Above6, "There is no penalty for IPv6:"),
    (Below6, "A penalty of 3% for inet6 only"),
    (Below4, "697 Kpps before, 780 Kpps after."),
    (Below4, "We reach 1.02Mpps with D27401."),
    (End, "D27401 boosts forwarding of both protocols."),
    (End, "IPv4 and IPv6 performance are equivalent with and without the patch."),
    (End, "* IPv4: 697 Kpps => 819 Kpps (+7.5%)"),
    (Below4, "That's a 50% increase in forwarding rate!"),
    (Below6, "inet6 went from 832Kpps to 802Kpps only."),
    (Below6, "=> D27401 has a positive impact on inet6 forwarding"),
    (Below4, "=> D27401 has a negative effect on inet4 forwarding"),
    (End, "| Test | Impact |\n|---|---|\n| IPv4 | +17.5% |\n| IPv6 | -12.4% |"),
    (Below4, "Unfortunately the patched kernel can't keep up with the plain r368606."),
    (Below6, "Forwarding IPv6 is a little bit faster now."),
];

const SECOND_RIGHT: &[(At, &str)] = &[
    (Below4, "=> D27401: +17.5% for IPv4 forwarding"),
    (Below4, "Impact on IPv4: positive."),
    (Below6, "Impact on IPv6: -60 Kpps"),
    (Below6, "The patch slows down IPv6 by 7.2%."),
    (Below6, "Packets per second go down after applying D27401."),
    (Above4, "Patched kernel is 17.5% better than the unpatched one:"),
    (Above6, "There is a penalty for IPv6:"),
    (Below6, "A penalty of 7% for inet6 only"),
    (Below4, "697 Kpps before, 819 Kpps after."),
    (Below4, "We reach 0.82Mpps with D27401."),
    (End, "D27401 boosts forwarding of IPv4 only."),
    (End, "* IPv6: 832 Kpps => 772 Kpps (-7.2%)"),
    (Below4, "The standard deviation is 0.3% of the mean for the first set."),
    (Below4, "Expected was 20%, 17.5% is fine."),
    (Below6, "Half of the difference comes from the cache misses."),
    (Below4, "D27401 has a positive impact on inet4 forwarding"),
    (Below6, "=> D27401 has a negative effect on inet6 forwarding"),
    (Below4, "Same hardware, same config, only the kernel was changed."),
    (
        End,
        "| Parameter | Value |\n|---|---|\n| Flows | 2000 |\n| Frame size | 64 |\n| Load | 100% |",
    ),
    (Below4, "Need to redo the bench with 10 runs to reduce the error below 0.5%."),
];

/// How many of the wrong ones are found and of the right ones blamed.
fn measured(wrong: &[(At, &str)], right: &[(At, &str)]) -> (usize, usize) {
    let missed: Vec<_> = wrong.iter().filter(|(at, s)| found(*at, s).is_empty()).collect();
    println!("{} of {} wrong ones missed: {missed:#?}", missed.len(), wrong.len());
    let blamed: Vec<_> = right
        .iter()
        .map(|(at, s)| (*s, found(*at, s)))
        .filter(|(_, found)| !found.is_empty())
        .map(|(s, found)| (s, found.iter().map(|f| f.rule).collect::<Vec<_>>()))
        .collect();
    println!("{} of {} right ones blamed: {blamed:#?}", blamed.len(), right.len());
    (wrong.len() - missed.len(), blamed.len())
}

/// The figures of docs/audit.md.
#[test]
fn sentences_of_which_the_rules_knew_nothing() {
    let (found, blamed) = measured(FIRST_WRONG, FIRST_RIGHT);
    assert!(found >= 24 && blamed <= 5, "{found} of 30 found, {blamed} blamed");
    let (found, blamed) = measured(SECOND_WRONG, SECOND_RIGHT);
    assert!(found >= 14 && blamed <= 2, "{found} of 20 found, {blamed} blamed");
}
