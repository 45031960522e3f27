//! What is no plain statement about one block: it is asked about, or nothing is said of it.

use super::*;

/// What is said of a sentence below both blocks of a page, and by which rule.
fn said(sentence: &str) -> Vec<(Rule, Severity)> {
    let text = format!("IPv4:\n\n{}\nIPv6:\n\n{}\n{sentence}\n", block4(), block6());
    let is_of_it = |f: &AuditFinding| f.rule.id().starts_with("claim-");
    let found = page(&text).findings().into_iter().filter(is_of_it);
    found.map(|f| (f.rule, f.severity)).collect()
}

#[test]
fn what_another_block_says_too_is_asked_about() {
    // the block above is of IPv6, which lost; the one of IPv4 gained
    assert_eq!(said("The patch is faster."), [(Rule::ClaimSign, Severity::Check)]);
    assert_eq!(said("=> faster"), [(Rule::ClaimSign, Severity::Wrong)]);
    assert_eq!(said("IPv6 is faster."), [(Rule::ClaimSign, Severity::Wrong)]);
}

#[test]
fn questions_and_other_measures_claim_nothing() {
    assert_eq!(said("Is IPv6 faster?"), []);
    assert_eq!(said("The temperature of IPv6 runs was higher."), []);
    assert_eq!(said("IPv6 might be faster."), [(Rule::ClaimReading, Severity::Check)]);
}

#[test]
fn a_difference_that_is_not_there_is_claimed_by_no_direction_either() {
    let found = |sentence: &str| -> Vec<Severity> {
        let found = like("inet6:", sentence).findings().into_iter();
        found.filter(|f| f.rule == Rule::ClaimUnproven).map(|f| f.severity).collect()
    };
    assert_eq!(found("=> huge difference"), [Severity::Wrong]);
    assert_eq!(said("=> clear difference"), []);
}

#[test]
fn a_number_that_no_set_gives_is_wrong() {
    assert_eq!(said("IPv6 users see 43 % there."), [(Rule::ClaimReading, Severity::Wrong)]);
    assert_eq!(said("IPv6 users see 7.2 % there."), []);
    let both = [(Rule::ClaimReading, Severity::Wrong), (Rule::ClaimRate, Severity::Check)];
    assert_eq!(said("So 350 Kpps it is for IPv6."), both);
    assert_eq!(said("So 772 Kpps it is for IPv6."), []);
}
