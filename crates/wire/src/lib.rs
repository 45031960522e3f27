//! fwdlab-wire
