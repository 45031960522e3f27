//! Why something cannot go on, in words.

/// Why the guest cannot go on, in words for the host.
pub(super) type Result<T, E = String> = std::result::Result<T, E>;

pub(super) fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}
