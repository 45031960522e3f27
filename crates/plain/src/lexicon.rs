//! The words that are known, and what each of them says.

use std::collections::HashMap;
use std::sync::LazyLock;

/// What a word says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lex {
    /// It says nothing that a claim depends on.
    Light,
    /// What a set is called: "kernel", "version".
    Thing,
    Firewall,
    /// "Stays under", "whatever the kernel".
    Stays,
    /// "Divides the rate by two".
    Divides,
    One,
    /// "Both families".
    Family,
    /// What was done: "the patch".
    Patch,
    Patched,
    Unpatched,
    Base,
    All,
    Both,
    /// "No", "none", "never".
    No,
    Neither,
    Only,
    Over,
    Under,
    Reach,
    /// "Goes", "stays": with a bound they say how it is.
    Better(bool),
    Best(bool),
    More,
    Less,
    Most,
    Least,
    Than,
    As,
    /// The rate rises, or falls.
    Moves(bool),
    /// What changes by much or little: "impacted", "benefits".
    Touched(bool),
    /// It varies, or is stable.
    Varies(bool),
    /// "Tighter", "noisier": it varies less, or more.
    Scatters(bool),
    /// "The runs differ by": from the least to the most.
    Differ,
    /// "Unaffected", "unchanged": not touched.
    Untouched,
    /// "Told apart", "distinguished": as a test does it.
    Told,
    /// "Within 50 Kpps".
    Within,
    /// The standard deviation, or the range.
    Spread,
    Run,
    Same,
    Gap,
    Factor(u32),
    Half,
    Last,
    First,
    And,
    With,
    Without,
    To,
    From,
    Between,
    Large,
    Small,
    /// "A lot", "far", "clearly".
    Much,
    /// "Slightly", "barely", "almost".
    Little,
}

/// What a word says; `None` of one that is not known.
pub(crate) fn lex(word: &str) -> Option<Lex> {
    WORDS.get(word).copied()
}

static WORDS: LazyLock<HashMap<&'static str, Lex>> = LazyLock::new(|| {
    let each = |(lex, list): &(Lex, &'static str)| {
        let lex = *lex;
        list.split_whitespace().map(move |word| (word, lex)).collect::<Vec<_>>()
    };
    LISTS.iter().flat_map(each).collect()
});

static LISTS: &[(Lex, &str)] = &[
    (
        Lex::Light,
        "a an the is are was were be been being has have had in on at of it its it's this that these those there \
         here still also even just too very so then we i you do does did by for regarding about concerning \
         speed performance performances pps packet packets throughput rate rates forwarding forward forwarded \
         forwards performs perform again now ones one what which always however overall \
         case cases time times hardware machine apu setup board result's test's they them their both's given \
         gives give brings bring shows show shown makes make made put puts keeps keep \
         stays stay remains remain stayed remained goes go went gets get got pushes push \
         nice good bad big clear clearly really quite actually simply \
         observed measured seen obtained depending depend \
         regardless matter using use used when enabled enabling applied adding added applying \
         fast slow quick thanks able visible statistically significant significantly bench benches udp together \
         compared comparing versus vs against hence therefore thus per second seconds side page take takes took taking makes going other others setting settings \
         which who whose where did having had having us our my me your let's that's there's \
         plain box router host server system platform appliance \
         series whole entire picture story situation trend opposite figures numbers data outcome conclusion \
         already finally furthermore moreover indeed obviously interestingly surprisingly unfortunately fortunately \
         sadly luckily nevertheless nonetheless otherwise likewise again accordingly consequently notably \
         since because due while whereas although though own completed carried run's respectively including \
         find found see saw finds looks look looking behaves behave behaved comes come came \
         nicely well fully completely entirely simply basically generally mostly actually certainly",
    ),
    (
        Lex::Thing,
        "kernel kernels version versions image images revision revisions variant variants build builds \
         diff diffs configuration configurations config configs mode modes release releases \
         option options set sets tests test branch branches patches",
    ),
    (Lex::One, "one single"),
    (Lex::Family, "family families protocol protocols stack stacks"),
    (Lex::Patch, "patch change commit fix upgrade update"),
    (Lex::Patched, "patched after afterwards new modified"),
    (Lex::Unpatched, "unpatched before unmodified non-patched"),
    (Lex::Base, "base baseline reference stock vanilla original"),
    (Lex::All, "all every each any everywhere everything always"),
    (Lex::Divides, "divide divides divided"),
    (Lex::Stays, "stays stay remains remain stayed remained whatever whichever"),
    (Lex::Firewall, "firewall firewalls"),
    (Lex::Both, "both two"),
    (
        Lex::No,
        "no not none never nothing nowhere isn't aren't doesn't don't wasn't weren't didn't cannot can't",
    ),
    (Lex::Neither, "neither nor"),
    (Lex::Only, "only alone"),
    (Lex::Over, "over above exceeds exceed exceeded exceeding beyond"),
    (Lex::Under, "under below beneath"),
    (
        Lex::Reach,
        "reach reaches reached reaching hit hits hitting attain attains attained attaining pass passes passed passing cross \
         crosses crossed crossing",
    ),
    (Lex::Better(true), "faster quicker better higher ahead"),
    (Lex::Better(false), "slower worse lower behind"),
    (Lex::Best(true), "best fastest quickest highest top"),
    (Lex::Best(false), "worst slowest lowest weakest"),
    (Lex::More, "more"),
    (Lex::Less, "less fewer"),
    (Lex::Most, "most"),
    (Lex::Least, "least"),
    (Lex::Than, "than"),
    (Lex::As, "as"),
    (
        Lex::Moves(true),
        "gain gains gained win wins won improve improves improved improvement improvements improving increase \
         increases increased increasing grow grows grew grown speedup progress progression rise rises rose helps \
         help helped raises raise raised boost boosts raising gaining winning progressed progresses progressing augments augmented \
         augmentation supplementary additional extra \
         lift lifts lifted lifting accelerate accelerates accelerated enhances enhanced climbs climbed jumps jumped",
    ),
    (
        Lex::Moves(false),
        "lose loses lost loss losses drop drops dropped decrease decreases decreased reduce reduces reduced \
         reduction regress regresses regressed regression regressions fall falls fell shrink shrinks shrank cost \
         costs slowdown degrade degrades degraded degradation hurts hurt penalty suffers suffer suffered \
         narrows narrowed penalized penalised losing loosing looses slowed diminishes diminished deteriorates deteriorated lowers lowered \
         declines declined worsens worsened sinks sank sunk dips dipped dropping decreasing reducing slows hampers hampered impairs impaired",
    ),
    (Lex::Touched(true), "benefit benefits benefited benefitted advantage profit profits profited"),
    (
        Lex::Touched(false),
        "touched impacted affected impact affects influence influences influenced effect effects",
    ),
    (
        Lex::Varies(true),
        "vary varies varied varying noisy noisiest unstable variable scattered spread spreads erratic \
         scatter scatters fluctuate fluctuates jitter unsteady dispersed spreading",
    ),
    (
        Lex::Varies(false),
        "stable stablest steady steadiest tightest consistent reproducible repeatable constant",
    ),
    (Lex::Untouched, "unaffected unimpacted untouched unchanged"),
    (Lex::Differ, "differ differs differed"),
    (Lex::Told, "distinguished distinguishable"),
    (Lex::Scatters(false), "tighter stabler steadier calmer"),
    (Lex::Scatters(true), "noisier looser"),
    (Lex::Within, "within"),
    (Lex::Spread, "stddev deviation variance noise variation variations variability dispersion"),
    (
        Lex::Run,
        "run runs measure measures result results value values sample samples iteration iterations measurement measurements",
    ),
    (Lex::Same, "same identical equal similar equivalent comparable"),
    (Lex::Gap, "gap difference distance differences"),
    (Lex::Factor(2), "twice double doubles doubled"),
    (Lex::Factor(3), "triple triples tripled thrice"),
    (Lex::Half, "half halves halved"),
    (Lex::Last, "last latest newest"),
    (Lex::First, "first oldest"),
    (Lex::And, "and or"),
    (Lex::With, "with"),
    (Lex::Without, "without w/o"),
    (Lex::To, "to"),
    (Lex::From, "from"),
    (Lex::Between, "between"),
    (Lex::Large, "bigger biggest larger largest wider widest greater greatest strongest stronger"),
    (Lex::Small, "smaller smallest narrower"),
    (Lex::Much, "much lot far way largely"),
    (Lex::Little, "slightly barely almost nearly bit little roughly around approximately hardly"),
];
