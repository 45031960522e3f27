//! What a system call answers.

/// An error number of the system.
#[derive(Clone, Copy)]
pub struct Errno(pub u32);

pub type Answered<T> = Result<T, Errno>;

/// Leaves out a number that says nothing.
pub fn plain(result: Answered<usize>) -> Answered<()> {
    result.map(drop)
}
