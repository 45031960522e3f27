//! Strangers' words in Markdown: what a page that renders them might load or run is taken apart.

/// A heading: one line, without links, pictures or HTML.
pub fn plain(text: &str) -> String {
    text.replace('\n', " ").replace('<', "&lt;").replace('[', "\\[")
}

/// Notes that stand below a heading of the second level: theirs begin below it, pictures from
/// elsewhere become links, and HTML becomes text. Code stays as it is.
pub fn notes(text: &str) -> String {
    taken_apart(text, true)
}

/// A page of Markdown that holds strangers' words: pictures from elsewhere become links, and HTML becomes
/// text. Code and headings stay as they are.
pub fn tame(text: &str) -> String {
    taken_apart(text, false)
}

fn taken_apart(text: &str, is_below: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let start = line.trim_start();
        match (fence, fence_of(start)) {
            (None, Some(sign)) => fence = Some(sign),
            // It ends with as many signs at least, and nothing behind them.
            (Some(open), Some(sign)) if sign.starts_with(open) && start.trim_end() == sign => {
                fence = None;
            }
            (Some(_), _) => {}
            (None, None) => {
                let level = start.bytes().take_while(|byte| *byte == b'#').count();
                if is_below && (1..=6).contains(&level) && start[level..].starts_with([' ', '\t']) {
                    out.push_str(&"#".repeat((level + 2).min(6)));
                    outside_code(&start[level..], &mut out);
                } else {
                    outside_code(line, &mut out);
                }
                out.push('\n');
                continue;
            }
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// The signs of a fence with which a line begins.
fn fence_of(line: &str) -> Option<&str> {
    let sign = line.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
    let behind = line.trim_start_matches(sign);
    let signs = &line[..line.len() - behind.len()];
    (signs.len() >= 3 && !(sign == '`' && behind.contains('`'))).then_some(signs)
}

/// A line with its HTML and pictures taken apart, but for what stands between backticks.
fn outside_code(line: &str, out: &mut String) {
    let is_paired = line.matches('`').count().is_multiple_of(2);
    for (number, piece) in line.split('`').enumerate() {
        if number > 0 {
            out.push('`');
        }
        if is_paired && number % 2 == 1 {
            out.push_str(piece);
            continue;
        }
        let mut rest = piece;
        while let Some(at) = rest.find(['<', '!']) {
            let (before, from) = rest.split_at(at);
            out.push_str(before);
            let is_tag =
                from[1..].starts_with(|c: char| c.is_ascii_alphabetic() || "/!?".contains(c));
            let is_address = from.starts_with("<http://") || from.starts_with("<https://");
            match from.as_bytes()[0] {
                b'<' if is_tag && !is_address => out.push_str("&lt;"),
                b'!' if is_loaded_picture(from) => {}
                other => out.push(char::from(other)),
            }
            rest = &from[1..];
        }
        out.push_str(rest);
    }
}

/// Whether `![words](address)` or `![words][name]` is loaded from elsewhere, or may be.
fn is_loaded_picture(text: &str) -> bool {
    let Some(end) = text.strip_prefix("![").and_then(|_| text.find(']')) else { return false };
    match text[end + 1..].strip_prefix('(') {
        Some(target) => {
            let target = target.trim_start().trim_start_matches('<');
            target.starts_with("//")
                || target.split(['/', ')', ' ']).next().is_some_and(|s| s.contains(':'))
        }
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_keeps_its_headings_and_code_and_runs_nothing() {
        let text = "# a\nrun by <img src=x onerror=y> at 1 < 2 ![g](graph.svg)\n```\n<b>\n```\n";
        let tame = tame(text);
        assert_eq!(
            tame,
            "# a\nrun by &lt;img src=x onerror=y> at 1 < 2 ![g](graph.svg)\n```\n<b>\n```\n"
        );
        // A fence ends where a page that renders it ends it.
        let text = "````\n<b>\n```\n<i>\n````\n<u>\n";
        assert_eq!(super::tame(text), text.replace("<u>", "&lt;u>"));
    }

    #[test]
    fn titles_are_text() {
        assert_eq!(
            plain("<script>x</script> ![p](http://a/b) a\n# b"),
            "&lt;script>x&lt;/script> !\\[p](http://a/b) a # b"
        );
    }

    #[test]
    fn notes_are_below_their_heading_and_load_nothing() {
        let text = "# forged\n<script>alert(1)</script> a < b <https://x.example/>\n\
                    ![p](http://x/y) ![q](q.png) ![r][ref] `<b>` #5\n\
                    ```\n# code <b> ![p](http://x)\n```\n";
        assert_eq!(
            notes(text),
            "### forged\n&lt;script>alert(1)&lt;/script> a < b <https://x.example/>\n\
             [p](http://x/y) ![q](q.png) [r][ref] `<b>` #5\n\
             ```\n# code <b> ![p](http://x)\n```\n"
        );
    }
}
