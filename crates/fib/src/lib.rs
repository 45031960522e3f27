//! fwdlab-fib
