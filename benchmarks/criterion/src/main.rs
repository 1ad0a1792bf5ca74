//! The same entry functions as the cases of provider `rustcrypto`: `Cipher::encrypt` of a message of 16 KiB, key ready,
//! the same IV each time, padding included.

use std::hint::black_box;

use criterion::{Bencher, Criterion, criterion_group, criterion_main};
use wattlock_ciphers::{Cipher, Direction, MAX_PADDING_B, Spec, Suite, Visitor};

const CIPHERS: [&str; 2] = ["aes128-cbc", "des-cbc"];
const MESSAGE_B: usize = 16 * 1024;

struct Encrypt<'a, 'b>(&'a mut Bencher<'b>);

impl Visitor for Encrypt<'_, '_> {
    type Output = ();

    fn visit<S: Suite>(self, spec: &Spec, suite: S) {
        let bytes = |count: usize, from: u8| (0..count).map(|at| (at * 7 % 251) as u8 ^ from).collect::<Vec<u8>>();
        let (key, iv, message) = (bytes(spec.key_B(), 1), bytes(spec.iv_B(), 2), bytes(MESSAGE_B, 3));
        let mut output = vec![0; MESSAGE_B + MAX_PADDING_B];
        let mut cipher = suite.key_setup(&key, Direction::Encrypt).expect("the key is as long as the cipher says");
        self.0.iter(|| cipher.encrypt(black_box(&iv), black_box(&message), black_box(&mut output)));
    }
}

fn ciphers(criterion: &mut Criterion) {
    for id in CIPHERS {
        let spec = Spec::parse(id).expect("a cipher of the catalogue");
        let code = spec.code("rustcrypto").expect("it is built in");
        criterion.bench_function(id, |bencher| spec.visit(code, Encrypt(bencher)));
    }
}

criterion_group!(benches, ciphers);
criterion_main!(benches);
