//! Refusals that do not last.

use std::io::{self, ErrorKind};
use std::time::Duration;

/// Tries again what the system says may work a little later (EAGAIN, EINTR), for two and a half
/// seconds in all. What has been done in part must be safe to do anew.
///
/// # Errors
/// Those of `work`: others at once, these in the end.
pub fn patiently<T>(mut work: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    const TRIES: u32 = 8;
    for tried in 1..TRIES {
        match work() {
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
            {
                std::thread::sleep(Duration::from_millis(10 << tried));
            }
            result => return result,
        }
    }
    work()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_work_later_is_tried_again_and_nothing_else() {
        let mut tries = 0;
        let later = patiently(|| {
            tries += 1;
            if tries < 3 { Err(ErrorKind::WouldBlock.into()) } else { Ok(tries) }
        });
        assert_eq!(later.unwrap(), 3);
        let mut tries = 0;
        let never: io::Result<()> = patiently(|| {
            tries += 1;
            Err(ErrorKind::StorageFull.into())
        });
        assert_eq!((never.unwrap_err().kind(), tries), (ErrorKind::StorageFull, 1));
    }
}
