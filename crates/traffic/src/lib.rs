//! fwdlab-traffic
