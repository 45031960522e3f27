use super::*;

fn set(legend: &str, values: &[f64]) -> Dataset {
    Dataset::new(legend, values.to_vec()).unwrap()
}

fn text(datasets: &[Dataset], options: &Options) -> String {
    String::from_utf8(render(datasets, options)).unwrap()
}

#[test]
fn equal_values_have_no_plot() {
    let output = text(&[set("a", &[5.0, 5.0, 5.0])], &Options::default());
    assert!(output.contains("[no plot, span is zero width]\n"), "{output}");
}

#[test]
fn quiet_leaves_out_legends_and_header_only() {
    let sets = [set("a", &[1.0, 2.0, 3.0]), set("b", &[1.0, 2.0, 4.0])];
    let loud = text(&sets, &Options::default());
    let quiet = text(&sets, &Options { is_quiet: true, ..Options::default() });
    let kept: Vec<&str> =
        loud.lines().filter(|l| !["x a", "+ b"].contains(l) && !l.contains("Median")).collect();
    assert_eq!(quiet.lines().collect::<Vec<_>>(), kept);
}

#[test]
fn the_median_of_an_even_number_depends_on_the_version() {
    let sets = [set("a", &[1.0, 2.0, 4.0, 8.0])];
    let median = |version| {
        let options = Options { version, has_plot: false, ..Options::default() };
        let output = text(&sets, &options);
        output.lines().last().unwrap().split_whitespace().nth(4).unwrap().to_owned()
    };
    assert_eq!(median(Version::V3), "3");
    assert_eq!(median(Version::Compat2015), "4");
}

/// Five values near 148,809,524 with a true sd of 0.707.
#[test]
fn the_one_pass_variance_of_2015_loses_what_the_two_pass_one_keeps() {
    let values = [148_809_525.0, 148_809_523.0, 148_809_524.0, 148_809_524.0, 148_809_524.0];
    let sets = [set("a", &values)];
    let sd = |version| {
        let output = text(&sets, &Options { version, has_plot: false, ..Options::default() });
        output.lines().last().unwrap().split_whitespace().last().unwrap().to_owned()
    };
    assert_eq!(sd(Version::V3), "0.70710678");
    assert_eq!(sd(Version::Compat2015), "0");
}

#[test]
fn a_later_taller_set_wipes_points_as_the_original_does() {
    // tallest stacks 3, 1, 2: only the lowest point of the first set is left (as captured from
    // version 20150715)
    let sets = [set("a", &[1.0, 1.0, 1.0]), set("b", &[2.0, 5.0, 8.0]), set("c", &[9.0, 9.0, 3.0])];
    let output = text(&sets, &Options { width: 9, ..Options::default() });
    let rows: Vec<&str> = output.lines().filter(|l| l.starts_with('|')).collect();
    assert_eq!(rows[..2], ["|       * |", "|x+*+  +* |"], "{output}");
}

#[test]
fn too_few_values_and_infinite_ones_are_refused() {
    let error = Dataset::new("f", vec![1.0, 2.0]).unwrap_err();
    assert_eq!(error.to_string(), "Dataset f must contain at least 3 data points");
    let error = Dataset::new("f", vec![1.0, 2.0, f64::INFINITY]).unwrap_err();
    assert!(error.to_string().starts_with("dataset f: value 3 is infinite"), "{error}");
}

/// What the command prints on stdout and stderr, and its exit code.
fn command(args: &[&str], input: &str) -> (String, String, u8) {
    let args: Vec<std::ffi::OsString> = args.iter().map(std::ffi::OsString::from).collect();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut stdin = input.as_bytes();
    let streams =
        Streams { stdin: &mut stdin, out: &mut out, err: &mut err, terminal_columns: None };
    let code = cli(&args, streams);
    (String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap(), code)
}

#[test]
fn reads_standard_input_without_files() {
    let (out, err, code) = command(&["-n"], "1\n2\n3\n");
    assert_eq!((err.as_str(), code), ("", 0));
    assert!(out.starts_with("x <stdin>\n"), "{out}");
    assert!(command(&["-n", "-"], "1\n2\n3\n").0.starts_with("x -\n"));
}

#[test]
fn errors_leave_standard_output_empty_and_exit_with_2() {
    let cases: [(&[&str], &str); 11] = [
        (&["-z"], "ministat: illegal option -- z\nUnknown option\n"),
        (&["-C", "x"], "Invalid column number.\n"),
        (&["-C", "0"], "Column number should be positive.\n"),
        (&["-c", "x"], "Not a floating point number\n"),
        (&["-c", "97"], "No support for confidence level\n"),
        (&["-d", ""], "Can't use empty delimiter string\n"),
        (&["-w", "x"], "Invalid width, not a number.\n"),
        (&["-w", "-1"], "Unable to move beyond left margin.\n"),
        (&["-", "-", "-", "-", "-", "-", "-", "-"], "Too many datasets.\n"),
        (&["/nonexistent"], "ministat: Cannot open /nonexistent: No such file or directory\n"),
        (&["-w", "1"], "ministat: no plot fits into a width of 1"),
    ];
    for (args, want) in cases {
        let (out, err, code) = command(args, "1\n2\n3\n");
        assert!(err.starts_with(want), "{args:?}: {err}");
        assert_eq!((out.as_str(), code), ("", 2), "{args:?}");
    }
    assert_eq!(command(&["--compat", "2015", "/nonexistent"], "").2, 1);
    assert_eq!(command(&["--compat", "1999"], "").2, 2);
}

/// The third historic form: today's median of an even number of values with the error of 2015.
#[test]
fn the_form_of_2016_has_the_median_of_today_and_the_error_of_before() {
    let sets = || {
        ["1\n2\n4\n8\n", "31\n33\n34\n39\n"].map(|text| {
            let values = text.lines().map(|line| line.parse().unwrap()).collect();
            Dataset::new("set", values).unwrap()
        })
    };
    let of = |version| {
        let options = Options { version, has_plot: false, ..Options::default() };
        String::from_utf8(render(&sets(), &options)).unwrap()
    };
    let line = |text: &str, part: &str| {
        text.lines().find(|line| line.contains(part)).unwrap_or_default().to_owned()
    };
    let [old, middle, new] = [Version::Compat2015, Version::Compat2016, Version::V3].map(of);
    assert_eq!(line(&middle, "% +/-"), line(&old, "% +/-"));
    assert_ne!(line(&middle, "% +/-"), line(&new, "% +/-"));
    let row = |text: &str| {
        text.lines().find(|line| line.starts_with('x') && line.len() > 20).map(str::to_owned)
    };
    assert_eq!(row(&middle), row(&new));
    assert_ne!(row(&middle), row(&old));
}
