//! What every page has around its content: styles, script, controls. Nothing is fetched.

use std::fmt::Write as _;

use fwdlab_figures::{self, escape};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
/// What a page may do: show and run what is in it, flame graphs as documents of their own.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                      img-src data:; frame-src blob:";
const LOOK: &str = "<button id=\"look\" type=\"button\">appearance: auto</button>";

/// A page, its content as HTML.
pub struct Page<'a> {
    /// The title of the window.
    pub title: &'a str,
    /// What stands above the controls.
    pub header: &'a str,
    /// What can be hidden; `None` when nothing can.
    pub controls: Option<Controls<'a>>,
    /// The page itself.
    pub main: &'a str,
    /// What stands below.
    pub footer: Option<&'a str>,
}

/// What can be hidden everywhere at once.
pub struct Controls<'a> {
    /// The variants.
    pub variants: Vec<Toggle<'a>>,
    /// Names of the traffics.
    pub traffics: &'a [String],
}

/// What hides a variant.
pub struct Toggle<'a> {
    /// Its name.
    pub name: &'a str,
    /// Place of its colour.
    pub colour: usize,
    /// Whether it is the baseline.
    pub is_baseline: bool,
}

impl Page<'_> {
    /// The whole page.
    pub fn html(&self) -> String {
        let Self { header, main, .. } = self;
        let (title, style) = (escape(self.title), style());
        let look = if self.controls.is_none() { format!("<p>{LOOK}</p>\n") } else { String::new() };
        let controls = self.controls.as_ref().map_or_else(String::new, Controls::html);
        let footer = self.footer.map(|text| format!("<footer>{text}</footer>\n"));
        let footer = footer.unwrap_or_default();
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
             <link rel=\"icon\" href=\"data:,\">\n<title>{title}</title>\n\
             <style>\n{style}\n</style>\n</head>\n<body>\n<header>\n{header}{look}</header>\n\
             {controls}<main>\n{main}</main>\n{footer}<div id=\"tip\" role=\"tooltip\"></div>\n\
             <div id=\"said\" aria-live=\"polite\"></div>\n<script>\n{SCRIPT}</script>\n</body>\n\
             </html>\n"
        )
    }
}

impl Controls<'_> {
    fn html(&self) -> String {
        let mut out =
            String::from("<div class=\"controls\"><div>\n<fieldset><legend>variants</legend>\n");
        for Toggle { name, colour, is_baseline } in &self.variants {
            let name = escape(name);
            let role = if *is_baseline { " (baseline)" } else { "" };
            let chip =
                format!("<span class=\"chip\" style=\"background:var(--s{colour})\"></span>");
            let _ = writeln!(out, "<label>{}{chip}{name}{role}</label>", toggle("variant", &name));
        }
        out.push_str("</fieldset>\n<fieldset><legend>traffic</legend>\n");
        for name in self.traffics {
            let name = escape(name);
            let _ = writeln!(out, "<label>{}{name}</label>", toggle("traffic", &name));
        }
        let _ = writeln!(out, "</fieldset>\n{LOOK}\n</div></div>");
        out
    }
}

/// The box that hides what is about `name`.
fn toggle(what: &str, name: &str) -> String {
    format!("<input type=\"checkbox\" checked data-toggle=\"{what}\" value=\"{name}\">")
}

/// The style sheet of every page, both appearances in it.
fn style() -> String {
    let light = fwdlab_figures::properties(&fwdlab_figures::LIGHT);
    let dark = fwdlab_figures::properties(&fwdlab_figures::DARK);
    format!(
        ":root{{{light}--shade:#f8f9fa}}\n\
         @media screen and (prefers-color-scheme:dark){{:root:not([data-look=light]){{{dark}--shade:#1a2129}}}}\n\
         @media screen{{:root[data-look=dark]{{{dark}--shade:#1a2129}}}}\n{STYLE}{}",
        fwdlab_figures::inline_sheet()
    )
}
