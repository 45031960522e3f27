//! fwdlab-port
