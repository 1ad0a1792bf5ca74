//! Published answers: IEEE Std 802.11, annex J (M in editions before 2016), and RFC 3394 by way of key frames.
#![allow(clippy::unwrap_used, non_snake_case)]

use wattlock_frames::handshake::{Akm, Brought, Ptk, prf_sha1, psk};
use wattlock_frames::tkip::{Michael, phase_1, phase_2};
use wattlock_frames::{Frame, Key, Protocol};

fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// Protects what the annex gives; its frames carry the protected bit already.
fn protect(protocol: Protocol, key: &str, number: u64, key_id: u8, mpdu: &str) -> Vec<u8> {
    let mut mpdu = hex(mpdu);
    mpdu[1] &= !0x40;
    let mut output = [0; 512];
    let mut key = Key::new(protocol, &hex(key)).unwrap();
    let length_B = key.protect(&Frame::parse(&mpdu).unwrap(), number, key_id, &mut output).unwrap();
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
    let right = format!("{header} 0ce70020769703b5 f3d0a2fe9a3dbf2342a643e43246e80c3c04d019 7845ce0b16f97623");
    let right = hex(&right);
    assert_eq!(protect(Protocol::Ccmp128, "c97c1f67ce371185514a8a19f2bdd52f", 0xb503_9776_e70c, 0, &plain), right);
}

/// I.7.4 of P802.11i/D7.0, MPDUs 2, 6 and 7: other subtypes, an order flag, QoS, more data, key ids. Those with QoS and
/// the order flag (3, 4, 5 and 8) are no frames any more: since 802.11n the flag says that HT Control follows.
#[test]
fn ccmp_128_protects_the_frames_of_the_draft_as_the_draft_does() {
    let frames = [
        (
            ("8f7a053fa577a5597529272097a603d5", 0x31f3_cbba_97ea, 2),
            "38c06a51 ea100c846850 eec1762c88de af2ee9f46a07 e0cc",
            ("ea9700a0bacbf331", "83a0634b5ed7627eb9df225e05740342de194117"),
            "814b6965d05bf2b2ed38d4beb069fe82714a610b 542fbf8da06aa4ae",
        ),
        (
            ("f71eea4e1f58804b9717230ad0614641", 0x6b81_eca4_8989, 1),
            "8852e11f 5af28430fdab bff943b9f9a6 ab1d98c7fe73 5071 3d6a",
            ("89890060a4ec816b", "abfda22d3a0bfc9cc1fc079363c2fca143e6eb1d"),
            "9a709b60a39d40b1dfb612e18b5f114badb6cc86 309a8d5c466bbb71",
        ),
        (
            ("1bdb34980e038124a1db1a892bec366a", 0x5eec_4073_e723, 3),
            "18798146 9b50f4fd56f6 efec95201691 83570c4ccdee 20a0",
            ("23e700e07340ec5e", "98beca86f4b38da20cfdf24724c58eb835665339"),
            "12c537ebf3ab584ef1fef9a1f3547a8c13b3225a 2d0957ecfabe95b9",
        ),
    ];
    for ((key, number, key_id), header, (head, plain), sealed) in frames {
        let right = hex(&format!("{header} {head} {sealed}"));
        assert_eq!(protect(Protocol::Ccmp128, key, number, key_id, &format!("{header} {plain}")), right, "{header}");
    }
}

/// J.9.2 (M.9.2 of 2012): a deauthentication. The annex gives the frame in the clear; what it becomes is as a program
/// of others gives it (hostap's wlantest).
#[test]
fn ccmp_128_protects_the_management_frame_of_the_annex() {
    let header = "c0000000 020000000100 020000000000 020000000000 6000";
    let right = hex("c0400000 020000000100 020000000000 020000000000 6000 0100002000000000 1d07 cafd0409bb8bafef");
    let key = "66ed21042f9f26d7115706e40414cf2e";
    assert_eq!(protect(Protocol::Ccmp128, key, 1, 0, &format!("{header} 0200")), right);
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
    assert_eq!(protect(Protocol::Ccmp256, key, 0xb503_9776_e70c, 0, &plain), right);
}

/// J.11.1 (M.11.1 of 802.11ad-2012), the first MPDU: 256 octets of zeros. Its MIC is over a frame control without the
/// protected bit, which 12.5.5.3.3 sets in what is authenticated: it can be nobody's who keeps to that clause.
#[test]
fn gcmp_128_encrypts_the_zeros_of_the_annex_as_the_annex_does() {
    let header = "20020000 000000000000 ffffffffffff ffffffffffff 0000";
    let sealed = "
        5f5578c18f137ad279bf3f2b24c7bd8f277a1be6770da1d98b70c6d28ae01c559ecba6a01db067c5a27e4db08cdadc77
        52ad637eaf0a18ed13fbaa143bafef18f8fbce4c65e86bd02a87b601b7eab93f2bbc874c8a710580f502341a6a533931
        43de4c9ec6a286f125718378aedc84eba2b30f5c28bb5d75c6b025466d0651c722dc71151f212d6887828a0382e9288a
        7f43d52b7d25086157646954bb43b57ea587a025f40ce74511e4dd2285b40ba3f3b96262cbc28c6aa7be443e7b41e1eb
        ff524857a681689775 0115b0231ab7c28472c06dd0b49be9f369a8c39ccd0db7983510e1ae8f05d77545e0235cdbd612
        f3150754cee5ce6a1225d99525026f74";
    let right = hex(&format!("20420000{} 0100002000000000 {sealed}", &header[8..]));
    let plain = format!("{header} {}", "00".repeat(256));
    let sealed = protect(Protocol::Gcmp128, &"aa".repeat(16), 1, 0, &plain);
    assert_eq!(sealed[..sealed.len() - 16], right);
}

/// J.11.1 (M.11.1 of 802.11ad-2012), the second MPDU.
#[test]
fn gcmp_128_protects_the_frame_of_the_annex_as_the_annex_does() {
    let header = "88480b00 0fd2e128a57c 5030f1844408 5030f1844408 8033 0300";
    let plain = format!("{header} {}", (0..40).map(|byte| format!("{byte:02x}")).collect::<String>());
    let right = hex(&format!(
        "{header} 082b00205f5f8900
         60e9700cc4d40ac6d288b201c38f5bf08b807442640a1596e5dbdad41d1f3623f45d7a12db7afb23
         def619c2a374b6df66ffa53b6c69d79e"
    ));
    assert_eq!(protect(Protocol::Gcmp128, "c97c1f67ce371185514a8a19f2bdd52f", 0x0089_5f5f_2b08, 0, &plain), right);
}

/// J.11.1 (802.11ac, M.11.1).
#[test]
fn gcmp_256_protects_the_frame_of_the_annex_as_the_annex_does() {
    let header = "88480b00 0fd2e128a57c 5030f1844408 5030f1844408 8033 0300";
    let plain = format!("{header} {}", (0..40).map(|byte| format!("{byte:02x}")).collect::<String>());
    let right = hex(&format!(
        "{header} 082b00205f5f8900
         658343c8b1444 7d9211defd46ad89c710c6fc3333323 6e3997b9176a5a8be779b21266555e70ad79114 316859095473d5b1bd596b3dea3bf"
    ));
    let key = "c97c1f67ce371185514a8a19f2bdd52f000102030405060708090a0b0c0d0e0f";
    assert_eq!(protect(Protocol::Gcmp256, key, 0x0089_5f5f_2b08, 0, &plain), right);
}

/// J.2 (M.2 of 2012): Michael, each answer the key of the next one.
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

/// J.1 (M.1 of 2012): the first vector of the mixing, and the one after it.
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

/// J.3 (M.3 of 2012).
#[test]
fn the_prf_gives_the_answers_of_the_annex() {
    let mut output = [0; 64];
    prf_sha1(&[0x0b; 20], b"prefix", b"Hi There", &mut output).unwrap();
    let right = "bcd4c650b30b9684951829e0d75f9d54b862175ed9f00606e17d8da35402ffee75df78c3d31e0f889f012120c0862beb67753e7439ae242edb8373698356cf5a";
    assert_eq!(output.to_vec(), hex(right));
}

/// J.6.2 (I.7.2 of P802.11i/D7.0).
#[test]
fn wep_protects_the_frame_of_the_annex_as_the_annex_does() {
    let header = "0848c32c 0fd2e128a57c 5030f1844408 abaea5b8fcba 8033";
    let plain = format!(
        "{header} aaaa0300000008004500004e661a00008011be640a0001220affffff00890089003a000080a601100001000000000000
         204543454a4548454346434550464545494546464343414341434143414341414100002000 01"
    );
    let right = hex(&format!(
        "{header} fb029e80 f69c5806bd6ce84626bcbefb9474650aad1f7909b0f64d5f58a503a258b7ed22eb0ea64930d3a056a55742fcce141d
         485f8aa836dea18df42c5380805ad0c61a5d6f58f41040b24b7d1a693856ed0d4398e7aee3bf0e2a2ca8f7"
    ));
    assert_eq!(protect(Protocol::Wep40, "3031323334", 0xfb_029e, 2, &plain), right);
}

/// J.6.3 (M.6.3 of 2012): mixing, Michael, ICV and RC4 of one MPDU from an access point.
#[test]
fn tkip_protects_the_frame_of_the_annex_as_the_annex_does() {
    let header = "08422c00 020304050608 020304050607 020304050607 d002";
    let plain = format!(
        "{header} aaaa03000000080045000054000040004001a555c0a80a02c0a80a0108003ab000000000cd4c050000000000
         08090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f3031323334353637"
    );
    let right = hex(&format!(
        "{header} 0020012000000000
         c00e14fce7cfabc77547e666e57c0dac704a1e358a88c11c8e2e282e3801027a4656055ee93e9c254702e9735805ddb5
         769ba73f1ebb56e844ef912285d3dd6e541e823873558adba079068abd7f7f50959675acc4b4de9aa99c05f289a7c52f
         ee5bfc14f6f8e5f8"
    ));
    let key = "12345678901234567890123456789012 3456789012345678 9012345678901234";
    assert_eq!(protect(Protocol::Tkip, key, 1, 0, &plain), right);
}

/// J.7 (tables J-13 to J-15): keys, nonces and addresses of a pair.
#[test]
fn a_pair_agrees_on_the_keys_of_the_annex() {
    let pmk = hex("0dc0d6eb90555ed6419756b9a15ec3e3209b63df707dd508d14581f8982721af");
    let supplicant = hex("c0c1c2c3c4c5c6c7c8c9d0d1d2d3d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5");
    let authenticator = hex("e0e1e2e3e4e5e6e7e8e9f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff000102030405");
    let addresses = [[0xa0, 0xa1, 0xa1, 0xa3, 0xa4, 0xa5], [0xb0, 0xb1, 0xb2, 0xb3, 0xb4, 0xb5]];
    let nonces = [authenticator.as_slice().try_into().unwrap(), supplicant.as_slice().try_into().unwrap()];
    let temporal = "b2360c79e9710fdd58bea93deaf06599 db980afbc29c1528 55740a6ce5ae3827";
    for temporal_B in [16, 32] {
        let ptk = Ptk::derive(Akm::PSK, &pmk, &Brought { addresses, nonces }, temporal_B).unwrap();
        assert_eq!(ptk.kck(), hex("379f9852d0199236b94e407ce4c00ec8"));
        assert_eq!(ptk.kek(), hex("47c9edc01c2c6e5b4910caddfb3e51a7"));
        assert_eq!(ptk.temporal(), &hex(temporal)[..temporal_B]);
    }
}

/// RFC 6229 by way of WEP.
#[test]
fn wep_encrypts_as_rc4_with_the_iv_before_the_key() {
    let plain = format!("08000000 {} 0000 {}", "020000000001".repeat(3), "00".repeat(20));
    let protected = protect(Protocol::Wep40, "0405060708", 0x01_0203, 0, &plain);
    // RC4 under 0102030405060708: RFC 6229, 2.
    assert_eq!(protected[28..44], hex("97ab8a1bf0afb96132f2f67258da15a8"));
}
