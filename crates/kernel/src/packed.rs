//! The forms in which kernels, their modules and their configuration are compressed.

use std::io::{self, Cursor};
use std::path::Path;

use flate2::read::GzDecoder;
use fwdlab_guard::{MIB, input};
use lzma_rust2::XzReader;
use ruzstd::decoding::StreamingDecoder;

/// What a file is compressed with; of other forms (lz4, bzip2, ...) nothing is known here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    Xz,
    Gzip,
    Zstd,
}

/// The window of `zstd --ultra -22`, with which Linux packs its images; a decoder takes less unless it is told.
const ZSTD_WINDOW: u64 = 128 * MIB;

impl Packing {
    /// By the first bytes.
    pub(crate) fn of_start(bytes: &[u8]) -> Option<Self> {
        const STARTS: [(&[u8], Packing); 3] = [
            (b"\xfd7zXZ\0", Packing::Xz),
            (b"\x1f\x8b\x08", Packing::Gzip),
            (b"\x28\xb5\x2f\xfd", Packing::Zstd),
        ];
        STARTS.iter().find(|(start, _)| bytes.starts_with(start)).map(|(_, packing)| *packing)
    }

    /// By the ending of a file's name.
    pub(crate) fn of_name(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "xz" => Some(Self::Xz),
            "gz" => Some(Self::Gzip),
            "zst" => Some(Self::Zstd),
            _ => None,
        }
    }

    /// What was packed, at most `most` bytes; what follows behind its end is not looked at.
    ///
    /// # Errors
    /// When it is damaged, or unpacks to more.
    pub(crate) fn unpack(self, packed: &[u8], most: u64) -> io::Result<Vec<u8>> {
        match self {
            Self::Xz => input::limited(XzReader::new(Cursor::new(packed), false), most),
            Self::Gzip => input::limited(GzDecoder::new(packed), most),
            Self::Zstd => {
                let reader = StreamingDecoder::new_with_max_window_size(packed, ZSTD_WINDOW);
                input::limited(reader.map_err(io::Error::other)?, most)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `zstd --ultra -22` of a pipe, which names a window of 128 MiB; the images of Linux are made so.
    const WIDE: &[u8] = b"\x28\xb5\x2f\xfd\x04\x88\x59\0\0IKCFG_STabc\xa8\x1c\x0c\x49";

    #[test]
    fn a_wide_window_is_taken_and_no_wider_one() {
        assert_eq!(Packing::of_start(WIDE), Some(Packing::Zstd));
        let behind = [WIDE, &[11, 0, 0, 0]].concat();
        let unpacked = Packing::Zstd.unpack(&behind, 100).expect("a frame and its length");
        assert_eq!(unpacked, b"IKCFG_STabc");
        Packing::Zstd.unpack(WIDE, 10).expect_err("more than 10 bytes");
        let mut wider = WIDE.to_vec();
        wider[5] += 8;
        let error = Packing::Zstd.unpack(&wider, 100).expect_err("a window of 256 MiB");
        assert!(error.to_string().contains("window"), "{error}");
    }

    #[test]
    fn damage_is_an_error() {
        for cut in 0..WIDE.len() - 4 {
            Packing::Zstd.unpack(&WIDE[..cut], 100).expect_err("a part");
        }
    }
}
