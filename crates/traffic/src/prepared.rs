//! What sender and receiver know of a stream, worked out once.

use fwdlab_wire::ethernet::FCS_LEN;

use crate::error::TrafficError;
use crate::flows::Family;
use crate::numbering::Numbering;
use crate::plan::{Plan, Stream};
use crate::template::{Common, Line, Template};

/// A stream's flows and frames.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) family: Family,
    pub(crate) numbering: Numbering,
    /// One for each frame size.
    pub(crate) templates: Vec<Template>,
    /// The line of each flow and size, `flow * sizes + size`; empty when they would not stay in
    /// the second-level cache, and then lines are computed.
    lines: Vec<Line>,
    /// The same as they must arrive.
    arriving: Vec<Line>,
}

/// 512 KiB of lines, each way. Copying a line takes half the time of computing it, as long as it is near.
const MAX_LINES: usize = 1 << 13;

impl Prepared {
    pub(crate) fn new(stream: &Stream, plan: &Plan) -> Result<Self, TrafficError> {
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
        Ok(Self { family, numbering, templates, lines, arriving })
    }

    /// The line of a flow and size: kept, or computed into `scratch`.
    #[inline(always)]
    pub(crate) fn line<'a>(&'a self, flow: u32, size: usize, scratch: &'a mut Line) -> &'a Line {
        if let Some(line) = self.lines.get(flow as usize * self.templates.len() + size) {
            return line;
        }
        *scratch = self.templates[size].line_of(self.family, self.numbering.ends(flow));
        scratch
    }

    /// The line that must arrive of a flow and size, kept or computed into `scratch`.
    #[inline(always)]
    pub(crate) fn arriving<'a>(
        &'a self,
        flow: u32,
        size: usize,
        scratch: &'a mut Line,
    ) -> &'a Line {
        if let Some(line) = self.arriving.get(flow as usize * self.templates.len() + size) {
            return line;
        }
        let template = &self.templates[size];
        let sent = template.line_of(self.family, self.numbering.ends(flow));
        *scratch = template.arriving(self.family, &sent);
        scratch
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
