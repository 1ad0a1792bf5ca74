//! A library of the user's own, by the four functions of `include/wattlock_cipher.h`.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr::{self, NonNull};
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use wattlock_bench::implementation::{About, Found, Implementation};
use wattlock_ciphers::{Cipher, Direction, Error, Mode, Spec, Suite};
use wattlock_records::{CodePath, LibraryFile};

use super::child_process::IN_CHILD;
use super::functions::{functions, text};
use super::{child_process, file, next_iv};
use crate::GUARDED;
use crate::library::Library;

functions! { of "`wattlock_cipher.h`, version 1 of the interface";
    wattlock_ciphers: fn(u32) -> *const c_char;
    wattlock_key_setup: fn(usize, *const u8, usize, c_int, *mut c_void) -> *mut c_void;
    wattlock_process: fn(*mut c_void, c_int, *const u8, usize, *const u8, usize, *const u8, usize, *mut u8, usize) -> i64;
    wattlock_free: fn(*mut c_void);
}

/// `WATTLOCK_ABI`.
const ABI: u32 = 1;
/// Ciphers with which a library hangs may cost so much together; then its others are not tried.
const MOST_HUNG: Duration = Duration::from_secs(8);
const HEADER: &str = "CONTRIBUTING.md, \"Weigh your own library\", says what it needs";

/// `WATTLOCK_ENCRYPT` and so on.
#[derive(Clone, Copy)]
enum Operation {
    Encrypt = 0,
    Decrypt = 1,
    Seal = 2,
    Open = 3,
    EncryptPart = 4,
    DecryptPart = 5,
}

/// A library that the user named.
pub struct Own {
    named: LibraryFile,
    /// Others are open beside it, which may export the same names.
    has_others: bool,
    opened: OnceCell<Result<&'static Opened, String>>,
}

/// It stays open until the program ends.
struct Opened {
    functions: Functions,
    version: String,
    /// Place of each cipher, and what the library says of its code.
    ciphers: HashMap<String, (usize, String)>,
    /// Whether a process of its own lived through each cipher that was asked for.
    tried: Mutex<HashMap<String, Result<(), String>>>,
    /// What the ciphers cost with which it hangs.
    hung: Mutex<Duration>,
    /// Keeps the functions where they are.
    _library: libloading::Library,
}

impl Own {
    /// The library of this name and path, not yet opened.
    ///
    /// * `has_others`: the user named several, as two builds of one library: each is then a program apart.
    pub fn new(named: &LibraryFile, has_others: bool) -> Self {
        Self { named: named.clone(), has_others, opened: OnceCell::new() }
    }

    /// Whether a process of its own lives through this cipher: one that crashes or hangs is a row, and the rest goes on.
    fn tried(&self, library: &Opened, spec: &Spec) -> Result<(), String> {
        // In the child itself, in one that is watched anyway, and in unit tests, whose program is another one.
        if cfg!(test) || [IN_CHILD, GUARDED].iter().any(|name| std::env::var_os(name).is_some()) {
            return Ok(());
        }
        let id = spec.to_string();
        let mut tried = library.tried.lock().unwrap_or_else(PoisonError::into_inner);
        let mut hung = library.hung.lock().unwrap_or_else(PoisonError::into_inner);
        let arguments = [self.arguments(), vec!["--cipher".to_owned(), id.clone()]].concat();
        let try_it = || {
            if *hung > MOST_HUNG {
                return Err(format!("{}: not tried, as other ciphers hung for {} s", self.named.name, hung.as_secs()));
            }
            let start = Instant::now();
            let lived = child_process::in_a_child(&self.named.name, &arguments, true);
            if lived.is_err() {
                *hung += start.elapsed();
            }
            lived
        };
        tried.entry(id).or_insert_with(try_it).clone()
    }

    fn library(&self) -> Result<&'static Opened, String> {
        self.opened
            .get_or_init(|| {
                open(Path::new(&self.named.path), self.has_others).map(|opened| &*Box::leak(Box::new(opened)))
            })
            .clone()
    }
}

/// The entry points of the libraries that are open: no two of them have one.
static OPEN: Mutex<Vec<(usize, PathBuf)>> = Mutex::new(Vec::new());

fn open(path: &Path, has_others: bool) -> Result<Opened, String> {
    let (shown, name) = (path.display(), path.to_string_lossy());
    let library = if has_others { file::apart(&name) } else { file::first_of(&[&name]) };
    let library = library.map_err(|refusal| {
        // The loader may name the file itself.
        if refusal.contains(&*path.to_string_lossy()) { refusal } else { format!("{shown}: {refusal}") }
    })?;
    let functions = Functions::of(&library).map_err(|name| format!("{shown} has no function {name}; {HEADER}"))?;
    let mut others = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let entry = functions.wattlock_process as *const () as usize;
    match others.iter().find(|(other, _)| has_others && *other == entry) {
        Some((_, other)) => return Err(format!("{shown}: calls would reach the code of {}", other.display())),
        None => others.push((entry, path.to_owned())),
    }
    drop(others);
    // SAFETY: it takes a number and gives null or a text that lives as long as the library, as the header asks for.
    let list = unsafe { text((functions.wattlock_ciphers)(ABI)) }
        .ok_or_else(|| format!("{shown} does not know version {ABI} of the interface; {HEADER}"))?;
    let mut lines = list.lines();
    let version = lines.next().unwrap_or_default().trim().to_owned();
    let ciphers = lines.enumerate().map(|(place, line)| {
        let (id, code) = line.split_once(' ').unwrap_or((line, ""));
        (id.to_owned(), (place, code.trim().to_owned()))
    });
    let ciphers = ciphers.collect();
    Ok(Opened { functions, version, ciphers, tried: Mutex::default(), hung: Mutex::default(), _library: library })
}

impl Library for Own {
    fn name(&self) -> &str {
        &self.named.name
    }

    fn open(&self) -> Result<About, String> {
        Ok(About::of(self.library()?.version.clone()))
    }

    fn file(&self) -> Option<PathBuf> {
        file::holding(self.library().ok()?.functions.wattlock_ciphers as *const () as usize)
    }

    fn lists(&self) -> Vec<String> {
        let Ok(library) = self.library() else { return Vec::new() };
        let mut ids: Vec<_> = library.ciphers.iter().map(|(id, (place, _))| (*place, id.clone())).collect();
        ids.sort_unstable();
        ids.into_iter().map(|(_, id)| id).collect()
    }

    fn is_own(&self) -> bool {
        true
    }

    fn arguments(&self) -> Vec<String> {
        vec!["--library".to_owned(), format!("{}={}", self.named.name, self.named.path)]
    }

    fn find(&self, spec: &Spec) -> Result<Box<dyn Implementation>, String> {
        let library = self.library()?;
        let (place, code) =
            library.ciphers.get(&spec.to_string()).ok_or_else(|| format!("{} does not list it", self.named.name))?;
        self.tried(library, spec)?;
        let suite = OwnSuite {
            spec: *spec,
            place: *place,
            spares: Rc::new(Spares { functions: library.functions, contexts: RefCell::default() }),
        };
        let path = CodePath::named(code);
        let of = Some(code.clone()).filter(|code| path.is_none() && !code.is_empty());
        Ok(Box::new(Found { suite, path, of }))
    }
}

/// Contexts that nobody uses any more: their memory is offered to the next key.
struct Spares {
    functions: Functions,
    contexts: RefCell<Vec<NonNull<c_void>>>,
}

impl Drop for Spares {
    fn drop(&mut self) {
        for context in self.contexts.get_mut().drain(..) {
            // SAFETY: the context is the library's, in no use, and freed once.
            unsafe { (self.functions.wattlock_free)(context.as_ptr()) };
        }
    }
}

/// A cipher of the library, ready to take keys.
#[derive(Clone)]
struct OwnSuite {
    spec: Spec,
    place: usize,
    spares: Rc<Spares>,
}

impl Suite for OwnSuite {
    type Cipher = Keyed;

    #[inline]
    fn key_setup(&self, key: &[u8], direction: Direction) -> Result<Keyed, Error> {
        if key.len() != self.spec.key_B() {
            return Err(Error::WrongKeyLength { given_bits: key.len() * 8, right_bits: self.spec.key_bits });
        }
        let spare = self.spares.contexts.borrow_mut().pop();
        let reuse = spare.map_or(ptr::null_mut(), NonNull::as_ptr);
        let direction = c_int::from(direction == Direction::Decrypt);
        // SAFETY: the key is as long as said; the context to reuse is one of this cipher, in no use.
        let context = unsafe {
            (self.spares.functions.wattlock_key_setup)(self.place, key.as_ptr(), key.len(), direction, reuse)
        };
        match NonNull::new(context) {
            Some(context) => Ok(Keyed { suite: self.clone(), context }),
            None => {
                self.spares.contexts.borrow_mut().extend(spare);
                Err(Error::Library { function: "wattlock_key_setup" })
            }
        }
    }
}

/// A cipher with its key.
struct Keyed {
    suite: OwnSuite,
    context: NonNull<c_void>,
}

impl Drop for Keyed {
    #[inline]
    fn drop(&mut self) {
        self.suite.spares.contexts.borrow_mut().push(self.context);
    }
}

impl Keyed {
    /// * `needed_B`: bytes that the result may take, and all that the library may write to.
    #[inline]
    fn process(
        &mut self,
        operation: Operation,
        iv: &[u8],
        aad: &[u8],
        input: &[u8],
        output: &mut [u8],
        needed_B: usize,
    ) -> Result<usize, Error> {
        let (given_B, right_B) = (iv.len(), self.suite.spec.iv_B());
        if given_B != right_B {
            return Err(Error::WrongIvLength { given_B, right_B });
        }
        let given_B = output.len();
        if given_B < needed_B {
            return Err(Error::OutputTooSmall { given_B, needed_B });
        }
        // SAFETY: the context is live, each slice as long as said, and the output has room for the result.
        let done = unsafe {
            (self.suite.spares.functions.wattlock_process)(
                self.context.as_ptr(),
                operation as c_int,
                iv.as_ptr(),
                iv.len(),
                aad.as_ptr(),
                aad.len(),
                input.as_ptr(),
                input.len(),
                output.as_mut_ptr(),
                needed_B,
            )
        };
        match (usize::try_from(done), done) {
            (Ok(written_B), _) if written_B <= needed_B => Ok(written_B),
            (_, -2) => Err(Error::NoSuchOperation),
            (_, -3) => Err(Error::Forged),
            (_, -4) => Err(Error::BadPadding),
            _ => Err(Error::Library { function: "wattlock_process" }),
        }
    }

    fn pads(&self) -> bool {
        matches!(self.suite.spec.card.mode, Mode::Ecb | Mode::Cbc)
    }

    #[inline]
    fn whole_blocks(&self, input: &[u8]) -> Result<(), Error> {
        let (given_B, block_B) = (input.len(), self.suite.spec.block_B());
        if !self.pads() || given_B.is_multiple_of(block_B) {
            Ok(())
        } else {
            Err(Error::NotWholeBlocks { given_B, block_B })
        }
    }

    #[inline]
    fn part(&mut self, decrypts: bool, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        self.whole_blocks(input)?;
        let operation = if decrypts { Operation::DecryptPart } else { Operation::EncryptPart };
        let written_B = self.process(operation, iv, &[], input, output, input.len())?;
        if written_B != input.len() {
            return Err(Error::Library { function: "wattlock_process" });
        }
        next_iv::go_on(self.suite.spec.card.mode, decrypts, iv, input, output);
        Ok(())
    }
}

impl Cipher for Keyed {
    #[inline]
    fn encrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let block_B = self.suite.spec.block_B().max(1);
        let needed_B = if self.pads() { (input.len() / block_B + 1) * block_B } else { input.len() };
        self.process(Operation::Encrypt, iv, &[], input, output, needed_B)
    }

    #[inline]
    fn decrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        self.whole_blocks(input)?;
        self.process(Operation::Decrypt, iv, &[], input, output, input.len())
    }

    #[inline]
    fn encrypt_part(&mut self, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        self.part(false, iv, input, output)
    }

    #[inline]
    fn decrypt_part(&mut self, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        self.part(true, iv, input, output)
    }

    #[inline]
    fn seal(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let needed_B = input.len() + self.suite.spec.tag_B();
        self.process(Operation::Seal, nonce, aad, input, output, needed_B)
    }

    #[inline]
    fn open(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let message_B = input.len().checked_sub(self.suite.spec.tag_B()).ok_or(Error::Forged)?;
        let opened = self.process(Operation::Open, nonce, aad, input, output, message_B);
        if opened == Err(Error::Forged) {
            output[..message_B].fill(0);
        }
        opened
    }
}
