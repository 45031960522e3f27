//! What a commit message says was compared.

use fwdlab_claims::claim::Claims;
use fwdlab_results::environment::commit_of;

use crate::block::{Block, Item};
use crate::source::Source;

/// The base, and each variant against it: what it sets, and the kernel that answered.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let claims = source.claims;
    let is_base = |name: &str| claims.cells.iter().any(|c| c.is_baseline && c.variant == name);
    let side = |variant: &fwdlab_claims::setting::VariantSetting| {
        let role = if is_base(&variant.name) { "base" } else { "against it" };
        let set = variant.set.iter().map(|(word, value)| format!("{word}={value}"));
        let what: Vec<String> =
            set.chain(kernel(claims, &variant.name)).chain(commit(claims, &variant.name)).collect();
        let what = if what.is_empty() { "default settings".to_owned() } else { what.join(", ") };
        Item::from(format!("{role}: {}: {what}", variant.name))
    };
    let (base, others): (Vec<_>, Vec<_>) =
        claims.setting.variants.iter().partition(|variant| is_base(&variant.name));
    vec![Block::List(base.into_iter().chain(others).map(side).collect())]
}

/// The kernel that a variant booted, where all its trials name the same, without who built it where.
fn kernel(claims: &Claims, variant: &str) -> Option<String> {
    let mut named =
        claims.cells.iter().filter(|c| c.variant == variant).map(|c| c.proof.get("kernel"));
    let first = named.next()??;
    let words: Vec<&str> = first.split(' ').take_while(|word| !word.contains('@')).collect();
    named.all(|other| other == Some(first)).then(|| words.join(" "))
}

/// The commit of what a variant runs, where its device looked for one.
fn commit(claims: &Claims, variant: &str) -> Option<String> {
    let found = claims.setting.environment.as_ref()?.device.get(&commit_of(variant))?;
    let is_known = found.bytes().all(|byte| byte.is_ascii_hexdigit());
    let short = if is_known { found.get(..12)? } else { found };
    Some(format!("git commit {short}"))
}
