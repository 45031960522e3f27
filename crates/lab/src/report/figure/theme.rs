//! Colours and type sizes of every figure.
//!
//! Series colours are Okabe and Ito's, which readers with the common forms of
//! colour blindness can tell apart; the baseline is grey. Shapes repeat the
//! distinction, so a figure also works in black and white.

use std::fmt::Write as _;

/// The fonts that figures ask for: DejaVu Sans is the one built in for PNGs.
pub const FONTS: &str = "'DejaVu Sans', Verdana, 'Segoe UI', sans-serif";

/// Colours of one appearance.
#[derive(Debug, Clone, Copy)]
pub struct Palette {
    /// Behind everything.
    pub page: &'static str,
    /// Titles and labels.
    pub ink: &'static str,
    /// Secondary text.
    pub faint: &'static str,
    /// Axes and grid.
    pub grid: &'static str,
    /// Series in the order of the variants; the first is the baseline.
    pub series: [&'static str; 7],
    /// A criterion is met.
    pub good: &'static str,
    /// A criterion asks for attention.
    pub warn: &'static str,
    /// A criterion is not met.
    pub bad: &'static str,
}

/// Dark on white: files, pictures and print.
pub const LIGHT: Palette = Palette {
    page: "#ffffff",
    ink: "#1b1f24",
    faint: "#57606a",
    grid: "#d8dee4",
    series: ["#6b7580", "#0072b2", "#d55e00", "#009e73", "#b8558a", "#b58900", "#3a9bd0"],
    good: "#1a7f4b",
    warn: "#9a6700",
    bad: "#b3261e",
};

/// Light on near black, for HTML.
pub const DARK: Palette = Palette {
    page: "#0f1419",
    ink: "#e6edf3",
    faint: "#9aa7b4",
    grid: "#2d3640",
    series: ["#9aa5b1", "#4db2ec", "#ff9149", "#35c99b", "#e58fbe", "#e6c04a", "#8fd0f5"],
    good: "#4cc38a",
    warn: "#e3b341",
    bad: "#ff7b72",
};

/// From the first block to the last: cividis, whose order survives colour
/// blindness and grey prints; its darkest and lightest ends are left out, so
/// that marks stand out on white and on black.
const BLOCKS: [&str; 10] = [
    "#1f3f77", "#35507a", "#48607c", "#5a6f7c", "#6c7f7b", "#7f8f77", "#959f6f", "#acaf62", "#c6c04e",
    "#e0d22e",
];

/// The style sheet of a figure with fixed colours.
pub fn sheet(palette: &Palette) -> String {
    rules(|role| match role {
        Role::Page => palette.page.to_string(),
        Role::Ink => palette.ink.to_string(),
        Role::Faint => palette.faint.to_string(),
        Role::Grid => palette.grid.to_string(),
        Role::Warn => palette.warn.to_string(),
        Role::Bad => palette.bad.to_string(),
        Role::Series(k) => palette.series[k].to_string(),
    })
}

/// The style sheet of figures inside an HTML page: colours are the page's
/// custom properties, so they follow its appearance.
pub fn inline_sheet() -> String {
    rules(|role| match role {
        Role::Page => "var(--page)".to_string(),
        Role::Ink => "var(--ink)".to_string(),
        Role::Faint => "var(--faint)".to_string(),
        Role::Grid => "var(--grid)".to_string(),
        Role::Warn => "var(--warn)".to_string(),
        Role::Bad => "var(--bad)".to_string(),
        Role::Series(k) => format!("var(--s{k})"),
    })
}

/// The custom properties of one appearance for an HTML page.
pub fn properties(palette: &Palette) -> String {
    let mut css = format!(
        "--page:{};--ink:{};--faint:{};--grid:{};--good:{};--warn:{};--bad:{};",
        palette.page,
        palette.ink,
        palette.faint,
        palette.grid,
        palette.good,
        palette.warn,
        palette.bad
    );
    for (k, colour) in palette.series.iter().enumerate() {
        let _ = write!(css, "--s{k}:{colour};");
    }
    css
}

/// What a colour is for.
#[derive(Debug, Clone, Copy)]
enum Role {
    Page,
    Ink,
    Faint,
    Grid,
    Warn,
    Bad,
    Series(usize),
}

fn rules(colour: impl Fn(Role) -> String) -> String {
    let mut css = String::new();
    let _ = writeln!(css, "text{{font-family:{FONTS};font-size:12px;fill:{}}}", colour(Role::Ink));
    let _ = writeln!(css, ".page{{fill:{}}}", colour(Role::Page));
    css.push_str(".title{font-size:17px;font-weight:bold}\n");
    css.push_str(".strong{font-weight:bold}\n");
    let _ = writeln!(css, ".faint{{fill:{};font-size:11px}}", colour(Role::Faint));
    let _ = writeln!(
        css,
        ".halo{{paint-order:stroke;stroke:{};stroke-width:3px;stroke-linejoin:round}}",
        colour(Role::Page)
    );
    let _ = writeln!(css, ".grid{{stroke:{};stroke-width:1}}", colour(Role::Grid));
    let _ = writeln!(css, ".axis{{stroke:{};stroke-width:1}}", colour(Role::Faint));
    let _ = writeln!(css, ".whisker{{stroke:{};stroke-width:1.5}}", colour(Role::Ink));
    let _ = writeln!(css, ".median{{stroke:{};stroke-width:2.5}}", colour(Role::Ink));
    let _ = writeln!(css, ".zero{{stroke:{};stroke-width:1.5}}", colour(Role::Ink));
    let _ = writeln!(css, ".band{{fill:{};fill-opacity:0.55}}", colour(Role::Grid));
    let _ = writeln!(css, ".stripe{{fill:{};fill-opacity:0.35}}", colour(Role::Grid));
    let _ = writeln!(css, ".limit{{stroke:{};stroke-width:1.5;stroke-dasharray:6 4}}", colour(Role::Bad));
    let _ = writeln!(css, ".limit-text{{fill:{};font-size:11px}}", colour(Role::Bad));
    let _ = writeln!(css, ".warn-text{{fill:{};font-size:11px}}", colour(Role::Warn));
    let _ = writeln!(css, ".mark{{stroke:{};stroke-width:0.8}}", colour(Role::Page));
    for (k, c) in BLOCKS.iter().enumerate() {
        let _ = writeln!(css, ".k{k}{{fill:{c}}}");
    }
    for k in 0..LIGHT.series.len() {
        let c = colour(Role::Series(k));
        let _ = writeln!(
            css,
            ".f{k}{{fill:{c}}}.b{k}{{fill:{c};fill-opacity:0.28;stroke:{c};stroke-width:1.5}}.l{k}{{stroke:{c};stroke-width:2;fill:none}}.t{k}{{fill:{c};font-weight:bold}}"
        );
    }
    css
}
