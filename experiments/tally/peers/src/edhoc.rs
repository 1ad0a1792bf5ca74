//! EDHOC by lakers: method 3 (static Diffie-Hellman keys of both ends), suite 2, credentials by their key identifiers.
//!
//! It has no message of its own, and here no loss: nothing is said again.

use lakers::{
    BufferCred, BufferKid, Credential, CredentialTransfer, CryptoTrait as _, EDHOCError, EDHOCMethod, EDHOCSuite,
    EdhocInitiator, EdhocInitiatorWaitM2, EdhocMessageBuffer, EdhocResponder, EdhocResponderWaitM3,
    credential_check_or_fetch,
};
use lakers_crypto_rustcrypto::Crypto;
use rand_core::OsRng;

use crate::link::{End, Fault, Said};

const METHOD: EDHOCMethod = EDHOCMethod::StatStat;
/// CBOR's encoding of -12 and of -6, each an octet on the wire (RFC 9528, 3.5.3.2).
const KIDS: [u8; 2] = [0x2b, 0x25];

type Ours = Crypto<OsRng>;

enum Step {
    Begin(EdhocInitiator<Ours>),
    WaitForSecond(EdhocInitiatorWaitM2<Ours>),
    WaitForFirst(EdhocResponder<Ours>),
    WaitForThird(EdhocResponderWaitM3<Ours>),
    Done,
}

/// An end, with the other's credential and its own secret.
pub struct Edhoc {
    step: Step,
    secret: [u8; 32],
    own: Credential,
    other: Credential,
}

/// Both ends, sensor first.
pub fn pair() -> Result<(Edhoc, Edhoc), Fault> {
    let (of_sensor, sensor) = credential(KIDS[0])?;
    let (of_gateway, gateway) = credential(KIDS[1])?;
    let begin = EdhocInitiator::new(Crypto::new(OsRng), METHOD, EDHOCSuite::CipherSuite2);
    let wait = EdhocResponder::new(Crypto::new(OsRng), METHOD, of_gateway, gateway);
    Ok((
        Edhoc { step: Step::Begin(begin), secret: of_sensor, own: sensor, other: gateway },
        Edhoc { step: Step::WaitForFirst(wait), secret: of_gateway, own: gateway, other: sensor },
    ))
}

/// A new secret, and a claims set with its public key (RFC 8392; RFC 9528, 3.5.2).
fn credential(kid: u8) -> Result<([u8; 32], Credential), Fault> {
    let (secret, public) = Crypto::new(OsRng).p256_generate_key_pair();
    // {8: {1: {1: 2, 2: h'kid', -1: 1, -2: h'public'}}}
    let head = [0xa1, 0x08, 0xa1, 0x01, 0xa4, 0x01, 0x02, 0x02, 0x41, kid, 0x20, 0x01, 0x21, 0x58, 0x20];
    let claims = BufferCred::new_from_slice(&[&head[..], &public].concat()).map_err(|_| "a credential is too long")?;
    let kid = BufferKid::new_from_slice(&[kid]).map_err(|_| "a key identifier is too long")?;
    Ok((secret, Credential::new_ccs(claims, public).with_kid(kid)))
}

impl Edhoc {
    fn next(&self, step: Step, datagram: &[u8], said: &mut Said) -> Result<Step, EDHOCError> {
        let heard = || EdhocMessageBuffer::new_from_slice(datagram).map_err(|_| EDHOCError::ParsingError);
        let by = CredentialTransfer::ByReference;
        let mut say = |flight: &[u8]| said.datagrams.push(flight.to_vec());
        Ok(match step {
            Step::Begin(end) => {
                let (end, first) = end.prepare_message_1(None, &None)?;
                say(first.as_slice());
                Step::WaitForSecond(end)
            }
            Step::WaitForFirst(end) => {
                let (end, _, _) = end.process_message_1(&heard()?)?;
                let (end, second) = end.prepare_message_2(by, None, &None)?;
                say(second.as_slice());
                Step::WaitForThird(end)
            }
            Step::WaitForSecond(end) => {
                let second = heard()?;
                let (mut end, _, id, _) = end.parse_message_2(&second)?;
                end.set_identity(self.secret, self.own)?;
                let end = end.verify_message_2(credential_check_or_fetch(Some(self.other), id)?)?;
                let (_, third, _) = end.prepare_message_3(by, &None)?;
                say(third.as_slice());
                Step::Done
            }
            Step::WaitForThird(end) => {
                let third = heard()?;
                let (end, id, _) = end.parse_message_3(&third)?;
                end.verify_message_3(credential_check_or_fetch(Some(self.other), id)?)?;
                Step::Done
            }
            Step::Done => Step::Done,
        })
    }

    fn advance(&mut self, datagram: &[u8], said: &mut Said) -> Result<(), Fault> {
        let step = std::mem::replace(&mut self.step, Step::Done);
        self.step = self.next(step, datagram, said).map_err(|error| format!("EDHOC: {error:?}"))?;
        Ok(())
    }
}

impl End for Edhoc {
    fn ready(&self) -> bool {
        matches!(self.step, Step::Done)
    }

    fn tick(&mut self, said: &mut Said) -> Result<(), Fault> {
        if matches!(self.step, Step::Begin(_)) { self.advance(&[], said) } else { Ok(()) }
    }

    fn hear(&mut self, datagram: &[u8], said: &mut Said) -> Result<(), Fault> {
        self.advance(datagram, said)
    }

    fn send(&mut self, _: &[u8], _: &mut Said) -> Result<(), Fault> {
        Err("EDHOC carries no messages".into())
    }
}
