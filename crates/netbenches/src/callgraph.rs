//! Call graphs of pmcstat as folded stacks (`outer;inner count`, one a line).
//!
//! A `.pmc.graph` file (`pmcstat -G`) prints each sampled function with its
//! callers indented below it, one blank deeper per level:
//!
//! ```text
//! @ CPU_CLK_UNHALTED_CORE [4608 samples]
//!
//! 16.06%  [740]      iflib_txq_drain @ /boot/kernel/kernel
//!  100.0%  [740]       drain_ring_lockless
//! ```
//!
//! A `.pmc.stack` file is folded already. Published graphs are often cut at
//! 120 KiB; what stands before the cut is used and the cut is reported.

use std::collections::BTreeMap;
use std::io::{self, Read};

use super::lines::Lines;
use fwdlab_results::profile::frame_name;

/// Deepest stack kept; what calls from further out is dropped.
const MAX_DEPTH: usize = 512;
/// Distinct stacks kept of one file.
const MAX_STACKS: usize = 100_000;

/// Folded stacks of one profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folded {
    /// Samples by stack, outermost function first.
    pub stacks: BTreeMap<Vec<String>, u64>,
    /// The sampled event (`CPU_CLK_UNHALTED_CORE`), when the file names one.
    pub event: Option<String>,
    /// Samples that the head line promises.
    pub promised: Option<u64>,
    /// Lines that could not be read.
    pub bad_lines: u64,
}

impl Folded {
    /// Reads a `.pmc.graph` file.
    ///
    /// # Errors
    /// What the reader says.
    pub fn from_graph(reader: impl Read) -> io::Result<Self> {
        let mut lines = Lines::new(reader);
        let mut builder = GraphBuilder::default();
        while let Some(line) = lines.next_line()? {
            builder.take(&String::from_utf8_lossy(line.bytes), line.is_cut);
        }
        builder.finish_branch();
        Ok(builder.folded)
    }

    /// Reads a `.pmc.stack` file, folded already.
    ///
    /// # Errors
    /// What the reader says.
    pub fn from_stacks(reader: impl Read) -> io::Result<Self> {
        let mut lines = Lines::new(reader);
        let mut folded = Self::default();
        while let Some(line) = lines.next_line()? {
            let text = String::from_utf8_lossy(line.bytes);
            if text.trim().is_empty() {
                continue;
            }
            let parsed = text.trim().rsplit_once(' ').and_then(|(stack, count)| {
                let stack: Vec<String> =
                    stack.split(';').take(MAX_DEPTH).map(str::to_owned).collect();
                Some((stack, count.parse().ok()?))
            });
            match parsed {
                Some((stack, count)) if !line.is_cut => folded.add(stack, count),
                _ => folded.bad_lines += 1,
            }
        }
        Ok(folded)
    }

    /// Samples in all stacks.
    pub fn samples(&self) -> u64 {
        self.stacks.values().fold(0, |sum, &count| sum.saturating_add(count))
    }

    /// The text of a `.folded` file.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for (stack, count) in &self.stacks {
            let clean: Vec<String> = stack.iter().map(|name| frame_name(name)).collect();
            text.push_str(&clean.join(";"));
            text.push_str(&format!(" {count}\n"));
        }
        text
    }

    fn add(&mut self, stack: Vec<String>, count: u64) {
        if self.stacks.len() < MAX_STACKS || self.stacks.contains_key(&stack) {
            let sum = self.stacks.entry(stack).or_insert(0);
            *sum = sum.saturating_add(count);
        } else {
            self.bad_lines += 1;
        }
    }
}

/// One line of a graph.
struct Node {
    name: String,
    count: u64,
    /// Samples that no caller below it accounts for yet.
    unexplained: u64,
}

#[derive(Default)]
struct GraphBuilder {
    folded: Folded,
    /// The branch being read: the sampled function first, then its callers.
    branch: Vec<Node>,
}

impl GraphBuilder {
    fn take(&mut self, line: &str, is_cut: bool) {
        if let Some(head) = line.strip_prefix("@ ") {
            self.finish_branch();
            self.take_head(head);
        } else if line.trim().is_empty() {
            self.finish_branch();
        } else {
            match parse_node(line) {
                Some((depth, node)) if !is_cut && depth < MAX_DEPTH => self.take_node(depth, node),
                _ => self.folded.bad_lines += 1,
            }
        }
    }

    /// `CPU_CLK_UNHALTED_CORE [4608 samples]`
    fn take_head(&mut self, head: &str) {
        let (event, rest) = head.split_once(" [").unwrap_or((head, ""));
        self.folded.event = Some(event.trim().to_owned());
        let count = rest.split_whitespace().next().and_then(|c| c.parse::<u64>().ok());
        self.folded.promised = count.or(self.folded.promised);
    }

    fn take_node(&mut self, depth: usize, node: Node) {
        if depth == 0 {
            self.finish_branch();
        }
        while self.branch.len() > depth {
            self.close_innermost();
        }
        if self.branch.len() < depth {
            self.folded.bad_lines += 1; // its caller's line is missing
            return;
        }
        if let Some(callee) = self.branch.last_mut() {
            callee.unexplained = callee.unexplained.saturating_sub(node.count);
        }
        self.branch.push(node);
    }

    fn finish_branch(&mut self) {
        while !self.branch.is_empty() {
            self.close_innermost();
        }
    }

    /// Takes the last line off the branch; samples without a further caller
    /// make a stack that begins there.
    fn close_innermost(&mut self) {
        let count = self.branch.last().map_or(0, |node| node.unexplained);
        if count > 0 {
            let stack = self.branch.iter().rev().map(|node| node.name.clone()).collect();
            self.folded.add(stack, count);
        }
        self.branch.pop();
    }
}

/// A line `<blanks>P%  [N]<blanks>name[ @ file]`; the depth is the number of
/// blanks at the start.
fn parse_node(line: &str) -> Option<(usize, Node)> {
    let depth = line.len() - line.trim_start_matches(' ').len();
    let rest = &line[depth..];
    let (percent, rest) = rest.split_once('%')?;
    percent.parse::<f64>().ok()?;
    let (count, name) = rest.trim_start().strip_prefix('[')?.split_once(']')?;
    let count: u64 = count.trim().parse().ok()?;
    let name = name.trim();
    let name = name.split_once(" @ ").map_or(name, |(name, _)| name);
    if name.is_empty() {
        return None;
    }
    Some((depth, Node { name: name.to_owned(), count, unexplained: count }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRAPH: &str = "\
@ CPU_CLK_UNHALTED_CORE [10 samples]

50.00%  [5]      drain @ /boot/kernel/kernel
 60.00%  [3]       transmit
  100.0%  [3]        ip_output
   100.0%  [3]         fork_exit
 40.00%  [2]       poll
  50.00%  [1]       fork_exit

50.00%  [5]      idle
 100.0%  [5]       fork_exit
";

    #[test]
    fn turns_a_graph_inside_out() {
        let folded = Folded::from_graph(GRAPH.as_bytes()).unwrap();
        assert_eq!(
            folded.to_text(),
            "fork_exit;idle 5\nfork_exit;ip_output;transmit;drain 3\nfork_exit;poll;drain 1\npoll;drain 1\n"
        );
        assert_eq!((folded.samples(), folded.promised, folded.bad_lines), (10, Some(10), 0));
        assert_eq!(folded.event.as_deref(), Some("CPU_CLK_UNHALTED_CORE"));
    }

    #[test]
    fn folded_text_reads_back_the_same() {
        let folded = Folded::from_graph(GRAPH.as_bytes()).unwrap();
        let again = Folded::from_stacks(folded.to_text().as_bytes()).unwrap();
        assert_eq!(again.stacks, folded.stacks);
    }

    #[test]
    fn a_graph_cut_in_the_middle_keeps_what_stands_before() {
        let cut = &GRAPH[..GRAPH.len() - 12];
        let folded = Folded::from_graph(cut.as_bytes()).unwrap();
        assert_eq!(folded.samples(), 10);
        assert_eq!(folded.bad_lines, 1);
    }

    #[test]
    fn depth_and_count_are_bounded() {
        let mut text =
            String::from("1%  [18446744073709551615]  a\n1%  [18446744073709551615]  a\n");
        for depth in 0..2000 {
            text.push_str(&format!("{}1% [1] f{depth}\n", " ".repeat(depth)));
        }
        let folded = Folded::from_graph(text.as_bytes()).unwrap();
        assert!(folded.stacks.keys().all(|stack| stack.len() <= MAX_DEPTH));
        assert_eq!(folded.samples(), u64::MAX);
    }
}
