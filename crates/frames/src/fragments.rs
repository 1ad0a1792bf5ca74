//! Cuts a frame into fragments (10.4), as a station does before it protects them.

use crate::frame::Frame;
use crate::{Error, Malformed, Protocol};

/// The fragments of a frame have numbers of four bits (9.2.4.4.3).
const MOST: usize = 16;
const MORE_FRAGMENTS: u8 = 0x04;

/// How many fragments a frame makes.
///
/// * `body_B`: octets of the largest fragment's body; Michael counts, as it is a part of the MSDU that is cut.
///
/// # Errors
/// [`Malformed::Fragment`] where the frame is a fragment, goes to a group, is an aggregate, or makes more than 16 of them.
pub fn count(frame: &Frame<'_>, body_B: usize, protocol: Protocol) -> Result<u8, Error> {
    let whole_B = frame.body().len() + protocol.msdu_tail_B();
    if whole_B <= body_B || !frame.carries_data() || frame.is_group_addressed() {
        return Ok(1);
    }
    let count = whole_B.checked_div(body_B).map(|_| whole_B.div_ceil(body_B)).filter(|count| *count <= MOST);
    let fits = count.filter(|_| !frame.is_fragment() && !frame.is_aggregate());
    fits.and_then(|count| u8::try_from(count).ok()).ok_or(Malformed::Fragment.into())
}

/// Writes fragment `at` of `count` into `output`: its header and its part of the body, in the clear.
///
/// * Returns its octets.
///
/// # Errors
/// [`Error::OutputTooSmall`].
pub fn write(frame: &Frame<'_>, body_B: usize, at: u8, count: u8, output: &mut [u8]) -> Result<usize, Error> {
    let (header, body) = (frame.header(), frame.body());
    let is_last = at >= count.saturating_sub(1);
    // The last one may hold nothing but the end of Michael.
    let from = body.len().min(usize::from(at).saturating_mul(body_B));
    let to = if is_last { body.len() } else { body.len().min(from.saturating_add(body_B)) };
    let needed_B = header.len() + to - from;
    let given_B = output.len();
    let output = output.get_mut(..needed_B).ok_or(Error::OutputTooSmall { given_B, needed_B })?;
    let (out_header, out_body) = output.split_at_mut(header.len());
    out_header.copy_from_slice(header);
    out_body.copy_from_slice(&body[from..to]);
    if count > 1 && header.len() >= 24 {
        out_header[1] |= if is_last { 0 } else { MORE_FRAGMENTS };
        out_header[22] |= at & 0x0f;
    }
    Ok(needed_B)
}
