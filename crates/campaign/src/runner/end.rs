//! How a run ends.

/// After so many failures in a row of which tester or network are to blame the campaign stops: more
/// trials would only fail as well.
pub(super) const MOST_TESTBED_FAILURES: u32 = 3;

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The campaign is finished and recorded as such.
    Finished,
    /// It was stopped; the same command goes on with it.
    Stopped,
    /// Tester or network failed again and again; the same command goes on when they work.
    TestbedBroken {
        /// The last failure.
        why: String,
    },
    /// Nothing can be measured as it is; the same command goes on when that is mended.
    Misconfigured {
        /// What is wrong.
        why: String,
    },
}
