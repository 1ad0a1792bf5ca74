//! The capture reader: a file's bytes, read to their end, counted, taken apart and copied.

use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Cursor, Write};
use std::rc::Rc;

use wattlock_frames::Frame;

use wattlock_net::frames::capture::{End, Endian, Piece, Stamp, Writer, read, source};
use wattlock_net::frames::census::{CaptureLine, Census};
use wattlock_net::frames::link::{Parts, Sums, parts};

/// The probe's has 4 MiB: writing over that for each execution would take most of the time.
const BUFFER_B: usize = 128 * 1024;

/// Where a copy goes.
#[derive(Clone, Default)]
struct Copy(Rc<RefCell<Vec<u8>>>);

impl Write for Copy {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A packet as far as a copy keeps it: link type, bytes, time, how many bytes of padding may be taken for its own.
type Kept = (i32, Vec<u8>, Option<u64>, usize);

fn pieces(bytes: Vec<u8>, mut take: impl FnMut(Piece)) -> Option<End> {
    let source = source(Cursor::new(bytes), BUFFER_B).ok()??;
    let read = read(source, |piece| {
        take(piece);
        Ok::<(), std::convert::Infallible>(())
    });
    match read {
        Ok(end) => Some(end),
        Err(never) => match never {},
    }
}

/// Reads `bytes` as a capture.
///
/// # Panics
/// Where a packet is counted twice or not at all, a gap lies in no bin, or a copy does not hold what its source holds.
pub fn capture(bytes: &[u8]) -> u64 {
    let (mut census, mut told) = (Census::new(Sums::default()), DefaultHasher::new());
    let copy = Copy::default();
    let mut writer = Writer::on(Box::new(copy.clone()));
    let mut taken = Parts { device: Vec::new(), mpdu: Vec::new(), has_fcs: false };
    let mut kept: Vec<Kept> = Vec::new();
    let end = pieces(bytes.to_vec(), |piece| match piece {
        Piece::Head(bytes, endian) => {
            (0, endian == Endian::Big).hash(&mut told);
            writer.head(&bytes, endian).expect("memory takes all");
        }
        Piece::Between(bytes) => {
            bytes.first().hash(&mut told);
            writer.between(&bytes).expect("memory takes all");
        }
        Piece::Packet(packet) => {
            let carried = census.take(&packet).map(|(time_ns, carried)| (time_ns.is_some(), carried.sort as u8));
            let is_fine = parts(&packet, &Sums::default(), &mut taken).is_some();
            let frame = is_fine
                .then(|| Frame::parse(&taken.mpdu).ok())
                .flatten()
                .map(|frame| (frame.subtype(), frame.kind() as u8));
            assert!(!is_fine || taken.device.len() + taken.mpdu.len() <= packet.data.len());
            (carried, packet.is_whole, is_fine, frame).hash(&mut told);
            let whole_B = packet.whole_B as usize;
            writer.packet(packet.stamp, &[packet.data], whole_B).expect("memory takes all");
            // A simple packet that was cut says its whole length alone; up to where, said the limit that a copy lifts.
            let padding_B = if matches!(packet.stamp, Stamp::Simple) && !packet.is_whole { 3 } else { 0 };
            kept.push((packet.link, packet.data.to_vec(), packet.time_ns, padding_B));
        }
    });
    let Some(end) = end else { return 0 };
    (end as u8).hash(&mut told);

    let (mut sizes, mut total_B, mut gaps) = (0, 0, 0);
    for line in census.lines() {
        match line {
            CaptureLine::Size(line) => {
                sizes += line.count;
                total_B += line.count * u64::from(line.size_B);
            }
            CaptureLine::Gap(line) => {
                assert!(line.below_ns.is_none_or(|below_ns| line.from_ns < below_ns));
                gaps += line.count;
            }
            CaptureLine::Summary(line) => {
                assert_eq!((line.packets, line.counted), (kept.len() as u64, sizes));
                assert_eq!(line.packets, line.counted + line.damaged + line.malformed + line.unknown_link);
                assert_eq!(line.total_B, total_B);
                assert!(line.counted == 0 || gaps + line.backwards < line.counted);
            }
            CaptureLine::Packet(_) => unreachable!("a census keeps no packets"),
        }
    }

    drop(writer);
    let mut again = kept.into_iter();
    let ended = pieces(copy.0.take(), |piece| {
        if let Piece::Packet(packet) = piece {
            let (link, data, time_ns, padding_B) = again.next().expect("a copy has no more packets");
            assert_eq!((packet.link, packet.time_ns), (link, time_ns));
            let behind = packet.data.strip_prefix(&data[..]).expect("a copy has the same bytes");
            assert!(behind.len() <= padding_B);
        }
    });
    assert_eq!(ended, Some(End::Whole), "of a copy");
    assert_eq!(again.count(), 0, "packets are missing in a copy");
    told.finish()
}
