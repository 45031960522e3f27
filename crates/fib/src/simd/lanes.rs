//! Rows of a fixed length, element by element.
//!
//! `map` of arrays, `sum` and the loops of `zip` are functions of the standard library that are not
//! marked for inlining: a build without link-time optimisation calls them, and the code inside is
//! then compiled without the vector units that its kernel asked for.

/// `row.map(each)`, always inlined.
#[inline(always)]
pub(crate) fn map<T: Copy, U: Copy + Default, const N: usize>(
    row: &[T; N],
    each: impl Fn(T) -> U,
) -> [U; N] {
    let mut out = [U::default(); N];
    for (lane, &element) in row.iter().enumerate() {
        out[lane] = each(element);
    }
    out
}

/// How many elements of a row are such, always inlined.
#[inline(always)]
pub(crate) fn count<T, const N: usize>(row: &[T; N], is_such: impl Fn(&T) -> bool) -> u32 {
    let mut sum = 0;
    for element in row {
        sum += u32::from(is_such(element));
    }
    sum
}
