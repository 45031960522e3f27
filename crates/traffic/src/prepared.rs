//! What sender and receiver know of a stream, worked out once.

use fwdlab_port::Frame;
use fwdlab_wire::ethernet::FCS_LEN;

use crate::error::TrafficError;
use crate::flows::Family;
use crate::layout::Line;
use crate::numbering::Numbering;
use crate::plan::{Stream, TrafficPlan};
use crate::template::{Common, Template};

/// A stream's flows and frames.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) family: Family,
    pub(crate) numbering: Numbering,
    /// Whether frames can be worked on in blocks.
    pub(crate) has_blocks: bool,
    /// One for each frame size.
    pub(crate) templates: Vec<Template>,
    lines: Lines,
}

/// The line of each flow and size, `flow * sizes + size`; none when they would not stay in the
/// second-level cache, and then lines are computed.
#[derive(Debug)]
pub(crate) struct Lines {
    pub(crate) sent: Vec<Line>,
    /// The same as they must arrive.
    pub(crate) arriving: Vec<Line>,
}

/// 512 KiB of lines, each way. Copying a line takes half the time of computing it, as long as it is near.
const MAX_LINES: usize = 1 << 13;

impl Prepared {
    pub(crate) fn new(stream: &Stream, plan: &TrafficPlan) -> Result<Self, TrafficError> {
        let family = stream.flows.family();
        let lengths = stream.sizes.lengths(family)?;
        let common = Common {
            source_mac: plan.source_mac,
            device_mac: plan.device_mac,
            arrival_mac: plan.arrival_mac,
            ttl: plan.ttl,
            hops: plan.hops,
            latency: plan.latency,
        };
        let templates: Vec<_> = lengths
            .iter()
            .map(|&(len, _)| Template::new(&stream.flows, len - FCS_LEN, &common))
            .collect();
        if plan.latency && !templates.iter().any(|template| template.has_stamp) {
            let len = lengths.first().map_or(0, |&(len, _)| len);
            return Err(TrafficError::NoTimestamp { len, min: 74 });
        }
        let numbering = Numbering::new(&stream.flows);
        let flows = stream.flows.count();
        let is_small = flows as usize * templates.len() <= MAX_LINES;
        let line = |flow| {
            let ends = numbering.ends(flow);
            templates.iter().map(move |template| template.line_of(family, ends))
        };
        let lines: Vec<Line> =
            if is_small { (0..flows).flat_map(line).collect() } else { Vec::new() };
        let sizes = templates.iter().cycle();
        let arriving = lines.iter().zip(sizes).map(|(line, size)| size.arriving(family, line));
        let arriving = arriving.collect();
        let has_blocks = numbering.is_narrow();
        let lines = Lines { sent: lines, arriving };
        Ok(Self { family, numbering, has_blocks, templates, lines })
    }

    /// Makes `frame` the frame of a flow and size with this sequence number: from the line kept, or
    /// computed. `family` is the stream's own, given as a constant.
    #[inline(always)]
    pub(crate) fn write(
        &self,
        frame: &mut Frame,
        family: Family,
        (flow, size): (u32, usize),
        sequence: u32,
    ) {
        let template = &self.templates[size];
        match self.lines.sent.get(flow as usize * self.templates.len() + size) {
            Some(line) => template.write(frame, family, line, sequence),
            None => template.write_computed(frame, family, self.numbering.ends(flow), sequence),
        }
    }

    /// The line that must arrive of a flow and size, if it is kept.
    #[inline(always)]
    pub(crate) fn arriving(&self, flow: u32, size: usize) -> Option<&Line> {
        self.lines.arriving.get(flow as usize * self.templates.len() + size)
    }

    /// The template of all frames, if they have one size.
    #[inline(always)]
    pub(crate) fn only_template(&self) -> Option<&Template> {
        let [only] = &self.templates[..] else { return None };
        Some(only)
    }

    /// The template and the lines of all frames, if they have one size and lines are kept.
    #[inline(always)]
    pub(crate) fn only_lines(&self) -> Option<(&Template, &Lines)> {
        self.only_template().zip(Some(&self.lines).filter(|_| self.has_lines()))
    }

    /// Whether lines are kept.
    #[inline(always)]
    pub(crate) fn has_lines(&self) -> bool {
        !self.lines.sent.is_empty()
    }

    /// Which size has this length without FCS.
    #[inline(always)]
    pub(crate) fn size_of(&self, len: usize) -> Option<usize> {
        match &self.templates[..] {
            [only] => (only.len == len).then_some(0),
            several => several.iter().position(|template| template.len == len),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flows::FlowSet;
    use crate::inspect::ends_of;
    use crate::layout::LINE;
    use crate::template::differ;

    #[test]
    fn a_frame_is_judged_alike_by_a_line_kept_and_by_arithmetic() {
        for (source, destination) in [
            ("198.18.10.1-198.18.10.20:2000", "198.19.10.1-198.19.10.100:2000"),
            ("[2001:2:0:10::1]-[2001:2:0:10::14]:2000", "[2001:2:0:8010::1]-[2001:2:0:8010::64]:9"),
        ] {
            let stream = Stream::new(FlowSet::parse(source, destination).unwrap());
            let prepared = Prepared::new(&stream, &TrafficPlan::new(vec![stream.clone()])).unwrap();
            let template = &prepared.templates[0];
            for flow in [0, 7, 777, stream.flows.count() - 1] {
                let right = prepared.arriving(flow, 0).unwrap().0;
                let mut accepted = 0;
                for at in 0..=LINE * 8 {
                    let mut head = right;
                    if let Some(byte) = head.get_mut(at / 8) {
                        *byte ^= 1 << (at % 8);
                    }
                    let (ends, _) = ends_of(&head, prepared.family);
                    let (found, is_known) = prepared.numbering.flow(ends);
                    let by_arithmetic =
                        is_known && template.is_arriving(&head, prepared.family, ends);
                    let line = prepared.arriving(found, 0).filter(|_| is_known);
                    let by_line = line.is_some_and(|line| !differ(&head, line, &template.mask));
                    assert_eq!(by_arithmetic, by_line, "flow {flow}, bit {at} of {source}");
                    accepted += usize::from(by_line);
                }
                // The frame itself, and those of which only masked bits are changed.
                let masked: u32 = template.mask.0.iter().map(|byte| byte.count_zeros()).sum();
                assert_eq!(accepted, 1 + masked as usize);
            }
        }
    }
}
