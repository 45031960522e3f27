//! Giving back what a change has unlinked: readers may still look at it, so that it is reused after
//! a grace period only.

use super::build::{Builder, bits_of, first_of};
use super::line::{self, Below, KEYS};
use super::{DEEP, LINE_OFFSET, SHARED};

impl Builder {
    /// Gives back the tables below runs that no line has taken.
    pub(super) fn retire_runs(&mut self, runs: &[(u16, Below)], next: u32) {
        for run in runs {
            match run.1 {
                Below::Nexthop(_) => {}
                Below::Table(list) if next == 0 => self.retire_list(list),
                Below::Table(node) => self.retire_node(node),
            }
        }
    }

    pub(super) fn is_shared_node(&self, node: u32) -> bool {
        bits_of(node) == 0 && self.entry(first_of(node)) & SHARED != 0
    }

    pub(super) fn retire_page(&mut self, page: u32) {
        let first = first_of(page);
        if bits_of(page) == 0 && self.is_shared_node(self.entry(first)) {
            return;
        }
        (first..first + (1 << bits_of(page))).for_each(|i| self.retire_node(self.entry(i)));
        self.retire_table(page);
    }

    pub(super) fn retire_node(&mut self, node: u32) {
        if self.is_shared_node(node) {
            return;
        }
        let first = first_of(node);
        (first..first + (1 << bits_of(node))).for_each(|i| self.retire_line(self.entry(i)));
        self.retire_table(node);
    }

    pub(super) fn retire_line(&mut self, line: u32) {
        let offset = line & LINE_OFFSET;
        if line & SHARED != 0 {
            return;
        }
        if line & DEEP == 0 {
            return self.slab.retire(offset, line::LINE_WORDS);
        }
        let mut before = 0;
        for i in 0..KEYS {
            let table = self.entry((offset as usize + line::LINE_WORDS) * 2 + i);
            // Unused places repeat the last table.
            if table != 0 && table != before {
                match line::next_key(line) {
                    0 => self.retire_list(table),
                    _ => self.retire_node(table),
                }
            }
            before = table;
        }
        self.slab.retire(offset, line::DEEP_WORDS);
    }

    fn retire_list(&mut self, list: u32) {
        let words = line::list_words(self.tables.records.region().words(), list);
        self.slab.retire(list & LINE_OFFSET, words);
    }

    fn retire_table(&mut self, table: u32) {
        self.slab.retire(first_of(table) as u32 / 2, (1usize << bits_of(table)).div_ceil(2));
    }
}
