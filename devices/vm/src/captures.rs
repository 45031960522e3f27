//! Captures for guests: the whole file goes along with every boot.

use std::path::Path;

use fwdlab_experiment::{Experiment, Traffic, inputs};
use fwdlab_guard::digest::Sum;
use fwdlab_guard::input;
use fwdlab_traffic::Recording;

use crate::VmError;

/// A guest holds a capture several times: as it boots, as a file, as packets and as frames.
const MEMORY_SHARE: u64 = 16;

/// A capture as a guest gets it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Replayed<'a> {
    pub(super) file: &'a [u8],
    pub(super) recording: &'a Recording,
}

/// The files that traffics name, with their names.
#[derive(Debug, Default)]
pub(super) struct Captures {
    files: Vec<(std::path::PathBuf, Vec<u8>)>,
}

impl Captures {
    /// Reads them, for guests of so much memory.
    pub(super) fn read(experiment: &Experiment, memory_mb: u32) -> Result<Self, VmError> {
        let mut captures = Self::default();
        for capture in experiment.traffics.iter().filter_map(|traffic| traffic.capture.as_ref()) {
            if captures.file(&capture.file).is_some() {
                continue;
            }
            let path = inputs::place(&experiment.path, &capture.file);
            let failed = || VmError::file("read the capture", &path);
            let length = std::fs::metadata(&path).map_err(failed())?.len();
            let (mib, most) = (length >> 20, u64::from(memory_mb) / MEMORY_SHARE);
            if mib >= most {
                return Err(VmError::LargeCapture { path, mib, most, memory_mb });
            }
            let bytes = input::named_bytes(&path, most << 20).map_err(failed())?;
            let mut sum = Sum::default();
            sum.add(&bytes);
            let noted = experiment.inputs.get(&*capture.file.to_string_lossy());
            if noted.is_some_and(|noted| *noted != sum.digits()) {
                return Err(VmError::ChangedCapture { path });
            }
            captures.files.push((capture.file.clone(), bytes));
        }
        Ok(captures)
    }

    fn file(&self, named: &Path) -> Option<&[u8]> {
        let found = self.files.iter().find(|(file, _)| file == named);
        found.map(|(_, bytes)| bytes.as_slice())
    }

    /// The one file, for guests that are told of all traffics at once.
    ///
    /// # Errors
    /// There are several.
    pub(super) fn only<'a>(
        &'a self,
        traffics: &'a [Traffic],
    ) -> Result<Option<Replayed<'a>>, VmError> {
        if self.files.len() > 1 {
            let why = format!("its traffics replay {} captures", self.files.len());
            return Err(VmError::State { why });
        }
        Ok(traffics.iter().find_map(|traffic| self.of(traffic)))
    }

    /// What a traffic replays, if it does.
    pub(super) fn of<'a>(&'a self, traffic: &'a Traffic) -> Option<Replayed<'a>> {
        let capture = traffic.capture.as_ref()?;
        let recording = capture.recording.as_deref()?;
        Some(Replayed { file: self.file(&capture.file)?, recording })
    }
}
