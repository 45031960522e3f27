//! Frees a testbed that somebody left locked.

use std::path::Path;

use crate::host::CONNECT;
use crate::lock::Lock;
use crate::reach::Reach;
use crate::testbed::Testbed;
use crate::{RemoteError, Result};
use fwdlab_results::FailureKind;

/// Frees the testbed of a file and says who had it; nothing when nobody had. One that is worked on is
/// freed only by force.
///
/// # Errors
/// When the tester cannot be reached, or its owner is still there.
pub fn unlock(file: &Path, program: &Path, is_forced: bool) -> Result<Option<String>> {
    let testbed = Testbed::read(file)?;
    let reach = Reach::new(&testbed, program)?;
    let mut tester = reach.connect(&testbed, &testbed.tester, CONNECT, &|| false)?;
    let Some(holder) = Lock::look(&mut tester, &|| false)? else { return Ok(None) };
    let who = holder.who();
    if holder.is_alive && !is_forced {
        let what = format!("it is still worked on, locked by {who}");
        let remedy = "ask them, or add --force";
        return Err(RemoteError::failed(FailureKind::Locked, tester.role(), what, remedy));
    }
    Lock::break_open(&mut tester)?;
    Ok(Some(who))
}
