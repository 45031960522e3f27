//! `.info` files: which image was booted, which configuration was set, which traffic was sent.

use fwdlab_results::Trial;

use super::kept::Names;
use crate::axes::Axes;

/// The file of a prefix; `None` where what was imported had none.
pub fn text(prefix: &str, trials: &[&Trial], kept: Option<&Names>) -> Option<String> {
    let values = match kept {
        Some(names) => {
            let of = |value: &Option<String>| value.clone().unwrap_or_default();
            [of(&names.image), of(&names.configuration), of(&names.traffic), of(&names.uname)]
        }
        None => {
            let first = trials.first();
            let traffic = first.map_or("", |trial| trial.traffic.as_str()).replace(' ', "_");
            let uname = first.and_then(|trial| trial.measured.proof.get("uname"));
            let Axes { image, configuration, traffic } = Axes::of_traffic(prefix, &traffic);
            [image, configuration, traffic, uname.cloned().unwrap_or_default()]
        }
    };
    let is_known = values.iter().any(|value| !value.is_empty());
    let lines = ["IMAGE", "CFG", "PKTGEN", "UNAME"].iter().zip(&values);
    let text = lines.map(|(name, value)| format!("{name}=\"{}\"\n", quoted(value))).collect();
    is_known.then_some(text)
}

/// Text within a shell's double quotes: nothing in it is expanded.
fn quoted(text: &str) -> String {
    let mut safe = String::new();
    for c in text.chars() {
        if matches!(c, '"' | '\\' | '$' | '`') {
            safe.push('\\');
        }
        safe.push(if c.is_control() { ' ' } else { c });
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::info::Info;

    #[test]
    fn quotes_survive_a_shell() {
        let hostile = "$(reboot) `id` \"x\\";
        let text = format!("IMAGE=\"{}\"", quoted(hostile));
        assert_eq!(Info::parse(text.as_bytes()).image(), Some(hostile));
    }

    #[test]
    fn a_configuration_is_no_image() {
        let of = |prefix: &str| {
            let trial =
                Trial { traffic: "small frames".to_owned(), ..fwdlab_results::examples::trial(0) };
            Info::parse(text(prefix, &[&trial], None).unwrap().as_bytes())
        };
        let info = of("radix.small_frames");
        assert_eq!((info.image(), info.configuration()), (None, Some("radix")));
        assert_eq!(info.traffic(), Some("small_frames"));
        let info = of("r368606D27401v4.small_frames");
        assert_eq!((info.image(), info.configuration()), (Some("r368606D27401v4"), None));
    }
}
