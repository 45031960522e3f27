//! The page in a browser: Chromium draws it, keys work, nothing is wider than 400 px.

use std::path::Path;
use std::process::Command;

use fwdlab_history::{Key, Options, Point, find, render};

/// Runs in the page and writes what it finds into the title.
const PROBE: &str = r#"
const press = (key, on) => (on || document.body).dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
const seen = [];
const said = () => document.activeElement.querySelector(".said").textContent.split(":")[0];
const figures = () => document.querySelectorAll("figure");
seen.push("figures=" + figures().length);
seen.push("changes=" + document.querySelectorAll("line.change").length);
seen.push("wide=" + (document.documentElement.scrollWidth > innerWidth));
seen.push("goes-on=" + document.querySelectorAll(".wide.more").length);
press("j");
seen.push("focus=" + document.activeElement.id);
press("ArrowRight", document.activeElement);
seen.push("said=" + said());
press("ArrowRight", document.activeElement);
let led = "nowhere";
addEventListener("click", (event) => { led = event.target.closest("a").getAttribute("href"); event.preventDefault(); }, { once: true });
press("Enter", document.activeElement);
seen.push("led=" + led);
press("l", document.activeElement);
seen.push("log=" + document.getElementById("log").checked);
seen.push("kept=" + document.activeElement.id + "/" + said());
press("Escape", document.activeElement);
seen.push("forgot=" + (said() === ""));
press("Escape", document.activeElement);
seen.push("left=" + (document.activeElement === document.body));
press("c");
seen.push("changed=" + figures().length);
press("c");
document.getElementById("machine").value = "one";
document.getElementById("machine").dispatchEvent(new Event("change"));
seen.push("one=" + figures().length);
seen.push("nan=" + /NaN|Infinity/.test(document.getElementById("figures").innerHTML));
location.hash = "s2";
dispatchEvent(new HashChangeEvent("hashchange"));
seen.push("shown=" + figures().length + "/" + document.activeElement.id);
document.title = seen.join(" ");
"#;

fn chromium() -> Option<&'static str> {
    let runs = |name: &&str| Command::new(name).arg("--version").output().is_ok();
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find(runs)
}

fn point(machine: &str, at: u32, level: f64) -> Point {
    Point {
        series: Key { machine: machine.into(), unit: "frames/s".into(), ..Key::default() },
        revision: format!("r{}", 300_000 + at),
        values: [-2.0, -1.0, 0.0, 1.0, 2.0].map(|run| level * (1.0 + run / 1e3)).to_vec(),
        source: format!("tree/{machine}/r{at}.pps"),
        ..Point::default()
    }
}

/// The title after the probe; `None` where the browser does not run here.
fn title(browser: &str, page: &Path, width: u32) -> Option<String> {
    let profile = tempfile::tempdir().ok()?;
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "--no-first-run"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("--window-size={width},900"))
        .arg(format!("file://{}", page.display()))
        // its own temporary files go with the profile
        .env("TMPDIR", profile.path())
        .output()
        .ok()?;
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    Some(dom.split("<title>").nth(1)?.split("</title>").next()?.to_owned())
}

#[test]
fn the_page_works_in_a_browser() {
    let Some(browser) = chromium() else {
        eprintln!("SKIPPED the_page_works_in_a_browser: there is no chromium");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let points = (0..40).flat_map(|at| {
        let level = if at < 20 { 1e6 } else { 0.9e6 };
        // the third did not forward in one run of some points
        let mut idle = point("idle", at, 3e6);
        idle.values[0] *= f64::from(u8::from(at % 7 != 0));
        let mut all = [point("one", at, level), point("two", at, 2e6), idle];
        all.iter_mut()
            .for_each(|own| own.place = Some(root.join("tree").join(&own.series.machine)));
        all
    });
    let page = render::html(&find(points, &[], &Options::default()), dir.path()).unwrap();
    let page = page.replace("</body>", &format!("<script>{PROBE}</script></body>"));
    let file = dir.path().join("history.html");
    std::fs::write(&file, page).unwrap();
    for width in [400, 1400] {
        let Some(title) = title(browser, &file, width) else {
            eprintln!("SKIPPED the_page_works_in_a_browser: {browser} does not run here");
            return;
        };
        let goes_on = if width == 400 { 2 } else { 0 };
        assert_eq!(
            title,
            format!(
                "figures=3 changes=1 wide=false goes-on={goes_on} focus=s0 said=r300000 led=tree/idle log=true \
                 kept=s0/r300001 forgot=true left=true changed=1 one=1 nan=false shown=3/s2"
            ),
            "at {width} px"
        );
    }
}

/// Names of a patched image were cut to `r368606D274`, so that its versions looked the same.
#[test]
fn revisions_are_whole_where_there_is_room() {
    let Some(browser) = chromium() else {
        eprintln!("SKIPPED revisions_are_whole_where_there_is_room: there is no chromium");
        return;
    };
    let of = |count: u32| {
        let points = (0..count).map(|at| Point {
            revision: format!("r368606D27401v{}", 10 + at),
            ..point("one", at, 1e6)
        });
        let dir = tempfile::tempdir().unwrap();
        let page = render::html(&find(points, &[], &Options::default()), dir.path()).unwrap();
        let names = "document.title = [...document.querySelectorAll('svg text')].map((t) => \
                     t.textContent).filter((t) => t.startsWith('r3')).join(' ')";
        let page = page.replace("</body>", &format!("<script>{names}</script></body>"));
        let file = dir.path().join("history.html");
        std::fs::write(&file, page).unwrap();
        title(browser, &file, 1400)
    };
    let (Some(few), Some(many)) = (of(2), of(400)) else {
        eprintln!("SKIPPED revisions_are_whole_where_there_is_room: {browser} does not run here");
        return;
    };
    assert_eq!(few, "r368606D27401v10 r368606D27401v11");
    assert!(many.contains('…') && !many.contains("r368606D27401v10 "), "{many}");
}

/// `kernelwithpatch117amd64ofmine` and all others were `kernelwith…`.
#[test]
fn revisions_that_differ_in_their_middle_stay_different() {
    let Some(browser) = chromium() else {
        eprintln!(
            "SKIPPED revisions_that_differ_in_their_middle_stay_different: there is no chromium"
        );
        return;
    };
    let points = (0..400).map(|at| Point {
        revision: format!("kernelwithpatch{at:03}amd64ofmine"),
        ..point("one", at, 1e6)
    });
    let dir = tempfile::tempdir().unwrap();
    let page = render::html(&find(points, &[], &Options::default()), dir.path()).unwrap();
    let names = "const names = [...document.querySelectorAll('svg text')].map((t) => t.textContent)\
                 .filter((t) => t.includes('…')); \
                 document.title = names.length > 3 && new Set(names).size === names.length ? 'different' \
                 : names.join(' ')";
    let page = page.replace("</body>", &format!("<script>{names}</script></body>"));
    let file = dir.path().join("history.html");
    std::fs::write(&file, page).unwrap();
    let Some(title) = title(browser, &file, 1400) else {
        eprintln!(
            "SKIPPED revisions_that_differ_in_their_middle_stay_different: {browser} does not run"
        );
        return;
    };
    assert_eq!(title, "different");
}

/// Many changes are folded, and a table that is folded has no width that could be compared with the screen's.
#[test]
fn a_table_that_is_unfolded_says_that_it_goes_on() {
    let Some(browser) = chromium() else {
        eprintln!("SKIPPED a_table_that_is_unfolded_says_that_it_goes_on: there is no chromium");
        return;
    };
    let points = (0..40).flat_map(|at| {
        let level = if at < 20 { 1e6 } else { 0.9e6 };
        (0..12).map(move |machine| point(&format!("machine-{machine}"), at, level))
    });
    let dir = tempfile::tempdir().unwrap();
    let page = render::html(&find(points, &[], &Options::default()), dir.path()).unwrap();
    let probe = "const folded = document.querySelector('details'); const before = folded.open; \
                 folded.open = true; folded.dispatchEvent(new Event('toggle')); \
                 document.title = before + ' ' + folded.querySelectorAll('.wide.more').length";
    let page = page.replace("</body>", &format!("<script>{probe}</script></body>"));
    let file = dir.path().join("history.html");
    std::fs::write(&file, page).unwrap();
    let Some(title) = title(browser, &file, 400) else {
        eprintln!("SKIPPED a_table_that_is_unfolded_says_that_it_goes_on: {browser} does not run");
        return;
    };
    assert_eq!(title, "false 1");
}

/// The labels of two days beside each other lay on one another at 400 px, and so did those of three close changes.
#[test]
fn no_label_lies_on_another() {
    let Some(browser) = chromium() else {
        eprintln!("SKIPPED no_label_lies_on_another: there is no chromium");
        return;
    };
    let of = |count: u32| {
        (1..=count).map(move |at| {
            // levels of four points each
            let level = 1e6 * 0.9f64.powi(at as i32 / 4);
            let revision = format!("2026-{:02}-{:02}", 1 + at / 28, 1 + at % 28);
            Point { revision, ..point(&format!("machine-{count}"), at, level) }
        })
    };
    let points = (2..=30).chain([60, 200]).flat_map(of);
    let dir = tempfile::tempdir().unwrap();
    let page = render::html(&find(points, &[], &Options::default()), dir.path()).unwrap();
    let probe = "const lies = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 \
                 && a.top < b.bottom - 4 && b.top < a.bottom - 4; \
                 const bad = []; let all = 0; let outside = 0; \
                 for (const svg of document.querySelectorAll('svg')) { \
                 const texts = [...svg.querySelectorAll('text')]; all += texts.length; \
                 const boxes = texts.map((t) => t.getBoundingClientRect()); \
                 const own = svg.getBoundingClientRect(); \
                 outside += boxes.filter((b) => b.left < own.left - 1 || b.right > own.right + 1).length; \
                 boxes.forEach((a, i) => boxes.slice(0, i).forEach((b, k) => { \
                 if (lies(a, b)) bad.push(texts[k].textContent + '/' + texts[i].textContent); })); } \
                 document.title = (all > 300) + ' ' + outside + ' ' + bad.length + ' ' + bad.slice(0, 5).join(' ')";
    let page = page.replace("</body>", &format!("<script>{probe}</script></body>"));
    let file = dir.path().join("history.html");
    std::fs::write(&file, page).unwrap();
    for width in [400, 1400] {
        let Some(title) = title(browser, &file, width) else {
            eprintln!("SKIPPED no_label_lies_on_another: {browser} does not run here");
            return;
        };
        assert_eq!(title.trim(), "true 0 0", "at {width} px");
    }
}

/// Beside points at a card's line rate "14.88 M" stood five times.
#[test]
fn marks_of_an_axis_differ() {
    let Some(browser) = chromium() else {
        eprintln!("SKIPPED marks_of_an_axis_differ: there is no chromium");
        return;
    };
    let points = (0..30).map(|at| point("line", at, 14_880_050.0 + f64::from(at % 3)));
    let points = points.map(|own| Point { values: own.values[2..3].to_vec(), ..own });
    let history = find(points, &[], &Options::default());
    let dir = tempfile::tempdir().unwrap();
    let page = dir.path().join("history.html");
    let probe = "const all = [...document.querySelectorAll('text[text-anchor=end]')].map((own) => own.textContent);
        document.title = all.length + ' marks, ' + new Set(all).size + ' differ: ' + all.join(', ');";
    let html = render::html(&history, dir.path()).unwrap();
    std::fs::write(&page, html.replace("</body>", &format!("<script>{probe}</script></body>")))
        .unwrap();
    let Some(title) = title(browser, &page, 1000) else {
        eprintln!("SKIPPED marks_of_an_axis_differ: {browser} does not run here");
        return;
    };
    let counts: Vec<u32> = title
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|own| own.parse().ok())
        .take(2)
        .collect();
    assert!(counts[0] > 1 && counts[0] == counts[1], "{title}");
}
