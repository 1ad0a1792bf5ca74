//! Captures, pcap and pcapng, gzipped or not: read one packet after another in bounded memory, and written alike.

use std::fs::File;
use std::io::{self, Chain, Cursor, Read, Write};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use pcap_parser::traits::{PcapNGPacketBlock as _, PcapReaderIterator};
use pcap_parser::{
    Block, EnhancedPacketBlock, InterfaceDescriptionBlock, LegacyPcapReader, OptionCode, PcapBlockOwned, PcapError,
    PcapHeader, PcapNGReader, SimplePacketBlock,
};

use super::wireless::{PPI, is_wireless};

/// The largest block that is read: a capture's packets have at most 256 KiB.
const BUFFER_B: usize = 4 << 20;
/// The first bytes of a file, by which its format is told.
const PREFIX_B: usize = 64 * 1024;
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// Type of the block that a pcapng begins with, alike in both orders of bytes.
const SECTION: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
/// What a capture without a limit says: the largest that tshark reads.
const LONGEST_PACKET_B: u32 = 262_144;
const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;

/// A packet as it was captured.
pub struct Packet<'a> {
    /// The link type (`LINKTYPE_...` of tcpdump.org).
    pub link: i32,
    /// Its bytes.
    pub data: &'a [u8],
    /// Whether all its bytes were captured.
    pub is_whole: bool,
    /// Its bytes before the capture cut it short.
    pub whole_B: u32,
    /// Octets of FCS behind it, where the capture says so.
    pub fcs_B: Option<u8>,
    /// When, since 1970; `None` where the capture does not say, or says a time before 1970 or after 2554.
    pub time_ns: Option<u64>,
    /// What a copy is stamped with.
    pub stamp: Stamp,
}

impl Packet<'_> {
    /// A packet of another medium in a header of PPI as that medium has it, any other as it is.
    ///
    /// # Source
    /// CACE Technologies, Per-Packet Information Header Specification 1.0.10, 3.1: two octets, length, link type.
    pub fn unwrapped(&self) -> Packet<'_> {
        let inner = || {
            let link = i32::from_le_bytes(*self.data.get(4..)?.first_chunk()?);
            let length_B = u16::from_le_bytes(*self.data.get(2..)?.first_chunk()?);
            let data = self.data.get(usize::from(length_B)..)?;
            Some((link, data, self.whole_B.saturating_sub(length_B.into())))
        };
        match inner() {
            Some((link, data, whole_B)) if self.link == PPI && !is_wireless(link) => {
                Packet { link, data, whole_B, ..*self }
            }
            _ => Packet { ..*self },
        }
    }
}

/// Where and when a packet was captured, as its capture writes it.
#[derive(Debug, Clone, Copy)]
pub enum Stamp {
    /// Of pcap: seconds and their fraction.
    Pcap(u32, u32),
    /// Of pcapng: interface and time in its units, high and low word.
    Enhanced(u32, u32, u32),
    /// Of pcapng, without either.
    Simple,
}

/// What comes out of a capture.
pub enum Piece<'a> {
    /// What the capture begins with: what a copy begins with.
    Head(Vec<u8>, Endian),
    /// What stands between packets and belongs in a copy.
    Between(Vec<u8>),
    /// A packet.
    Packet(Packet<'a>),
}

/// In which order the bytes of a number stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endian {
    /// The least first.
    Little,
    /// The most first.
    Big,
}

impl Endian {
    fn word(self, bytes: [u8; 4]) -> u32 {
        if self == Self::Big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    fn bytes(self, value: u32) -> [u8; 4] {
        if self == Self::Big { value.to_be_bytes() } else { value.to_le_bytes() }
    }
}

/// How a capture ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// With its last packet.
    Whole,
    /// Inside a packet or a block.
    Cut,
    /// With bytes that are no packet.
    Corrupt,
}

type Source = Box<dyn PcapReaderIterator + Send>;

/// Opens a capture.
///
/// # Errors
/// That the file can't be read, or is no capture.
pub fn open(path: &Path) -> Result<Source, String> {
    let named = |error: io::Error| format!("{}: {error}", path.display());
    let source = source(File::open(path).map_err(named)?, BUFFER_B).map_err(named)?;
    source.ok_or_else(|| format!("{}: neither pcap nor pcapng", path.display()))
}

/// A capture out of bytes; `None` of what is none.
///
/// * `buffer_B`: room for its largest block, at least 64 KiB; what is larger is corrupt.
///
/// # Errors
/// That not even the first bytes can be read.
pub fn source(bytes: impl Read + Send + 'static, buffer_B: usize) -> io::Result<Option<Source>> {
    let bytes = prefixed(bytes)?;
    let is_gzip = prefix(&bytes).starts_with(&GZIP);
    let source: Box<dyn Read + Send> = if is_gzip { Box::new(MultiGzDecoder::new(bytes)) } else { Box::new(bytes) };
    // Read ahead, as the format is told by what the first read gives: a reader is opened by one read and no more, so
    // that a cut right behind is met where packets are read.
    let source = prefixed(source)?;
    Ok(if prefix(&source).starts_with(&SECTION) {
        PcapNGReader::new(buffer_B, source).ok().map(|reader| Box::new(reader) as Source)
    } else {
        LegacyPcapReader::new(buffer_B, source).ok().map(|reader| Box::new(reader) as Source)
    })
}

/// A source whose first bytes were read ahead.
type Prefixed<R> = Chain<Cursor<Vec<u8>>, R>;

/// The source with its first bytes read ahead.
fn prefixed<R: Read>(mut source: R) -> io::Result<Prefixed<R>> {
    let mut prefix = Vec::new();
    let read = source.by_ref().take(PREFIX_B as u64).read_to_end(&mut prefix);
    // A gzip that is cut has given what there was before it says so.
    if prefix.is_empty() {
        read?;
    }
    Ok(Cursor::new(prefix).chain(source))
}

fn prefix<R>(source: &Prefixed<R>) -> &[u8] {
    source.get_ref().0.get_ref()
}

struct Interface {
    link: i32,
    /// The most octets of a packet that were captured; 0 is no limit.
    most_B: u32,
    fcs_B: Option<u8>,
    ticks_per_second: u64,
    /// What its times count from (if_tsoffset).
    since_s: i64,
}

impl Interface {
    fn time_ns(&self, ticks: u64) -> Option<u64> {
        let since_ns = i128::from(self.since_s) * 1_000_000_000;
        let time_ns = since_ns + i128::from(ticks) * 1_000_000_000 / i128::from(self.ticks_per_second);
        u64::try_from(time_ns).ok()
    }
}

/// Reads a capture to its end, piece by piece.
///
/// # Errors
/// What `take` says; a capture that is cut or corrupt is an [`End`].
pub fn read<E>(mut source: Source, mut take: impl FnMut(Piece) -> Result<(), E>) -> Result<End, E> {
    let mut section =
        Section { interfaces: Vec::new(), endian: Endian::Little, link: 0, fcs_B: None, fraction_ns: 1000 };
    loop {
        let (read_B, between) = match source.next() {
            Ok((read_B, block)) => match section.piece(&block) {
                Found::Piece(piece) => {
                    take(piece)?;
                    (read_B, None)
                }
                Found::Between(edit) => (read_B, Some(edit)),
                Found::Nothing => (read_B, None),
                Found::Corrupt => return Ok(End::Corrupt),
            },
            Err(PcapError::Eof) => return Ok(End::Whole),
            Err(PcapError::UnexpectedEof | PcapError::ReadError) => return Ok(End::Cut),
            Err(PcapError::Incomplete(_)) => {
                let before_B = source.data().len();
                if source.refill().is_err() {
                    return Ok(End::Cut);
                }
                if source.data().len() == before_B && !source.reader_exhausted() {
                    return Ok(End::Corrupt);
                }
                continue;
            }
            Err(_) => return Ok(End::Corrupt),
        };
        if let Some(edit) = between {
            let mut bytes = source.data().get(..read_B).unwrap_or_default().to_vec();
            let endian = section.endian;
            match edit {
                // How long the section is, is not known any more (-1).
                Edit::Section => bytes.iter_mut().skip(16).take(8).for_each(|byte| *byte = 0xff),
                // Packets may grow beyond the limit: 0 is none.
                Edit::Interface => bytes.iter_mut().skip(12).take(4).for_each(|byte| *byte = 0),
                Edit::None => {}
            }
            take(if edit == Edit::Section { Piece::Head(bytes, endian) } else { Piece::Between(bytes) })?;
        }
        source.consume(read_B);
    }
}

#[derive(PartialEq, Eq)]
enum Edit {
    Section,
    Interface,
    None,
}

enum Found<'a> {
    Piece(Piece<'a>),
    /// The block's own bytes, with a change.
    Between(Edit),
    Nothing,
    Corrupt,
}

struct Section {
    interfaces: Vec<Interface>,
    endian: Endian,
    link: i32,
    fcs_B: Option<u8>,
    fraction_ns: u64,
}

/// Octets of FCS of a pcap's packets: bit 26 says that the four highest bits tell them, in words of two octets.
fn fcs_B(network: i32) -> Option<u8> {
    let network = network.cast_unsigned();
    (network >> 26 & 1 == 1).then(|| u8::try_from(2 * (network >> 28)).unwrap_or(0))
}

/// Option `if_tsresol` of an interface: a power of ten, or with the highest bit of two, which the parser takes for none.
fn ticks_per_second(resolution: u8) -> Option<u64> {
    let exponent = u32::from(resolution & 0x7f);
    if resolution & 0x80 == 0 { 10_u64.checked_pow(exponent) } else { 1_u64.checked_shl(exponent) }
}

/// Type of the obsolete packet block, which older programs still write.
const PACKET: u32 = 2;
/// Option `if_fcslen` of an interface.
const FCS_LENGTH: OptionCode = OptionCode(13);
/// Interfaces of a section; more are no capture.
const MOST_INTERFACES: usize = 4096;

impl Section {
    fn piece<'a>(&mut self, block: &'a PcapBlockOwned<'_>) -> Found<'a> {
        match block {
            PcapBlockOwned::LegacyHeader(header) => self.legacy_header(header),
            PcapBlockOwned::Legacy(packet) => {
                let time_ns = u64::from(packet.ts_sec) * 1_000_000_000 + u64::from(packet.ts_usec) * self.fraction_ns;
                Found::Piece(Piece::Packet(Packet {
                    link: self.link,
                    data: packet.data,
                    is_whole: packet.caplen >= packet.origlen,
                    whole_B: packet.origlen.max(packet.caplen),
                    fcs_B: self.fcs_B,
                    time_ns: Some(time_ns),
                    stamp: Stamp::Pcap(packet.ts_sec, packet.ts_usec),
                }))
            }
            PcapBlockOwned::NG(Block::SectionHeader(header)) => {
                self.interfaces.clear();
                self.endian = if header.big_endian() { Endian::Big } else { Endian::Little };
                Found::Between(Edit::Section)
            }
            PcapBlockOwned::NG(Block::InterfaceDescription(interface)) => self.interface(interface),
            PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => self.enhanced(packet),
            PcapBlockOwned::NG(Block::SimplePacket(packet)) => self.simple(packet),
            PcapBlockOwned::NG(
                Block::NameResolution(_) | Block::InterfaceStatistics(_) | Block::DecryptionSecrets(_),
            ) => Found::Between(Edit::None),
            // The parser reads the type in the order of the least byte first, whatever the section's.
            PcapBlockOwned::NG(Block::Unknown(block))
                if block.block_type.to_le_bytes() == self.endian.bytes(PACKET) =>
            {
                self.obsolete(block.data)
            }
            // Blocks that may hold packets in a way of their own are not copied: nothing in them was verified.
            PcapBlockOwned::NG(_) => Found::Nothing,
        }
    }
}

impl Section {
    fn legacy_header<'a>(&mut self, header: &PcapHeader) -> Found<'a> {
        self.link = header.network.0 & 0xffff;
        self.fcs_B = fcs_B(header.network.0);
        let is_fine = header.is_nanosecond_precision();
        self.fraction_ns = if is_fine { 1 } else { 1000 };
        let magic = if is_fine { NANOSECONDS } else { MICROSECONDS };
        let link = u32::try_from(self.link).unwrap_or(0);
        let words = [magic, 2 | 4 << 16, 0, 0, LONGEST_PACKET_B, link];
        Found::Piece(Piece::Head(words.into_iter().flat_map(u32::to_le_bytes).collect(), Endian::Little))
    }

    fn interface<'a>(&mut self, interface: &InterfaceDescriptionBlock) -> Found<'a> {
        if self.interfaces.len() == MOST_INTERFACES {
            return Found::Corrupt;
        }
        let ticks_per_second = ticks_per_second(interface.if_tsresol).unwrap_or(1_000_000);
        let fcs_B = interface.options.iter().find(|option| option.code == FCS_LENGTH);
        // The parser reads it in the order of the least byte first, whatever the section's.
        let since_s = interface.ts_offset();
        let since_s = if self.endian == Endian::Big { since_s.swap_bytes() } else { since_s };
        self.interfaces.push(Interface {
            link: interface.linktype.0,
            most_B: interface.snaplen,
            fcs_B: fcs_B.and_then(|option| option.value.first()).copied(),
            ticks_per_second,
            since_s,
        });
        Found::Between(Edit::Interface)
    }

    fn enhanced<'a>(&self, packet: &'a EnhancedPacketBlock<'_>) -> Found<'a> {
        let at = usize::try_from(packet.if_id).unwrap_or(usize::MAX);
        let Some(interface) = self.interfaces.get(at) else { return Found::Corrupt };
        let ticks = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
        Found::Piece(Piece::Packet(Packet {
            link: interface.link,
            data: packet.packet_data(),
            is_whole: packet.caplen >= packet.origlen,
            whole_B: packet.origlen.max(packet.caplen),
            fcs_B: interface.fcs_B,
            time_ns: interface.time_ns(ticks),
            stamp: Stamp::Enhanced(packet.if_id, packet.ts_high, packet.ts_low),
        }))
    }

    fn simple<'a>(&self, packet: &'a SimplePacketBlock<'_>) -> Found<'a> {
        let Some(interface) = self.interfaces.first() else { return Found::Corrupt };
        let most_B = usize::try_from(interface.most_B).ok().filter(|most_B| *most_B > 0).unwrap_or(usize::MAX);
        // What is behind the limit pads the block.
        let data = packet.packet_data();
        let data = data.get(..most_B).unwrap_or(data);
        Found::Piece(Piece::Packet(Packet {
            link: interface.link,
            data,
            is_whole: data.len() as u64 >= u64::from(packet.origlen),
            whole_B: packet.origlen,
            fcs_B: interface.fcs_B,
            time_ns: None,
            stamp: Stamp::Simple,
        }))
    }

    /// The packet of an obsolete block: interface and drops in 16 bits each, then as in an enhanced one.
    fn obsolete<'a>(&self, block: &'a [u8]) -> Found<'a> {
        let word = |at: usize| block.get(at..at + 4)?.first_chunk().map(|bytes| self.endian.word(*bytes));
        let read = || {
            let interfaces = word(0)?;
            let at = if self.endian == Endian::Big { interfaces >> 16 } else { interfaces & 0xffff };
            let (high, low, there_B, whole_B) = (word(4)?, word(8)?, word(12)?, word(16)?);
            let data = block.get(20..)?.get(..usize::try_from(there_B).ok()?)?;
            let interface = self.interfaces.get(usize::try_from(at).ok()?)?;
            Some(Packet {
                link: interface.link,
                data,
                is_whole: there_B >= whole_B,
                whole_B: whole_B.max(there_B),
                fcs_B: interface.fcs_B,
                time_ns: interface.time_ns(u64::from(high) << 32 | u64::from(low)),
                stamp: Stamp::Enhanced(at, high, low),
            })
        };
        read().map_or(Found::Corrupt, |packet| Found::Piece(Piece::Packet(packet)))
    }
}

/// A capture that is written.
pub struct Writer {
    out: Out,
    endian: Endian,
}

enum Out {
    Plain(Box<dyn Write>),
    Gzip(GzEncoder<Box<dyn Write>>),
}

impl Writer {
    /// Writes to where bytes go.
    pub fn on(out: Box<dyn Write>) -> Self {
        Self { out: Out::Plain(out), endian: Endian::Little }
    }

    /// The same, gzipped.
    pub fn zipped(out: Box<dyn Write>) -> Self {
        Self { out: Out::Gzip(GzEncoder::new(out, flate2::Compression::default())), endian: Endian::Little }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.out {
            Out::Plain(out) => out.write_all(bytes),
            Out::Gzip(out) => out.write_all(bytes),
        }
    }

    /// Writes what a capture begins with.
    ///
    /// # Errors
    /// That it can't be written.
    pub fn head(&mut self, bytes: &[u8], endian: Endian) -> io::Result<()> {
        self.endian = endian;
        self.write(bytes)
    }

    /// Writes what stands between packets.
    ///
    /// # Errors
    /// That it can't be written.
    pub fn between(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write(bytes)
    }

    /// Writes a packet of which these are the parts.
    ///
    /// * `whole_B`: its bytes before it was cut short by the capture, at least those that are there.
    ///
    /// # Errors
    /// That it can't be written.
    pub fn packet(&mut self, stamp: Stamp, parts: &[&[u8]], whole_B: usize) -> io::Result<()> {
        let there_B: usize = parts.iter().map(|part| part.len()).sum();
        let length_B = u32::try_from(there_B).map_err(io::Error::other)?;
        let whole_B = u32::try_from(whole_B).map_err(io::Error::other)?.max(length_B);
        let padding_B = there_B.next_multiple_of(4) - there_B;
        // 4 for each word of the block around the packet.
        let block_B = |words: u32| length_B.next_multiple_of(4) + 4 * words;
        let (before, after): (Vec<u32>, Option<u32>) = match stamp {
            Stamp::Pcap(seconds, fraction) => (vec![seconds, fraction, length_B, whole_B], None),
            Stamp::Enhanced(interface, high, low) => {
                (vec![6, block_B(8), interface, high, low, length_B, whole_B], Some(block_B(8)))
            }
            Stamp::Simple => (vec![3, block_B(4), whole_B], Some(block_B(4))),
        };
        for word in before {
            self.write(&self.endian.bytes(word))?;
        }
        for part in parts {
            self.write(part)?;
        }
        if let Some(word) = after {
            self.write(&[0; 4][..padding_B])?;
            self.write(&self.endian.bytes(word))?;
        }
        Ok(())
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// That it can't be written.
    pub fn finish(self) -> io::Result<()> {
        match self.out {
            Out::Plain(mut out) => out.flush(),
            Out::Gzip(out) => out.finish()?.flush(),
        }
    }
}
