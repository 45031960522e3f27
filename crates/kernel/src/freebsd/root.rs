//! Whether a root image is one, and all of it, as far as its own tables tell: qcow2 as QEMU's
//! docs/interop/qcow2.txt describes it, or a raw disk with UFS or a table of partitions.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use crate::KernelError;

/// How a qcow2 image begins.
pub const QCOW2: &[u8] = b"QFI\xfb";

/// Its header, offsets in bytes; numbers have the greatest byte first.
mod qcow2 {
    use std::ops::Range;

    pub const CLUSTER_BITS: Range<usize> = 20..24;
    pub const TABLES: Range<usize> = 36..40;
    pub const TABLE_OF_TABLES: Range<usize> = 40..48;
    /// Of an entry: where it points, in bytes, and whether it points to compressed bytes, whose place is in
    /// the lower bits.
    pub const PLACE: u64 = 0x00ff_ffff_ffff_fe00;
    pub const COMPRESSED: u64 = 1 << 62;
    /// Sizes of clusters that there are.
    pub const BITS: std::ops::RangeInclusive<u64> = 9..=21;
}

/// So many tables of an image are looked through; each is of 512 MB with the usual clusters.
const MOST_TABLES: u64 = 256;

/// UFS2 and UFS1 (sys/ufs/ffs/fs.h): where the superblock of each lies, where in it the length of a
/// fragment, how many there are, and its mark.
const SUPERBLOCK: u64 = 65_536;
const SUPERBLOCK1: u64 = 8_192;
const FRAGMENT: Range<usize> = 52..56;
const FRAGMENTS: Range<usize> = 1080..1088;
const FRAGMENTS1: Range<usize> = 36..40;
const MARK: Range<usize> = 1372..1376;
const UFS2: u64 = 0x1954_0119;
const UFS1: u64 = 0x0001_1954;

/// A GPT in the second sector: its mark, and where its copy lies at the disk's end.
const GPT: &[u8] = b"EFI PART";
const GPT_COPY: Range<usize> = 32..40;

const SECTOR: u64 = 512;

/// Whether the image can be mounted as far as its tables tell.
///
/// # Errors
/// It cannot be read, or cannot be mounted.
pub fn check(path: &Path) -> Result<(), KernelError> {
    let opened = fwdlab_guard::input::named(path, u64::MAX);
    let file = opened.map_err(KernelError::file("read", path))?;
    let is = file.metadata().map_err(KernelError::file("read", path))?.len();
    let image = Image { file, is };
    let wanted = image.wanted();
    let why = match wanted {
        _ if is == 0 => "is empty".to_owned(),
        Some(wanted) if is < wanted => {
            format!("is cut short: it has {is} bytes of {wanted} or more")
        }
        Some(_) => return Ok(()),
        None if image.mark_at(SUPERBLOCK1) == Some(UFS2) => {
            "has a UFS2 whose superblock lies where that of UFS1 does, which FreeBSD does not mount \
             (Debian's makefs makes such with -o version=2; -o version=1 is right)"
                .to_owned()
        }
        None => {
            "is neither a qcow2 image nor a raw disk with UFS or a table of partitions".to_owned()
        }
    };
    Err(KernelError::BadRoot { path: path.to_owned(), why })
}

struct Image {
    file: File,
    is: u64,
}

impl Image {
    /// How many bytes it has at least; `None` if it is none.
    fn wanted(&self) -> Option<u64> {
        let start = self.at(0, SECTOR as usize);
        if start.starts_with(QCOW2) {
            return self.of_qcow2(&start);
        }
        self.of_ufs().or_else(|| self.of_partitions(&start))
    }

    fn of_qcow2(&self, header: &[u8]) -> Option<u64> {
        let bits = big(header, qcow2::CLUSTER_BITS)?;
        if !qcow2::BITS.contains(&bits) {
            return None;
        }
        let tables = big(header, qcow2::TABLES)?.min(MOST_TABLES);
        let list = big(header, qcow2::TABLE_OF_TABLES)?;
        let mut wanted = list.saturating_add(tables * 8);
        let places = words(&self.at(list, tables as usize * 8));
        for table in places.into_iter().map(|entry| entry & qcow2::PLACE).filter(|&at| at > 0) {
            wanted = wanted.max(table.saturating_add(1 << bits));
            for entry in words(&self.at(table, 1 << bits)) {
                wanted = wanted.max(beyond(entry, bits));
            }
        }
        Some(wanted)
    }

    fn of_ufs(&self) -> Option<u64> {
        let (place, length) = match (self.mark_at(SUPERBLOCK), self.mark_at(SUPERBLOCK1)) {
            (Some(UFS2), _) => (SUPERBLOCK, FRAGMENTS),
            (_, Some(UFS1)) => (SUPERBLOCK1, FRAGMENTS1),
            _ => return None,
        };
        let block = self.at(place, MARK.end);
        little(&block, length)?.checked_mul(little(&block, FRAGMENT)?)
    }

    /// What stands where a superblock that lies there would have its mark.
    fn mark_at(&self, place: u64) -> Option<u64> {
        little(&self.at(place, MARK.end), MARK)
    }

    fn of_partitions(&self, start: &[u8]) -> Option<u64> {
        let table = self.at(SECTOR, SECTOR as usize);
        if table.starts_with(GPT) {
            return little(&table, GPT_COPY)?.checked_add(1)?.checked_mul(SECTOR);
        }
        start.ends_with(&[0x55, 0xaa]).then_some(SECTOR)
    }

    /// So many bytes from there on; fewer at its end.
    fn at(&self, place: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length.min(self.is.saturating_sub(place) as usize)];
        match self.file.read_exact_at(&mut bytes, place) {
            Ok(()) => bytes,
            Err(_) => Vec::new(),
        }
    }
}

/// The least length of an image in which an entry of a table points to something.
fn beyond(entry: u64, cluster_bits: u64) -> u64 {
    if entry & qcow2::COMPRESSED == 0 {
        let place = entry & qcow2::PLACE;
        return if place > 0 { place + 1 } else { 0 };
    }
    // "x = 62 - (cluster_bits - 8)": below is the place, from there on the sectors that follow its own.
    let x = 62 - (cluster_bits - 8);
    let place = entry & ((1 << x) - 1);
    let more = (entry & (qcow2::COMPRESSED - 1)) >> x;
    if more == 0 { place + 1 } else { (place / SECTOR + more) * SECTOR + 1 }
}

fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks_exact(8).filter_map(|word| big(word, 0..8)).collect()
}

fn big(bytes: &[u8], range: Range<usize>) -> Option<u64> {
    Some(bytes.get(range)?.iter().fold(0, |number, &digit| number << 8 | u64::from(digit)))
}

fn little(bytes: &[u8], range: Range<usize>) -> Option<u64> {
    Some(bytes.get(range)?.iter().rev().fold(0, |number, &digit| number << 8 | u64::from(digit)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn said(bytes: &[u8]) -> String {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("root");
        fs::write(&path, bytes).expect("a file");
        check(&path).map_or_else(|error| error.to_string(), |()| "a root".to_owned())
    }

    /// A qcow2 image of one table: a cluster at 0x30000, and compressed bytes in the cluster behind.
    fn qcow2() -> Vec<u8> {
        let mut bytes = vec![0; 0x4_0000 + 3 * 512];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0, QCOW2);
        put(20, &16_u32.to_be_bytes());
        put(36, &1_u32.to_be_bytes());
        put(40, &0x1_0000_u64.to_be_bytes());
        put(0x1_0000, &(0x2_0000_u64 | 1 << 63).to_be_bytes());
        put(0x2_0000, &(0x3_0000_u64 | 1 << 63).to_be_bytes());
        // Two sectors more than the one that it begins in.
        put(0x2_0008, &(0x4_0010_u64 | 2 << 54 | qcow2::COMPRESSED).to_be_bytes());
        bytes
    }

    #[test]
    fn an_image_whose_end_is_missing_is_cut_short() {
        let whole = qcow2();
        assert_eq!(said(&whole), "a root");
        for length in [0x4_0000 + 1024, 0x3_0000, 0x2_0000, 0x1_0000, 512] {
            let cut = said(&whole[..length]);
            assert!(cut.contains(&format!("cut short: it has {length} bytes")), "{length}: {cut}");
            assert!(cut.contains("copy it again"), "{cut}");
        }
        let mut gpt = vec![0; 10 * 512];
        gpt[512..520].copy_from_slice(GPT);
        gpt[512 + GPT_COPY.start] = 9;
        assert_eq!(said(&gpt), "a root");
        assert!(said(&gpt[..5000]).contains("cut short"));
    }

    /// Of 64 fragments of 4096 bytes.
    fn ufs(place: u64, mark: u64, length: Range<usize>) -> Vec<u8> {
        let (mut bytes, at) = (vec![0; 1 << 18], place as usize);
        let mut put = |range: Range<usize>, value: u64| {
            let value = &value.to_le_bytes()[..range.len()];
            bytes[at + range.start..at + range.end].copy_from_slice(value);
        };
        put(MARK, mark);
        put(FRAGMENT, 4096);
        put(length, 64);
        bytes
    }

    #[test]
    fn both_kinds_of_ufs_are_known_where_freebsd_looks_for_them() {
        for whole in [ufs(SUPERBLOCK, UFS2, FRAGMENTS), ufs(SUPERBLOCK1, UFS1, FRAGMENTS1)] {
            assert_eq!(said(&whole), "a root");
            assert!(said(&whole[..200_000]).contains("200000 bytes of 262144"));
        }
        let misplaced = said(&ufs(SUPERBLOCK1, UFS2, FRAGMENTS));
        assert!(misplaced.contains("-o version=1 is right"), "{misplaced}");
    }

    #[test]
    fn what_is_no_disk_image_is_named() {
        assert!(said(b"").contains("is empty"), "{}", said(b""));
        for bytes in [b"text\n".as_slice(), &[0; 100_000]] {
            let told = said(bytes);
            assert!(
                told.contains("neither a qcow2 image nor") && told.contains("freebsd.sh"),
                "{told}"
            );
        }
    }
}
