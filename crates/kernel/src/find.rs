//! Where a kernel comes from: an image, the directory of an unpacked package, a Debian package
//! file, or the release of a kernel that is installed on this machine.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::{KernelError, freebsd, inside, intact, tree};

/// Where a FreeBSD kernel lies in a directory: in an unpacked archive, in a build directory.
const FREEBSD_PLACES: [&str; 2] = ["boot/kernel/kernel", "kernel"];

/// In an unpacked package, which build of it this is.
const BUILD: &str = ".fwdlab-build";

/// A kernel that can be booted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The image: Linux's bzImage, or FreeBSD's kernel.
    pub image: PathBuf,
    /// Its modules (Linux's `.../lib/modules/RELEASE`); none for a kernel that has all it needs
    /// built in.
    pub modules: Option<PathBuf>,
    /// Its configuration, where it lies beside it.
    pub config: Option<PathBuf>,
}

impl Kernel {
    /// The commit of the tree in which it was built, or that nobody knows it.
    pub fn commit(&self) -> String {
        match tree::of(&self.image).map(tree::commit) {
            Some(Some(commit)) => commit,
            Some(None) => "not known: its tree is not in git".to_owned(),
            None => "not known: it does not lie in the tree in which it was built".to_owned(),
        }
    }

    /// The configuration that the image itself holds (CONFIG_IKCONFIG), where it can be unpacked here: one that is
    /// compressed with zstd, xz or gzip. Takes as long as to unpack it.
    pub fn own_configuration(&self) -> Option<String> {
        inside::configuration(&self.image)
    }
}

impl Kernel {
    /// Finds what `kernel` and `modules` of a variant mean. Relative paths start at `base`, the
    /// experiment file's directory. A package file is unpacked into a directory beside it.
    ///
    /// # Errors
    /// There is none, or it is not whole; a package cannot be unpacked.
    pub fn find(kernel: &str, modules: Option<&str>, base: &Path) -> Result<Self, KernelError> {
        let path = base.join(kernel);
        let mut found = if let Some(tree) = tree::of(&path) {
            Self::built(tree)?
        } else if path.is_dir() {
            Self::unpacked(&path)?
        } else if path.is_file() && path.extension().is_some_and(|end| end == "deb") {
            Self::packed(&path)?
        } else if path.is_file() {
            Self { modules: beside(&path), config: config_of(&path), image: path }
        } else {
            Self::installed(kernel).ok_or(KernelError::NoKernel { kernel: path })?
        };
        intact::check(&found.image)?;
        if let Some(modules) = modules {
            let dir = base.join(modules);
            if !dir.is_dir() {
                return Err(KernelError::NoModules { dir });
            }
            found.modules = Some(dir);
        }
        Ok(found)
    }

    /// The only kernel below the root of an unpacked package: `boot/vmlinuz-*`, `lib/modules/*`.
    fn unpacked(root: &Path) -> Result<Self, KernelError> {
        let freebsd = FREEBSD_PLACES.map(|place| root.join(place));
        if let Some(image) = freebsd.into_iter().find(|path| freebsd::is_kernel(path)) {
            return Ok(Self { image, modules: None, config: None });
        }
        let boot = root.join("boot");
        let images = entries(if boot.is_dir() { &boot } else { root })?;
        let mut images = images.into_iter().filter(|path| is_image(path) && path.is_file());
        match (images.next(), images.next()) {
            (Some(image), None) => {
                let own = release_of(&image).and_then(|release| modules_below(root, &release));
                Ok(Self { modules: own, config: config_of(&image), image })
            }
            (None, _) => Err(KernelError::NoImage { dir: root.to_owned() }),
            (Some(a), Some(b)) => Err(KernelError::ManyImages { a, b }),
        }
    }

    /// The kernel of a tree in which one was built.
    fn built(tree: &Path) -> Result<Self, KernelError> {
        let image =
            tree::image(tree).ok_or_else(|| KernelError::NotBuilt { dir: tree.to_owned() })?;
        let config = Some(tree.join(tree::CONFIG)).filter(|config| config.is_file());
        Ok(Self { modules: tree::modules(tree), config, image })
    }

    /// Unpacks a Debian package beside itself, once for each build of it; the package is not installed.
    fn packed(package: &Path) -> Result<Self, KernelError> {
        let root = package.with_extension("unpacked");
        let build = build_of(package)?;
        if fwdlab_guard::input::text(&root.join(BUILD), 4096).ok().as_ref() != Some(&build) {
            // Under its name only when it is whole.
            let part = package.with_extension(format!("part-{}", std::process::id()));
            let _ = fs::remove_dir_all(&part);
            unpack(package, &part).inspect_err(|_| drop(fs::remove_dir_all(&part)))?;
            let written = fs::write(part.join(BUILD), build);
            let placed = written.and_then(|()| match fs::remove_dir_all(&root) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
                _ => fs::rename(&part, &root),
            });
            if let Err(error) = placed {
                let _ = fs::remove_dir_all(&part);
                return Err(KernelError::file("unpack", package)(error));
            }
        }
        Self::unpacked(&root).map_err(|error| match error {
            KernelError::NoImage { .. } => {
                KernelError::NotOfAKernel { package: package.to_owned() }
            }
            other => other,
        })
    }

    /// A kernel of this machine, by its release (`uname -r`) or the name of its package.
    fn installed(name: &str) -> Option<Self> {
        let release = name.strip_prefix("linux-image-").unwrap_or(name);
        if release.is_empty() || release.contains('/') {
            return None;
        }
        let image = PathBuf::from(format!("/boot/vmlinuz-{release}"));
        let modules = modules_below(Path::new("/"), release);
        let config = config_of(&image);
        image.is_file().then_some(Self { image, modules, config })
    }
}

/// A kernel that an experiment can name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelAtHand {
    /// What to write after `kernel =`, in an experiment file in the directory that was looked at.
    pub name: String,
    /// Its release, as `uname -r` says it.
    pub release: String,
    /// The image.
    pub image: PathBuf,
    /// Whether its modules are there too.
    pub has_modules: bool,
    /// Whether it is one of this machine's own.
    pub is_installed: bool,
}

/// The kernel that was built in `base`, those that were unpacked into the directory `kernels` below it, and
/// those that are installed on this machine.
pub fn kernels_at_hand(base: &Path) -> Vec<KernelAtHand> {
    let at_hand = |name: String, kernel: Kernel| {
        let release = release_of(&kernel.image)?;
        Some(KernelAtHand {
            name,
            release,
            has_modules: kernel.modules.is_some(),
            is_installed: kernel.image.starts_with("/boot"),
            image: kernel.image,
        })
    };
    let built = tree::of(base).and_then(|tree| at_hand(".".to_owned(), Kernel::built(tree).ok()?));
    let unpacked = entries(&base.join("kernels")).unwrap_or_default();
    let unpacked = unpacked.iter().filter_map(|dir| {
        let name = format!("kernels/{}", dir.file_name()?.to_str()?);
        at_hand(name, Kernel::unpacked(dir).ok()?)
    });
    let installed = entries(Path::new("/boot")).unwrap_or_default();
    let installed = installed.iter().filter(|path| is_image(path)).filter_map(|image| {
        let release = release_of(image)?;
        at_hand(release.clone(), Kernel::installed(&release)?)
    });
    built.into_iter().chain(unpacked).chain(installed).collect()
}

/// Unpacks a Debian package into a new directory.
fn unpack(package: &Path, part: &Path) -> Result<(), KernelError> {
    let packed =
        |why: String, remedy| Err(KernelError::Packed { package: package.to_owned(), why, remedy });
    if let Err(error) = fs::create_dir(part) {
        return packed(
            error.to_string(),
            "copy it to a directory of your own, or unpack it there with `dpkg-deb -x` and name that",
        );
    }
    let output = fwdlab_guard::tool("dpkg-deb").arg("-x").arg(package).arg(part).output();
    let output = output.map_err(KernelError::file("unpack with dpkg-deb", package))?;
    if output.status.success() {
        return Ok(());
    }
    // What comes behind the first line is what followed from it.
    let said = String::from_utf8_lossy(&output.stderr);
    let first = said.lines().next().unwrap_or("dpkg-deb failed").to_owned();
    packed(
        first,
        "it may be cut short, or the disk be full: copy it again, and compare both with sha256sum",
    )
}

/// What tells one build of a package from the next of the same name.
fn build_of(package: &Path) -> Result<String, KernelError> {
    let about = fs::metadata(package).map_err(KernelError::file("read", package))?;
    let written = about.modified().map_err(KernelError::file("read", package))?;
    let since = written.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Ok(format!("{} bytes, written at {} ns\n", about.len(), since.as_nanos()))
}

/// The modules of an image in a `boot` directory, beside which `lib/modules` lies, or of one beside which
/// it lies itself.
fn beside(image: &Path) -> Option<PathBuf> {
    let (own, release) = (image.parent()?, release_of(image)?);
    own.parent().into_iter().chain([own]).find_map(|root| modules_below(root, &release))
}

/// `config-RELEASE` beside the image, or a `.config` copied with it.
fn config_of(image: &Path) -> Option<PathBuf> {
    let own = image.parent()?;
    let named = release_of(image).map(|release| own.join(format!("config-{release}")));
    named.into_iter().chain([own.join(tree::CONFIG)]).find(|config| config.is_file())
}

fn modules_below(root: &Path, release: &str) -> Option<PathBuf> {
    ["lib/modules", "usr/lib/modules"]
        .map(|dir| root.join(dir).join(release))
        .into_iter()
        .find(|dir| dir.is_dir())
}

fn is_image(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    ["vmlinuz", "bzImage"].iter().any(|start| name.starts_with(start))
}

/// `6.1.0-56-cloud-amd64`: as the image says, else the name `vmlinuz-6.1.0-56-cloud-amd64`.
fn release_of(image: &Path) -> Option<String> {
    let named = || image.file_name()?.to_str()?.split_once('-').map(|(_, own)| own.to_owned());
    release_in(image).or_else(named)
}

/// The first word of the text to which the header of a bzImage points (Documentation/arch/x86/boot.rst:
/// `kernel_version`, from offset 0x200).
fn release_in(image: &Path) -> Option<String> {
    const MAGIC: (usize, &[u8]) = (0x202, b"HdrS");
    const POINTER: usize = 0x20e;
    // The pointer is of 16 bits, and a release of 64 bytes at the most.
    let mut head = Vec::new();
    let file = fwdlab_guard::input::found(image, u64::MAX).ok()?;
    file.take(0x200 + (1 << 16) + 64).read_to_end(&mut head).ok()?;
    if !head.get(MAGIC.0..)?.starts_with(MAGIC.1) {
        return None;
    }
    let pointer = head.get(POINTER..POINTER + 2)?;
    let at = 0x200 + usize::from(u16::from_le_bytes(pointer.try_into().ok()?));
    let text = head.get(at..)?.split(|byte| matches!(byte, 0 | b' ')).next()?;
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b".-_+~".contains(byte);
    let is_release = (1..=64).contains(&text.len()) && text.iter().all(is_plain);
    (is_release && text[0] != b'.').then(|| String::from_utf8_lossy(text).into_owned())
}

fn entries(dir: &Path) -> Result<Vec<PathBuf>, KernelError> {
    let failed = || KernelError::file("read", dir);
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir).map_err(failed())? {
        paths.push(entry.map_err(failed())?.path());
    }
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(root: &Path, release: &str) {
        fs::create_dir_all(root.join("boot")).expect("a directory");
        fs::create_dir_all(root.join("lib/modules").join(release)).expect("a directory");
        fs::write(root.join(format!("boot/vmlinuz-{release}")), image(release)).expect("a file");
        fs::write(root.join(format!("boot/config-{release}")), "").expect("a file");
    }

    #[test]
    fn a_directory_or_an_image_leads_to_its_modules() {
        let dir = tempfile::tempdir().expect("a directory");
        let root = dir.path().join("six");
        package(&root, "6.1.0-9-cloud-amd64");
        let find = |kernel| Kernel::find(kernel, None, dir.path()).expect("a kernel");
        let found = find("six");
        assert_eq!(found, find("six/boot/vmlinuz-6.1.0-9-cloud-amd64"));
        assert_eq!(found.modules, Some(root.join("lib/modules/6.1.0-9-cloud-amd64")));
    }

    /// A bzImage as far as its release.
    fn image(release: &str) -> Vec<u8> {
        let mut bytes = vec![0; 0x400];
        bytes[0x202..0x206].copy_from_slice(b"HdrS");
        bytes[0x20e..0x210].copy_from_slice(&0x180_u16.to_le_bytes());
        let text = format!("{release} (me@here) #1 SMP");
        bytes[0x380..0x380 + text.len()].copy_from_slice(text.as_bytes());
        bytes
    }

    #[test]
    fn an_image_of_any_name_says_its_release_and_so_where_its_modules_are() {
        let dir = tempfile::tempdir().expect("a directory");
        let root = dir.path();
        for (place, config) in [("out/boot", "config-6.9.0-rc1+"), ("flat", ".config")] {
            fs::create_dir_all(root.join(place)).expect("a directory");
            fs::write(root.join(place).join("bzImage"), image("6.9.0-rc1+")).expect("a file");
            fs::write(root.join(place).join(config), "").expect("a file");
        }
        for modules in ["out/lib/modules/6.9.0-rc1+", "flat/lib/modules/6.9.0-rc1+"] {
            fs::create_dir_all(root.join(modules)).expect("a directory");
        }
        let find = |kernel| Kernel::find(kernel, None, root).expect("a kernel");
        let (out, flat) = (find("out/boot/bzImage"), find("flat/bzImage"));
        assert_eq!(out.modules, Some(root.join("out/lib/modules/6.9.0-rc1+")));
        assert_eq!(out.config, Some(root.join("out/boot/config-6.9.0-rc1+")));
        assert_eq!(flat.modules, Some(root.join("flat/lib/modules/6.9.0-rc1+")));
        assert_eq!(flat.config, Some(root.join("flat/.config")));
        assert_eq!(find("out").modules, out.modules, "the directory above it");
        // What a header says is a name, and no way out of the directory.
        let wrong = root.join("flat/bzImage");
        for release in ["../../etc", "..", "", "a/b"] {
            fs::write(&wrong, image(release)).expect("a file");
            assert_eq!(release_in(&wrong), None, "{release}");
        }
        fs::write(&wrong, &image("6.9")[..0x300]).expect("a file");
        assert_eq!(release_in(&wrong), None, "cut short");
    }

    /// Packs a directory as `make bindeb-pkg` does; false where there is no dpkg-deb.
    fn packs(root: &Path, package: &Path) -> bool {
        let control = "Package: linux-image-6.9.0\nVersion: 6.9.0-1\nArchitecture: amd64\n\
                       Maintainer: test <test@localhost>\nDescription: a kernel\n";
        fs::create_dir_all(root.join("DEBIAN")).expect("a directory");
        fs::write(root.join("DEBIAN/control"), control).expect("a file");
        let mut build = fwdlab_guard::tool("dpkg-deb");
        build.arg("--root-owner-group").arg("-Znone").arg("-b").arg(root).arg(package);
        build.output().is_ok_and(|output| output.status.success())
    }

    #[test]
    fn a_package_that_was_built_again_is_unpacked_again() {
        let dir = tempfile::tempdir().expect("a directory");
        let (root, file) = (dir.path().join("root"), "linux-image-6.9.0_6.9.0-1_amd64.deb");
        package(&root, "6.9.0");
        if !packs(&root, &dir.path().join(file)) {
            println!("SKIPPED a_package_that_was_built_again_is_unpacked_again: no dpkg-deb here");
            return;
        }
        let find = || Kernel::find(file, None, dir.path()).expect("a kernel");
        let first = find();
        assert_eq!(fs::read(&first.image).expect("an image"), image("6.9.0"));
        assert!(first.modules.is_some() && first.config.is_some(), "{first:?}");
        // What lies there is used while the package stays the same.
        let builds = [image("6.9.0-kept"), image("6.9.0-another")];
        fs::write(&first.image, &builds[0]).expect("a file");
        assert_eq!(fs::read(find().image).expect("an image"), builds[0]);
        fs::write(root.join("boot/vmlinuz-6.9.0"), &builds[1]).expect("a file");
        assert!(packs(&root, &dir.path().join(file)));
        assert_eq!(fs::read(find().image).expect("an image"), builds[1]);
        let left = entries(dir.path()).expect("a directory");
        assert_eq!(left.len(), 3, "root, package and what was unpacked: {left:?}");
        // Cut short, it was said in six lines of dpkg-deb and tar, and without what to do.
        let whole = fs::read(dir.path().join(file)).expect("a package");
        fs::write(dir.path().join("cut.deb"), &whole[..whole.len() / 2]).expect("a file");
        let failure = Kernel::find("cut.deb", None, dir.path()).expect_err("half").to_string();
        assert!(failure.contains("copy it again") && failure.lines().count() == 1, "{failure}");
        assert_eq!(entries(dir.path()).expect("a directory").len(), 4, "nothing is left of it");
        // One without a kernel, such as that of the headers.
        fs::remove_dir_all(root.join("boot")).expect("a removal");
        assert!(packs(&root, &dir.path().join("linux-headers.deb")));
        let failure = Kernel::find("linux-headers.deb", None, dir.path()).expect_err("no kernel");
        assert!(failure.to_string().contains("name the linux-image package"), "{failure}");
    }

    #[test]
    fn unpacked_kernels_are_listed_as_an_experiment_names_them() {
        let dir = tempfile::tempdir().expect("a directory");
        package(&dir.path().join("kernels/6.12"), "6.12.9-cloud-amd64");
        package(&dir.path().join("kernels/6.1"), "6.1.0-9-cloud-amd64");
        fs::create_dir(dir.path().join("kernels/6.1.part")).expect("a directory");
        let found = kernels_at_hand(dir.path());
        let unpacked = found.iter().filter(|kernel| kernel.name.starts_with("kernels/"));
        let pairs: Vec<_> =
            unpacked.map(|kernel| (kernel.name.as_str(), kernel.release.as_str())).collect();
        let wanted =
            [("kernels/6.1", "6.1.0-9-cloud-amd64"), ("kernels/6.12", "6.12.9-cloud-amd64")];
        assert_eq!(pairs, wanted);
        for kernel in &found {
            Kernel::find(&kernel.name, None, dir.path()).expect("what is listed can be named");
        }
    }

    #[test]
    fn a_tree_in_which_a_kernel_was_built_is_a_kernel() {
        let dir = tempfile::tempdir().expect("a directory");
        let tree = dir.path().join("linux");
        fs::create_dir_all(tree.join("arch/x86/boot")).expect("a directory");
        for file in ["Kbuild", "Makefile", ".config", "modules.order"] {
            fs::write(tree.join(file), "").expect("a file");
        }
        let failure = Kernel::find("linux", None, dir.path()).expect_err("no image").to_string();
        assert!(failure.contains("make bzImage modules"), "{failure}");
        fs::write(tree.join("arch/x86/boot/bzImage"), image("6.9.0")).expect("a file");
        let found = Kernel::find("linux", None, dir.path()).expect("a kernel");
        assert_eq!(found.modules, Some(tree.clone()));
        assert_eq!(found.config, Some(tree.join(".config")));
        let link = Kernel::find("linux/arch/x86_64/boot/bzImage", None, dir.path());
        assert_eq!(link.expect("the link that the build makes"), found);
        let at_hand = kernels_at_hand(&tree).into_iter().find(|kernel| !kernel.is_installed);
        let at_hand = at_hand.expect("it is at hand in its tree");
        assert_eq!((at_hand.name.as_str(), at_hand.release.as_str()), (".", "6.9.0"));
    }

    #[test]
    fn wrong_places_are_named_with_what_to_do() {
        let dir = tempfile::tempdir().expect("a directory");
        package(&dir.path().join("two"), "6.1");
        package(&dir.path().join("two"), "6.12");
        fs::create_dir(dir.path().join("none")).expect("a directory");
        let failure = |kernel, modules| {
            let found = Kernel::find(kernel, modules, dir.path());
            found.expect_err("no kernel").to_string()
        };
        assert!(failure("two", None).contains("vmlinuz-6.12"), "{}", failure("two", None));
        assert!(failure("none", None).contains("no kernel image"), "{}", failure("none", None));
        assert!(failure("absent", None).contains("absent"), "{}", failure("absent", None));
        let image = "two/boot/vmlinuz-6.1";
        assert!(failure(image, Some("mods")).contains("mods"), "{}", failure(image, Some("mods")));
    }
}
