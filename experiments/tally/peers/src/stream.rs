//! TLS 1.3 by rustls, over TCP: the octets are those that TCP carries.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::client::AlwaysResolvesClientRawPublicKeys;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, ring, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::AlwaysResolvesServerRawPublicKeys;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::sign::CertifiedKey;
use rustls::{
    ClientConfig, ClientConnection, ConnectionCommon, DigitallySignedStruct, DistinguishedName, Error, ServerConfig,
    ServerConnection, SideData, SignatureScheme,
};

use crate::link::{Fault, Talk, target, tell_datagram, tell_messages};

const PATIENCE: Duration = Duration::from_secs(30);

/// Accepts one public key alone.
#[derive(Debug)]
struct Known {
    key: CertificateDer<'static>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Known {
    fn check(&self, key: &CertificateDer) -> Result<(), Error> {
        if *key == self.key { Ok(()) } else { Err(Error::General("another public key".into())) }
    }

    fn signed(
        &self,
        message: &[u8],
        key: &CertificateDer,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let key = SubjectPublicKeyInfoDer::from(key.as_ref());
        verify_tls13_signature_with_raw_key(message, &key, signature, &self.algorithms)
    }
}

impl ServerCertVerifier for Known {
    fn verify_server_cert(
        &self,
        key: &CertificateDer,
        _: &[CertificateDer],
        _: &ServerName,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(key).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("TLS 1.3 alone".into()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        key: &CertificateDer,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signed(message, key, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ECDSA_NISTP256_SHA256]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

impl ClientCertVerifier for Known {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        key: &CertificateDer,
        _: &[CertificateDer],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(key).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("TLS 1.3 alone".into()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        key: &CertificateDer,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signed(message, key, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ECDSA_NISTP256_SHA256]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

/// A handshake, then all messages.
pub fn talk(talk: &Talk) -> Result<(), Fault> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let up = TcpStream::connect(target(listener.local_addr()?)?)?;
    let (down, _) = listener.accept()?;
    for stream in [&up, &down] {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
    }
    let (mut sensor, mut gateway) = pair()?;
    let mut delivered = Vec::new();
    let begin = Instant::now();
    while sensor.is_handshaking() || gateway.is_handshaking() || sensor.wants_write() || gateway.wants_write() {
        // A flight is done where its end has nothing more to write.
        flush(&mut *sensor, &up, "handshake", true)?;
        read(&mut *gateway, &down, &mut delivered)?;
        flush(&mut *gateway, &down, "handshake", false)?;
        read(&mut *sensor, &up, &mut Vec::new())?;
        if begin.elapsed() > PATIENCE {
            return Err(format!("no handshake in {} s", PATIENCE.as_secs()).into());
        }
    }
    let mut sent = Vec::new();
    for payload in talk.messages() {
        sensor.writer().write_all(payload)?;
        sent.push(flush(&mut *sensor, &up, "message", true)?);
    }
    let wanted: usize = talk.messages().iter().map(Vec::len).sum();
    let (mut begin, mut came) = (Instant::now(), delivered.len());
    while delivered.len() < wanted && begin.elapsed() < PATIENCE {
        read(&mut *gateway, &down, &mut delivered)?;
        if delivered.len() > came {
            (begin, came) = (Instant::now(), delivered.len());
        }
    }
    // TCP gives a stream: where each message ends is known from the trace.
    let mut left = delivered.as_slice();
    let cut = |payload: &Vec<u8>| {
        let (message, rest) = left.split_at_checked(payload.len())?;
        left = rest;
        Some(message.to_vec())
    };
    let messages: Vec<Vec<u8>> = talk.messages().iter().map_while(cut).collect();
    tell_messages(talk.messages(), &sent, &messages);
    Ok(())
}

fn pair() -> Result<(ClientConnection, ServerConnection), Fault> {
    let mut provider = ring::default_provider();
    provider.cipher_suites = vec![ring::cipher_suite::TLS13_AES_128_GCM_SHA256];
    provider.kx_groups = vec![ring::kx_group::X25519];
    let provider = Arc::new(provider);
    let ((of_sensor, sensor), (of_gateway, gateway)) = (key(&provider)?, key(&provider)?);
    let known = |key| Arc::new(Known { key, algorithms: provider.signature_verification_algorithms });
    let client = ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(known(gateway))
        .with_client_cert_resolver(Arc::new(AlwaysResolvesClientRawPublicKeys::new(of_sensor)));
    let mut server = ServerConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_client_cert_verifier(known(sensor))
        .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(of_gateway)));
    // Nothing is resumed.
    server.send_tls13_tickets = 0;
    let name = ServerName::try_from("gateway")?;
    Ok((ClientConnection::new(Arc::new(client), name)?, ServerConnection::new(Arc::new(server))?))
}

/// A new key pair, and its public key as the other end knows it.
fn key(provider: &CryptoProvider) -> Result<(Arc<CertifiedKey>, CertificateDer<'static>), Fault> {
    let pair = rcgen::KeyPair::generate()?;
    let secret = PrivateKeyDer::try_from(pair.serialize_der())?;
    let public = CertificateDer::from(rcgen::PublicKeyData::subject_public_key_info(&pair));
    let signing = provider.key_provider.load_private_key(secret)?;
    Ok((Arc::new(CertifiedKey::new(vec![public.clone()], signing)), public))
}

/// Writes all that an end has to say; gives its octets.
fn flush<D: SideData>(end: &mut ConnectionCommon<D>, mut to: &TcpStream, of: &str, up: bool) -> Result<usize, Fault> {
    let mut octets = Vec::new();
    while end.wants_write() {
        end.write_tls(&mut octets)?;
    }
    if !octets.is_empty() {
        tell_datagram(of, up, octets.len());
        to.write_all(&octets)?;
    }
    Ok(octets.len())
}

fn read<D: SideData>(end: &mut ConnectionCommon<D>, mut from: &TcpStream, came: &mut Vec<u8>) -> Result<(), Fault> {
    match end.read_tls(&mut from) {
        Ok(_) => {
            end.process_new_packets()?;
            match end.reader().read_to_end(came) {
                Err(error) if error.kind() != ErrorKind::WouldBlock => Err(error.into()),
                _ => Ok(()),
            }
        }
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
        Err(error) => Err(error.into()),
    }
}
