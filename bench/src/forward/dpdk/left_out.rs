//! Without libdpdk-dev there are no peers.

use anyhow::Result;

use super::case::{Case, Contender};
use super::table::Routes;

pub fn forwarders(_: &Case, _: &Routes) -> Result<Vec<Box<dyn Contender>>> {
    Ok(Vec::new())
}

pub fn pair(_: &Case, _: usize, _: (usize, usize)) -> Result<f64> {
    Ok(f64::NAN)
}
