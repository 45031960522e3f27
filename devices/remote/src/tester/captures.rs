//! Captures on the hosts of the tester, which replays them there.

use std::path::PathBuf;

use fwdlab_agent::task::Captured;
use fwdlab_experiment::{Load, inputs};

use super::{Hosts, Task};
use crate::host::Connected;
use crate::{RemoteError, Result};

/// Where captures lie on the host that sends and on the one that receives.
#[derive(Debug, Default)]
pub(super) struct Captures {
    known: Vec<(PathBuf, [String; 2])>,
}

impl Captures {
    /// Puts the capture of a traffic, if it has one, onto the hosts; how the one that sends is told of it,
    /// and the one that receives.
    ///
    /// # Errors
    /// When the file is not there any more, is another, or does not reach a host.
    pub(super) fn placed(
        &mut self,
        hosts: &mut Hosts,
        task: &Task<'_>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<[Option<Captured>; 2]> {
        let Some(capture) = &task.traffic.capture else { return Ok([None, None]) };
        let path = inputs::place(&task.experiment.path, &capture.file);
        let known = self.known.iter().find(|(known, _)| *known == path);
        let files = match known {
            Some((_, files)) => files.clone(),
            None => {
                let read = task.experiment.inputs.get(&*capture.file.to_string_lossy());
                let put = |host: &mut Connected| {
                    let placed = host.put_file(&path, is_stopped)?;
                    // Files on hosts have their digests as names.
                    match read.is_none_or(|read| placed.ends_with(read)) {
                        true => Ok(placed),
                        false => Err(RemoteError::File {
                            path: path.clone(),
                            source: std::io::Error::other("it has changed since the run began"),
                        }),
                    }
                };
                let sending = put(&mut hosts.tester)?;
                let receiving = hosts.receiver.as_mut().map(put).transpose()?;
                let files = [sending, receiving.unwrap_or_default()];
                self.known.push((path.clone(), files.clone()));
                files
            }
        };
        let frames = capture.recording.as_ref().map_or(0, |recording| recording.frames());
        // A few frames before a trial, or as many as there can be, come at another rate.
        let as_recorded =
            task.traffic.load == Load::Recorded && task.pps == task.traffic.offered_pps();
        Ok(files.map(|file| Some(Captured { file, frames, as_recorded })))
    }
}
