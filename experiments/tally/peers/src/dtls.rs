//! DTLS 1.3 and 1.2 by dimpl.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dimpl::crypto::Dtls13CipherSuite;
use dimpl::{Config, ConfigBuilder, Dtls, DtlsCertificate, NamedGroup, Output, PskResolver};

use crate::link::{End, Fault, PATIENCE, Said};

const KEY: [u8; 16] = [7; 16];
const IDENTITY: &[u8] = b"0001";
/// Retries of a flight: many are lost at 30 %.
const RETRIES: usize = 12;
/// dimpl pads its first flight of DTLS 1.3 to this.
const MTU_B: usize = 1000;
const FIRST_RETRY: Duration = Duration::from_millis(200);

pub struct Datagrams {
    dtls: Dtls,
    connected: bool,
}

struct OneKey;

impl PskResolver for OneKey {
    fn resolve(&self, identity: &[u8]) -> Option<Vec<u8>> {
        (identity == IDENTITY).then(|| KEY.to_vec())
    }
}

/// DTLS 1.3 with a certificate of each end, sensor first.
pub fn with_certificates() -> Result<(Datagrams, Datagrams), Fault> {
    let end = |name: &str, active| {
        let certified = rcgen::generate_simple_self_signed([name.to_owned()])?;
        let certificate = DtlsCertificate {
            certificate: certified.cert.der().to_vec(),
            private_key: certified.signing_key.serialize_der(),
        };
        let suites = [Dtls13CipherSuite::AES_128_GCM_SHA256];
        let config = config().dtls13_cipher_suites(&suites).kx_groups(&[NamedGroup::X25519]).build()?;
        Ok::<_, Fault>(Datagrams::new(Dtls::new_13(Arc::new(config), certificate, Instant::now()), active))
    };
    Ok((end("sensor", true)?, end("gateway", false)?))
}

/// DTLS 1.2 with one key for both ends, sensor first.
pub fn with_key() -> Result<(Datagrams, Datagrams), Fault> {
    let sensor = config().with_psk_client(IDENTITY.to_vec(), Arc::new(OneKey)).build()?;
    let gateway = config().with_psk_server(None, Arc::new(OneKey)).build()?;
    let end = |config, active| Datagrams::new(Dtls::new_12_psk(Arc::new(config), Instant::now()), active);
    Ok((end(sensor, true), end(gateway, false)))
}

fn config() -> ConfigBuilder {
    Config::builder()
        .mtu(MTU_B)
        .use_server_cookie(false)
        .flight_retries(RETRIES)
        .flight_start_rto(FIRST_RETRY)
        .handshake_timeout(PATIENCE)
}

impl Datagrams {
    fn new(mut dtls: Dtls, active: bool) -> Self {
        dtls.set_active(active);
        Self { dtls, connected: false }
    }

    fn poll(&mut self, said: &mut Said) {
        let mut octets = vec![0; 2048];
        loop {
            match self.dtls.poll_output(&mut octets) {
                Output::Packet(datagram) => said.datagrams.push(datagram.to_vec()),
                Output::ApplicationData(message) => said.messages.push(message.to_vec()),
                Output::Connected => self.connected = true,
                Output::Timeout(_) => return,
                Output::BufferTooSmall { needed } => octets.resize(needed, 0),
                _ => {}
            }
        }
    }
}

impl End for Datagrams {
    fn ready(&self) -> bool {
        self.connected
    }

    fn tick(&mut self, said: &mut Said) -> Result<(), Fault> {
        self.dtls.handle_timeout(Instant::now())?;
        self.poll(said);
        Ok(())
    }

    fn hear(&mut self, datagram: &[u8], said: &mut Said) -> Result<(), Fault> {
        self.dtls.handle_packet(datagram)?;
        self.poll(said);
        Ok(())
    }

    fn send(&mut self, payload: &[u8], said: &mut Said) -> Result<(), Fault> {
        self.dtls.send_application_data(payload)?;
        self.poll(said);
        Ok(())
    }
}
