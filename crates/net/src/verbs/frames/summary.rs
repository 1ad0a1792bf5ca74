//! What was done with a capture, and why nothing was, in a sentence with the option that helps.

use serde::Serialize;

use crate::frames::handshakes::Row;
use crate::frames::observer::Failed;

/// What was done.
#[derive(Debug, Default, Serialize)]
pub struct Summary {
    /// Whether it goes to standard error: the copy has standard output.
    #[serde(skip)]
    pub aside: bool,
    /// Frames of 802.11 in the capture.
    pub frames: u64,
    /// Packets of other media, which are left out.
    #[serde(skip_serializing_if = "is_none")]
    pub other_media: u64,
    /// Of them data frames.
    pub data_frames: u64,
    /// Frames that were protected, or unprotected.
    pub done: u64,
    /// Frames that are not written, by reason.
    pub failed: Failed,
    /// Frames that were copied as they are.
    pub copied: u64,
    /// Frames written.
    pub written: u64,
    /// Keys that handshakes taught; of unprotect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys_learned: Option<u64>,
    /// What handshakes were, and why they taught nothing; of unprotect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handshakes: Option<Vec<Row>>,
    /// Handshakes that are not listed, for their number; of unprotect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handshakes_unlisted: Option<u64>,
    /// How often a station would have switched TKIP off; of unprotect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub countermeasures: Option<u64>,
    /// Whether the capture ends inside a packet, or in bytes that are none.
    pub cut: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde asks
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// What was given to open frames with.
#[derive(Debug, Clone, Copy)]
pub struct Given {
    /// Keys of WEP or temporal ones.
    pub keys: bool,
    /// Passphrases or master keys.
    pub masters: bool,
}

/// Of `protect`.
pub fn nothing_protected(summary: &Summary) -> Option<String> {
    unreadable(summary).or_else(|| {
        let (data, frames) = (summary.data_frames, summary.frames);
        let why = match data {
            0 => format!("none of its {frames} frames is a data frame: capture while something is sent"),
            _ => {
                format!("its {data} data frames are protected already or carry nothing: `frames unprotect` opens them")
            }
        };
        (summary.done == 0).then_some(why)
    })
}

/// Of `unprotect`.
pub fn nothing_opened(summary: &Summary, given: Given) -> Option<String> {
    if summary.done > 0 {
        return None;
    }
    if let Some(why) = unreadable(summary) {
        return Some(why);
    }
    let failed = &summary.failed;
    let heard = summary.handshakes.as_ref().is_some_and(|rows| !rows.is_empty());
    let refused = failed.icv + failed.mic + failed.michael;
    Some(match () {
        () if refused > 0 => format!(
            "{refused} frames are under another key than was tried: see --tk and --wep, or --passphrase with the network's \
             --ssid, and capture its handshake"
        ),
        () if failed.replay > 0 => {
            format!("{} frames have packet numbers that were there before: they are replays", failed.replay)
        }
        () if failed.no_key > 0 && heard => format!(
            "{} frames are protected and the handshakes gave no key: see what is said of each, and --passphrase, --ssid \
             and --pmk",
            failed.no_key
        ),
        () if failed.no_key > 0 && given.masters => format!(
            "{} frames are protected and no handshake was heard: capture from before the station joins, or give the key by \
             --tk",
            failed.no_key
        ),
        () if failed.no_key > 0 => {
            let what = if given.keys { "the keys given are of another kind" } else { "no key was given" };
            format!("{} frames are protected and {what}: --passphrase with --ssid, --pmk, --tk or --wep", failed.no_key)
        }
        () if failed.malformed > 0 => {
            format!("{} frames could not be read; capture whole frames (-s 0)", failed.malformed)
        }
        () => format!("none of its {} frames is protected: they are copied as they are", summary.frames),
    })
}

/// Where no frame could be read at all.
fn unreadable(summary: &Summary) -> Option<String> {
    match (summary.frames, summary.failed.malformed) {
        (0, _) => Some("it holds no frame of 802.11: capture while something is sent".to_owned()),
        (frames, malformed) if frames == malformed => Some(format!(
            "none of its {frames} frames could be read: they are cut short, or damaged: capture them whole (-s 0), nearer to \
             the sender"
        )),
        _ => None,
    }
}
