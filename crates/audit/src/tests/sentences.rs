//! How many wrong sentences are found, and how many right ones are blamed. All of them are invented;
//! each shape stands in published pages.

use super::*;

/// Where a sentence stands.
#[derive(Clone, Copy, Debug)]
pub(super) enum At {
    /// Before the IPv4 block (+17.46 %).
    Above4,
    /// Before the IPv6 block (-7.24 %).
    Above6,
    /// After the IPv4 block, as `=> ...`.
    Below4,
    /// After the IPv6 block.
    Below6,
    /// At the end of a page with both blocks.
    End,
}
use At::{Above4, Above6, Below4, Below6, End};

fn text_of(at: At, sentence: &str) -> String {
    match at {
        Above4 => format!("Results\n\n{sentence}\n{}", block4()),
        Above6 => format!("Results\n\n{sentence}\n{}", block6()),
        Below4 => format!("Results\n\n{}\n{sentence}\n", block4()),
        Below6 => format!("Results\n\n{}\n{sentence}\n", block6()),
        End => format!("Results\n\nIPv4:\n{}\nIPv6:\n{}\n{sentence}\n", block4(), block6()),
    }
}

pub(super) fn found(at: At, sentence: &str) -> Vec<AuditFinding> {
    let all = page(&text_of(at, sentence)).findings();
    all.into_iter()
        .filter(|f| f.rule != Rule::BlockPoints && f.severity != Severity::Info)
        .collect()
}

const WRONG: &[(At, &str)] = &[
    // passive
    (Below4, "Forwarding performance is not impacted by D27401."),
    (Above4, "The rate was not affected by the review:"),
    (Below6, "Throughput isn't changed with this review."),
    (Below6, "=> inet6 forwarding stays unaffected"),
    (Below6, "=> D27401 has hardly any effect on inet6"),
    // the same as something else
    (Below4, "=> no difference (same as first run)"),
    (Below6, "No visible change here (as in the run of the morning)."),
    (Below6, "=> forwarding is as fast as it was"),
    (Below6, "=> same level of performance with D27401"),
    (Above6, "Same gain regarding inet6:"),
    (End, "=> same drop for inet6 as for inet4, by 17 %"),
    // softened
    (Below4, "=> about -1.4 % with D27401"),
    (Below4, "=> roughly 9 % better"),
    (Below6, "=> IPv6 loses some 12 %"),
    // two lines
    (Below4, "The patched kernel forwards\n27 % more packets than the plain one."),
    (Below4, "=> With D27401 the machine is\n   slower than without."),
    (Above6, "On this machine the review brings\nan improvement of 7.2 %:"),
    // tables
    (End, "| family | change |\n|---|---|\n| inet4 | +27.5 % |\n| inet6 | -7.2 % |"),
    (End, "| | inet4 | inet6 |\n|---|---|---|\n| gain with D27401 | 17.5 % | 7.2 % |"),
    (
        End,
        "| family | r368606 | r368606 with D27401 |\n|---|---|---|\n| inet4 | 697 Kpps | 918 Kpps |",
    ),
    (End, "| family | plain (pps) | patched (pps) |\n|---|---|---|\n| inet6 | 832263 | 871993 |"),
    // beating
    (Below4, "=> D27401 wins, beating plain r368606 by 13 %"),
    (Below6, "=> D27401 beats plain r368606 on inet6"),
    (Below4, "=> plain r368606 is ahead of D27401"),
    // from, to
    (Below4, "=> it goes from ~480 K to ~960 K"),
    (Below4, "=> forwarding moves from 697K to 1.2M with D27401"),
    (Below6, "=> from 832 K down to 672 K"),
    // ranges
    (Below4, "=> a gain of 20 to 25 %"),
    (Below6, "=> between 10 and 15 % slower"),
    (Below4, "=> 5-10% faster"),
    // all
    (End, "=> faster in every configuration"),
    (End, "The review makes forwarding faster across the board."),
    (End, "=> improvement of 17.5 % for each of the families"),
    (End, "=> no regression on both families"),
    // others
    (Below4, "=> D27401 makes it 1.5 times as fast"),
    (Below4, "The review halves the forwarding rate."),
    (Below6, "=> D27401 does not hurt inet6"),
    (Below6, "=> 7.2 % more packets per second"),
    (Below4, "=> we lose 17 % with D27401"),
    (End, "Summary:\n- inet4: +27.5 %\n- inet6: -7.2 %"),
    (End, "- IPv6 gets 7.2 % faster"),
];

/// Written after the rules, as a check of them.
const LATER_WRONG: &[(At, &str)] = &[
    (Below4, "Forwarding speed was left unchanged by the review."),
    (Below6, "The throughput of IPv6 isn't influenced by this."),
    (Below6, "=> No noticeable change for inet6"),
    (Below4, "=> nothing changes with D27401"),
    (Below4, "=> D27401 gives the same result as plain r368606"),
    (Below4, "=> approximately 12 % were gained"),
    (Below6, "=> we measured around -2.5 % here"),
    (Above4, "With this review the small machine got\nslower by a few per cent:"),
    (Below6, "=> the drop on inet6\n   is only 2.1 %"),
    (End, "| test | before | after | diff |\n|---|---|---|---|\n| IPv4 | 697 | 819 | +21 % |"),
    (End, "| what | inet6 |\n|---|---|\n| D27401 improvement | 7.2 % |"),
    (End, "| | plain Kpps | D27401 Kpps |\n|---|---|---|\n| inet6 | 832 kpps | 712 kpps |"),
    (Below6, "=> D27401 outperforms plain r368606"),
    (Below4, "=> beaten by plain r368606: D27401 is 14 % behind"),
    (Below4, "=> up from ~350 K to ~820 K"),
    (Below6, "=> IPv6: 830K -> 610K"),
    (Below4, "=> somewhere in 22-26 %"),
    (Below6, "=> loses from 1 to 3 percent"),
    (End, "=> all families are faster now"),
    (End, "D27401 never makes it slower."),
    (End, "=> on every test the rate is higher"),
    (End, "- IPv4 improvement: 11.3 %"),
    (Below4, "=> three times faster"),
    (Below6, "The gain on inet6 is small."),
];

const LATER_RIGHT: &[(At, &str)] = &[
    (Below4, "Forwarding speed was changed by the review."),
    (Below6, "=> around -7 % here"),
    (End, "| test | before | after | diff |\n|---|---|---|---|\n| IPv4 | 697 | 819 | +17.5 % |"),
    (End, "| what | inet6 |\n|---|---|\n| D27401 change | -7.2 % |"),
    (Below4, "=> D27401 outperforms plain r368606"),
    (Below6, "=> beaten by plain r368606: D27401 is 7.2 % behind"),
    (Below4, "=> up from ~700 K to ~820 K"),
    (Below6, "=> IPv6: 832K -> 772K"),
    (Below4, "=> somewhere in 15-20 %"),
    (Below6, "=> loses from 5 to 10 percent"),
    (End, "- IPv4 improvement: 17.5 %"),
    (Below4, "The lab was moved in 2015; 30 % of the machines are new."),
    (Below4, "The driver uses 8 queues, 4 more than before."),
    (Below4, "Memory goes from 4G to 8G, and the clock from 1.2 to 2.4 GHz."),
    (Below6, "This impact on inet6 was expected."),
    (Above4, "The next block compares both kernels on the same machine:"),
    (Below4, "Half of the flows use ports above 2000."),
    (Below4, "Twice the number of runs would be better."),
];

const RIGHT: &[(At, &str)] = &[
    (Below4, "=> D27401 brings 17.5 % to inet4"),
    (Below6, "=> about -7 % with D27401"),
    (Below6, "Forwarding of IPv6 is impacted by D27401."),
    (Above6, "Same drop regarding inet6:"),
    (Below4, "The patched kernel forwards\n17.5 % more packets than the plain one."),
    (Below4, "=> With D27401 the machine is\n   faster than without."),
    (End, "| family | change |\n|---|---|\n| inet4 | +17.5 % |\n| inet6 | -7.2 % |"),
    (End, "| | inet4 | inet6 |\n|---|---|---|\n| change with D27401 | 17.5 % | -7.2 % |"),
    (End, "| family | plain (pps) | patched (pps) |\n|---|---|---|\n| inet6 | 832263 | 771993 |"),
    (
        End,
        "| family | r368606 | r368606 with D27401 |\n|---|---|---|\n| inet4 | 697 Kpps | 819 Kpps |",
    ),
    (End, "| path | share |\n|---|---|\n| enqueue | 6.48 % |\n| inet6 | 11 % |"),
    (End, "| setting | value |\n|---|---|\n| net.inet.ip.redirect | 0 |\n| hw.queues | 131072 |"),
    (Below4, "=> D27401 wins, beating plain r368606 by 17.5 %"),
    (Below6, "=> plain r368606 beats D27401 on inet6"),
    (Below4, "=> it goes from ~700 K to ~820 K"),
    (Below4, "=> forwarding moves from 697K to 819K with D27401"),
    (Below4, "With the table raised from 32K to 256K entries it was measured again."),
    (Below4, "The state table has room for 640K, up from 512K states."),
    (Below4, "=> a gain of 15 to 20 %"),
    (Below6, "=> between 5 and 10 % slower"),
    (End, "=> it differs in every configuration"),
    (End, "=> faster on inet4, slower on inet6"),
    (Below4, "=> D27401 makes it 1.17 times as fast"),
    (Below6, "=> D27401 does hurt inet6"),
    (Below6, "=> 7.2 % fewer packets per second"),
    (End, "Summary:\n- inet4: +17.5 %\n- inet6: -7.2 %"),
    (Below4, "No other settings were changed."),
    (Below4, "Nothing was changed in the configuration of the senders."),
    (Below4, "All packets of a flow leave by the same queue."),
    (Below4, "The processor was 98 % busy, and 11 % of it with interrupts."),
    (Below4, "Each run takes 60 s, and the first 15 % of it are left out."),
    (Below4, "- 50K flows\n- harvest.mask=351\n- CPU at 100 %"),
    (Below4, "On the previous page the same kernel gave 30 % more on a faster machine."),
    (Below4, "It is not known whether the driver is affected by this bug."),
    (Below4, "The cable is the same as before, and so is the switch."),
];

#[test]
fn nine_in_ten_wrong_sentences_are_found() {
    for wrong in [WRONG, LATER_WRONG] {
        let missed: Vec<_> = wrong.iter().filter(|(at, s)| found(*at, s).is_empty()).collect();
        let share = 100 - 100 * missed.len() / wrong.len();
        println!("{share} % of {} wrong sentences found; missed: {missed:#?}", wrong.len());
        assert!(share >= 90, "{share} % found; missed: {missed:#?}");
    }
}

#[test]
fn right_sentences_are_not_blamed() {
    let right = RIGHT.iter().chain(LATER_RIGHT);
    let blamed: Vec<(&str, Vec<AuditFinding>)> =
        right.map(|(at, s)| (*s, found(*at, s))).filter(|(_, f)| !f.is_empty()).collect();
    println!("{} of {} right sentences blamed", blamed.len(), RIGHT.len() + LATER_RIGHT.len());
    assert!(blamed.is_empty(), "{blamed:#?}");
}
