//! What the program counts or times.

pub type AnyError = Box<dyn std::error::Error>;

/// A loop: lets at least so many frames pass, and returns how many it was.
pub type Loop = Box<dyn FnMut(usize) -> usize>;

/// A loop by its name, to be made.
pub struct Case {
    pub name: String,
    pub make: Box<dyn Fn() -> Result<Loop, AnyError>>,
}
