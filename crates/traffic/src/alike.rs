//! Flows that differ in nothing but the source's address, which goes up by one: what changes from frame to
//! frame is worked out for a group of them at once, in columns that become vectors.

use fwdlab_port::Frame;

use crate::flows::Family;
use crate::layout::*;
use crate::template::{Line, Template, differ, put_label, udp_checksum};

/// Frames of a column.
pub(crate) const GROUP: usize = 16;

/// Eight bytes of each frame of a group, as they lie in it.
pub(crate) type Column = [u64; GROUP];

/// The first of such flows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alike<'a> {
    /// As it is sent, or must arrive.
    pub(crate) line: &'a Line,
    /// Lower half of the source's address.
    pub(crate) source: u64,
    /// What the checksums of the line are complements of: of the IPv4 header, and of UDP.
    pub(crate) ip_sum: u32,
    pub(crate) udp_sum: u32,
}

/// Where the column of sources is: in IPv4 TTL, protocol and checksum of the header are before the address.
pub(crate) const fn sources_at(family: Family) -> usize {
    match family {
        Family::Inet => INET_TTL,
        Family::Inet6 => INET6_SOURCE + 8,
    }
}

/// Where the column of checksums is: UDP's length and checksum and the sequence number, in IPv6 all of UDP's header.
pub(crate) const fn checksums_at(family: Family) -> usize {
    match family {
        Family::Inet => INET_UDP + 4,
        Family::Inet6 => INET6_UDP,
    }
}

impl<'a> Alike<'a> {
    #[inline(always)]
    pub(crate) fn new(line: &'a Line, family: Family, source: u64) -> Self {
        let sum = |at| u32::from(!u16::from_be_bytes(field(&line.0, at)));
        let (ip_sum, udp_sum) = (sum(INET_CHECKSUM), sum(udp_checksum_at(family)));
        Self { line: line.in_memory(), source, ip_sum, udp_sum }
    }

    /// The column of sources from the flow so many after the first on.
    #[inline(always)]
    pub(crate) fn sources(&self, family: Family, step: u32) -> Column {
        let kept = u64::from_be_bytes(field(&self.line.0, sources_at(family))) >> 48 << 48;
        std::array::from_fn(|at| {
            let step = step.wrapping_add(at as u32);
            let source = self.source.wrapping_add(step.into());
            let word = match family {
                Family::Inet => {
                    let checksum = u64::from(!fold_two(step, self.ip_sum));
                    kept | checksum << 32 | u64::from(source as u32)
                }
                Family::Inet6 => source,
            };
            word.to_be()
        })
    }

    /// The column of checksums of the frames with these sequence numbers.
    #[inline(always)]
    pub(crate) fn checksums(&self, family: Family, step: u32, numbers: &[u32; GROUP]) -> Column {
        let before = u64::from_be_bytes(field(&self.line.0, checksums_at(family)));
        std::array::from_fn(|at| {
            let step = step.wrapping_add(at as u32);
            let word = match family {
                Family::Inet => {
                    let sum = fold_two(add(step, numbers[at]), self.udp_sum);
                    before >> 48 << 48
                        | u64::from(udp_checksum(sum.into())) << 32
                        | u64::from(numbers[at])
                }
                // The number, a part of the flow label, is not under it.
                Family::Inet6 => {
                    before >> 16 << 16
                        | u64::from(udp_checksum(fold_two(step, self.udp_sum).into()))
                }
            };
            word.to_be()
        })
    }
}

impl Template {
    /// As [`Template::write`] with the line of a flow whose source's address is so much higher than that
    /// of the first of them.
    #[inline(always)]
    pub(crate) fn write_alike(
        &self,
        frame: &mut Frame,
        family: Family,
        (first, step): (&Alike<'_>, u32),
        sequence: u32,
    ) {
        frame.set_len(self.len);
        let head = frame.head_mut::<LINE>();
        *head = first.line.0;
        put_source(head, family, first.source.wrapping_add(step.into()));
        let sum = match family {
            Family::Inet => {
                let checksum = !fold_two(step, first.ip_sum);
                put(head, INET_CHECKSUM, checksum.to_be_bytes());
                put(head, INET_PAYLOAD, sequence.to_be_bytes());
                u64::from(step) + u64::from(sequence)
            }
            Family::Inet6 => {
                put_label(head, sequence);
                step.into()
            }
        };
        let checksum = udp_checksum(sum + u64::from(first.udp_sum));
        put(head, udp_checksum_at(family), checksum.to_be_bytes());
    }

    /// The same by the columns of a group.
    #[inline(always)]
    pub(crate) fn write_group(
        &self,
        frame: &mut Frame,
        family: Family,
        (first, sources, checksums): (&Alike<'_>, u64, u64),
        sequence: u32,
    ) {
        frame.set_len(self.len);
        let head = frame.head_mut::<LINE>();
        *head = first.line.0;
        if family == Family::Inet6 {
            put_label(head, sequence);
        }
        put(head, sources_at(family), sources.to_ne_bytes());
        put(head, checksums_at(family), checksums.to_ne_bytes());
    }

    /// Whether a frame is as it must arrive of a flow whose source's address is so much higher than that
    /// of the first of them.
    #[inline(always)]
    pub(crate) fn is_arriving_alike(
        &self,
        head: &[u8; LINE],
        family: Family,
        (first, step): (&Alike<'_>, u32),
    ) -> bool {
        let has_checksum = match family {
            Family::Inet => {
                let wanted = !fold_two(step, first.ip_sum);
                field(head, INET_CHECKSUM) == wanted.to_be_bytes()
            }
            // As in `is_arriving`.
            Family::Inet6 if self.has_stamp => true,
            Family::Inet6 => {
                let wanted = udp_checksum(u64::from(step) + u64::from(first.udp_sum));
                field(head, INET6_UDP_CHECKSUM) == wanted.to_be_bytes()
            }
        };
        let is_source = source_of(head, family) == first.source.wrapping_add(step.into());
        has_checksum & is_source && !differ(head, first.line, &self.alike)
    }

    /// The same by the columns of a group.
    #[inline(always)]
    pub(crate) fn is_arriving_group(
        &self,
        head: &[u8; LINE],
        family: Family,
        (first, sources, checksums): (&Alike<'_>, u64, u64),
    ) -> bool {
        let word = |at| u64::from_ne_bytes(field(head, at));
        // The sequence number of IPv4 is among the checksums; see `is_arriving`, too.
        let has_checksum = match family {
            Family::Inet => true,
            Family::Inet6 => self.has_stamp || word(checksums_at(family)) == checksums,
        };
        let is_source = word(sources_at(family)) == sources;
        has_checksum & is_source && !differ(head, first.line, &self.alike)
    }
}

/// The lower half of the source's address.
#[inline(always)]
fn source_of(head: &[u8; LINE], family: Family) -> u64 {
    match family {
        Family::Inet => u32::from_be_bytes(field(head, INET_ADDRESSES)).into(),
        Family::Inet6 => u64::from_be_bytes(field(head, INET6_SOURCE + 8)),
    }
}

#[inline(always)]
fn put_source(head: &mut [u8; LINE], family: Family, source: u64) {
    match family {
        Family::Inet => put(head, INET_ADDRESSES, (source as u32).to_be_bytes()),
        Family::Inet6 => put(head, INET6_SOURCE + 8, source.to_be_bytes()),
    }
}

/// One's complement sum of two words.
#[inline(always)]
fn add(one: u32, other: u32) -> u32 {
    let (sum, carry) = one.overflowing_add(other);
    sum.wrapping_add(carry.into())
}

/// Where the checksum of UDP is.
#[inline(always)]
pub(crate) fn udp_checksum_at(family: Family) -> usize {
    match family {
        Family::Inet => INET_UDP_CHECKSUM,
        Family::Inet6 => INET6_UDP_CHECKSUM,
    }
}
