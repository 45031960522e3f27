//! `history.html`: one file that needs nothing else, and the same as a README with figures.

use std::path::Path;

use serde_json::{Value, json};

use super::figure::{escaped, svg};
use super::json::value;
use super::text::markdown;
use crate::find::History;
use crate::{Error, Result};
use fwdlab_guard::words;
use fwdlab_results::units;

const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");

/// Rows of changes above which they are folded.
const ROWS_SHOWN: usize = 8;

/// The page. Its figures are drawn by the script in it from the data in it; without scripts the
/// alerts and the last points stand there as tables. Its links lead from the directory `at`, where it
/// will lie, to the results that are there.
///
/// # Errors
/// When the data cannot be encoded.
pub fn html(history: &History, at: &Path) -> Result<String> {
    let mut data = value(history);
    show_hidden(&mut data);
    add_sources(&mut data, history, at);
    add_places(&mut data, history);
    let data = serde_json::to_string(&data)
        .map_err(|source| Error::Encode { what: "the history", source })?;
    // nothing in a name may end the script, nor be written out otherwise than JSON does where the page is printed
    let data = words::in_json(&data).replace('<', "\\u003c");
    Ok(format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>History</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <h1>History</h1>\n{warnings}{alerts}\n{controls}\n<main id=\"figures\"></main>\n{table}\n\
         <script type=\"application/json\" id=\"data\">{data}</script>\n<script>\n{SCRIPT}</script>\n\
         </body>\n</html>\n",
        controls = controls(history),
        alerts = alerts(history),
        warnings = warnings(history),
        table = table(history),
    ))
}

/// Writes out what is hidden in names, as [`escaped`] does in what can be chosen: that has to be the same.
fn show_hidden(value: &mut Value) {
    match value {
        Value::String(text) => *text = words::one_line(text).into_owned(),
        Value::Array(all) => all.iter_mut().for_each(show_hidden),
        Value::Object(all) => all.values_mut().for_each(show_hidden),
        _ => {}
    }
}

/// What makes the series doubtful.
fn warnings(history: &History) -> String {
    let one = |own: &String| format!("<p class=\"warning\">{}</p>\n", escaped(own));
    let newest = history.newest.iter().map(|own| super::newest_of(history, own));
    history.warnings.iter().cloned().chain(newest).map(|own| one(&own)).collect()
}

/// What each point is called, where it comes from, and the link there.
fn add_sources(data: &mut Value, history: &History, at: &Path) {
    let at = at.canonicalize().ok();
    for (own, series) in data["series"].as_array_mut().into_iter().flatten().zip(&history.series) {
        let points = own["points"].as_array_mut();
        let all = series.points.iter().zip(series.labels());
        for (point, (full, label)) in points.into_iter().flatten().zip(all) {
            point["label"] = json!(label);
            point["source"] = json!(full.source);
            if let (Some(at), Some(place)) = (&at, &full.place) {
                point["link"] = json!(way(at, place));
            }
        }
    }
}

/// The points between which each change is: a revision may have several.
fn add_places(data: &mut Value, history: &History) {
    for (own, changes) in data["series"].as_array_mut().into_iter().flatten().zip(&history.changes)
    {
        let all = own["changes"].as_array_mut();
        for (own, change) in all.into_iter().flatten().zip(changes) {
            own["at"] = json!(change.at);
            own["over"] = json!(change.over);
        }
    }
}

/// The relative way from one directory to another, both from the root.
fn way(from: &Path, to: &Path) -> String {
    let common = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(common).map(|_| "..".to_owned());
    let down = to.components().skip(common);
    let down = down.map(|part| part.as_os_str().to_string_lossy().into_owned());
    let parts: Vec<String> = up.chain(down).collect();
    if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
}

fn controls(history: &History) -> String {
    let choice = |label: &str, id: &str, of: &dyn Fn(usize) -> String| {
        let mut values: Vec<String> = (0..history.series.len()).map(of).collect();
        values.sort();
        values.dedup();
        let options: Vec<String> = values
            .iter()
            .map(|value| {
                let shown = if value.is_empty() { "(none)" } else { value };
                format!("<option value=\"{}\">{}</option>", escaped(value), escaped(shown))
            })
            .collect();
        format!(
            "<label>{label} <select id=\"{id}\"><option value=\"*\">all</option>{}</select></label>",
            options.join("")
        )
    };
    let key = |i: usize| &history.series[i].key;
    format!(
        "<form class=\"controls\" aria-label=\"What is shown\">\n{}\n{}\n{}\n\
         <label><input type=\"checkbox\" id=\"log\"> log scale</label>\n\
         <label><input type=\"checkbox\" id=\"zero\"> from zero</label>\n\
         <label><input type=\"checkbox\" id=\"changed\"> only what changed</label>\n\
         <p class=\"hint\">Keys: <kbd>j</kbd> <kbd>k</kbd> next and previous figure, <kbd>←</kbd> \
         <kbd>→</kbd> points, <kbd>Enter</kbd> its results, <kbd>Esc</kbd> leave, <kbd>l</kbd> log, \
         <kbd>z</kbd> zero, <kbd>c</kbd> changed</p>\n</form>",
        choice("machine", "machine", &|i| key(i).machine.clone()),
        choice("configuration", "configuration", &|i| key(i).configuration.clone()),
        choice("family", "family", &|i| key(i).family.clone()),
    )
}

fn alerts(history: &History) -> String {
    if history.alerts.is_empty() {
        let single = history.single().map_or_else(String::new, |own| format!(" Note: {own}."));
        return format!("<h2>Changes</h2>\n<p>No change of level was found.{single}</p>");
    }
    let mut rows = String::new();
    for alert in &history.alerts {
        let state = match (alert.is_closed(), super::known(alert)) {
            (true, _) => "taken back".to_owned(),
            (_, Some(known)) => known,
            _ => super::kind(alert),
        };
        let beside = super::beside(history, alert);
        let state = match beside.is_empty() {
            true => state,
            false => format!("{state}; changed there as well: {}", beside.join("; ")),
        };
        let again: Vec<String> = super::again(history, alert)
            .iter()
            .map(|command| format!("<br><code>{}</code>", escaped(command)))
            .collect();
        for (at, moved) in alert.moved.iter().enumerate() {
            let (before, after) = history.names_of_ends(moved);
            // for all of them, once
            let again = if at == 0 { again.concat() } else { String::new() };
            let state = super::back(history, alert, moved).unwrap_or_else(|| state.clone());
            rows.push_str(&format!(
                "<tr><td><a href=\"#s{}\">{}</a></td><td>{}</td><td>{}{again}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                moved.series,
                escaped(&history.series[moved.series].key.name()),
                super::size(history, moved),
                escaped(&state),
                escaped(&before),
                escaped(&after),
                alert.id,
            ));
        }
    }
    // as --fail-on counts them
    let open = history.alerts.iter().filter(|alert| alert.is_open_regression()).count();
    let many: usize = history.alerts.iter().map(|alert| alert.moved.len()).sum();
    format!(
        "<details{is_open}><summary>{}; {} still open</summary>\n\
         <div class=\"wide\"><table>\n<thead><tr><th>series</th><th>change (95 %)</th>\
         <th>state</th><th>last before</th><th>first changed</th><th>alert</th></tr></thead>\n<tbody>\n{rows}\
         </tbody></table></div></details>",
        units::plural(history.alerts.len() as u64, "change"),
        units::plural(open as u64, "regression"),
        is_open = if many <= ROWS_SHOWN { " open" } else { "" },
    )
}

fn table(history: &History) -> String {
    let mut rows = String::new();
    for series in &history.series {
        let Some(last) = series.points.last() else { continue };
        let (low, high) = last.interval();
        let show = |value: f64| escaped(&units::figure(value, &series.key.unit));
        rows.push_str(&format!(
            "<tr><td>{}</td><td class=\"n\">{}</td><td>{}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{} to {}</td></tr>\n",
            escaped(&series.key.name()),
            series.points.len(),
            escaped(series.labels().last().map_or("", String::as_str)),
            show(last.median()),
            show(low),
            show(high),
        ));
    }
    format!(
        "<h2>Last points</h2>\n<div class=\"wide\"><table>\n<thead><tr><th>series</th>\
         <th class=\"n\">points</th><th>revision</th><th class=\"n\">median</th>\
         <th class=\"n\">interval</th></tr></thead>\n<tbody>\n{rows}</tbody>\
         </table></div>"
    )
}

/// The same for readers without scripts: a page in Markdown, its figures beside it. Names of files
/// with what is in them.
pub fn readme(history: &History) -> Vec<(String, String)> {
    let mut text = format!("# History\n\n{}\n", markdown(history));
    let mut files = Vec::new();
    for (index, (series, changes)) in history.series.iter().zip(&history.changes).enumerate() {
        let Some(figure) = svg(series, changes) else { continue };
        let file = format!("figures/s{index}.svg");
        let name = series.key.name().replace(['[', ']', '\n', '`', '<', '>'], " ");
        text.push_str(&format!("\n![{name}]({file})\n"));
        files.push((file, figure));
    }
    text.push_str("\nMade by `fwdlab history`.\n");
    files.push(("README.md".to_owned(), text));
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Key, Options, Point, find};

    #[test]
    fn names_of_strangers_stay_text() {
        let hostile = "</script><script>alert(1)</script>\"&";
        let point = |at: u32| Point {
            series: Key { machine: hostile.into(), unit: "frames/s".into(), ..Key::default() },
            revision: format!("r{}", 300_000 + at),
            values: vec![1e6, 1.1e6, 1.2e6],
            ..Point::default()
        };
        let page =
            html(&find([point(1), point(2)], &[], &Options::default()), Path::new("")).unwrap();
        assert!(!page.contains("<script>alert") && page.matches("</script>").count() == 2);
        assert!(page.contains("&lt;/script&gt;"));
        for (file, text) in readme(&find([point(1), point(2)], &[], &Options::default())) {
            assert!(!text.contains("<script"), "{file}: {text}");
        }
    }

    /// Where the page was printed, a name that turns the direction of reading made its data no JSON: there was no figure.
    #[test]
    fn hidden_characters_in_names_leave_the_data_whole_and_the_choices_theirs() {
        let machine = "atom\u{202e}\u{7}\u{200b}";
        let point = |at: u32| Point {
            series: Key { machine: machine.into(), unit: "frames/s".into(), ..Key::default() },
            revision: format!("r30000{at}"),
            values: vec![1e6, 1.1e6, 1.2e6],
            source: format!("tree\u{feff}/{at}"),
            place: Some(format!("/tree\u{200b}/{at}").into()),
            ..Point::default()
        };
        let page =
            html(&find([point(1), point(2)], &[], &Options::default()), Path::new("/")).unwrap();
        let printed = words::visible(&page);
        let data = printed.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
        let data: Value = serde_json::from_str(data).unwrap();
        let chosen = data["series"][0]["machine"].as_str().unwrap();
        assert!(printed.contains(&format!("<option value=\"{chosen}\">")), "{chosen}");
        assert_eq!(data["series"][0]["points"][0]["link"], "tree\u{200b}/1");
    }

    /// Figures stood right, their heads left.
    #[test]
    fn the_head_of_a_column_stands_as_its_cells_do() {
        let point = Point { revision: "r1".into(), values: vec![1e6, 1.1e6], ..Point::default() };
        let table = table(&find([point], &[], &Options::default()));
        let sides = |cell: &str| -> Vec<bool> {
            let cells = table.split(cell).skip(1);
            cells.map(|rest| rest.starts_with(" class=\"n\"")).collect()
        };
        // "<thead>" begins as a cell does
        assert_eq!(sides("<th")[1..], sides("<td"), "{table}");
        assert!(STYLE.contains("th.n, td.n {"));
    }

    /// Names of points were shortened by a function that was called as the one that shortens figures: what a point
    /// has stood there with all its digits, and where all names were long nothing did.
    #[test]
    fn no_helper_of_the_script_hides_another() {
        let names = SCRIPT.lines().filter_map(|line| line.trim_start().strip_prefix("const "));
        let helpers = names.filter_map(|rest| rest.split_once(" = (").map(|(name, _)| name));
        let mut helpers: Vec<&str> = helpers.collect();
        let many = helpers.len();
        helpers.sort_unstable();
        helpers.dedup();
        assert!(many > 9 && helpers.len() == many, "{helpers:?}");
    }

    #[test]
    fn links_lead_from_where_the_page_lies() {
        let way = |from: &str, to: &str| super::way(Path::new(from), Path::new(to));
        assert_eq!(way("/a/page", "/a/tree/r1"), "../tree/r1");
        assert_eq!(way("/a/tree", "/a/tree/r1"), "r1");
        assert_eq!(way("/a/tree/r1", "/a/tree"), "..");
        assert_eq!(way("/a", "/a"), ".");
    }

    #[test]
    fn the_readme_has_a_figure_for_each_series_with_its_changes() {
        let point = |at: u32| {
            let level = if at < 20 { 1e6 } else { 0.9e6 };
            let runs = [-2.0, -1.0, 0.0, 1.0, 2.0];
            Point {
                series: Key { machine: "m".into(), unit: "frames/s".into(), ..Key::default() },
                revision: format!("r{}", 300_000 + at),
                values: runs.map(|run| level * (1.0 + run / 1e3)).to_vec(),
                ..Point::default()
            }
        };
        let files = readme(&find((0..40).map(point), &[], &Options::default()));
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["figures/s0.svg", "README.md"]);
        let (figure, page) = (&files[0].1, &files[1].1);
        assert_eq!(figure.matches("<circle").count(), 40);
        assert!(figure.contains("-10.0 %") && figure.contains("class=\"w\""), "{figure}");
        assert!(page.contains("r300019 … r300020") && page.contains("](figures/s0.svg)"), "{page}");
    }
}
