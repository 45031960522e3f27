//! A published page: its lines, blocks, items of prose and links.

use fwdlab_guard::digest;

use crate::block::MinistatBlock;

/// Bytes read of a page; honest ones hold some kilobytes.
pub const MAX_PAGE_BYTES: usize = 4 * 1024 * 1024;
/// Characters of a line that are looked at.
const MAX_LINE_CHARS: usize = 4096;

/// A page.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// Its lines without their ends.
    pub lines: Vec<String>,
    /// The same in lower case, for names that are looked for.
    pub lower: Vec<String>,
    /// ministat blocks, in their order.
    pub blocks: Vec<MinistatBlock>,
    /// Prose outside blocks and fences, in its order.
    pub items: Vec<Item>,
    /// Links and images.
    pub links: Vec<PageLink>,
    /// Lines whose end closes a fence that nothing but a line of its own can close.
    pub late_fences: Vec<usize>,
    /// What was meant as a link: `[caption] (target)`, with a blank between.
    pub spaced_links: Vec<PageLink>,
    /// True when the file is longer than [`MAX_PAGE_BYTES`] or a line longer
    /// than is looked at.
    pub is_cut: bool,
}

/// A paragraph, a list item, a heading, or a line that begins with `=>`.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// First line, from 1.
    pub line: usize,
    /// The lines joined by blanks.
    pub text: String,
    /// What kind of item it is.
    pub kind: ItemKind,
    /// Where the second, third, ... line begins in `text`.
    breaks: Vec<usize>,
}

/// Kinds of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// Running text.
    Paragraph,
    /// A list item.
    Bullet,
    /// A heading.
    Heading,
    /// A conclusion: `=> ...`.
    Conclusion,
    /// A row of a table: `| a | b |`.
    Row,
}

impl Item {
    /// A row of a table on one line.
    pub fn row(line: usize, text: String) -> Self {
        Self { line, text, kind: ItemKind::Row, breaks: Vec::new() }
    }

    /// Whether it begins with a family: `* IPv4: slower`.
    pub fn is_of_family(&self) -> bool {
        let label = self.text.split_once(':').map(|(label, _)| label);
        let label = label.map(|l| l.trim_start_matches(['-', '*', '+', ' ']).trim());
        label.and_then(crate::name::family_word).is_some()
    }

    /// The page's line at `offset` of the text.
    pub fn line_at(&self, offset: usize) -> usize {
        self.line + self.breaks.iter().filter(|&&start| start <= offset).count()
    }

    /// Last line of the item.
    pub fn last_line(&self) -> usize {
        self.line + self.breaks.len()
    }

    /// True for an announcement of what follows.
    pub fn is_announcement(&self) -> bool {
        self.text.trim_end().ends_with(':') && self.kind != ItemKind::Conclusion
    }
}

/// A link or an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageLink {
    /// Line, from 1.
    pub line: usize,
    /// The text or the caption.
    pub caption: String,
    /// Where it leads, as written.
    pub target: String,
    /// True for an image.
    pub is_image: bool,
}

impl Page {
    /// Reads the bytes of a page; text that is not UTF-8 is kept with
    /// replacement characters.
    pub fn parse(bytes: &[u8]) -> Self {
        let mut page = Self { is_cut: bytes.len() > MAX_PAGE_BYTES, ..Self::default() };
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_PAGE_BYTES)]);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        for line in text.split('\n') {
            let line = line.strip_suffix('\r').unwrap_or(line);
            let kept: String = line.chars().take(MAX_LINE_CHARS).collect();
            page.is_cut |= kept.len() < line.len();
            page.lower.push(kept.to_lowercase());
            page.lines.push(kept);
        }
        page.blocks = MinistatBlock::find(&page.lines);
        page.read_prose();
        page
    }

    fn read_prose(&mut self) {
        let mut reader = ProseReader::default();
        let mut blocks = self.blocks.iter().peekable();
        let rows = rows_of_tables(&self.lines);
        for (index, line) in self.lines.iter().enumerate() {
            let number = index + 1;
            while blocks.next_if(|block| block.last_line < number).is_some() {}
            let in_block = blocks.peek().is_some_and(|block| block.first_line <= number);
            let kind = if rows[index] { ItemKind::Row } else { kind_of(line.trim()) };
            reader.take(line, (number, kind), in_block);
        }
        reader.finish();
        self.items = reader.items;
        self.links = reader.links;
        self.spaced_links = reader.spaced_links;
        self.late_fences = reader.late_fences;
    }

    /// A print of the text: pages with the same one are copies. `None` for pages without a block.
    pub fn print(&self) -> Option<String> {
        let text = self.lines.join("\n");
        (!self.blocks.is_empty()).then(|| digest::of(text.as_bytes()))
    }

    /// The title: the first item of the page.
    pub fn title(&self) -> Option<&Item> {
        self.items.first().filter(|item| item.kind != ItemKind::Bullet)
    }

    /// Index of the last block above `line`.
    pub fn block_before(&self, line: usize) -> Option<usize> {
        self.blocks.partition_point(|b| b.last_line < line).checked_sub(1)
    }

    /// Index of the first block below `line`.
    pub fn block_after(&self, line: usize) -> Option<usize> {
        let after = self.blocks.partition_point(|b| b.first_line <= line);
        (after < self.blocks.len()).then_some(after)
    }

    /// The lines, from 1, in which a name stands, however it is written.
    pub fn lines_with(&self, name: &str) -> impl Iterator<Item = usize> {
        let name = name.to_lowercase();
        let with = self.lower.iter().enumerate().filter(move |(_, line)| line.contains(&name));
        with.map(|(index, _)| index + 1)
    }

    /// Whether a name stands in a line outside of an item.
    pub fn has_beside(&self, item: &Item, name: &str) -> bool {
        let own = item.line..=item.last_line();
        self.lines_with(name).any(|line| !own.contains(&line))
    }

    /// Items that begin above a line.
    pub fn items_above(&self, line: usize) -> &[Item] {
        &self.items[..self.items.partition_point(|item| item.line < line)]
    }

    /// Items that begin between two lines, on neither of them.
    pub fn items_between(&self, after: usize, before: usize) -> &[Item] {
        let above = self.items_above(before);
        &above[above.partition_point(|item| item.line <= after)..]
    }

    /// The last item that ends above a line.
    pub fn item_before(&self, line: usize) -> Option<&Item> {
        let ended = self.items.partition_point(|item| item.last_line() < line);
        self.items.get(ended.checked_sub(1)?)
    }

    /// The last heading above a line.
    pub fn heading_above(&self, line: usize) -> Option<&Item> {
        self.items_above(line).iter().rfind(|item| item.kind == ItemKind::Heading)
    }
}

#[derive(Default)]
struct ProseReader {
    items: Vec<Item>,
    links: Vec<PageLink>,
    spaced_links: Vec<PageLink>,
    late_fences: Vec<usize>,
    open: Option<Item>,
    is_fenced: bool,
}

impl ProseReader {
    fn take(&mut self, line: &str, (number, kind): (usize, ItemKind), in_block: bool) {
        let text = line.trim();
        let is_fence = text.starts_with("```") || text.starts_with("~~~");
        if is_fence {
            self.is_fenced = !self.is_fenced;
        } else if self.is_fenced && text.ends_with("```") {
            // read on as the author meant it
            self.is_fenced = false;
            self.late_fences.push(number);
            return self.finish();
        }
        if is_fence || in_block || self.is_fenced || text.is_empty() {
            return self.finish();
        }
        read_links(text, "](", number, &mut self.links);
        read_links(text, "] (", number, &mut self.spaced_links);
        match (&mut self.open, kind) {
            // a line underlined is a heading
            (Some(open), ItemKind::Paragraph)
                if open.kind == ItemKind::Paragraph
                    && open.breaks.is_empty()
                    && is_underline(text) =>
            {
                open.kind = ItemKind::Heading;
                self.finish();
            }
            (Some(open), ItemKind::Paragraph)
                if !matches!(open.kind, ItemKind::Heading | ItemKind::Row) =>
            {
                open.text.push(' ');
                open.breaks.push(open.text.len());
                open.text.push_str(text);
            }
            _ => {
                self.finish();
                self.open =
                    Some(Item { line: number, text: text.to_owned(), kind, breaks: Vec::new() });
            }
        }
    }

    fn finish(&mut self) {
        self.items.extend(self.open.take());
    }
}

/// Which lines are rows of a table whose second line says so: `--- | ---`. Bars at the ends of rows may be left out.
fn rows_of_tables(lines: &[String]) -> Vec<bool> {
    let mut found = vec![false; lines.len()];
    let columns = |line: &str| line.trim().trim_matches('|').split('|').count();
    let is_rule = |line: &str| {
        let is_of_rules = line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' ' | '\t'));
        is_of_rules && line.contains('|') && line.contains("--")
    };
    for at in 1..lines.len() {
        let head = &lines[at - 1];
        if !is_rule(&lines[at]) || !head.contains('|') || columns(head) != columns(&lines[at]) {
            continue;
        }
        let body = lines[at + 1..].iter().take_while(|line| line.contains('|')).count();
        found[at - 1..=at + body].fill(true);
    }
    found
}

/// `-----` or `=====` below a line of text.
fn is_underline(text: &str) -> bool {
    let is_of = |mark: char| text.len() > 2 && text.chars().all(|c| c == mark);
    is_of('=') || is_of('-')
}

fn kind_of(text: &str) -> ItemKind {
    if ["=>", "==>", "->", "-->", "⇒", "→"].iter().any(|arrow| text.starts_with(arrow)) {
        return ItemKind::Conclusion;
    }
    if text.len() > 1 && text.starts_with('|') && text.ends_with('|') {
        return ItemKind::Row;
    }
    if text.starts_with('#') {
        return ItemKind::Heading;
    }
    let is_marker = |c: char| matches!(c, '-' | '*' | '+' | '•');
    let mut chars = text.chars();
    let is_bullet = chars.next().is_some_and(is_marker) && chars.as_str().starts_with(' ');
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let is_numbered = digits > 0 && digits < 3 && text[digits..].starts_with(". ");
    if is_bullet || is_numbered { ItemKind::Bullet } else { ItemKind::Paragraph }
}

/// Reads `[caption](target)` and `![caption](target)`; `joint` is what stands
/// between the two. With a blank in it, only what can be a target is taken.
fn read_links(text: &str, joint: &str, number: usize, links: &mut Vec<PageLink>) {
    let mut rest = text;
    while let Some(middle) = rest.find(joint) {
        let before = &rest[..middle];
        let after = &rest[middle + joint.len()..];
        let (Some(start), Some(end)) = (before.rfind('['), after.find(')')) else { return };
        let target = after[..end].split_whitespace().next().unwrap_or("");
        let is_target = target.len() == end && target.contains(['/', '.']);
        if joint.contains(' ') && !is_target {
            rest = &after[end + 1..];
            continue;
        }
        links.push(PageLink {
            line: number,
            caption: before[start + 1..].to_owned(),
            target: target.trim_matches(['<', '>']).to_owned(),
            is_image: before[..start].ends_with('!'),
        });
        rest = &after[end + 1..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_paragraphs_bullets_and_conclusions() {
        let page = Page::parse(
            b"Impact of X\n  - FreeBSD 13\n  - 2000 flows\n\nBut I saw,\nlet's compare:\n```\ncode 5%\n```\n=> A is\n   faster\n=> B\n",
        );
        let found: Vec<(usize, &str, ItemKind)> =
            page.items.iter().map(|i| (i.line, i.text.as_str(), i.kind)).collect();
        assert_eq!(
            found,
            [
                (1, "Impact of X", ItemKind::Paragraph),
                (2, "- FreeBSD 13", ItemKind::Bullet),
                (3, "- 2000 flows", ItemKind::Bullet),
                (5, "But I saw, let's compare:", ItemKind::Paragraph),
                (10, "=> A is faster", ItemKind::Conclusion),
                (12, "=> B", ItemKind::Conclusion),
            ]
        );
        assert_eq!(page.items[4].line_at(9), 11);
        assert!(page.items[3].is_announcement());
    }

    #[test]
    fn an_underlined_line_is_a_heading() {
        let page = Page::parse(b"Title\n=====\n\nText\nof two lines\n\nIPv6\n----\n\nMore\n");
        let found: Vec<(&str, ItemKind)> =
            page.items.iter().map(|item| (item.text.as_str(), item.kind)).collect();
        let wanted = [
            ("Title", ItemKind::Heading),
            ("Text of two lines", ItemKind::Paragraph),
            ("IPv6", ItemKind::Heading),
            ("More", ItemKind::Paragraph),
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn what_stands_around_a_line_is_found_by_its_number() {
        let block = |n: u32| {
            format!(
                "x old\n+ new\n    N Min Max Median Avg Stddev\nx   {n} 1 3 2 2 1\n+   {n} 4 6 5 5 1\n"
            )
        };
        let text = format!("# A\nfirst\n{}\nsecond,\nlonger\n{}\nthird\n", block(5), block(6));
        let page = Page::parse(text.as_bytes());
        let places: Vec<(usize, usize)> =
            page.blocks.iter().map(|block| (block.first_line, block.last_line)).collect();
        assert_eq!(places, [(3, 7), (11, 15)]);
        for line in 0..20 {
            let before = page.blocks.iter().rposition(|block| block.last_line < line);
            let after = page.blocks.iter().position(|block| block.first_line > line);
            assert_eq!((page.block_before(line), page.block_after(line)), (before, after));
            let item = page.items.iter().rfind(|item| item.last_line() < line);
            assert_eq!(page.item_before(line), item);
            for before in 0..20 {
                let between: Vec<&Item> =
                    page.items.iter().filter(|i| i.line > line && i.line < before).collect();
                assert!(page.items_between(line, before).iter().eq(between), "{line} {before}");
            }
        }
        let lines: Vec<usize> = page.items.iter().map(|item| item.line).collect();
        assert_eq!(lines, [1, 2, 9, 17]);
        assert_eq!(page.heading_above(17).map(|item| item.line), Some(1));
        assert_eq!(page.heading_above(1), None);
        assert_eq!(page.lines_with("L").collect::<Vec<_>>(), [3, 10, 11]);
        assert!(
            page.has_beside(&page.items[2], "Old") && !page.has_beside(&page.items[2], "SECOND")
        );
    }

    #[test]
    fn reads_links_and_images() {
        let page = Page::parse(
            b"![graph](graph.png)\n- [r1: inet4](bench.r1.svg \"t\") and [b](c)\n[open](",
        );
        let found: Vec<(usize, &str, &str, bool)> = page
            .links
            .iter()
            .map(|l| (l.line, l.caption.as_str(), l.target.as_str(), l.is_image))
            .collect();
        assert_eq!(
            found,
            [
                (1, "graph", "graph.png", true),
                (2, "r1: inet4", "bench.r1.svg", false),
                (2, "b", "c", false)
            ]
        );
        let page = Page::parse(b"[a] (b.txt) and [c] (see below) [d] (http://e/f)\n");
        let targets: Vec<&str> = page.spaced_links.iter().map(|l| l.target.as_str()).collect();
        assert_eq!((page.links.len(), targets), (0, vec!["b.txt", "http://e/f"]));
    }

    #[test]
    fn garbage_is_a_page_without_content() {
        let page = Page::parse(&[0xff, 0xfe, 0, b'\n', b']', b'(', b'[']);
        assert!(page.blocks.is_empty());
        let long = Page::parse(&vec![b'['; MAX_PAGE_BYTES + 5]);
        assert!(long.is_cut);
        assert_eq!(long.lines.len(), 1);
    }
}
