//! fwdlab-stats
