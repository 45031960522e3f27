//! The page in a real browser: Chromium without a screen, spoken to over its
//! debugging pipe (JSON messages that end in a zero byte).

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::write;
use super::example;

/// A browser with one open page.
struct Browser {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    session: Option<String>,
    next_id: u64,
    /// Errors that the page wrote to its console or threw.
    complaints: Vec<String>,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts Chromium; `None` when it is not installed.
    fn start() -> Option<Self> {
        let program = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|p| {
            Command::new(p).arg("--version").output().is_ok_and(|out| out.status.success())
        })?;
        let profile = tempfile::tempdir().unwrap();
        // The pipe's ends are descriptors 3 and 4, which a shell can lay out.
        let script = format!(
            "exec {program} --headless=new --no-sandbox --disable-gpu --remote-debugging-pipe \
             --user-data-dir={} about:blank 3<&0 4>&1 </dev/null >/dev/null 2>&1",
            profile.path().display()
        );
        let mut child = Command::new("sh")
            .args(["-c", &script])
            // its own temporary files go with the profile
            .env("TMPDIR", profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let to = child.stdin.take().unwrap();
        let from = BufReader::new(child.stdout.take().unwrap());
        let mut browser = Self {
            child,
            to,
            from,
            session: None,
            next_id: 0,
            complaints: Vec::new(),
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let target = json!({"targetId": target["targetId"], "flatten": true});
        let attached = browser.call("Target.attachToTarget", target);
        browser.session = Some(attached["sessionId"].as_str().unwrap().to_owned());
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            browser.call(domain, json!({}));
        }
        Some(browser)
    }

    /// Sends a command and waits for its answer, noting what happens meanwhile.
    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        let mut message = json!({"id": id, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.to.write_all(message.to_string().as_bytes()).unwrap();
        self.to.write_all(&[0]).unwrap();
        self.to.flush().unwrap();
        loop {
            let answer = self.receive();
            if answer["id"] == json!(id) {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
        }
    }

    fn receive(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.from.read_until(0, &mut bytes).unwrap();
        assert!(!bytes.is_empty(), "the browser has gone");
        bytes.pop();
        let message: Value = serde_json::from_slice(&bytes).unwrap();
        match message["method"].as_str() {
            Some("Runtime.exceptionThrown") => self.complaints.push(message.to_string()),
            Some("Log.entryAdded") if message["params"]["entry"]["level"] == "error" => {
                self.complaints.push(message["params"]["entry"].to_string());
            }
            Some("Runtime.consoleAPICalled") if message["params"]["type"] == "error" => {
                self.complaints.push(message["params"]["args"].to_string());
            }
            _ => {}
        }
        message
    }

    /// Opens a file and waits until the page says that it is ready.
    fn open(&mut self, file: &Path) -> Duration {
        let begun = Instant::now();
        self.call("Page.navigate", json!({"url": format!("file://{}", file.display())}));
        while self.eval("document.documentElement.dataset.ready || ''") != json!("yes") {
            assert!(begun.elapsed() < Duration::from_secs(60), "the page never became ready");
        }
        begun.elapsed()
    }

    fn eval(&mut self, script: &str) -> Value {
        let parameters = json!({"expression": script, "returnByValue": true, "awaitPromise": true});
        self.call("Runtime.evaluate", parameters)["result"]["value"].clone()
    }

    fn size(&mut self, width: u32, height: u32) {
        let metrics =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", metrics);
    }

    fn look(&mut self, appearance: &str, medium: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": appearance}]);
        self.call("Emulation.setEmulatedMedia", json!({"media": medium, "features": features}));
    }

    /// The window as a PNG.
    fn picture(&mut self) -> Vec<u8> {
        let shot = self.call("Page.captureScreenshot", json!({"format": "png"}));
        decode_base64(shot["data"].as_str().unwrap())
    }

    fn hover(&mut self, script_for_mark: &str) {
        let centre = self.eval(&format!(
            "(async () => {{ const m = {script_for_mark}; m.scrollIntoView({{block: 'center'}}); \
             await new Promise((done) => setTimeout(done, 100)); \
             const b = m.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; }})()"
        ));
        let parameters = json!({"type": "mouseMoved", "x": centre[0], "y": centre[1]});
        self.call("Input.dispatchMouseEvent", parameters);
    }

    fn press(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            self.call("Input.dispatchKeyEvent", json!({"type": kind, "key": key, "code": key}));
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn decode_base64(text: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0u32, 0);
    for c in text.bytes().filter(|c| *c != b'=') {
        bits = bits << 6 | u32::from(value(c));
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    bytes
}

/// Whether a picture shows more than an empty page: at least `least` pixels
/// differ from its first.
fn shows_something(png: &[u8], least: usize) -> bool {
    let picture = resvg::tiny_skia::Pixmap::decode_png(png).unwrap();
    let pixels = picture.pixels();
    pixels.iter().filter(|p| **p != pixels[0]).count() >= least
}

fn browser(test: &str) -> Option<Browser> {
    let browser = Browser::start();
    if browser.is_none() {
        eprintln!("SKIPPED {test}: chromium is not installed (apt-get install chromium)");
    }
    browser
}

/// A report of four variants with profiles, in a directory of its own.
fn report() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut results = example::results(&example::FOUR, 12);
    example::write(&mut results, dir.path());
    example::write_profiles(&results, dir.path());
    write(dir.path(), &results).unwrap();
    dir
}

#[test]
fn page_loads_without_complaints_in_both_appearances() {
    let Some(mut browser) = browser("page_loads_without_complaints_in_both_appearances") else {
        return;
    };
    let dir = report();
    browser.size(1100, 1400);
    let mut pictures = Vec::new();
    for appearance in ["light", "dark"] {
        browser.look(appearance, "screen");
        let taken = browser.open(&dir.path().join("index.html"));
        println!("{appearance}: ready after {taken:?}");
        let picture = browser.picture();
        assert!(shows_something(&picture, 50_000), "the {appearance} page is blank");
        pictures.push(picture);
    }
    assert!(pictures[0] != pictures[1], "dark looks like light");
    browser.look("light", "print");
    assert_eq!(
        browser.eval("getComputedStyle(document.querySelector('.controls')).display"),
        "none"
    );
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn hover_and_keys_name_the_trial_in_every_figure() {
    let Some(mut browser) = browser("hover_and_keys_name_the_trial_in_every_figure") else {
        return;
    };
    let dir = report();
    browser.size(1100, 900);
    browser.open(&dir.path().join("index.html"));
    browser
        .hover("document.querySelector('#figure-run-order .mark[data-trial=\"b05-inet6-dxr\"]')");
    let tip = browser.eval("document.getElementById('tip').textContent");
    assert!(tip.as_str().unwrap().starts_with("b05-inet6-dxr: "), "{tip}");
    assert_eq!(browser.eval("document.getElementById('tip').classList.contains('on')"), true);
    let seen = "Array.from(document.querySelectorAll('.mark.hot')).filter(m => m.getClientRects().length).length";
    assert_eq!(browser.eval(seen), 4);
    browser.eval("document.getElementById('figure-distribution').focus()");
    browser.press("ArrowRight");
    let first = browser.eval("document.getElementById('said').textContent");
    browser.press("ArrowRight");
    let second = browser.eval("document.getElementById('said').textContent");
    assert!(first.as_str().unwrap().contains("-inet-radix: "), "{first}");
    assert!(first != second);
    browser.press("Escape");
    assert_eq!(browser.eval("document.querySelectorAll('.mark.hot').length"), 0);
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn toggles_hide_a_variant_everywhere() {
    let Some(mut browser) = browser("toggles_hide_a_variant_everywhere") else { return };
    let dir = report();
    browser.size(1100, 900);
    browser.open(&dir.path().join("index.html"));
    let shown = "Array.from(document.querySelectorAll('[data-variant=dxr]')).filter(e => e.getClientRects().length).length";
    assert!(browser.eval(shown).as_u64().unwrap() > 8);
    browser.eval("document.querySelector('input[data-toggle=variant][value=dxr]').click()");
    assert_eq!(browser.eval(shown), 0);
    browser.eval("document.querySelector('input[data-toggle=variant][value=dxr]').click()");
    assert!(browser.eval(shown).as_u64().unwrap() > 8);
    browser.eval("document.querySelector('input[data-toggle=traffic][value=inet6]').click()");
    let hidden = "Array.from(document.querySelectorAll('g[data-traffic=inet6]')).every(e => !e.getClientRects().length)";
    assert_eq!(browser.eval(hidden), true);
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn a_phone_gets_drawings_of_its_own_and_nothing_is_wider_than_it() {
    let name = "a_phone_gets_drawings_of_its_own_and_nothing_is_wider_than_it";
    let Some(mut browser) = browser(name) else { return };
    let dir = report();
    browser.size(400, 900);
    browser.open(&dir.path().join("index.html"));
    let shown = "Array.from(document.querySelectorAll('svg.figure')).filter(f => f.getClientRects().length)";
    let all = browser.eval(&format!("{shown}.every(f => f.classList.contains('for-phone'))"));
    assert_eq!(all, true);
    assert!(browser.eval(&format!("{shown}.length")).as_u64().unwrap() >= 6);
    // The page itself never scrolls sideways; tables do, and say so.
    let wider = "document.documentElement.scrollWidth <= 400 ? [] : Array.from(document.querySelectorAll('body *')) \
         .filter(e => !e.closest('.wide,pre') && e.getBoundingClientRect().right > 401) \
         .map(e => e.tagName + ' ' + e.id + ' ' + e.className)";
    assert_eq!(browser.eval(wider), json!([]));
    for wide in [".wide.more", "pre.more"] {
        let count = format!("document.querySelectorAll('{wide}').length > 0");
        assert_eq!(browser.eval(&count), true, "{wide}");
    }
    // No text of a figure stands beyond its drawing.
    let beyond = format!(
        "{shown}.flatMap(f => {{ const b = f.getBoundingClientRect(); return Array.from(f.querySelectorAll('text')).filter(t => {{ \
         const r = t.getBoundingClientRect(); return r.width && (r.left < b.left - 2 || r.right > b.right + 2); }}) \
         .map(t => f.id + ': ' + t.textContent); }})"
    );
    assert_eq!(browser.eval(&beyond), json!([]));
    // What hides variants does not stay on so small a screen: that of twelve filled most of it.
    let stays = "getComputedStyle(document.querySelector('.controls')).position";
    assert_eq!(browser.eval(stays), "static");
    // Doubts within verdicts can be read (WCAG 2, 1.4.3).
    let contrast = "(() => { const light = (name) => { \
         const hex = getComputedStyle(document.documentElement).getPropertyValue(name).trim(); \
         const parts = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255); \
         const [r, g, b] = parts.map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); \
         return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05; }; \
         const [one, other] = [light('--warn'), light('--shade')]; \
         return Math.max(one, other) / Math.min(one, other); })()";
    let contrast = browser.eval(contrast);
    assert!(contrast.as_f64().is_some_and(|times| times >= 4.5), "{contrast}");
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// Twelve variants with two traffics: 22 cards stood before "Is it valid?".
#[test]
fn many_variants_leave_the_page_short_and_no_text_beside_its_place() {
    let name = "many_variants_leave_the_page_short_and_no_text_beside_its_place";
    let Some(mut browser) = browser(name) else { return };
    let dir = tempfile::tempdir().unwrap();
    let mut results = super::causes::taken();
    example::write(&mut results, dir.path());
    write(dir.path(), &results).unwrap();
    for width in [400, 1400] {
        browser.size(width, 900);
        browser.open(&dir.path().join("index.html"));
        let cards = browser.eval("document.getElementById('verdicts').offsetHeight");
        assert!(cards.as_u64().unwrap() < 1_200, "{width}: {cards}");
        let wide = format!("document.documentElement.scrollWidth - {width}");
        assert!(browser.eval(&wide).as_i64().unwrap() <= 0, "{width}");
        // One card alone takes the whole width: half of it stood empty.
        let rest = "document.getElementById('verdicts').clientWidth \
             - document.querySelector('.verdict').offsetWidth";
        assert_eq!(browser.eval(rest), 0, "{width}");
    }
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn contents_lead_to_sections_and_heads_sort_tables() {
    let Some(mut browser) = browser("contents_lead_to_sections_and_heads_sort_tables") else {
        return;
    };
    let dir = report();
    browser.size(1100, 900);
    browser.open(&dir.path().join("index.html"));
    let links = "Array.from(document.querySelectorAll('nav.contents a'))";
    assert!(browser.eval(&format!("{links}.length")).as_u64().unwrap() >= 4);
    let whole = format!("{links}.every(a => document.querySelector(a.getAttribute('href')))");
    assert_eq!(browser.eval(&whole), true);
    let column = "Array.from(document.querySelectorAll('#figures table')[0].rows).slice(1).map(r => r.cells[2].textContent)";
    let click = "document.querySelectorAll('#figures table')[0].rows[0].cells[2].querySelector('button').click()";
    let before = browser.eval(column);
    browser.eval(click);
    let up = browser.eval(column);
    browser.eval(click);
    let down = browser.eval(column);
    assert!(up != before || down != before, "{before}");
    let reversed: Vec<Value> = up.as_array().unwrap().iter().rev().cloned().collect();
    assert_eq!(down, Value::Array(reversed));
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn flame_graph_opens_inside_the_page() {
    let Some(mut browser) = browser("flame_graph_opens_inside_the_page") else { return };
    let dir = report();
    browser.size(1100, 900);
    browser.open(&dir.path().join("index.html"));
    browser.eval(
        "(async () => { const d = document.querySelector('details[data-flame]'); d.open = true; \
         d.scrollIntoView(); const f = d.querySelector('iframe'); \
         await new Promise((done) => f.addEventListener('load', done)); })()",
    );
    let address = browser.eval("document.querySelector('details[data-flame] iframe').src");
    assert!(address.as_str().unwrap().starts_with("blob:"), "{address}");
    assert!(shows_something(&browser.picture(), 50_000));
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// Pictures of every part of the page, to be looked at.
#[test]
#[ignore = "takes pictures to look at: FWDLAB_PICTURES=DIR, of FWDLAB_PAGE=FILE or a made-up report"]
fn pictures_for_the_eye() {
    let Some(place) = std::env::var_os("FWDLAB_PICTURES").map(std::path::PathBuf::from) else {
        return;
    };
    let Some(mut browser) = browser("pictures_for_the_eye") else { return };
    let dir = report();
    let page = std::env::var_os("FWDLAB_PAGE")
        .map_or_else(|| dir.path().join("index.html"), std::path::PathBuf::from);
    std::fs::create_dir_all(&place).unwrap();
    let width = std::env::var("FWDLAB_WIDTH").ok().and_then(|w| w.parse().ok()).unwrap_or(1100);
    browser.size(width, 1500);
    for appearance in ["light", "dark"] {
        browser.look(appearance, "screen");
        let taken = browser.open(&page);
        println!("{appearance}: ready after {taken:?}");
        for part in ["verdicts", "figures", "run-order", "flames", "provenance", "ministat"] {
            browser.eval(&format!(
                "(async () => {{ const s = document.getElementById('{part}'); if (!s) return; \
                 if ('{part}' === 'flames') for (const d of s.querySelectorAll('details')) d.open = true; \
                 scrollTo(0, '{part}' === 'verdicts' ? 0 : s.offsetTop - 60); \
                 await new Promise((done) => setTimeout(done, 400)); }})()"
            ));
            let picture = browser.picture();
            std::fs::write(place.join(format!("{appearance}-{part}.png")), picture).unwrap();
        }
    }
}
