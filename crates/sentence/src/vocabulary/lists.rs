//! What words say of a rate: base forms only, the rest is grammar.

use super::meaning::Sense;

/// Verbs; each with the forms that no rule gives, after a colon.
pub(super) const VERBS: [(Sense, &str); 4] = [
    (
        Sense::Rise,
        "accelerate advance amplify ascend augment balloon bounce boost bump climb elevate \
         enhance escalate expedite hasten heighten intensify magnify gain grow:grew,grown improve \
         increase jump leap:leapt lift progress quicken raise ramp rebound recover regain revive \
         rise:rose,risen rocket skyrocket soar spike strengthen surge swell upgrade uplift",
    ),
    (
        Sense::Fall,
        "abate backslide bleed:bled clip collapse crash crater crumble curb curtail cut dampen \
         decay decline decrease deflate degrade deplete depress deteriorate diminish dip dive \
         drop droop dwindle ebb erode evaporate fade fall:fell,fallen falter forfeit haemorrhage \
         halve hemorrhage lag lessen lower nosedive plummet plunge recede reduce regress \
         relinquish retreat sacrifice sag shave shed:shed siphon skid slash squander subside \
         shrink:shrank,shrunk sink:sank,sunk slacken slide:slid slip slow slump stumble suffer \
         tank topple trim tumble vanish wane weaken whittle wilt wither worsen",
    ),
    (
        Sense::Good,
        "aid benefit favor favour dominate eclipse excel flourish help outdo:outdid,outdone outpace outperform \
         outrun:outran outclass outshine:outshone outstrip overtake prosper propel surpass \
         trounce trump turbocharge profit reward shine:shone thrive win:won",
    ),
    (
        Sense::Bad,
        "burden choke constrain cripple damage detract dent hamper handicap harm hinder hobble \
         hurt impair impede inhibit kill lose:lost penalise penalize mar punish ruin sabotage sap \
         spoil stifle strangle struggle throttle undercut undermine wreck cost",
    ),
];

/// Nouns.
pub(super) const NOUNS: [(Sense, &str); 4] = [
    (
        Sense::Good,
        "acceleration advantage benefit bonus boon blessing enhancement growth improvement \
         progress speedup speed-up success uplift upside victory winner payoff",
    ),
    (Sense::Rise, "boost gain increase jump leap rise surge"),
    (
        Sense::Bad,
        "burden casualty catastrophe damage degradation deterioration detriment disadvantage \
         disaster dent downside downturn drag drain drawback handicap harm hindrance impairment \
         liability loser nuisance penalty regression setback slowdown toll victim overhead cost \
         price shortfall deficit",
    ),
    (Sense::Fall, "collapse decline decrease dip drop fall loss plunge reduction slide slip slump"),
];

/// Adjectives; adverbs in -ly follow.
pub(super) const ADJECTIVES: [(Sense, &str); 5] = [
    (
        Sense::Good,
        "advantageous beneficial excellent favorable favourable fruitful helpful profitable \
         rewarding splendid superb superior useful worthwhile",
    ),
    (
        Sense::Bad,
        "adverse costly counterproductive counter-productive damaging detrimental disadvantageous \
         disastrous expensive harmful inferior catastrophic crippling dismal dreadful horrible \
         lousy painful ruinous terrible awful",
    ),
    (
        Sense::Alike,
        "alike comparable constant equal equivalent flat identical immaterial indistinguishable \
         insignificant intact invariant irrelevant negligible neutral similar stable steady \
         unaffected unscathed unvarying interchangeable unaltered unchanged undisturbed \
         unimpaired unimpacted unmoved",
    ),
    (Sense::Useless, "futile pointless unhelpful useless worthless fruitless"),
    (Sense::Harmless, "harmless innocuous painless"),
];

/// Comparatives of rates, which have no rule.
pub(super) const COMPARATIVES: [(Sense, &str); 2] = [
    (
        Sense::Good,
        "better brisker faster nimbler quicker snappier speedier stronger swifter higher",
    ),
    (Sense::Bad, "lower poorer slower sluggish weaker worse"),
];

/// Several words: verbs in any of their forms, `~` for up to two words between.
pub(super) const PHRASES: [(Sense, &str); 7] = [
    (
        Sense::Good,
        "pay off|pay for itself|worth it|worth the|worth having|worth keeping|worth doing|worth enabling|\
         worth disabling|worth applying|worth the effort|make sense|step forward|pick up|come out ahead|\
         come out on top|come ~ out ahead|better off|do better|fare better|good for|great for|good idea|\
         good news|good thing|do wonders|for the better|right direction|get ~ push|get ~ lift|get ~ boost|\
         do ~ favour|\
         do ~ favor|positive for|do a lot for|do much for|in favour of|ahead of|edge out|come first|\
         set ~ record",
    ),
    (
        Sense::Bad,
        "take ~ hit|take ~ toll|take ~ beating|take ~ knock|pay ~ price|step back|step backward|\
         step backwards|fall behind|lag behind|trail behind|lose out|lose ground|do worse|fare worse|\
         worse off|for the worse|wrong direction|give up|give away|eat into|eat up|bad for|bad idea|\
         bad news|bad thing|poor idea|hold ~ back|drag ~ down|knock ~ off|shave ~ off|at the expense|\
         bog ~ down|go south|come last|negative for|\
         come at ~ cost|come at ~ price|come with ~ cost|come with ~ price|come ~ second",
    ),
    (
        Sense::Alike,
        "within noise|within the noise|within ~ noise|in the noise|within ~ margin|within ~ error|\
         within ~ uncertainty|on par|on a par|neck and neck|neck to neck|a wash|level pegging|\
         hold steady|hold ~ own|stay put|break even|cancel out|much the same|same ballpark|\
         too close to call|hard to tell|hard to tell apart|stay ~ flat|no different|nothing to see|\
         not much to see|little to see|not much in it|nothing to choose|make no odds|level off|go unnoticed|\
         pass unnoticed|make no dent|leave ~ alone|leave ~ as it was|not move the needle|barely move the needle|hardly move the needle|\
         shrug off|not care|nothing ~ happen|side by side",
    ),
    (
        Sense::Free,
        "for free|at no cost|free of charge|is free|are free|come free|without cost|without penalty|\
         without any cost|without any penalty|without ~ loss|cost nothing|nothing to pay",
    ),
    (
        Sense::Useless,
        "in vain|waste of time|do nothing|do not help|no use|no point|of no use|no good",
    ),
    (Sense::Harmless, "do no harm|no harm"),
    (Sense::Fall, "melt away|fall away|fall off|drop off"),
];
