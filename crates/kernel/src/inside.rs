//! The configuration that an image of Linux holds (CONFIG_IKCONFIG), as `scripts/extract-ikconfig` of its sources
//! finds it: between two words, compressed, in the kernel that the image unpacks.

use std::path::Path;

use fwdlab_guard::{MIB, input};

use crate::packed::Packing;

/// Longest image, and longest kernel that one unpacks to.
const MOST_BYTES: u64 = 256 * MIB;

/// Longest configuration.
const MOST_TEXT: u64 = 4 * MIB;

/// The words around it (`kernel/configs.c`).
const START: &[u8] = b"IKCFG_ST";
const END: &[u8] = b"IKCFG_ED";

/// The configuration in an image; nothing where it holds none, or is compressed in another way.
pub(crate) fn configuration(image: &Path) -> Option<String> {
    let bytes = input::named_bytes(image, MOST_BYTES).ok()?;
    let packed = payload(&bytes)?;
    let kernel = Packing::of_start(packed)?.unpack(packed, MOST_BYTES).ok()?;
    let start = find(&kernel, START)? + START.len();
    let behind = kernel.get(start..)?;
    let text = Packing::Gzip.unpack(behind.get(..find(behind, END)?)?, MOST_TEXT).ok()?;
    String::from_utf8(text).ok()
}

/// The compressed kernel, where the header says that it lies (Documentation/arch/x86/boot.rst: `payload_offset`,
/// from the end of the set-up sectors, since protocol 2.08).
fn payload(image: &[u8]) -> Option<&[u8]> {
    const SETUP_SECTORS: usize = 0x1f1;
    const PROTOCOL: (usize, u32) = (0x206, 0x208);
    const OFFSET: usize = 0x248;
    const LENGTH: usize = 0x24c;
    let number = |at: usize| {
        let bytes = image.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_le_bytes(bytes))
    };
    let is_known =
        image.get(0x202..0x206)? == b"HdrS" && number(PROTOCOL.0)? & 0xffff >= PROTOCOL.1;
    let sectors = match *image.get(SETUP_SECTORS)? {
        0 => 4,
        sectors => usize::from(sectors),
    };
    let start = (sectors + 1) * 512 + usize::try_from(number(OFFSET)?).ok()?;
    let end = start.checked_add(usize::try_from(number(LENGTH)?).ok()?)?;
    image.get(start..end).filter(|_| is_known)
}

fn find(bytes: &[u8], word: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, word)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use ruzstd::encoding::CompressionLevel;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(bytes).expect("memory");
        packer.finish().expect("memory")
    }

    /// An image of one set-up sector with this kernel in it, compressed.
    fn image(packed: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; 1024];
        bytes[0x1f1] = 1;
        bytes[0x202..0x206].copy_from_slice(b"HdrS");
        bytes[0x206..0x208].copy_from_slice(&0x20f_u16.to_le_bytes());
        bytes[0x248..0x24c].copy_from_slice(&7_u32.to_le_bytes());
        bytes[0x24c..0x250].copy_from_slice(&(packed.len() as u32).to_le_bytes());
        bytes.extend([0; 7]);
        bytes.extend(packed);
        bytes
    }

    fn found(bytes: &[u8]) -> Option<String> {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("bzImage");
        std::fs::write(&path, bytes).expect("a file");
        configuration(&path)
    }

    /// Such a kernel booted, and only then said what it lacks.
    #[test]
    fn the_configuration_in_an_image_is_found_and_damage_is_none() {
        let text = "# Linux/x86 6.12.0 Kernel Configuration\nCONFIG_VETH=m\n";
        let kernel = [b"code", START, &gzip(text.as_bytes()), END, b"more"].concat();
        // Behind the kernel stands its unpacked length.
        let whole = image(&[gzip(&kernel), vec![1, 2, 3, 4]].concat());
        assert_eq!(found(&whole).as_deref(), Some(text));
        assert_eq!(found(&image(&gzip(b"no words"))), None);
        assert_eq!(found(&image(b"\x28\xb5\x2f\xfd zstd")), None);
        let zstd = ruzstd::encoding::compress_to_vec(&*kernel, CompressionLevel::Fastest);
        let image_of_zstd = image(&[zstd, vec![1, 2, 3, 4]].concat());
        assert_eq!(found(&image_of_zstd).as_deref(), Some(text));
        for cut in [0, 0x201, 0x24e, 1024, 1040, whole.len() - 20] {
            assert_eq!(found(&whole[..cut]), None, "{cut}");
        }
        let mut far = whole;
        far[0x248..0x250].fill(0xff);
        assert_eq!(found(&far), None);
    }
}
