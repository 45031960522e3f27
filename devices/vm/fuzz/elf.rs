//! ELF files: programs and modules for guests, kernels.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fwdlab_vm::read_elf(bytes));
