//! fwdlab-router
