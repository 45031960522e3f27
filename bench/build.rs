//! Links the DPDK peers when Debian's `libdpdk-dev` is installed.
//!
//! Without it the bench still builds and says at run time which peers are
//! missing.

const SHIMS: [&str; 2] = ["shim/dpdk.c", "shim/forward.c"];

fn main() {
    SHIMS.iter().for_each(|shim| println!("cargo:rerun-if-changed={shim}"));
    println!("cargo:rustc-check-cfg=cfg(dpdk)");
    let version = find_version();
    if let Some(version) = version.filter(|_| compile_shim()) {
        println!("cargo:rustc-cfg=dpdk");
        println!("cargo:rustc-env=FWDLAB_DPDK_VERSION={version}");
    }
    println!("cargo:rustc-env=FWDLAB_RUSTC={}", compiler_version());
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
