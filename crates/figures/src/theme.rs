//! Colours and type sizes of every figure.
//!
//! Series colours are Okabe and Ito's, which readers with the common forms of
//! colour blindness can tell apart; the baseline is grey. Shapes repeat the
//! distinction, so a figure also works in black and white.

use std::fmt::Write as _;

/// The fonts that figures ask for: DejaVu Sans is the one built in for PNGs.
const FONTS: &str = "'DejaVu Sans', Verdana, 'Segoe UI', sans-serif";

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

/// The style sheet of a figure with fixed colours.
pub fn sheet(palette: &Palette) -> String {
    rules("", |role| match role {
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
    rules(".figure ", |role| match role {
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

/// The rules, each selector preceded by `scope`.
fn rules(scope: &str, colour: impl Fn(Role) -> String) -> String {
    let (page, ink, faint) = (colour(Role::Page), colour(Role::Ink), colour(Role::Faint));
    let (grid, warn, bad) = (colour(Role::Grid), colour(Role::Warn), colour(Role::Bad));
    let mut css = String::new();
    let mut rule = |selector: &str, body: &str| {
        let _ = writeln!(css, "{scope}{selector}{{{body}}}");
    };
    rule("text", &format!("font-family:{FONTS};font-size:12px;fill:{ink}"));
    rule(".page", &format!("fill:{page}"));
    rule(".title", "font-size:17px;font-weight:bold");
    rule(".strong", "font-weight:bold");
    rule(".faint", &format!("fill:{faint};font-size:11px"));
    rule(
        ".halo",
        &format!("paint-order:stroke;stroke:{page};stroke-width:3px;stroke-linejoin:round"),
    );
    rule(".grid", &format!("stroke:{grid};stroke-width:1"));
    rule(".axis", &format!("stroke:{faint};stroke-width:1"));
    rule(".whisker", &format!("stroke:{ink};stroke-width:1.5"));
    rule(".median", &format!("stroke:{ink};stroke-width:2.5"));
    rule(".zero", &format!("stroke:{ink};stroke-width:1.5"));
    rule(".box", &format!("fill:none;stroke:{faint};stroke-width:1.5"));
    rule(".band", &format!("fill:{grid};fill-opacity:0.55"));
    rule(".stripe", &format!("fill:{grid};fill-opacity:0.35"));
    rule(".limit", &format!("stroke:{bad};stroke-width:1.5;stroke-dasharray:6 4"));
    rule(".limit-text", &format!("fill:{bad};font-size:11px"));
    rule(".warn-text", &format!("fill:{warn};font-size:11px"));
    rule(".mark", &format!("stroke:{page};stroke-width:0.8"));
    for k in 0..LIGHT.series.len() {
        let c = colour(Role::Series(k));
        rule(&format!(".f{k}"), &format!("fill:{c}"));
        rule(&format!(".b{k}"), &format!("fill:{c};fill-opacity:0.28;stroke:{c};stroke-width:1.5"));
        rule(&format!(".l{k}"), &format!("stroke:{c};stroke-width:2;fill:none"));
    }
    css
}
