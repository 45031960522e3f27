//! What is known of a frame whose passing was timed, and the rule that says which frames are.

/// When a frame passed, as far as that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// By the kernel, in ns since 1970.
    pub software_ns: Option<u64>,
    /// By the card, in ns of its own clock.
    pub hardware_ns: Option<u64>,
}

/// One line of a classic BPF program (Documentation/networking/filter.rst).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterLine {
    /// What it does.
    pub code: u16,
    /// Lines to skip where a comparison holds.
    pub if_true: u8,
    /// Lines to skip where it does not.
    pub if_false: u8,
    /// Its operand.
    pub value: u32,
}

/// Which frames are stamped.
pub trait StampRule: Send + Sync {
    /// What a frame that is stamped is known by, on either side of the device; nothing for all others.
    fn key(&self, frame: &[u8]) -> Option<u64>;

    /// The same as a filter of the kernel; it may let others through, too.
    fn filter(&self) -> Vec<FilterLine>;
}

/// A frame's key, and a time at which it passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamped {
    /// As the rule knows it.
    pub key: u64,
    /// When.
    pub stamp: Stamp,
}

/// What an interface can stamp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ability {
    /// Its driver tells the kernel when frames leave.
    pub software_send: bool,
    /// The card stamps frames that leave.
    pub hardware_send: bool,
    /// The card stamps all frames that arrive.
    pub hardware_receive: bool,
    /// The number of the card's clock; ports with the same one have one time.
    pub clock: Option<u32>,
}
