//! fwdlab-lab
