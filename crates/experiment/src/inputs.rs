//! The files that an experiment names. Their hashes become part of a campaign's record, and copies of
//! them part of its results, so that these can be measured again wherever they are.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use fwdlab_guard::digest::Sum;
use fwdlab_guard::input;

use crate::{ChurnSource, Experiment, Result, RouteSource, Schema, Traffic};
use fwdlab_results::{Error as ResultsError, Results, kept_input};

/// Largest capture file.
pub(crate) const MOST_CAPTURE_BYTES: u64 = 1 << 30;

/// Where a file lies that an experiment names: the copy beside the experiment of a results directory,
/// else at that path, a relative one from the experiment file's directory.
pub fn place(experiment: &Path, named: &Path) -> PathBuf {
    place_in(experiment.parent().unwrap_or(Path::new("")), named)
}

/// As [`place`], for an experiment in the directory `dir`.
pub fn place_in(dir: &Path, named: &Path) -> PathBuf {
    let kept = dir.join(kept_input(&named.to_string_lossy()));
    let is_file = kept.symlink_metadata().is_ok_and(|about| about.is_file());
    if is_file && !is_linked(&kept) { kept } else { dir.join(named) }
}

/// SHA-256 of the copy of the file that an experiment in `dir` names.
///
/// # Errors
/// When it cannot be read, or it or the directory of the copies is a link.
pub fn kept_digest(dir: &Path, named: &str) -> io::Result<String> {
    let kept = dir.join(kept_input(named));
    kept.symlink_metadata()?;
    if is_linked(&kept) {
        return Err(io::Error::other("its directory is a link, which is not followed"));
    }
    digest(&kept)
}

/// Whether the directory of the copies is a link: their bytes are then somebody else's.
fn is_linked(kept: &Path) -> bool {
    kept.parent().is_some_and(Path::is_symlink)
}

/// SHA-256 of a file, in lower-case hexadecimal.
///
/// # Errors
/// When it cannot be read, or is a link or no regular file.
pub fn digest(file: &Path) -> io::Result<String> {
    let mut sum = Sum::default();
    sum.add_all(input::found(file, u64::MAX)?)?;
    Ok(sum.digits())
}

/// Longest file that a device's variants name: rules, an object.
const MOST_OF_DEVICE: u64 = 64 * fwdlab_guard::MIB;

impl Experiment {
    /// The longest that a file may be which the experiment names, by what it is: a longer one is refused before
    /// anything is read of it.
    fn most_bytes(&self, named: &Path) -> u64 {
        let is_capture = |traffic: &Traffic| {
            traffic.capture.as_ref().is_some_and(|capture| capture.file == named)
        };
        match self.common_files().contains(&named) {
            true if self.traffics.iter().any(is_capture) => MOST_CAPTURE_BYTES,
            true => fwdlab_routes::MOST_BYTES,
            false => MOST_OF_DEVICE,
        }
    }

    /// The names of the files of routes, updates and captures, whose bytes are part of
    /// [`Experiment::sha256`], in this order.
    pub(crate) fn common_files(&self) -> Vec<&Path> {
        let mut files: Vec<&Path> = Vec::new();
        if let Some(RouteSource::File(file)) = &self.routes.source {
            files.push(file);
        }
        if let Some(ChurnSource::File(file)) = self.churn.as_ref().map(|churn| &churn.source) {
            files.push(file);
        }
        for capture in self.traffics.iter().filter_map(|traffic| traffic.capture.as_ref()) {
            // One that several traffics replay counts once.
            if !files[..].contains(&capture.file.as_path()) {
                files.push(&capture.file);
            }
        }
        files
    }

    /// Notes the hash of every file that the experiment names, for variants of `device`. What is not
    /// there yet has none: whoever needs it says so.
    pub(crate) fn note_inputs(&mut self, device: &dyn Schema) -> Result<()> {
        let of_variants = self.variants.iter().flat_map(|variant| &variant.set);
        let of_device = of_variants.filter_map(|(word, value)| device.names_file(word, value));
        let own: Vec<PathBuf> = of_device.collect();
        let all = self.common_files().into_iter().chain(own.iter().map(PathBuf::as_path));
        let recorded = self.recorded_inputs();
        let mut noted = BTreeMap::new();
        for named in all {
            let file = place(&self.path, named);
            let is_there = file.symlink_metadata().is_ok_and(|about| about.is_file());
            if is_there {
                let opened = input::found(&file, self.most_bytes(named));
                opened.map_err(ResultsError::io("read", &file))?;
            }
            let is_table =
                matches!(&self.routes.source, Some(RouteSource::File(table)) if table == named);
            if is_there && is_table {
                fwdlab_routes::check_beginning(&file)?;
            }
            self.check_kept(&named.to_string_lossy(), &recorded)?;
            if is_there {
                let sum = digest(&file).map_err(ResultsError::io("read", &file))?;
                noted.insert(named.to_string_lossy().into_owned(), sum);
            }
        }
        self.inputs = noted;
        Ok(())
    }

    /// The hashes of the files in the journal beside the experiment, where it is that of results.
    fn recorded_inputs(&self) -> BTreeMap<String, String> {
        let dir = self.path.parent().unwrap_or(Path::new(""));
        Results::read(dir).map(|results| results.campaign.inputs).unwrap_or_default()
    }

    /// Refuses a copy, or what would be read in its place, that is not what was measured.
    fn check_kept(&self, named: &str, recorded: &BTreeMap<String, String>) -> Result<()> {
        let dir = self.path.parent().unwrap_or(Path::new(""));
        let kept = dir.join(kept_input(named));
        let other = |what: &str| {
            let why = format!(
                "{what} that the journal beside it was measured with; put that file back, or copy \
                 {} elsewhere to measure another",
                self.path.display()
            );
            ResultsError::io("use", &kept)(io::Error::other(why)).into()
        };
        let wanted = recorded.get(named);
        match kept_digest(dir, named) {
            Ok(sum) if wanted.is_none_or(|wanted| *wanted == sum) => Ok(()),
            Ok(_) => Err(other("it is not the file")),
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(ResultsError::io("use", &kept)(error).into())
            }
            Err(_) => match wanted.map(|wanted| (wanted, digest(&dir.join(named)))) {
                Some((wanted, Ok(sum))) if *wanted != sum => {
                    Err(other(&format!("it is gone, and {named} is not the file")))
                }
                _ => Ok(()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_beside_the_experiment_comes_before_the_path() {
        let dir = tempfile::tempdir().unwrap();
        let experiment = dir.path().join("experiment.toml");
        let named = Path::new("../far/routes.txt");
        assert_eq!(place(&experiment, named), dir.path().join(named));
        let kept = dir.path().join(kept_input("../far/routes.txt"));
        std::fs::create_dir(kept.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", &kept).unwrap();
        assert_eq!(place(&experiment, named), dir.path().join(named), "a link is no copy");
        std::fs::remove_file(&kept).unwrap();
        std::fs::write(&kept, "abc").unwrap();
        assert_eq!(place(&experiment, named), kept);
        assert!(kept_digest(dir.path(), "../far/routes.txt").is_ok());
        // The directory of the copies is somebody else's.
        let (own, far) = (dir.path().join("inputs"), dir.path().join("elsewhere"));
        std::fs::rename(&own, &far).unwrap();
        std::os::unix::fs::symlink(&far, &own).unwrap();
        assert_eq!(place(&experiment, named), dir.path().join(named));
        let error = kept_digest(dir.path(), "../far/routes.txt").unwrap_err();
        assert!(error.to_string().contains("is a link"), "{error}");
        std::fs::remove_file(&own).unwrap();
        std::fs::rename(&far, &own).unwrap();
        // Of FIPS 180-4's examples.
        assert!(digest(&kept).unwrap().starts_with("ba7816bf8f01cfea414140de5dae2223"));
    }
}
