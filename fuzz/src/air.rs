//! Frames as stations make them, and key frames with the MICs and the wrapping that handshakes want (12.7.2).

use aes::Aes128;
use aes_kw::KwAes128;
use cmac::Cmac;
use hmac::{Hmac, KeyInit, Mac};
use rc4::StreamCipher as _;
use wattlock_frames::handshake::{Akm, Brought, Ptk};
use wattlock_frames::{Address, Protocol};

pub const ACCESS_POINT: Address = [2, 0, 0, 0, 0, 1];
pub const STATION: Address = [2, 0, 0, 0, 0, 2];
pub const ALL: Address = [0xff; 6];
pub const PMK: [u8; 32] = [1; 32];
/// The key of a group, once a handshake told it.
pub const GROUP: [u8; 32] = [7; 32];
/// Octets of a key frame before its key data.
pub const FIXED_B: usize = 99;
pub const LLC_EAPOL: [u8; 8] = [0xaa, 0xaa, 3, 0, 0, 0, 0x88, 0x8e];

/// A data frame from the access point or to it.
pub fn data(is_down: bool, to: Address, sequence: u16, qos: Option<u8>, body: &[u8]) -> Vec<u8> {
    let mut mpdu = vec![if qos.is_some() { 0x88 } else { 0x08 }, if is_down { 2 } else { 1 }, 0, 0];
    let addresses = if is_down { [to, ACCESS_POINT, ACCESS_POINT] } else { [ACCESS_POINT, STATION, to] };
    mpdu.extend(addresses.concat());
    mpdu.extend((sequence << 4).to_le_bytes());
    mpdu.extend(qos.iter().flat_map(|tid| [*tid, 0]));
    mpdu.extend(body);
    mpdu
}

/// A key frame without MIC; its data are in the clear.
pub fn key_frame(is_wpa: bool, information: u16, key_B: u16, nonce: u8, data: &[u8]) -> Vec<u8> {
    let mut packet = vec![2, 3, 0, 0, if is_wpa { 254 } else { 2 }];
    packet.extend(information.to_be_bytes());
    packet.extend(key_B.to_be_bytes());
    packet.extend([0; 8]);
    packet.extend([nonce; 32]);
    packet.extend([0x5c; 16]);
    packet.extend([0; 32]);
    packet.extend([0, 0]);
    packet.extend(data);
    lengths(&mut packet);
    packet
}

/// Puts in what the lengths are.
fn lengths(packet: &mut [u8]) {
    let of = |length_B: usize| u16::try_from(length_B).expect("a key frame is short").to_be_bytes();
    let length_B = packet.len();
    packet[2..4].copy_from_slice(&of(length_B - 4));
    packet[FIXED_B - 2..FIXED_B].copy_from_slice(&of(length_B - FIXED_B));
}

/// The descriptor's version, of a packet that is long enough.
fn version(packet: &[u8]) -> u8 {
    packet[6] & 7
}

/// Encrypts the key data under the KEK.
pub fn wrap(packet: &mut Vec<u8>, kek: &[u8]) {
    let mut clear = packet.split_off(FIXED_B);
    let sealed = if version(packet) == 1 {
        let mut stream = rc4::Rc4::new_from_slice(&[&packet[49..65], kek].concat()).expect("32 octets are a key");
        stream.apply_keystream(&mut [0; 256]);
        stream.apply_keystream(&mut clear);
        clear
    } else {
        if !clear.len().is_multiple_of(8) || clear.len() < 16 {
            clear.push(0xdd);
            clear.resize(clear.len().next_multiple_of(8).max(16), 0);
        }
        let mut sealed = vec![0; clear.len() + 8];
        let kek = KwAes128::new_from_slice(kek).expect("16 octets are a key");
        kek.wrap_key(&clear, &mut sealed).expect("there is room");
        sealed
    };
    packet.extend(sealed);
    lengths(packet);
}

fn mac<M: Mac + KeyInit>(key: &[u8], bytes: &[u8]) -> [u8; 16] {
    let mut mac = <M as KeyInit>::new_from_slice(key).expect("16 octets are a key");
    mac.update(bytes);
    *mac.finalize().into_bytes().first_chunk().expect("no MIC is shorter")
}

/// Puts in the MIC of what the lengths say that there is.
pub fn sign(packet: &mut [u8], kck: &[u8]) {
    let said_B = 4 + usize::from(u16::from_be_bytes([packet[2], packet[3]]));
    let end = said_B.clamp(FIXED_B, packet.len());
    packet[81..97].fill(0);
    let mic = match version(packet) {
        1 => mac::<Hmac<md5::Md5>>(kck, &packet[..end]),
        2 => mac::<Hmac<sha1::Sha1>>(kck, &packet[..end]),
        _ => mac::<Cmac<Aes128>>(kck, &packet[..end]),
    };
    packet[81..97].copy_from_slice(&mic);
}

/// What the pair agrees on by these nonces.
pub fn ptk(akm: Akm, nonces: [&[u8; 32]; 2], temporal_B: usize) -> Ptk {
    let brought = Brought { addresses: [ACCESS_POINT, STATION], nonces };
    Ptk::derive(akm, &PMK, &brought, temporal_B).expect("a temporal key has 16 or 32 octets")
}

/// The element that names the suites (9.4.2.24).
pub fn element(group: u8, pairwise: u8, akm: u8, is_wpa: bool) -> Vec<u8> {
    let suite = |number: u8| if is_wpa { [0, 0x50, 0xf2, number] } else { [0, 0x0f, 0xac, number] };
    let head: &[u8] = if is_wpa { &[0xdd, 22, 0, 0x50, 0xf2, 1, 1, 0] } else { &[48, 20, 1, 0] };
    let tail: &[u8] = if is_wpa { &[] } else { &[0, 0] };
    [head, &suite(group), &[1, 0], &suite(pairwise), &[1, 0], &suite(akm), tail].concat()
}

/// A group key as key data (12.7.2, GTK KDE).
pub fn kde(key: &[u8], key_id: u8) -> Vec<u8> {
    let length_B = u8::try_from(6 + key.len()).expect("a group key is short");
    [&[0xdd, length_B, 0, 0x0f, 0xac, 1, key_id, 0], key].concat()
}

/// Number of a protocol's cipher suite (table 9-149).
pub fn suite(protocol: Protocol) -> u8 {
    match protocol {
        Protocol::Wep40 => 1,
        Protocol::Tkip => 2,
        Protocol::Ccmp128 => 4,
        Protocol::Wep104 => 5,
        Protocol::Gcmp128 => 8,
        Protocol::Gcmp256 => 9,
        Protocol::Ccmp256 => 10,
    }
}
