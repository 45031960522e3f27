//! Writes a small read-only file system (ISO 9660, ECMA-119, level 1), from which a FreeBSD guest
//! starts: two empty directories to mount on, our program as its first process, and files. All
//! files lie in the root directory; FreeBSD finds their names in lower case and may execute them.
//!
//! Times and order are fixed, so that the same files give the same bytes.

const SECTOR: usize = 2048;

/// Sectors before the first directory: 16 empty ones, the description of the volume and its end,
/// the list of directories in both byte orders.
const DIRECTORIES: usize = 20;

/// 2020-01-01 00:00:00, as directory records have it.
const DATE: [u8; 7] = [120, 1, 1, 0, 0, 0, 0];

const IS_DIRECTORY: u8 = 2;

/// One file in the root directory, or `INIT` in the directory `SBIN`.
struct Place<'f> {
    name: String,
    bytes: &'f [u8],
    sector: usize,
}

/// The image: `init` as `/sbin/init`, empty directories `/base` and `/dev`, and each of `files`
/// under a name of at most 8 letters and digits.
pub(super) fn image(init: &[u8], files: &[(String, &[u8])]) -> Vec<u8> {
    // The directories in the order of their names, the root first; each fits a sector, because
    // there are few files.
    let directories = ["", "BASE", "DEV", "SBIN"];
    let per_sector = SECTOR / record("12345678.;1", 0, 0, 0).len();
    let root_sectors = (files.len() + 2 + directories.len()).div_ceil(per_sector).max(1);
    let sector_of = |index: usize| match index {
        0 => DIRECTORIES,
        other => DIRECTORIES + root_sectors + other - 1,
    };
    let mut next = sector_of(directories.len() - 1) + 1;
    let mut place = |name: &str, bytes| {
        let sector = next;
        next += <[u8]>::len(bytes).div_ceil(SECTOR);
        Place { name: format!("{}.;1", name.to_ascii_uppercase()), bytes, sector }
    };
    let init = place("init", init);
    let mut places: Vec<Place<'_>> = files.iter().map(|(name, bytes)| place(name, bytes)).collect();
    places.sort_by(|a, b| a.name.cmp(&b.name));

    let mut image = vec![0; next * SECTOR];
    let own = |name: &str, index| {
        let length = if index == 0 { root_sectors * SECTOR } else { SECTOR };
        record(name, sector_of(index), length, IS_DIRECTORY)
    };
    let (list, list_backwards) = paths(&directories, sector_of);
    put(&mut image, 16, &volume(next, list.len(), &own("\0", 0)));
    put(&mut image, 17, b"\xffCD001\x01");
    put(&mut image, 18, &list);
    put(&mut image, 19, &list_backwards);

    let file = |place: &Place<'_>| record(&place.name, place.sector, place.bytes.len(), 0);
    let mut root = vec![own("\0", 0), own("\x01", 0)];
    let named = |index: usize| (directories[index].to_owned(), own(directories[index], index));
    let mut entries: Vec<(String, Vec<u8>)> = (1..directories.len()).map(named).collect();
    entries.extend(places.iter().map(|place| (place.name.clone(), file(place))));
    entries.sort();
    root.extend(entries.into_iter().map(|(_, record)| record));
    put(&mut image, sector_of(0), &packed(&root));
    for (index, name) in directories.into_iter().enumerate().skip(1) {
        let mut records = vec![own("\0", index), own("\x01", 0)];
        records.extend((name == "SBIN").then(|| file(&init)));
        put(&mut image, sector_of(index), &packed(&records));
    }
    for place in std::iter::once(&init).chain(&places) {
        put(&mut image, place.sector, place.bytes);
    }
    image
}

fn put(image: &mut [u8], sector: usize, bytes: &[u8]) {
    image[sector * SECTOR..][..bytes.len()].copy_from_slice(bytes);
}

/// Records one after the other; none crosses the border of a sector.
fn packed(records: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for record in records {
        if bytes.len() % SECTOR + record.len() > SECTOR {
            bytes.resize(bytes.len().next_multiple_of(SECTOR), 0);
        }
        bytes.extend(record);
    }
    bytes
}

/// A number in both byte orders.
fn both(number: usize) -> [u8; 8] {
    let [a, b, c, d] = (number as u32).to_le_bytes();
    [a, b, c, d, d, c, b, a]
}

fn both_short(number: u16) -> [u8; 4] {
    let [a, b] = number.to_le_bytes();
    [a, b, b, a]
}

/// A directory record (9.1).
fn record(name: &str, sector: usize, length: usize, flags: u8) -> Vec<u8> {
    let mut record = vec![0, 0];
    record.extend(both(sector));
    record.extend(both(length));
    record.extend(DATE);
    record.extend([flags, 0, 0]);
    record.extend(both_short(1));
    record.push(name.len() as u8);
    record.extend(name.as_bytes());
    record.resize(record.len().next_multiple_of(2), 0);
    record[0] = record.len() as u8;
    record
}

/// The list of directories (9.4) in both byte orders; all lie in the root.
fn paths(directories: &[&str], sector_of: impl Fn(usize) -> usize) -> (Vec<u8>, Vec<u8>) {
    let (mut little, mut big) = (Vec::new(), Vec::new());
    for (index, name) in directories.iter().enumerate() {
        let name = if index == 0 { "\0" } else { name };
        let sector = sector_of(index) as u32;
        for (list, sector, parent) in [
            (&mut little, sector.to_le_bytes(), 1_u16.to_le_bytes()),
            (&mut big, sector.to_be_bytes(), 1_u16.to_be_bytes()),
        ] {
            list.extend([name.len() as u8, 0]);
            list.extend(sector);
            list.extend(parent);
            list.extend(name.as_bytes());
            list.resize(list.len().next_multiple_of(2), 0);
        }
    }
    (little, big)
}

/// The primary volume descriptor (8.4).
fn volume(sectors: usize, list_length: usize, root: &[u8]) -> Vec<u8> {
    let mut text = b"\x01CD001\x01\0".to_vec();
    text.resize(8 + 32, b' ');
    text.extend(b"FWDLAB");
    text.resize(8 + 64, b' ');
    text.resize(80, 0);
    text.extend(both(sectors));
    text.resize(120, 0);
    text.extend(both_short(1));
    text.extend(both_short(1));
    text.extend(both_short(SECTOR as u16));
    text.extend(both(list_length));
    text.extend(18_u32.to_le_bytes());
    text.extend([0; 4]);
    text.extend(19_u32.to_be_bytes());
    text.extend([0; 4]);
    text.extend(root);
    text.resize(813, b' ');
    for _ in 0..4 {
        text.extend([b'0'; 16]);
        text.push(0);
    }
    text.push(1);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names and contents of a directory, read back by the format's own rules.
    fn listed(image: &[u8], sector: usize) -> Vec<(String, usize, usize)> {
        let number = |at: usize| {
            u32::from_le_bytes(image[at..at + 4].try_into().expect("four bytes")) as usize
        };
        let length = number(sector * SECTOR + 10);
        let (mut found, mut at) = (Vec::new(), sector * SECTOR);
        let end = at + length;
        while at < end {
            let size = usize::from(image[at]);
            if size == 0 {
                at = (at + 1).next_multiple_of(SECTOR);
                continue;
            }
            let name = &image[at + 33..at + 33 + usize::from(image[at + 32])];
            let name = String::from_utf8_lossy(name).into_owned();
            found.push((name, number(at + 2), number(at + 10)));
            at += size;
        }
        found
    }

    #[test]
    fn what_was_written_is_found_by_the_formats_rules() {
        let files: Vec<(String, Vec<u8>)> =
            (0..90).map(|k| (format!("f{k}"), vec![k as u8; 100 * k])).collect();
        let borrowed: Vec<(String, &[u8])> =
            files.iter().map(|(name, bytes)| (name.clone(), &bytes[..])).collect();
        let image = image(b"the program", &borrowed);
        assert_eq!(&image[16 * SECTOR..][1..6], b"CD001");
        let root = u32::from_le_bytes(image[16 * SECTOR + 158..][..4].try_into().expect("four"));
        let root = listed(&image, root as usize);
        for (name, bytes) in &files {
            let wanted = format!("{}.;1", name.to_ascii_uppercase());
            let (_, sector, length) = root.iter().find(|(n, ..)| *n == wanted).expect("a file");
            assert_eq!(&image[sector * SECTOR..][..*length], &bytes[..], "{name}");
        }
        let sbin = root.iter().find(|(name, ..)| name == "SBIN").expect("a directory").1;
        let init = listed(&image, sbin);
        let (_, sector, length) = init.iter().find(|(n, ..)| n == "INIT.;1").expect("a file");
        assert_eq!(&image[sector * SECTOR..][..*length], b"the program");
        assert!(root.iter().any(|(name, ..)| name == "BASE"));
    }
}
