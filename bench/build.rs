//! Links the peers that are at hand: DPDK when Debian's `libdpdk-dev` is installed, and others'
//! lookup code from the directories that [`AUTHORS`] names.
//!
//! Without them the bench still builds and says at run time which peers are missing.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

const SHIMS: [&str; 2] = ["shim/dpdk.c", "shim/forward.c"];

/// A peer in its authors' own code.
struct Author {
    /// Name of the `cfg`, and of the environment variable after `FWDLAB_PEER_`.
    name: &'static str,
    /// Where it is beside the checkout.
    beside: &'static str,
    /// Where its headers are below its directory.
    include: &'static str,
    /// A file that its directory holds.
    proof: &'static str,
    /// Its own files, compiled as they are.
    files: &'static [&'static str],
    /// Our files, which include the rest of it.
    shims: &'static [&'static str],
    is_cpp: bool,
}

const AUTHORS: [Author; 3] = [
    Author {
        name: "poptrie",
        beside: "poptrie",
        include: "",
        proof: "poptrie4.c",
        files: &["poptrie.c", "buddy.c"],
        shims: &["shim/author_poptrie4.c", "shim/author_poptrie6.c"],
        is_cpp: false,
    },
    Author {
        name: "dxr",
        beside: "dxr",
        include: "",
        proof: "in_fib_dxr.c",
        files: &[],
        shims: &["shim/author_dxr.c"],
        is_cpp: false,
    },
    Author {
        name: "planb",
        beside: "planb-lpm",
        include: "include",
        proof: "include/lpm6.hpp",
        files: &[],
        shims: &["shim/author_planb.cpp"],
        is_cpp: true,
    },
];

/// Headers of FreeBSD's kernel that DXR asks for; `shim/freebsd.h` has what they would bring.
const KERNEL_HEADERS: [&str; 11] = [
    "opt_inet.h",
    "sys/kernel.h",
    "sys/ctype.h",
    "sys/epoch.h",
    "sys/malloc.h",
    "sys/module.h",
    "sys/sysctl.h",
    "vm/uma.h",
    "netinet/in_fib.h",
    "net/route.h",
    "net/route/route_ctl.h",
];

fn main() {
    println!("cargo:rerun-if-changed=shim");
    println!("cargo:rustc-check-cfg=cfg(dpdk, poptrie, dxr, planb)");
    // Elsewhere there are no libraries of this machine, and their code is compiled for its processor.
    if env::var("TARGET") == env::var("HOST") {
        peers_in_c();
    }
    println!("cargo:rustc-env=FWDLAB_RUSTC={}", compiler_version());
}

fn peers_in_c() {
    let version = find_version();
    if let Some(version) = version.filter(|_| compile_shim()) {
        println!("cargo:rustc-cfg=dpdk");
        println!("cargo:rustc-env=FWDLAB_DPDK_VERSION={version}");
    }
    for author in &AUTHORS {
        match author.compile() {
            Ok(true) => println!("cargo:rustc-cfg={}", author.name),
            Ok(false) => {}
            Err(error) => println!("cargo:warning={} is left out: {error}", author.name),
        }
    }
}

impl Author {
    /// The directory that the environment names, or the one beside the checkout.
    fn directory(&self) -> Result<Option<PathBuf>, String> {
        let variable = format!("FWDLAB_PEER_{}", self.name.to_uppercase());
        println!("cargo:rerun-if-env-changed={variable}");
        let Some(named) = env::var_os(&variable) else {
            let beside =
                Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/peers").join(self.beside);
            println!("cargo:rerun-if-changed={}", beside.display());
            return Ok(beside.join(self.proof).is_file().then_some(beside));
        };
        let named = PathBuf::from(named);
        match named.join(self.proof).is_file() {
            true => Ok(Some(named)),
            false => Err(format!("{variable}: there is no {} in {}", self.proof, named.display())),
        }
    }

    /// Compiles it with our shim; false where it is not at hand.
    fn compile(&self) -> Result<bool, String> {
        let Some(directory) = self.directory()? else { return Ok(false) };
        let mut build = cc::Build::new();
        build
            .cpp(self.is_cpp)
            .opt_level(3)
            .flag("-march=native")
            .warnings(false)
            .files(self.files.iter().map(|file| directory.join(file)))
            .files(self.shims)
            .include("shim");
        if self.is_cpp {
            build.std("c++17");
        }
        if self.name == "dxr" {
            build.include(kernel_headers(&directory).map_err(|error| error.to_string())?);
        }
        build.include(directory.join(self.include));
        let library = format!("fwdlab_author_{}", self.name);
        build.try_compile(&library).map_err(|error| error.to_string())?;
        Ok(true)
    }
}

/// Empty headers under the names that the module includes, and one that leads to its own.
fn kernel_headers(directory: &Path) -> io::Result<PathBuf> {
    let root = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("kernel");
    let own = format!("#include \"{}\"\n", directory.join("fib_algo.h").canonicalize()?.display());
    let empty = KERNEL_HEADERS.map(|name| (name, ""));
    for (name, text) in empty.into_iter().chain([("net/route/fib_algo.h", own.as_str())]) {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap_or(&root))?;
        fs::write(path, text)?;
    }
    Ok(root)
}
/// The version of libdpdk, if pkg-config knows it.
fn find_version() -> Option<String> {
    let library = pkg_config::Config::new().cargo_metadata(false).probe("libdpdk").ok()?;
    Some(library.version)
}

/// Compiles the shims and links only the libraries that it calls (libdpdk as a
/// whole names a hundred). Returns false when the C compiler fails.
fn compile_shim() -> bool {
    let mut build = cc::Build::new();
    build
        .files(SHIMS)
        .opt_level(3)
        .flag("-march=native")
        .flag("-include")
        .flag("rte_config.h")
        .warnings(false);
    let Ok(library) = pkg_config::Config::new().cargo_metadata(false).probe("libdpdk") else {
        return false;
    };
    for path in &library.include_paths {
        build.include(path);
    }
    if let Err(error) = build.try_compile("fwdlab_dpdk_shim") {
        println!("cargo:warning=the DPDK peers are left out: {error}");
        return false;
    }
    for path in &library.link_paths {
        println!("cargo:rustc-link-search=native={}", path.display());
    }
    for name in ["rte_fib", "rte_rib", "rte_lpm", "rte_mempool", "rte_ring", "rte_eal"] {
        println!("cargo:rustc-link-lib=dylib={name}");
    }
    true
}

fn compiler_version() -> String {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let output = std::process::Command::new(rustc).arg("--version").output();
    output
        .ok()
        .and_then(|o| String::from_utf8(o.stdout).ok())
        .map_or_else(|| "unknown".into(), |text| text.trim().to_string())
}
