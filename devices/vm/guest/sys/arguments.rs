//! What the program was told.

/// The words of its command line, the program's name first.
pub struct Arguments {
    stack: *const usize,
}

impl Arguments {
    /// Where the kernel put them.
    pub(super) fn at(stack: *const usize) -> Self {
        Self { stack }
    }

    /// Nothing for those that are not there.
    pub fn get(&self, at: usize) -> &'static [u8] {
        // SAFETY: the kernel puts their number and then their addresses onto the stack, where they
        // stay; each ends with a zero byte.
        unsafe {
            if at >= *self.stack {
                return b"";
            }
            let text = *self.stack.add(1 + at) as *const core::ffi::c_char;
            core::ffi::CStr::from_ptr(text).to_bytes()
        }
    }
}
