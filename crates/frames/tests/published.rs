//! Published answers: IEEE Std 802.11, annex J (M in editions before 2016), and RFC 3394 by way of key frames.
#![allow(clippy::unwrap_used, non_snake_case)]

use wattlock_frames::handshake::{prf_sha1, psk};
use wattlock_frames::tkip::{Michael, phase_1, phase_2};
use wattlock_frames::{Frame, Key, Protocol};

fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// Protects what the annex gives; its frames carry the protected bit already.
fn protect(protocol: Protocol, key: &str, number: u64, mpdu: &str) -> Vec<u8> {
    let mut mpdu = hex(mpdu);
    mpdu[1] &= !0x40;
    let mut output = [0; 512];
    let mut key = Key::new(protocol, &hex(key)).unwrap();
    let length_B = key.protect(&Frame::parse(&mpdu).unwrap(), number, 0, &mut output).unwrap();
    let opened_as = &mut [0; 512];
    let opened = key.unprotect(&Frame::parse(&output[..length_B]).unwrap(), None, opened_as).unwrap();
    assert_eq!(opened_as[..opened.length_B], mpdu);
    assert_eq!(opened.number, number);
    output[..length_B].to_vec()
}

/// J.6.4 (M.6.4 of 2012).
#[test]
fn ccmp_128_protects_the_frame_of_the_annex_as_the_annex_does() {
    let header = "0848c32c 0fd2e128a57c 5030f1844408 abaea5b8fcba 8033";
    let plain = format!("{header} f8ba1a55d02f85ae967bb62fb6cda8eb7e78a050");
    let right = format!("{header} 0ce7002076973bb5 f3d0a2fe9a3dbf2342a643e43246e80c3c04d019 7845ce0b16f97623");
    let right = hex(&right.replace("2076973bb5", "20769703b5"));
    assert_eq!(protect(Protocol::Ccmp128, "c97c1f67ce371185514a8a19f2bdd52f", 0xb503_9776_e70c, &plain), right);
}

/// J.6.4 (802.11ac, M.6.4).
#[test]
fn ccmp_256_protects_the_frame_of_the_annex_as_the_annex_does() {
    let header = "0848c32c 0fd2e128a57c 5030f1844408 abaea5b8fcba 8033";
    let plain = format!("{header} f8ba1a55d02f85ae967bb62fb6cda8eb7e78a050");
    let right = hex(&format!(
        "{header} 0ce70020769703b5 6d155d8832668256d6a92b78e11d8e54495dd174 80aa56c9492e882b97642f80d50fe97b"
    ));
    let key = "c97c1f67ce371185514a8a19f2bdd52f000102030405060708090a0b0c0d0e0f";
    assert_eq!(protect(Protocol::Ccmp256, key, 0xb503_9776_e70c, &plain), right);
}

/// J.7.1 (M.11.1 of 802.11ad-2012), the second MPDU.
#[test]
fn gcmp_128_protects_the_frame_of_the_annex_as_the_annex_does() {
    let header = "88480b00 0fd2e128a57c 5030f1844408 5030f1844408 8033 0300";
    let plain = format!("{header} {}", (0..40).map(|byte| format!("{byte:02x}")).collect::<String>());
    let right = hex(&format!(
        "{header} 082b00205f5f8900
         60e9700cc4d40ac6d288b201c38f5bf08b807442640a1596e5dbdad41d1f3623f45d7a12db7afb23
         def619c2a374b6df66ffa53b6c69d79e"
    ));
    assert_eq!(protect(Protocol::Gcmp128, "c97c1f67ce371185514a8a19f2bdd52f", 0x0089_5f5f_2b08, &plain), right);
}

/// J.7.1 (802.11ac, M.11.1).
#[test]
fn gcmp_256_protects_the_frame_of_the_annex_as_the_annex_does() {
    let header = "88480b00 0fd2e128a57c 5030f1844408 5030f1844408 8033 0300";
    let plain = format!("{header} {}", (0..40).map(|byte| format!("{byte:02x}")).collect::<String>());
    let right = hex(&format!(
        "{header} 082b00205f5f8900
         658343c8b1444 7d9211defd46ad89c710c6fc3333323 6e3997b9176a5a8be779b21266555e70ad79114 316859095473d5b1bd596b3dea3bf"
    ));
    let key = "c97c1f67ce371185514a8a19f2bdd52f000102030405060708090a0b0c0d0e0f";
    assert_eq!(protect(Protocol::Gcmp256, key, 0x0089_5f5f_2b08, &plain), right);
}

/// J.1 (H.6.1 of 802.11i): Michael, each answer the key of the next one.
#[test]
fn michael_gives_the_answers_of_the_annex_however_the_message_is_cut() {
    let answers = [
        ("0000000000000000", "", "82925c1ca1d130b8"),
        ("82925c1ca1d130b8", "M", "434721ca40639b3f"),
        ("434721ca40639b3f", "Mi", "e8f9becae97e5d29"),
        ("e8f9becae97e5d29", "Mic", "90038fc6cf13c1db"),
        ("90038fc6cf13c1db", "Mich", "d55e100510128986"),
        ("d55e100510128986", "Michael", "0a942b124ecaa546"),
    ];
    for (key, message, right) in answers {
        for cut in 0..=message.len() {
            let mut michael = Michael::new(hex(key).as_slice().try_into().unwrap());
            michael.update(&message.as_bytes()[..cut]);
            michael.update(&message.as_bytes()[cut..]);
            assert_eq!(michael.finish().to_vec(), hex(right), "{message} cut at {cut}");
        }
    }
}

/// J.6.3 (H.6.2 of 802.11i): the first vector of the mixing, and the one after it.
#[test]
fn tkip_mixes_the_keys_of_the_annex() {
    let key: [u8; 16] = std::array::from_fn(|at| u8::try_from(at).unwrap());
    let ttak = phase_1(&key, [0x10, 0x22, 0x33, 0x44, 0x55, 0x66], 0);
    assert_eq!(ttak, [0x3dd2, 0x016e, 0x76f4, 0x8697, 0xb2e8]);
    assert_eq!(phase_2(&key, &ttak, 0).to_vec(), hex("00200033ea8d2f60ca6d1374234a660b"));
    assert_eq!(phase_2(&key, &ttak, 1).to_vec(), hex("00200190ffdc3143 89a9d9d074fd20aa"));
}

/// J.4.2.
#[test]
fn passphrases_make_the_keys_of_the_annex() {
    let answers = [
        ("password", "IEEE", "f42c6fc52df0ebef9ebb4b90b38a5f902e83fe1b135a70e23aed762e9710a12e"),
        ("ThisIsAPassword", "ThisIsASSID", "0dc0d6eb90555ed6419756b9a15ec3e3209b63df707dd508d14581f8982721af"),
        (
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "ZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZ",
            "becb93866bb8c3832cb777c2f559807c8c59afcb6eae734885001300a981cc62",
        ),
    ];
    for (passphrase, ssid, right) in answers {
        assert_eq!(psk(passphrase.as_bytes(), ssid.as_bytes()).to_vec(), hex(right));
    }
}

/// J.3 (H.3 of 802.11i).
#[test]
fn the_prf_gives_the_answers_of_the_annex() {
    let mut output = [0; 64];
    prf_sha1(&[0x0b; 20], b"prefix", b"Hi There", &mut output).unwrap();
    let right = "bcd4c650b30b9684951829e0d75f9d54b862175ed9f00606e17d8da35402ffee75df78c3d31e0f889f012120c0862beb67753e7439ae242edb8373698356cf5a";
    assert_eq!(output.to_vec(), hex(right));
}

/// J.2: RC4 by way of WEP; the IV and the key of the annex's WEP example (802.11i, H.2).
#[test]
fn wep_encrypts_as_rc4_with_the_iv_before_the_key() {
    // RC4 of the key "Key" encrypts "Plaintext" to bbf316e8d940af0ad3; with WEP the first three bytes are the IV.
    let plain = format!("08000000 {} 0000 {}", "020000000001".repeat(3), "00".repeat(20));
    let protected = protect(Protocol::Wep40, "0405060708", 0x01_0203, &plain);
    // RC4 under 0102030405060708: RFC 6229, 2.
    assert_eq!(protected[28..44], hex("97ab8a1bf0afb96132f2f67258da15a8"));
}
