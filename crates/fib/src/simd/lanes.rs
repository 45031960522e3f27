//! Loops over the lanes of a batch.
//!
//! Kernels are compiled for vector units only where they are inlined (see [`super::level`]). So they
//! count their lanes and call nothing of the standard library that takes a closure: what the compiler
//! leaves as a call would be code for any processor, with the kernel inside.

/// What `each` makes of each lane.
///
/// `from.map(each)`, which is a call to the standard library: where a crate is built in parts that
/// are not optimised together (`lto = "off"`) it stays one, and the loop around it is not vectorised.
#[inline(always)]
pub(crate) fn map<A: Copy, B: Copy + Default, const N: usize>(
    from: &[A; N],
    mut each: impl FnMut(A) -> B,
) -> [B; N] {
    let mut to = [B::default(); N];
    for i in 0..N {
        to[i] = each(from[i]);
    }
    to
}

/// A batch of addresses in whole groups, and the rest that fills none, each with room for its answers.
pub(crate) struct Groups<'a, A, B, const N: usize> {
    pub(crate) addrs: &'a [[A; N]],
    pub(crate) answers: &'a mut [[B; N]],
    pub(crate) rest: &'a [A],
    pub(crate) rest_answers: &'a mut [B],
}

/// Groups as many addresses as there is room for answers.
#[inline(always)]
pub(crate) fn groups<'a, A, B, const N: usize>(
    addrs: &'a [A],
    answers: &'a mut [B],
) -> Groups<'a, A, B, N> {
    let count = addrs.len().min(answers.len());
    let (addrs, rest) = addrs[..count].as_chunks::<N>();
    let (answers, rest_answers) = answers[..count].as_chunks_mut::<N>();
    Groups { addrs, answers, rest, rest_answers }
}

/// Gives each answer that has a bit in `left`, the first one's lowest, to `each` with its address.
///
/// Groups are not flattened, which is a call to the standard library that builds of parts keep.
#[inline(always)]
pub(crate) fn look_again<A: Copy, B, const N: usize>(
    mut left: u64,
    addrs: &[[A; N]],
    answers: &mut [[B; N]],
    mut each: impl FnMut(&mut B, A),
) {
    while left != 0 {
        let i = left.trailing_zeros() as usize;
        left &= left - 1;
        if let (Some(addrs), Some(answers)) = (addrs.get(i / N), answers.get_mut(i / N)) {
            each(&mut answers[i % N], addrs[i % N]);
        }
    }
}

/// An answer for each address, as `each` finds it; not by `zip`, for the reason of [`map`].
#[inline(always)]
pub(crate) fn fill<A: Copy, B>(addrs: &[A], answers: &mut [B], mut each: impl FnMut(A) -> B) {
    for i in 0..addrs.len().min(answers.len()) {
        answers[i] = each(addrs[i]);
    }
}
