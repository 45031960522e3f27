//! The variants and how they were asked for.

use fwdlab_claims::claim::Claims;

use crate::block::{Block, Item};
use crate::source::Source;

/// One line per variant.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let claims = source.claims;
    let line = |variant: &fwdlab_claims::setting::VariantSetting| {
        let is_baseline = claims.cells.iter().any(|c| c.is_baseline && c.variant == variant.name);
        let role = if is_baseline { " (baseline)" } else { "" };
        let set: Vec<String> = variant.set.iter().map(|(k, v)| format!("`{k}={v}`")).collect();
        let set = match (set.is_empty(), logged_kernel(claims, &variant.name)) {
            (false, _) => set.join(", "),
            (true, Some(kernel)) => kernel,
            (true, None) => "default settings".to_owned(),
        };
        Item::from(format!("{}{role}: {set}", variant.name))
    };
    vec![Block::List(claims.setting.variants.iter().map(line).collect())]
}

/// The kernel that all logs of an imported variant name.
fn logged_kernel(claims: &Claims, variant: &str) -> Option<String> {
    if claims.setting.is_blocked {
        return None;
    }
    let mut kernels =
        claims.cells.iter().filter(|c| c.variant == variant).map(|c| c.proof.get("uname"));
    let first = kernels.next().flatten();
    let is_one = kernels.all(|kernel| kernel == first);
    let Some(kernel) = first.filter(|_| is_one) else {
        return Some("no one kernel was logged".to_owned());
    };
    // who built it where stands below
    let words: Vec<&str> = kernel.split(' ').take_while(|word| !word.contains('@')).collect();
    Some(words.join(" "))
}
