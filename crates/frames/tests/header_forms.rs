//! The MIC of every form of a header: what of it CCMP and GCMP authenticate, and what they don't.
//!
//! The answers were made by pycryptodome's AES-CCM and AES-GCM, from the additional data and the nonces that 12.5.3.3.3,
//! 12.5.3.3.4, 12.5.5.3.3 and 12.5.5.3.4 describe: nothing of this crate took part.
#![allow(clippy::unwrap_used, non_snake_case)]

use wattlock_frames::{Frame, Key, Protocol};

const BODY: &[u8] = b"A body of 25 octets, plain";
const NUMBER: u64 = 0x0102_0304_0506;
/// In the order of the MICs below; keys are 00 01 02 and so on.
const PROTOCOLS: [Protocol; 4] = [Protocol::Ccmp128, Protocol::Ccmp256, Protocol::Gcmp128, Protocol::Gcmp256];

/// What it is, its header, its MIC under each protocol.
const FORMS: [(&str, &str, [&str; 4]); 13] = [
    (
        "three addresses",
        "08012c000200000000010200000000020200000000033012",
        [
            "4df8524d8db1cf00",
            "9107901feff12f129ab4209e3418505e",
            "0cd15ed131784e9cc7e0c130c61e8df1",
            "022bf733d9cef6cd028e74e0bf54caaa",
        ],
    ),
    (
        "four addresses",
        "08032c000200000000010200000000020200000000033012020000000004",
        [
            "276e0525645756ed",
            "0496a53d0c76cc26da7208247c1b7be2",
            "e5fbbbbd615266796deb1078b502fed3",
            "3834aa2d262e18669aead44167a8bd4d",
        ],
    ),
    (
        "QoS",
        "88022c0002000000000102000000000202000000000330120500",
        [
            "6e9f843fa025df2d",
            "6084fd5832003152482957a21641544d",
            "d4e0f162cc4e6e607a20dcc952a7c009",
            "d4984e93163deb62efb84e77c3c44823",
        ],
    ),
    (
        "QoS, four addresses",
        "88032c0002000000000102000000000202000000000330120200000000040600",
        [
            "83deaf8be5092e5a",
            "70ec38abf982051c453beedfaa8c7565",
            "b2943fd981b0ec4d724091a1c6e24ea8",
            "713947bcbff866cdaff7c8eed3612b78",
        ],
    ),
    (
        "QoS and HT Control",
        "88812c000200000000010200000000020200000000033012050011223344",
        [
            "4a0ffb64e23ee455",
            "651db36c448d94ce2d7685f0bc6b7c6b",
            "3be9a1b976eaacf11fcdeaef4b453528",
            "345f685ab190fa0513b431cec3a9a8f8",
        ],
    ),
    (
        "QoS, four addresses, HT Control",
        "88832c000200000000010200000000020200000000033012020000000004030011223344",
        [
            "14101068b950e963",
            "933bfd8e914091d8977e213164b4275c",
            "a58eae8c63f439d9f183836438a40c80",
            "aeff84299305a531648a07aa28509109",
        ],
    ),
    (
        "QoS with the A-MSDU flag",
        "88012c0002000000000102000000000202000000000330128500",
        [
            "4a0ffb64e23ee455",
            "651db36c448d94ce2d7685f0bc6b7c6b",
            "3be9a1b976eaacf11fcdeaef4b453528",
            "345f685ab190fa0513b431cec3a9a8f8",
        ],
    ),
    (
        "QoS with end of service, ack policy and a queue size",
        "88012c000200000000010200000000020200000000033012759c",
        [
            "4a0ffb64e23ee455",
            "651db36c448d94ce2d7685f0bc6b7c6b",
            "3be9a1b976eaacf11fcdeaef4b453528",
            "345f685ab190fa0513b431cec3a9a8f8",
        ],
    ),
    (
        "retry, power management, more data",
        "08392c000200000000010200000000020200000000033012",
        [
            "4df8524d8db1cf00",
            "9107901feff12f129ab4209e3418505e",
            "0cd15ed131784e9cc7e0c130c61e8df1",
            "022bf733d9cef6cd028e74e0bf54caaa",
        ],
    ),
    (
        "no QoS, the order flag",
        "08812c000200000000010200000000020200000000033012",
        [
            "14f64b147be0371b",
            "203a0b18c648dc283e0f9b307e52aa90",
            "b6b6859a00a776f29596303496c8fdb2",
            "e2a52b7d6bb69867009b3f60ad04ee15",
        ],
    ),
    (
        "a fragment",
        "08052c000200000000010200000000020200000000033212",
        [
            "959359513d889a89",
            "497cf0d80b71e7769b32f8df282724df",
            "0a193edc5b20361aecab8fa3f5b243ce",
            "4f1207f9c8e884d8ba0800975b237c9f",
        ],
    ),
    (
        "an action frame",
        "d0002c000200000000010200000000020200000000033012",
        [
            "464cbe6ee9bc9b51",
            "95b35c692e74afe9659da3c530a757ec",
            "bc99a21bb1ab22b83f7c9a65645e4f54",
            "ff12ce5d6878c6f32a99d66fa84056aa",
        ],
    ),
    (
        "an action frame with HT Control",
        "d0802c00020000000001020000000002020000000003301211223344",
        [
            "f673e6aebaeb1cf2",
            "0651d7095d3c22a6e16dc01cee39f3f4",
            "06fe795080741ad66d0a6b6134883f17",
            "1f9c1213da00a859288c9defba107215",
        ],
    ),
];

fn hex(digits: &str) -> Vec<u8> {
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn every_form_of_a_header_has_the_mic_that_others_make_of_it() {
    let bytes: Vec<u8> = (0..32).collect();
    for (form, header, mics) in FORMS {
        let mpdu = [&hex(header), &BODY[..25]].concat();
        for (protocol, mic) in PROTOCOLS.into_iter().zip(mics) {
            let mut key = Key::new(protocol, &bytes[..protocol.key_B()]).unwrap();
            let mut sealed = [0; 128];
            let length_B = key.protect(&Frame::parse(&mpdu).unwrap(), NUMBER, 1, &mut sealed).unwrap();
            assert_eq!(&sealed[length_B - mic.len() / 2..length_B], hex(mic), "{form}, {protocol}");
            let mut clear = [0; 128];
            let opened = key.unprotect(&Frame::parse(&sealed[..length_B]).unwrap(), None, &mut clear).unwrap();
            assert_eq!(&clear[..opened.length_B], mpdu, "{form}, {protocol}");
        }
    }
}
