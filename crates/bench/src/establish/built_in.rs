//! The schemes that are built in: those of `wattlock-ciphers`.

use alloc::borrow::ToOwned as _;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec;

use wattlock_ciphers::establish::{self, ExchangeVisitor, Given, Refused};
use wattlock_records::Operation;

use super::{Exchange, Keyed, Octets, Scheme};

/// The crates that are built in.
pub struct BuiltIn;

impl Exchange for BuiltIn {
    fn name(&self) -> &'static str {
        "rustcrypto"
    }

    fn version(&self, scheme: &Scheme) -> Result<String, String> {
        let version = establish::version(scheme.id).map(str::to_owned);
        version.ok_or_else(|| format!("{}: the crate rsa has an open advisory (RUSTSEC-2023-0071)", scheme.id))
    }

    fn load(&self, scheme: &'static Scheme, operation: Operation, octets: &Octets) -> Result<Keyed, String> {
        let known = establishing(operation);
        let loaded = known.and_then(|known| establish::visit(scheme.id, known, Load { operation, octets }));
        loaded.unwrap_or_else(|| Err(format!("{} has no operation {operation:?}", scheme.id)))
    }
}

/// The operation as the catalogue calls it; `None` of what no scheme that is built in has.
fn establishing(operation: Operation) -> Option<establish::Operation> {
    Some(match operation {
        Operation::Generate => establish::Operation::Generate,
        Operation::Agree => establish::Operation::Agree,
        Operation::Sign => establish::Operation::Sign,
        Operation::Verify => establish::Operation::Verify,
        Operation::Encapsulate => establish::Operation::Encapsulate,
        Operation::Decapsulate => establish::Operation::Decapsulate,
        _ => return None,
    })
}

fn given(octets: &Octets) -> Given<'_> {
    let Octets { secret, public, drawn, message, sent, .. } = octets;
    Given { secret, public, drawn, message, sent }
}

fn message_of(refused: Refused) -> String {
    refused.to_string()
}

/// Reads the key of an operation; what comes of it carries the operation out.
struct Load<'o> {
    operation: Operation,
    octets: &'o Octets,
}

impl ExchangeVisitor for Load<'_> {
    type Output = Result<Keyed, String>;

    fn visit<E: establish::Exchange + 'static>(self) -> Self::Output {
        let Self { operation, octets } = self;
        let key = E::load(&given(octets)).map_err(message_of)?;
        Ok(Box::new(move |octets| {
            let [mut first, mut second] = E::MADE_B.map(|made_B| vec![0; made_B]);
            E::carry_out(&key, &given(octets), [&mut first, &mut second]).map_err(message_of)?;
            Ok(match operation {
                Operation::Generate => Octets { public: first, secret: second, ..Octets::default() },
                Operation::Encapsulate => Octets { sent: first, shared: second, ..Octets::default() },
                Operation::Sign => Octets { sent: first, ..Octets::default() },
                _ => Octets { shared: first, ..Octets::default() },
            })
        }))
    }
}
