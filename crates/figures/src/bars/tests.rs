//! Bars and what stands around them.

use super::*;

/// A chart of one traffic with these variants.
fn chart(names: &[&str]) -> Chart {
    let summary = crate::Summary { minimum: 1e6, median: 2e6, maximum: 3e6 };
    let series = names.iter().enumerate().map(|(colour, name)| Series {
        variant: (*name).to_owned(),
        colour,
        summary: Some(summary),
        dots: Vec::new(),
        effect: None,
    });
    Chart {
        title: "names".to_owned(),
        metric: Metric::Rate,
        tick: fwdlab_results::Tick::default(),
        measure: Measure::Rate,
        traffics: vec![TrafficSeries {
            traffic: "inet".to_owned(),
            label: "inet: IPv4".to_owned(),
            series: series.collect(),
            line_rate: None,
        }],
        caption: String::new(),
        has_imix: false,
        is_ordered: true,
    }
}

/// On a phone it was cut after 46 characters.
#[test]
fn a_title_that_is_too_long_for_its_line_goes_on_in_the_next() {
    let with = |title: &str| {
        let mut chart = chart(&["radix", "modular"]);
        chart.title = title.to_owned();
        bars_in(&chart, Room::Phone).into_document("t", "")
    };
    let long = "Reverse path filtering and a firewall on a Linux router: inet";
    let drawn = with(long);
    assert!(drawn.contains(">Reverse path filtering and a firewall on a Linux</text>"), "{drawn}");
    assert!(drawn.contains(">router: inet</text>"), "{drawn}");
    let height = |drawn: &str| -> f64 {
        let (_, rest) = drawn.split_once("viewBox=\"0 0 360 ").expect("a size");
        rest.split('"').next().and_then(|number| number.parse().ok()).expect("a number")
    };
    assert_eq!(height(&drawn), height(&with("inet")) + LINE);
    let endless = with(&"word ".repeat(99));
    assert_eq!(height(&endless), height(&with("inet")) + 2.0 * LINE);
    assert!(endless.contains("...</text>"), "{endless}");
}

/// At 400 px it ran into the next bar.
#[test]
fn a_bar_without_a_trial_says_so_in_the_width_of_its_column() {
    let with = |count: usize, room: Room| {
        let mut chart = chart(&["a", "b", "c", "d", "e", "f", "g", "h"][..count]);
        let short = crate::Summary { minimum: 1.0, median: 2.0, maximum: 3.0 };
        chart.traffics[0].series.iter_mut().for_each(|own| own.summary = Some(short));
        chart.traffics[0].series[1].summary = None;
        bars_in(&chart, room).into_document("t", "")
    };
    let wide = with(2, Room::Phone);
    assert!(wide.contains(">no trial kept</text>"), "{wide}");
    let narrow = with(3, Room::Phone);
    assert!(narrow.contains(">no trial</text>") && narrow.contains(">kept</text>"), "{narrow}");
    let narrowest = with(8, Room::Phone);
    assert!(narrowest.contains(">no</text>") && narrowest.contains(">trial</text>"), "{narrowest}");
}

/// "inconclusive" stood across the figures of both neighbours.
#[test]
fn a_verdict_wider_than_its_bar_is_a_sign_that_the_caption_tells() {
    let with = |count: usize| {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o"];
        let mut chart = chart(&names[..count]);
        for (own, effect) in
            chart.traffics[0].series.iter_mut().zip(["inconclusive", "+12.5 %", "equivalent"])
        {
            own.effect = Some(effect.to_owned());
        }
        bars(&chart).into_document("t", "")
    };
    let (wide, narrow) = (with(3), with(15));
    assert!(wide.contains(">inconclusive</text>") && !wide.contains("? inconclusive"), "{wide}");
    assert!(!narrow.contains(">inconclusive</text>") && !narrow.contains(">equivalent</text>"));
    assert!(narrow.contains(">?</text>") && narrow.contains(">+12.5</text>"), "{narrow}");
    assert!(narrow.contains("? inconclusive. = equivalent.") && !narrow.contains("! invalid"));
}

/// One trial 300 times as slow left bars of a pixel.
#[test]
fn a_wild_trial_is_an_arrow_and_leaves_the_bars_tall() {
    let with = |worst: f64| {
        let mut chart = chart(&["radix", "modular"]);
        chart.metric = Metric::Cost;
        for series in &mut chart.traffics[0].series {
            let own = if series.colour == 1 { worst } else { 1.2 };
            let values = [1.0, 1.1, own].map(|value| 100.0 * value);
            series.summary = crate::Summary::of(&values);
            let dot = |(order, value): (u32, f64)| crate::Dot {
                trial: format!("b{order}"),
                block: order,
                order,
                value,
                hover: String::new(),
            };
            series.dots = (1..).zip(values).map(dot).collect();
        }
        chart
    };
    let (wild, tame) = (with(300.0), with(2.5));
    assert!(wild.reach() < 121.0 && (tame.reach() - 250.0).abs() < 1e-9);
    let layout = Layout::of(&wild, Room::Page);
    assert!(layout.bottom - layout.place(110.0) > 0.5 * FIELD);
    let [wild, tame] = [wild, tame].map(|own| bars(&own).into_document("t", ""));
    assert!(wild.contains(">30000</text>") && wild.contains("Arrow: a trial"), "{wild}");
    assert!(!tame.contains("Arrow") && !tame.contains("30000"), "{tame}");
    assert_eq!(wild.matches("data-trial").count(), 6, "it is a mark like all others");
}

/// `r368606D27401v4` ran into `inet4: IPv4, 64-byte frames`.
#[test]
fn the_label_of_a_traffic_stands_below_the_end_of_every_turned_name() {
    let widest = 7.64; // of a digit
    for name in ["r368606D27401v4", "300000000000000000000000", "12345678901"] {
        let layout = Layout::of(&chart(&[name; 8]), Room::Phone);
        let down = layout.turned.expect("such a name does not fit");
        let end = NAME_BELOW + widest * name.len() as f64;
        assert!(LABEL_BELOW + down - 12.0 >= end, "{name}: {down}");
    }
}

#[test]
fn every_bar_has_its_name_also_where_one_is_too_long() {
    let names = ["auto", "radix4_lockless", "dpdk_lpm4", "bsearch4", "inseparablylong"];
    let more = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"];
    for (all, is_turned) in [([&names[..], &more].concat(), true), (names[..1].to_vec(), false)] {
        for room in [Room::Page, Room::Phone] {
            let svg = bars_in(&chart(&all), room).into_document("t", "");
            for name in &all {
                let own = format!(">{name}</text>");
                // The legend has it, too, where there are several.
                assert!(svg.matches(&own).count() > usize::from(all.len() > 1), "{name}: {svg}");
            }
            let turned = svg.matches("text-anchor=\"end\" transform").count();
            assert_eq!(turned, if is_turned { all.len() } else { 0 }, "{svg}");
        }
    }
}

#[test]
fn the_name_of_a_group_stays_in_its_width() {
    let mut wide = chart(&["r1"]);
    wide.traffics[0].label = "Atom_C2558_4Cores/Intel_i350 (fbsd12-head)".to_owned();
    for _ in 0..5 {
        wide.traffics.push(wide.traffics[0].clone());
    }
    let layout = Layout::of(&wide, Room::Page);
    let room = (layout.slot + layout.traffic_gap) / CHARACTER;
    let lines = layout.label(&wide.traffics[0]);
    assert!(lines.iter().all(|line| line.chars().count() as f64 <= room.max(8.0)), "{lines:?}");
    assert_eq!(lines.concat(), "Atom_C2558_4Cores/Intel_i350(fbsd12-head)");
}

#[test]
fn effects_of_neighbours_do_not_touch() {
    let wide = |effect: &str| {
        let mut chart = chart(&["a", "b", "c"]);
        let second = TrafficSeries { traffic: "inet6".into(), ..chart.traffics[0].clone() };
        chart.traffics.push(second);
        for series in chart.traffics.iter_mut().flat_map(|one| &mut one.series) {
            series.effect = Some(effect.to_owned());
        }
        bars(&chart).into_document("t", "").contains(&format!(">{effect}</text>"))
    };
    // a column of 105 px, with 14 characters of 7.2 px and with 13
    assert!(!wide("+18.8 % slower") && wide("+8.8 % slower"));
}

/// "788.584655.316" stood above two bars of a chart of eight traffics.
#[test]
fn figures_of_neighbours_do_not_touch() {
    let mut chart = chart(&["a", "b"]);
    let summary = crate::Summary { minimum: 5e5, median: 688_584.1, maximum: 7e5 };
    for series in &mut chart.traffics[0].series {
        series.summary = Some(summary);
        let (trial, hover) = (String::new(), String::new());
        series.dots = vec![crate::Dot { trial, block: 1, order: 1, value: 7e5, hover }];
    }
    for name in ["128", "256", "512", "1024", "1280", "1518", "imix"] {
        let other = TrafficSeries { traffic: name.into(), ..chart.traffics[0].clone() };
        chart.traffics.push(other);
    }
    let document = bars(&chart).into_document("t", "");
    assert_eq!(document.matches(">688.6</text>").count(), 16, "{document:.3000}");
    assert!(document.contains("thousand frames/s"), "{document:.3000}");
}

/// "12345.6" and "+18.8 %" ran into what stood above the next bar.
#[test]
fn long_figures_have_columns_as_wide_as_they_are() {
    let wide = |median: f64| {
        let mut chart = chart(&["a", "b", "c", "d", "e", "f", "g", "h"]);
        chart.metric = Metric::Cost;
        for series in &mut chart.traffics[0].series {
            let [minimum, maximum] = [0.9, 1.1].map(|share| share * median);
            series.summary = Some(crate::Summary { minimum, median, maximum });
            series.effect = Some("+18.8 % slower".to_owned());
            let (trial, hover) = (String::new(), String::new());
            series.dots = vec![crate::Dot { trial, block: 1, order: 1, value: median, hover }];
        }
        chart
    };
    for (median, shown) in
        [(98.1, "98.1"), (12_345.6, "12346"), (1_234_567.8, "1234568"), (0.01, "<0.1")]
    {
        let chart = wide(median);
        let layout = Layout::of(&chart, Room::Phone);
        for above in [shown, layout.effect("+18.8 % slower")] {
            assert!(bold(above) < layout.slot, "{above} in {}", layout.slot);
        }
        let document = bars_in(&chart, Room::Phone).into_document("t", "");
        let text = format!(">{}</text>", crate::escape(shown));
        assert_eq!(document.matches(&text).count(), 8, "{shown}: {document}");
    }
}

/// Of both 24 characters and "..." stood there.
#[test]
fn turned_names_that_differ_in_their_middle_stay_different() {
    let name = |middle: &str| format!("r368606D27401-{middle}-batches-of-frames");
    let (one, other) = (name("with"), name("sans"));
    let drawn = bars_in(&chart(&[&one, &other, "c", "d", "e"]), Room::Phone);
    let document = drawn.into_document("t", "");
    let turned = document.lines().filter(|line| line.contains("text-anchor=\"end\" transform"));
    let turned: Vec<&str> = turned.filter(|line| line.contains('…')).collect();
    assert!(turned.len() == 2 && turned[0].contains("with"), "{turned:?}");
    assert!(turned[1].contains("sans"), "{turned:?}");
}

#[test]
fn the_name_of_an_axis_is_not_longer_than_it() {
    let drawn = |length: f64| {
        let mut canvas = Canvas::new(100.0, 400.0);
        canvas.text_upwards(at(22.0, 200.0), length, "Device cost (instructions/frame)");
        canvas.into_document("t", "")
    };
    assert!(drawn(300.0).contains(">Device cost (instructions/frame)</text>"));
    let short = drawn(200.0);
    assert!(
        short.contains(">Device cost</text>") && short.contains(">(instructions/frame)</text>")
    );
}

#[test]
fn long_names_stand_on_two_lines() {
    assert_eq!(name_lines("radix", 9), ["radix"]);
    assert_eq!(name_lines("empty-chain", 9), ["empty-", "chain"]);
    assert_eq!(name_lines("one two three", 9), ["one two", "three"]);
    assert!(name_lines("inseparable", 9).is_empty());
    assert!(name_lines("separable-", 9).is_empty());
}
