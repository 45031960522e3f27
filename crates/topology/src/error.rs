//! What can go wrong while a topology is made.

use std::io;

/// An error of a topology.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TopologyError {
    /// The kernel refused a request.
    #[error("cannot {doing}: {source}; {}", remedy(source))]
    Kernel {
        /// What was to be done, as the words after "cannot".
        doing: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// A sysctl is missing, or refuses its value.
    #[error(
        "cannot set {name} = {value} in namespace {namespace}: {source}; {}",
        sysctl_remedy(source, name, *has_machine)
    )]
    Sysctl {
        /// Role of the namespace.
        namespace: String,
        /// Name of the sysctl.
        name: String,
        /// The value.
        value: String,
        /// Whether it was tried outside of all namespaces, too.
        has_machine: bool,
        /// What the kernel said.
        source: io::Error,
    },
    /// A file of rules cannot be read.
    #[error(
        "cannot read the nftables rules {path}: {source}; name a file beside the experiment, or write the rules \
         themselves"
    )]
    RuleFile {
        /// The file.
        path: std::path::PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// nft(8) refused a rule set.
    #[error(
        "nft refused the nftables rules of namespace {namespace}: {message}; correct the rules (`nft -c -f FILE` checks a file)"
    )]
    Rules {
        /// Role of the namespace.
        namespace: String,
        /// What nft said, on one line.
        message: String,
    },
    /// A rule set asks for what the kernel has not.
    #[error(
        "nft refused the nftables rules of namespace {namespace}: {message}; the kernel knows no such thing: name \
         what the rules themselves declare and the device's interfaces, port0 and port1, or load the module that it \
         is part of (nf_flow_table_inet for a flowtable, nfnetlink_queue for queue)"
    )]
    Lacking {
        /// Role of the namespace.
        namespace: String,
        /// What nft said, on one line, with its place in the rules.
        message: String,
    },
    /// A rule set that would have nft read other files.
    #[error(
        "{what} may not hold the word \"include\": nft reads, as root, and quotes whatever file it names; write all rules into one file"
    )]
    Include {
        /// The rules, or their file.
        what: String,
    },
    /// nft(8) could not be started.
    #[error("cannot start nft: {source}; install it (apt-get install nftables)")]
    NftMissing {
        /// What the system said.
        source: io::Error,
    },
    /// Something refers to a namespace, interface or port that the topology does not have.
    #[error("the topology has no {what}")]
    Unknown {
        /// What is missing.
        what: String,
    },
}

impl TopologyError {
    /// Wraps an error of the kernel; made for `map_err`.
    pub fn kernel(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::Kernel { doing, source }
    }
}

/// EOVERFLOW, with which the kernel refuses a mask of processors.
const OVERFLOW: i32 = 75;

fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        _ if fwdlab_guard::remedy(error).is_some() => {
            fwdlab_guard::remedy(error).unwrap_or_default()
        }
        _ if error.raw_os_error() == Some(OVERFLOW) => {
            "it names processors that are not there: `nproc --all` counts them, and the lowest bit of a mask is \
             processor 0"
        }
        io::ErrorKind::PermissionDenied => "this needs root, or a container with --privileged",
        io::ErrorKind::Unsupported => {
            "this kernel lacks a part (VETH, NET_NS, ...), or its modules are not at hand; `fwdlab doctor` \
             looks at the kernel that runs here"
        }
        _ => "`fwdlab doctor` says what this machine can do",
    }
}

/// Where the kernel's documentation says what values the sysctls of a name take.
fn documented(name: &str) -> &'static str {
    const BY_FAMILY: [(&str, &str); 4] = [
        ("net.netfilter.", "check the value: Documentation/networking/nf_conntrack-sysctl.rst"),
        ("net.nf_conntrack_", "check the value: Documentation/networking/nf_conntrack-sysctl.rst"),
        ("net.core.", "check the value: Documentation/admin-guide/sysctl/net.rst"),
        ("net.", "check the value: Documentation/networking/ip-sysctl.rst"),
    ];
    let name = name.replace('/', ".");
    let family = BY_FAMILY.iter().find(|(family, _)| name.starts_with(family));
    let other = "check the value: Documentation/admin-guide/sysctl has a page for each family";
    family.map_or(other, |(_, place)| place)
}

fn sysctl_remedy(error: &io::Error, name: &str, has_machine: bool) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound if has_machine => {
            "the guest's kernel has no such sysctl, neither for a network namespace nor for all of them, or knows \
             nothing of this name as its value: check both with `sysctl -a`, and name the module that has it in `load`"
        }
        io::ErrorKind::PermissionDenied if has_machine => {
            "the guest's kernel only shows it once it runs: remove it from the variant, or, where the kernel has a \
             parameter for it, write that in `cmdline`"
        }
        io::ErrorKind::NotFound => {
            "the kernel has no such sysctl in a network namespace, or knows nothing of this name as its \
             value: check both with `sysctl -a`"
        }
        io::ErrorKind::PermissionDenied => {
            "a network namespace can only read this sysctl: remove it from the variant, and set it with \
             `sysctl -w` for all of them before the run"
        }
        io::ErrorKind::ReadOnlyFilesystem => {
            "/proc/sys cannot be written here: in a container that takes --privileged"
        }
        io::ErrorKind::InvalidInput => documented(name),
        _ => "`fwdlab doctor` says what this machine can do",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It sent its reader to `fwdlab doctor`, which found nothing.
    #[test]
    fn a_sysctl_in_a_container_says_what_the_container_lacks() {
        const EROFS: i32 = 30;
        let error = TopologyError::Sysctl {
            namespace: "device".to_owned(),
            name: "net.ipv4.ip_forward".to_owned(),
            value: "1".to_owned(),
            source: io::Error::from_raw_os_error(EROFS),
            has_machine: false,
        };
        assert!(error.to_string().contains("takes --privileged"), "{error}");
    }

    /// Of every value ip-sysctl.rst was to say more.
    #[test]
    fn a_wrong_value_is_looked_up_where_its_setting_is_documented() {
        let wrong = io::Error::from_raw_os_error(22);
        for (name, page) in [
            ("net.netfilter.nf_conntrack_max", "networking/nf_conntrack-sysctl.rst"),
            ("net/netfilter/nf_conntrack_max", "networking/nf_conntrack-sysctl.rst"),
            ("kernel.panic", "a page for each family"),
            ("net.ipv4.ip_forward", "networking/ip-sysctl.rst"),
        ] {
            assert!(sysctl_remedy(&wrong, name, true).ends_with(page), "{name}");
        }
    }
}
