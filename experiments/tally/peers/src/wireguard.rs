//! WireGuard by boringtun, whose packets go to no TUN device.

use boringtun::noise::{Tunn, TunnResult};
use boringtun::x25519::{PublicKey, StaticSecret};
use rand_core::OsRng;

use crate::link::{End, Fault, Said};

/// A header of IPv4 without options (RFC 791, 3.1): WireGuard carries IP packets.
const INNER_B: usize = 20;
const MOST_B: usize = 2048;

pub struct WireGuard {
    tunnel: Tunn,
    /// Whether it is to begin the handshake.
    begins: bool,
    ready: bool,
}

/// Both ends, sensor first.
pub fn pair() -> (WireGuard, WireGuard) {
    let [sensor, gateway] = std::array::from_fn(|_| StaticSecret::random_from_rng(OsRng));
    let [of_sensor, of_gateway] = [&sensor, &gateway].map(PublicKey::from);
    let end = |own, other, index, begins| WireGuard {
        tunnel: Tunn::new(own, other, None, None, index, None),
        begins,
        ready: false,
    };
    (end(sensor, of_gateway, 1, true), end(gateway, of_sensor, 2, false))
}

fn take(result: TunnResult, said: &mut Said) -> bool {
    match result {
        TunnResult::WriteToNetwork(datagram) => said.datagrams.push(datagram.to_vec()),
        TunnResult::WriteToTunnelV4(packet, _) => said.messages.push(packet[INNER_B..].to_vec()),
        TunnResult::Done | TunnResult::Err(_) | TunnResult::WriteToTunnelV6(..) => return false,
    }
    true
}

impl End for WireGuard {
    fn ready(&self) -> bool {
        self.ready
    }

    fn tick(&mut self, said: &mut Said) -> Result<(), Fault> {
        let mut octets = [0; MOST_B];
        let result = if std::mem::take(&mut self.begins) {
            self.tunnel.format_handshake_initiation(&mut octets, false)
        } else {
            self.tunnel.update_timers(&mut octets)
        };
        take(result, said);
        Ok(())
    }

    fn hear(&mut self, datagram: &[u8], said: &mut Said) -> Result<(), Fault> {
        let mut octets = [0; MOST_B];
        // A response, or an initiation that is answered: both have a session now.
        self.ready |= take(self.tunnel.decapsulate(None, datagram, &mut octets), said);
        Ok(())
    }

    fn send(&mut self, payload: &[u8], said: &mut Said) -> Result<(), Fault> {
        let length = u16::try_from(INNER_B + payload.len())?.to_be_bytes();
        let mut packet = [0; INNER_B];
        packet[0] = 0x45;
        packet[2..4].copy_from_slice(&length);
        let packet = [&packet, payload].concat();
        take(self.tunnel.encapsulate(&packet, &mut [0; MOST_B]), said);
        Ok(())
    }
}
