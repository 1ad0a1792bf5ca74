//! The handshake against the published vectors of another implementation, and between its own two halves.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::vec::Vec;

use crate::noise::{Noise, public};
use crate::{Error, Gateway, Handshake, Hint, Pair, Parameters, Protection, Sensor, answer_handshake};

const VECTORS: &str = include_str!("../../vectors/noise.txt");

fn values(word: &str) -> Vec<Vec<Vec<u8>>> {
    let octets = |hex: &str| -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|place| u8::from_str_radix(&hex[place..place + 2], 16).unwrap()).collect()
    };
    let lines = VECTORS.lines().filter_map(|line| line.strip_prefix(word)?.strip_prefix(' '));
    lines.map(|line| line.split(' ').map(octets).collect()).collect()
}

fn key(word: &str) -> [u8; 32] {
    values(word)[0][0][..].try_into().unwrap()
}

#[test]
fn both_halves_say_what_the_published_vectors_say() {
    let prologue = values("prologue")[0][0].clone();
    let ephemerals = [key("ephemeral-up"), key("ephemeral-down")];
    let mut ends = [(); 2].map(|()| Noise::new(&[&prologue], &key("secret")));
    for (number, message) in values("message").into_iter().take(2).enumerate() {
        let [payload, sent] = &message[..] else { panic!("payload and what is sent") };
        let public = public(&ephemerals[number]);
        for (end, ephemeral) in ends.iter_mut().zip(ephemerals) {
            end.mix_ephemeral(&public);
            if number == 1 {
                let other = if ephemeral == ephemerals[0] { public } else { crate::noise::public(&ephemerals[0]) };
                end.mix_exchange(&ephemeral, &other).unwrap();
            }
        }
        let mut body = payload.clone();
        let tag = ends[number].seal(&mut body).unwrap();
        assert_eq!([&public[..], &body, &tag].concat(), *sent);
        ends[1 - number].open(&mut body, &tag).unwrap();
        assert_eq!(body, *payload);
    }
    assert_eq!(ends.each_ref().map(Noise::hash), [key("hash"); 2]);
    assert_eq!(ends[0].split(), ends[1].split());
}

#[test]
fn the_keys_of_the_published_vectors_open_the_transport_messages() {
    use chacha20poly1305::aead::{AeadInOut, KeyInit};
    let ephemerals = [key("ephemeral-up"), key("ephemeral-down")];
    let mut noise = Noise::new(&[&values("prologue")[0][0]], &key("secret"));
    let messages = values("message");
    noise.mix_ephemeral(&public(&ephemerals[0]));
    noise.seal(&mut messages[0][0].clone()).unwrap();
    noise.mix_ephemeral(&public(&ephemerals[1]));
    noise.mix_exchange(&ephemerals[0], &public(&ephemerals[1])).unwrap();
    noise.seal(&mut messages[1][0].clone()).unwrap();
    for (number, message) in messages[2..].iter().enumerate() {
        let cipher = chacha20poly1305::ChaCha20Poly1305::new(&noise.split()[number % 2].into());
        let mut nonce = [0; 12];
        nonce[4] = u8::try_from(number / 2).unwrap();
        let (body, tag) = message[1].split_last_chunk::<16>().unwrap();
        let mut body = body.to_vec();
        cipher.decrypt_inout_detached(&nonce.into(), &[], body[..].as_mut().into(), &(*tag).into()).unwrap();
        assert_eq!(body, message[0]);
    }
}

#[test]
fn two_ends_shake_hands_and_a_changed_bit_is_refused() {
    let pair = Pair { secret: [0x21; 32], link: *b"test" };
    let (_, flight) = Handshake::begin(&pair, [3; 32]).unwrap();
    let (of_gateway, root, answer) = answer_handshake(&pair, &flight, [4; 32]).unwrap();
    for bit in 0..8 * flight.len() {
        let mut changed = flight;
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(answer_handshake(&pair, &changed, [4; 32]).is_err(), "{bit}");
    }
    for bit in 0..8 * answer.len() {
        let mut changed = answer;
        changed[bit / 8] ^= 1 << (bit % 8);
        let (half, _) = Handshake::begin(&pair, [3; 32]).unwrap();
        assert_eq!(half.finish(&changed).err(), Some(Error::Tag), "{bit}");
    }
    let (half, _) = Handshake::begin(&pair, [3; 32]).unwrap();
    let (of_sensor, sensor_root) = half.finish(&answer).unwrap();
    assert_eq!(of_sensor.secret, of_gateway.secret);
    assert_ne!(of_sensor.secret, pair.secret);
    let mut sensor = Sensor::new(sensor_root, Parameters::new(Hint::Octet));
    let mut gateway: Gateway = Gateway::new(root, Parameters::new(Hint::Octet));
    let mut frame = [0; 64];
    let sealed = sensor.seal(b"21.5", Protection::Short, &mut frame).unwrap();
    gateway.hear(&frame[..sealed.length_B], None).unwrap();
    assert_eq!(gateway.receive().unwrap().payload(), b"21.5");
}

#[test]
fn a_public_key_of_small_order_and_a_stranger_are_refused() {
    let pair = Pair { secret: [0x21; 32], link: *b"test" };
    let mut stranger = pair.clone();
    stranger.secret[0] ^= 1;
    let (half, flight) = Handshake::begin(&stranger, [3; 32]).unwrap();
    assert_eq!(answer_handshake(&pair, &flight, [4; 32]).err(), Some(Error::Tag));
    assert_eq!(half.finish(&[0; 48]).err(), Some(Error::Tag));
    let mut noise = Noise::new(&[b""], &pair.secret);
    assert_eq!(noise.mix_exchange(&[3; 32], &[0; 32]).err(), Some(Error::Tag));
}
