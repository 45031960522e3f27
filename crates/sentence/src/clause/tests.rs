use super::*;

fn one(text: &str) -> Clause {
    let mut found = clauses(text);
    assert_eq!(found.len(), 1, "{text}: {found:?}");
    found.remove(0)
}

fn percent(text: &str) -> (f64, usize, Option<Sign>) {
    let clause = one(text);
    assert_eq!(clause.percents.len(), 1, "{text}");
    (clause.percents[0].value, clause.percents[0].decimals, clause.percents[0].sign)
}

#[test]
fn reads_percentages_as_people_write_them() {
    assert_eq!(percent("an improvement of 17.5% to forward IPv4!"), (17.5, 1, None));
    assert_eq!(percent("inet4 forwarding: -1.41%"), (1.41, 2, Some(Sign::Down)));
    assert_eq!(percent("Even better if increased to 512K (+16%):"), (16.0, 0, Some(Sign::Up)));
    assert_eq!(percent("about 12,5 percent slower"), (12.5, 1, None));
    assert!(!one("=> 17% imprevent").percents[0].is_rough && one(">17%").percents[0].is_rough);
    assert!(one("more than 5% faster").percents[0].is_rough);
    for text in ["a 10-15% drop", "between 10% and 15% slower", "a drop from 10% to 15%"] {
        let range = one(text).percents[0].clone();
        assert_eq!((range.value, range.upper, range.sign), (10.0, Some(15.0), None), "{text}");
    }
}

#[test]
fn other_shares_are_no_changes() {
    for text in
        ["at 95.0% confidence", "CPU usage is 100%", "load at 50%", "100% idle", "2000 flows"]
    {
        assert!(one(text).percents.is_empty(), "{text}");
    }
}

#[test]
fn tells_faster_from_slower_from_the_same() {
    let stance = |text: &str| one(text).stance;
    let change = |text: &str| match stance(text) {
        Stance::Change(sign, _) => sign,
        other => panic!("{text}: {other:?}"),
    };
    for text in [
        "=> 17% imprevent on inet6",
        "brings an improvement of 17.5%",
        "IPv6 is now 'only' 5.7% faster than IPv4 (inet4 improved, inet6 reduced)",
        "Very good benefit with states_hashsize increased from 32K to 256K (+15%)",
    ] {
        assert_eq!(change(text), Sign::Up, "{text}");
    }
    for text in [
        "a reduction of 7.2% to forward IPv6:",
        "pf performance is decreased (-2.4%)",
        "a little slower than fastforwarding",
    ] {
        assert_eq!(change(text), Sign::Down, "{text}");
    }
    for text in [
        "No impact on inet6 forwarding:",
        "No difference",
        "it doesn't change",
        "performance is unchanged",
        "the same speed",
    ] {
        assert!(matches!(stance(text), Stance::NoChange(_)), "{text}: {:?}", stance(text));
    }
    assert!(matches!(stance("no regression on this device"), Stance::NotThat(Sign::Down, _)));
    assert!(matches!(stance("no more improvement"), Stance::NotThat(Sign::Up, _)));
    for text in [
        "Impact of D11476 on forwarding performance",
        "on the same hardware",
        "queues increased to 4",
    ] {
        assert_eq!(stance(text), Stance::Silent, "{text}");
    }
}

#[test]
fn a_sentence_with_two_claims_is_two_clauses() {
    let found = clauses("IPv4 gains 17% but IPv6 loses 7%. Reason unknown");
    let texts: Vec<&str> = found.iter().map(|c| c.text.as_str()).collect();
    assert_eq!(texts, ["IPv4 gains 17%", "IPv6 loses 7%", "Reason unknown"]);
    assert_eq!(clauses("+17% on inet4 and -7% on inet6").len(), 2);
    assert_eq!(clauses("with inet4 and inet6: 17.5% better").len(), 1);
}

#[test]
fn reads_factors() {
    for (text, value) in [
        ("x10 performance", 10.0),
        ("2x faster", 2.0),
        ("twice the speed", 2.0),
        ("ten times the rate", 10.0),
        ("a tenfold rate", 10.0),
        ("faster by a factor of 3", 3.0),
        ("a factor of three", 3.0),
        ("a hundred times slower", 100.0),
        ("3.5 times slower", 3.5),
        ("divided by 4", 0.25),
        ("the half", 0.5),
    ] {
        assert_eq!(one(text).factor.map(|f| f.0), Some(value), "{text}");
    }
    for text in ["0x10 and r368606", "measured three times", "run ten times", "a factor of note"] {
        assert_eq!(one(text).factor, None, "{text}");
    }
}

#[test]
fn hostile_text_is_no_panic() {
    for text in [
        "%",
        "%%%%",
        "-%",
        "−%",
        "1,,,%",
        "É%É percent",
        "9".repeat(400).as_str(),
        "((((((((5%",
        "İ 5%",
    ] {
        let _ = clauses(text);
    }
}

#[test]
fn untouched_and_on_par_deny_a_change() {
    let stance_of = |text: &str| clauses(text).remove(0).stance;
    for text in ["IPv6 is untouched by the patch", "IPv4 performance is on par with before"] {
        assert!(matches!(stance_of(text), Stance::NoChange(_)), "{text}: {:?}", stance_of(text));
    }
    for text in ["the configuration is untouched", "it is not up to par", "IPv6 is not untouched"] {
        assert_eq!(stance_of(text), Stance::Silent, "{text}");
    }
}
