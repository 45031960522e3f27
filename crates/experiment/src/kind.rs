//! `kind` in `[[traffic]]`: frames that go on and on, sessions, or streams.

use super::fields::{Found, Section, nearest};
use super::model::{SessionsOf, StreamsOf};
use super::problem::{Complaint, Complaints};
use super::{sessions, streams};

const FRAMES: &str = "frames";
const SESSIONS: &str = "sessions";
const TCP: &str = "tcp";
const KINDS: [&str; 3] = [FRAMES, SESSIONS, TCP];

/// What a traffic is made of beside frames of flows.
pub(super) struct Kind {
    pub sessions: Option<Found<SessionsOf>>,
    pub streams: Option<Found<StreamsOf>>,
}

/// Reads `kind`, and the keys that belong to one of them.
pub(super) fn read(section: &mut Section<'_>, complaints: &mut Complaints<'_>) -> Kind {
    let mut kind = section.text("kind", "\"sessions\"", complaints);
    if let Some(own) = kind.as_mut().filter(|kind| !KINDS.contains(&kind.value)) {
        let near = nearest(own.value, KINDS.into_iter());
        let complaint = Complaint::new(
            format!("there is no kind of traffic {:?}", own.value),
            "\"frames\", \"sessions\", which begin and end, or \"tcp\", streams of real stacks",
            match near {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => "remove it to send frames of flows that go on and on".to_owned(),
            },
        );
        complaints.add(&own.at, &own.field, complaint);
        // what belongs to the kind that was meant is no second mistake
        own.value = near.unwrap_or(FRAMES);
    }
    let is = |name| kind.as_ref().filter(|kind| kind.value == name);
    Kind {
        sessions: sessions::read(section, is(SESSIONS), complaints),
        streams: streams::read(section, is(TCP), complaints),
    }
}
