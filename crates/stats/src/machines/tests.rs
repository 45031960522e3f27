use super::*;
use crate::distribution::normal_quantile;
use crate::random_effects::tests::BCG;

fn near(got: f64, wanted: f64, within: f64) {
    assert!((got - wanted).abs() <= within, "{got} is not {wanted}");
}

fn figure(ln: f64, error: f64, degrees: f64) -> Figure {
    Figure { effect: Effect::from_ln(ln), error, degrees }
}

/// Hedges's tau^2 of the BCG trials is 0.3286 (Viechtbauer, "Conducting meta-analyses in R", J. Stat. Softw. 36 (2010), as
/// `rma(method = "HE")`). By hand: the log ratios have the mean -0.7409 and the variance 0.4532; t is 2.1788 with 12
/// degrees of freedom.
#[test]
fn the_bcg_trials_count_alike() {
    let figures: Vec<Figure> =
        BCG.into_iter().map(|(ln, variance)| figure(ln, variance.sqrt(), 1e6)).collect();
    let all = synthesis(&figures, Confidence::USUAL).unwrap();
    let logs: Vec<f64> = BCG.iter().map(|(ln, _)| *ln).collect();
    let mean = logs.iter().sum::<f64>() / 13.0;
    let variance = logs.iter().map(|ln| (ln - mean).powi(2)).sum::<f64>() / 12.0;
    near(all.estimate.ln(), mean, 1e-9);
    near(all.between.powi(2), 0.3286, 0.001);
    near(all.interval.low.ln(), mean - 2.1788 * (variance / 13.0).sqrt(), 1e-4);
    near(all.next.unwrap().high.ln(), mean + 2.1788 * (variance * 14.0 / 13.0).sqrt(), 1e-4);
    assert!(all.same_p < 1e-15);
}

/// ln(110 / 100), and sqrt(4 / 5 / 100^2 + 11^2 / 5 / 110^2) = sqrt(0.00008 + 0.002). Welch: 0.00208^2 over
/// (0.00008^2 + 0.002^2) / 4 is 4.32.
#[test]
fn published_means_give_the_log_ratio_its_error_and_degrees() {
    let runs = |mean, sd| Runs { n: 5, mean, sd };
    let figure = Figure::of_runs(runs(100.0, 2.0), runs(110.0, 11.0)).unwrap();
    near(figure.effect.percent(), 10.0, 1e-9);
    near(figure.error, 0.002_08f64.sqrt(), 1e-9);
    near(figure.degrees, 4.319, 0.001);
}

/// Two machines are Welch's t: (ln 1.17 - ln 1.15) / sqrt(0.003^2 + 0.004^2) = 3.449, with 0.000025^2 / (0.000009^2 / 4 +
/// 0.000016^2 / 2) = 4.216 degrees of freedom p is 0.0237; by the normal distribution it would be 0.0006.
#[test]
fn whether_machines_differ_is_asked_with_the_degrees_of_their_errors() {
    let own = [figure(1.17f64.ln(), 0.003, 4.0), figure(1.15f64.ln(), 0.004, 2.0)];
    let all = synthesis(&own, Confidence::USUAL).unwrap();
    near(all.same_p, 0.0237, 0.0005);
}

#[test]
fn two_machines_say_nothing_about_the_next() {
    let of = |percent: f64| figure((percent / 100.0).ln_1p(), 0.003, 8.0);
    let two = synthesis(&[of(17.0), of(14.0)], Confidence::USUAL).unwrap();
    assert_eq!(two.next, None);
    assert!(two.interval.low.percent() < 0.0, "t is 12.7 with one degree: {two:?}");
    let alike = synthesis(&[of(15.0); 3], Confidence::USUAL).unwrap();
    near(alike.between, 0.0, 1e-12);
    near(alike.same_p, 1.0, 1e-9);
}

/// Three with an error of 0.3 % each, known by 8 runs more than one: t is 2.064 with 24.
#[test]
fn machines_that_agree_are_known_no_better_than_their_own_errors_say() {
    let alike = synthesis(&[figure(0.14, 0.003, 8.0); 3], Confidence::USUAL).unwrap();
    let half = 2.0639 * 0.003 / 3.0_f64.sqrt();
    near(alike.interval.high.ln(), 0.14 + half, 1e-6);
    near(alike.next.unwrap().high.ln(), 0.14 + half, 1e-6);
}

#[test]
fn what_is_no_figure_is_refused() {
    let runs = |n, mean, sd| Runs { n, mean, sd };
    let good = runs(5, 100.0, 1.0);
    for bad in [runs(1, 100.0, 1.0), runs(5, 0.0, 1.0), runs(5, f64::NAN, 1.0), runs(5, 1.0, -1.0)]
    {
        assert!(Figure::of_runs(good, bad).is_err(), "{bad:?}");
        assert!(Figure::of_runs(bad, good).is_err(), "{bad:?}");
    }
    let figure = Figure::of_runs(good, good).unwrap();
    assert!(synthesis(&[figure], Confidence::USUAL).is_err());
    for broken in [Figure { error: f64::NAN, ..figure }, Figure { degrees: 0.0, ..figure }] {
        assert!(synthesis(&[figure, broken], Confidence::USUAL).is_err());
    }
}

/// What is simulated: a machine's effect has the standard deviation `between`, its runs `sds` of the number of the machine.
struct Lab {
    between: f64,
    sds: fn(usize, f64) -> f64,
}

/// How often, of [`SERIES`] labs, the summary held the mean and the prediction interval the next machine, in per cent.
fn held(lab: &Lab, machines: usize) -> [f64; 2] {
    const SERIES: usize = 800;
    let mut state = 0x5eed_u64 + machines as u64;
    let mut unit = move || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (((state ^ (state >> 29)) >> 12) as f64 + 0.5) / (1u64 << 52) as f64
    };
    let mut counts = [0usize; 2];
    for _ in 0..SERIES {
        let figures: Vec<Figure> = (0..machines)
            .map(|machine| {
                let runs = 3 + (8.0 * unit()) as usize;
                let sd = (lab.sds)(machine, unit());
                let effect = lab.between * normal_quantile(unit());
                let own: Vec<f64> =
                    (0..runs).map(|_| effect + sd * normal_quantile(unit())).collect();
                let error = dataset::sd(&own) / (runs as f64).sqrt();
                figure(dataset::mean(&own), error, (runs - 1) as f64)
            })
            .collect();
        let all = synthesis(&figures, Confidence::USUAL).unwrap();
        counts[0] += usize::from(all.interval.covers(Effect::from_ln(0.0)));
        let next = Effect::from_ln(lab.between * normal_quantile(unit()));
        counts[1] += usize::from(all.next.is_none_or(|own| own.covers(next)));
    }
    counts.map(|count| 100.0 * count as f64 / SERIES as f64)
}

/// 95 % of 800 are within 2.4 on either side, three standard deviations.
#[test]
fn two_to_six_machines_with_three_to_ten_runs_are_held_as_often_as_stated() {
    let alike = Lab { between: 0.03, sds: |_, _| 0.01 };
    let unlike = Lab { between: 0.01, sds: |_, unit| 0.002 * 15.0_f64.powf(unit) };
    let one_is_rough = Lab { between: 0.03, sds: |k, _| if k == 0 { 0.03 } else { 0.002 } };
    let no_difference = Lab { between: 0.0, sds: |_, _| 0.01 };
    for machines in 2..=6 {
        let [mean, next] = held(&alike, machines);
        assert!((92.6..97.4).contains(&mean), "{machines}: {mean}");
        assert!(machines == 2 || (92.6..97.9).contains(&next), "{machines}: {next}");
        for lab in [&unlike, &one_is_rough, &no_difference] {
            let [mean, next] = held(lab, machines);
            assert!(mean >= 92.6 && next >= 92.6, "{machines}, {}: {mean}, {next}", lab.between);
        }
    }
}
