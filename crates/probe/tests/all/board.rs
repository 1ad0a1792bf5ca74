//! `wattlock-probe board` from outside: cases counted on an emulated Cortex-M4, and what becomes of images that are wrong.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use object::read::elf::{ElfFile32, ElfSection32};
use object::{LittleEndian, Object as _, ObjectSection as _, ObjectSymbol as _};
use serde_json::{Value, json};
use wattlock_test_tools as tools;

type Section<'i> = ElfSection32<'i, 'i, LittleEndian>;

const PROBE: &str = env!("CARGO_BIN_EXE_wattlock-probe");
const TARGET: &str = "thumbv7em-none-eabi";
/// Where images are kept where nobody names a folder.
const IMAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../build/board/images");

/// Whether images for a Cortex-M4 can be built and run here.
fn can_count() -> bool {
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output().unwrap().stdout;
    let root = String::from_utf8(sysroot).unwrap();
    let has_target = Path::new(root.trim()).join("lib/rustlib").join(TARGET).is_dir();
    if !has_target {
        tools::missing(&format!("the Rust target {TARGET} (rustup target add {TARGET})"));
    }
    has_target && tools::is_installed("qemu-system-arm", "qemu-system-arm") && tools::is_installed("cc", "gcc")
}

pub fn case(number: usize, cipher: &str, provider: &str, operation: &str, payload_B: u32) -> Value {
    json!({
        "kind": "case", "case": number, "role": "study", "cipher": cipher, "provider": provider,
        "operation": operation, "keying": "ready", "encoding": "raw", "placement": "hot", "pattern": "independent",
        "payload_B": payload_B, "data": "random",
    })
}

pub fn board(arguments: &[&str], cases: &[Value]) -> Output {
    board_behind(None, arguments, cases)
}

/// The same with a folder of programs in front of all others.
pub fn board_behind(programs: Option<&Path>, arguments: &[&str], cases: &[Value]) -> Output {
    let plan = json!({"kind": "plan", "schema": 2, "process": 3, "seed": 1, "cpu": null, "rounds": 1, "batch_ns": 1});
    let lines: Vec<_> = std::iter::once(&plan).chain(cases).map(Value::to_string).collect();
    let mut command = Command::new(PROBE);
    if let Some(programs) = programs {
        let others = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{others}", programs.display()));
    }
    command.arg("board").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The program may refuse before it reads.
    let _ = child.stdin.take().unwrap().write_all(lines.join("\n").as_bytes());
    child.wait_with_output().unwrap()
}

pub fn records(arguments: &[&str], cases: &[Value]) -> Vec<Value> {
    let output = board(arguments, cases);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

fn on_m4(cases: &[Value]) -> Vec<Value> {
    records(&["--qemu", "cortex-m4"], cases)
}

pub fn of_kind<'r>(records: &'r [Value], kind: &str) -> Vec<&'r Value> {
    records.iter().filter(|record| record["kind"] == kind).collect()
}

/// The reason of the only case that failed.
pub fn failure(records: &[Value]) -> String {
    match of_kind(records, "failure")[..] {
        [failure] => failure["error"].as_str().unwrap().to_owned(),
        _ => panic!("not one failure: {records:?}"),
    }
}

/// A folder with a family's image for the Cortex-M4, as `change` leaves it.
fn changed_image(name: &str, family: &str, some_case: &Value, change: impl Fn(&mut Vec<u8>)) -> PathBuf {
    assert!(!of_kind(&on_m4(std::slice::from_ref(some_case)), "count").is_empty());
    let folder = tools::own(name);
    fs::create_dir_all(folder.join(TARGET)).unwrap();
    // What was built last is the image of these sources.
    let is_of_family = |path: &PathBuf| {
        let file = path.file_name().unwrap().to_str().unwrap();
        file.strip_prefix(family).is_some_and(|rest| rest.len() == "-0123456789abcdef.elf".len())
    };
    let found = fs::read_dir(Path::new(IMAGES).join(TARGET)).unwrap().map(|entry| entry.unwrap().path());
    for image in found.filter(is_of_family) {
        let mut bytes = fs::read(&image).unwrap();
        change(&mut bytes);
        let copy = folder.join(TARGET).join(image.file_name().unwrap());
        fs::copy(image.with_extension("json"), copy.with_extension("json")).unwrap();
        fs::write(copy, bytes).unwrap();
    }
    folder
}

/// Where a function stands in the file of an image.
fn place_of(image: &[u8], function: &str) -> usize {
    let file = ElfFile32::<LittleEndian>::parse(image).unwrap();
    let address = file.symbols().find(|symbol| symbol.name() == Ok(function)).unwrap().address() & !1;
    let holds = |section: &Section<'_>| (section.address()..section.address() + section.size()).contains(&address);
    let (offset, from) =
        file.sections().find(holds).map(|section| (section.file_range().unwrap().0, section.address())).unwrap();
    usize::try_from(offset + address - from).unwrap()
}

fn position(bytes: &[u8], wanted: &[u8]) -> usize {
    bytes.windows(wanted.len()).position(|window| window == wanted).unwrap()
}

#[test]
fn an_aead_is_counted_bit_for_bit_alike_in_twenty_runs() {
    if !can_count() {
        return;
    }
    let cipher = "ascon-aead128";
    let operations =
        [("key_setup", 0), ("seal", 64), ("seal", 1088), ("seal", 2112), ("open", 64), ("open_forged", 64)];
    let numbered = (0..).zip(operations);
    let cases: Vec<_> = numbered.map(|(at, (name, size))| case(at, cipher, "rustcrypto", name, size)).collect();
    let first = on_m4(&cases);
    let header = &of_kind(&first, "header")[0];
    assert_eq!(header["fingerprint"]["build"]["isa"], "thumbv7em");
    let emulator = header["fingerprint"]["virtualisation"]["emulator"].as_str().unwrap();
    assert!(emulator.starts_with("QEMU emulator version "));
    assert!(header["ticks_per_second"].is_null());
    let counts = of_kind(&first, "count");
    assert_eq!(counts.len(), cases.len(), "{first:?}");
    for count in &counts {
        let number = |field: &str| count[field].as_u64().unwrap();
        let by_class: u64 = count["by_class"].as_object().unwrap().values().map(|class| class.as_u64().unwrap()).sum();
        assert_eq!(by_class, number("instructions"));
        assert!(number("stack_B") < 4096 && number("ram_B") >= 16 && number("flash_B") < number("image_flash_B"));
    }
    let instructions = |at: usize| counts[at]["instructions"].as_u64().unwrap();
    assert_eq!(
        instructions(3) - instructions(2),
        instructions(2) - instructions(1),
        "1024 bytes more take as many more"
    );
    assert!(instructions(0) < instructions(1), "a key setup is less than a message");
    for _ in 1..20 {
        let again = on_m4(&cases);
        assert_eq!(of_kind(&again, "count"), counts);
    }
}

#[test]
fn an_image_with_a_wrong_s_box_is_refused_by_its_own_proof() {
    if !can_count() {
        return;
    }
    let tables = case(0, "aes128-ctr", "wattlock-tables", "encrypt", 64);
    let folder = changed_image("wrong-s-box", "aes", &tables, |bytes| {
        // FIPS 197, figure 7: the first row of the S-box.
        let at = position(bytes, &[0x63, 0x7c, 0x77, 0x7b, 0xf2, 0x6b, 0x6f, 0xc5]);
        bytes[at + 5] ^= 1;
    });
    let baseline = case(1, "xor", "wattlock", "encrypt", 64);
    let found = records(&["--qemu", "cortex-m4", "--images", folder.to_str().unwrap()], &[tables, baseline]);
    let reason = failure(&found);
    assert!(reason.starts_with("refused by its own proof: to "), "{reason}");
    assert_eq!(of_kind(&found, "count").len(), 1, "the other case goes on");
}

#[test]
fn an_image_that_hangs_is_ended_and_named() {
    if !can_count() {
        return;
    }
    let hanging = case(0, "xor", "wattlock", "encrypt", 64);
    let folder = changed_image("hangs", "baselines", &hanging, |bytes| {
        // `b .` in place of `bx lr`.
        let at = place_of(bytes, "wattlock_count_begin");
        bytes[at..at + 2].copy_from_slice(&[0xfe, 0xe7]);
    });
    let folder = folder.to_str().unwrap();
    let found = records(&["--qemu", "cortex-m4", "--images", folder, "--limit", "2"], &[hanging]);
    assert_eq!(failure(&found), "the image said nothing for 2 s and was ended");
}

#[test]
fn too_little_stack_is_named() {
    if !can_count() {
        return;
    }
    let seal = case(0, "chacha20-poly1305", "rustcrypto", "seal", 64);
    let whole = on_m4(std::slice::from_ref(&seal));
    let needed_B = of_kind(&whole, "count")[0]["stack_B"].as_u64().unwrap();
    let with =
        |stack_B: u64| records(&["--qemu", "cortex-m4", "--stack", &stack_B.to_string()], std::slice::from_ref(&seal));
    let little_B = needed_B / 2 / 8 * 8;
    assert_eq!(failure(&with(little_B)), format!("the stack of {little_B} B is too small"));
    let enough = with(needed_B + 512);
    assert_eq!(of_kind(&enough, "count")[0]["instructions"], of_kind(&whole, "count")[0]["instructions"]);
}

#[test]
fn key_establishment_is_counted_in_an_image_that_proves_it_by_published_answers() {
    if !can_count() {
        return;
    }
    let cases = [
        case(0, "x25519", "rustcrypto", "generate", 0),
        case(1, "x25519", "rustcrypto", "agree", 0),
        case(2, "ml-kem-768", "rustcrypto", "encapsulate", 0),
        case(3, "ml-kem-768", "rustcrypto", "decapsulate", 0),
        case(4, "x25519", "rustcrypto", "sign", 0),
        case(5, "rsa2048-oaep", "rustcrypto", "decrypt", 0),
        case(6, "x25519", "openssl", "agree", 0),
    ];
    let found = on_m4(&cases);
    let reasons: Vec<_> = of_kind(&found, "failure").iter().map(|failure| failure["error"].as_str().unwrap()).collect();
    assert!(reasons[0].starts_with("an AEAD seals and opens"), "{reasons:?}");
    assert!(reasons[1].contains("the crate rsa has an open advisory"), "{reasons:?}");
    assert_eq!(reasons[2..], ["no image holds openssl: only what is built in runs there"]);
    let counts = of_kind(&found, "count");
    let numbers = |field: &str| counts.iter().map(|count| count[field].as_u64().unwrap()).collect::<Vec<_>>();
    let (flash_B, stack_B) = (numbers("flash_B"), numbers("stack_B"));
    assert_eq!(numbers("case"), [0, 1, 2, 3]);
    assert!(flash_B.iter().zip(numbers("image_flash_B")).all(|(own, whole)| (1..whole).contains(own)), "{flash_B:?}");
    assert!(stack_B[..2].iter().all(|stack| *stack < stack_B[2]), "lattices take more stack: {stack_B:?}");
    let instructions = numbers("instructions");
    assert!(instructions[2] < instructions[3], "who decapsulates encapsulates again: {instructions:?}");
    let described = &of_kind(&found, "header")[0]["cases"][1];
    assert_eq!((&described["mode"], &described["key_bits"]), (&json!("establish"), &json!(255)));
    assert_eq!(of_kind(&on_m4(&cases[..2]), "count"), counts[..2], "as many again");

    let folder = changed_image("wrong-secret", "x25519", &cases[1], |bytes| {
        // The secret of RFC 7748, 6.1, as the vectors write it.
        let at = position(bytes, b"4a5d9d5ba4ce2de1");
        bytes[at] = b'5';
    });
    let found = records(&["--qemu", "cortex-m4", "--images", folder.to_str().unwrap()], &cases[1..2]);
    assert_eq!(failure(&found), "refused by its own proof: RFC 7748, 6.1: to agree gives another answer");
}

#[test]
fn a_frame_is_counted_in_an_image_that_proves_its_protocol_by_the_frame_of_the_standard() {
    if !can_count() {
        return;
    }
    let mut each = case(3, "ccmp128", "wattlock", "protect", 64);
    each["keying"] = json!("each");
    let cases = [
        case(0, "ccmp128", "wattlock", "protect", 64),
        case(1, "ccmp128", "wattlock", "unprotect", 64),
        case(2, "ccmp128", "wattlock", "protect", 1088),
        each,
        case(4, "ccmp128", "wattlock", "protect", 11_425),
    ];
    let found = on_m4(&cases);
    assert_eq!(failure(&found), "a frame carries at most 11424 bytes, not 11425");
    let counts = of_kind(&found, "count");
    let numbers = |field: &str| counts.iter().map(|count| count[field].as_u64().unwrap()).collect::<Vec<_>>();
    assert_eq!(numbers("case"), [0, 1, 2, 3]);
    let (instructions, flash_B, stack_B) = (numbers("instructions"), numbers("flash_B"), numbers("stack_B"));
    assert!(instructions[0] < instructions[3], "a key made ready is counted too: {instructions:?}");
    assert!(instructions[0] < instructions[2] && instructions[2] < 17 * instructions[0], "{instructions:?}");
    assert!(flash_B[0] < numbers("image_flash_B")[0], "{flash_B:?}");
    assert!(stack_B.iter().all(|stack| (256..4096).contains(stack)), "{stack_B:?}");
    let described = &of_kind(&found, "header")[0]["cases"][0];
    assert_eq!(
        (&described["mode"], &described["tag_bits"], &described["path"]),
        (&json!("frame"), &json!(64), &Value::Null)
    );
    assert_eq!(of_kind(&on_m4(&cases[..2]), "count"), counts[..2], "as many again");

    let folder = changed_image("wrong-mic", "ccmp128", &cases[0], |bytes| {
        // The MIC of IEEE Std 802.11-2020, J.6.4.
        let at = position(bytes, &[0x78, 0x45, 0xce, 0x0b, 0x16, 0xf9, 0x76, 0x23]);
        bytes[at] ^= 1;
    });
    let found = records(&["--qemu", "cortex-m4", "--images", folder.to_str().unwrap()], &cases[..1]);
    let reason = "refused by its own proof: another frame than that of IEEE Std 802.11-2020, J.6.4";
    assert_eq!(failure(&found), reason);
}

#[test]
fn a_case_that_a_part_has_no_room_for_is_named_with_both_sizes_and_the_others_go_on() {
    if !can_count() {
        return;
    }
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/wattlock/data/parts/stm32f407.toml");
    let part = fs::read_to_string(shipped).unwrap();
    let folder = tools::own("small-parts");
    fs::create_dir_all(&folder).unwrap();
    let cases = [case(0, "chacha20-poly1305", "rustcrypto", "seal", 64), case(1, "xor", "wattlock", "encrypt", 64)];
    for (name, from, to, kind) in [
        ("little-ram", "ram_B = 131_072", "ram_B = 512", "RAM, a STM32F407xG has 512 B"),
        ("little-flash", "flash_B = 1_048_576", "flash_B = 4096", "flash, a STM32F407xG has 4096 B"),
    ] {
        let changed = part.replace(from, to);
        assert_ne!(changed, part);
        let file = folder.join(format!("{name}.toml"));
        fs::write(&file, changed).unwrap();
        let found = records(&["--qemu", "cortex-m4", "--part", file.to_str().unwrap(), "--clock", "16000000"], &cases);
        let reason = failure(&found);
        assert!(reason.starts_with(&format!("does not fit {name}: needs ")) && reason.ends_with(kind), "{reason}");
        assert_eq!(of_kind(&found, "count").len(), 1);
    }
}

#[test]
fn what_no_image_can_carry_out_is_a_failure_with_its_reason() {
    if !can_count() {
        return;
    }
    for (wrong, reason) in [
        (case(1, "xor", "openssl", "encrypt", 64), "no image holds openssl"),
        (case(1, "xor", "wattlock", "seal", 64), "any other cipher encrypts"),
        (case(1, "xor", "wattlock", "encrypt", 1 << 20), "1048576 B, the image has room for"),
    ] {
        let found = on_m4(&[case(0, "xor", "wattlock", "encrypt", 64), wrong]);
        assert!(failure(&found).contains(reason), "{reason}: {found:?}");
        assert_eq!(of_kind(&found, "count").len(), 1);
    }
}

#[test]
fn what_is_missing_is_named_with_the_command_that_brings_it() {
    let refused = |output: &Output, code: i32, words: &[&str]| {
        let text = String::from_utf8_lossy(&output.stderr);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(output.status.code(), Some(code), "{text}");
        assert!(lines.len() == 2 && lines[0].starts_with("error: ") && lines[1].starts_with("hint: "), "{text}");
        assert!(words.iter().all(|word| text.contains(word)), "{text} lacks one of {words:?}");
        assert!(output.stdout.is_empty());
    };
    refused(&board(&["--qemu", "cortex-m5"], &[]), 3, &["\"cortex-m5\"", "cortex-m33"]);
    let without = |path: &str, arguments: &[&str]| {
        let mut command = Command::new(PROBE);
        command.arg("board").args(arguments).env("PATH", path).stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let plan =
            json!({"kind": "plan", "schema": 2, "process": 0, "seed": 1, "cpu": null, "rounds": 1, "batch_ns": 1});
        child.stdin.take().unwrap().write_all(plan.to_string().as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    };
    let nowhere = without("/nonexistent", &["--qemu", "sifive-e31"]);
    refused(&nowhere, 10, &["qemu-system-riscv32 doesn't run", "apt install qemu-system-misc"]);
    #[cfg(unix)]
    if can_count() {
        // A compiler that has no target, beside the real emulator.
        let folder = tools::own("no-targets");
        fs::create_dir_all(&folder).unwrap();
        let compiler = folder.join("rustc");
        fs::write(&compiler, "#!/bin/sh\necho /nonexistent\n").unwrap();
        fs::set_permissions(&compiler, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
        refused(&without(&path, &["--qemu", "cortex-m4"]), 10, &[TARGET, "rustup target add thumbv7em-none-eabi"]);
        let plugin = without(&path, &["--qemu", "cortex-m4", "--plugin", "/no/plugin.so"]);
        refused(&plugin, 10, &["/no/plugin.so", "make board-plugin"]);
    }
}

/// As [`board`], with a folder of C sources as the library `mine`.
fn with_library(folder: &Path, cases: &[Value]) -> Vec<Value> {
    let plan = json!({
        "kind": "plan", "schema": 2, "process": 3, "seed": 1, "cpu": null, "rounds": 1, "batch_ns": 1,
        "libraries": [{"name": "mine", "path": folder}],
    });
    let lines: Vec<_> = std::iter::once(&plan).chain(cases).map(Value::to_string).collect();
    let mut command = Command::new(PROBE);
    command.args(["board", "--qemu", "cortex-m4"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.join("\n").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    output.stdout.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

#[test]
fn code_of_ones_own_is_proven_counted_and_named_beside_the_catalogues() {
    if !can_count() || !tools::is_installed("arm-none-eabi-gcc", "gcc-arm-none-eabi") {
        return;
    }
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/board");
    let mine = case(0, "xtea-ctr", "mine", "encrypt", 64);
    let found = with_library(
        &example,
        &[mine.clone(), case(1, "xtea-ctr", "wattlock", "encrypt", 64), case(2, "aes128-ctr", "mine", "encrypt", 64)],
    );
    assert_eq!(failure(&found), "library mine has no aes128-ctr: its adapter.toml names what it has");
    let counts = of_kind(&found, "count");
    let [own, catalogues] = counts[..] else { panic!("{found:?}") };
    let compiler = own["adapter"]["compiler"].as_str().unwrap();
    assert!(compiler.starts_with("arm-none-eabi-gcc"), "{compiler}");
    assert!(own["adapter"]["flags"].as_str().unwrap().starts_with("-mcpu=cortex-m4 "));
    assert!(catalogues.get("adapter").is_none());
    // 64 round keys are all that its context holds, and neither takes twice as long as the other.
    assert_eq!(own["ram_B"], 256);
    let cycles = [own, catalogues].map(|count| count["core_cycles"].as_f64().unwrap());
    assert!((0.5..2.0).contains(&(cycles[0] / cycles[1])), "{cycles:?}");
    assert_eq!(of_kind(&with_library(&example, &[mine]), "count")[0]["core_cycles"], own["core_cycles"]);
}

#[test]
fn code_of_ones_own_that_is_wrong_fails_by_its_cases_and_the_others_go_on() {
    if !can_count() || !tools::is_installed("arm-none-eabi-gcc", "gcc-arm-none-eabi") {
        return;
    }
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/board");
    let [manifest, source] = ["adapter.toml", "xtea.c"].map(|name| fs::read_to_string(example.join(name)).unwrap());
    let folder = tools::own("wrong-adapter");
    fs::create_dir_all(&folder).unwrap();
    let cases = [case(0, "xtea-ctr", "mine", "encrypt", 64), case(1, "xor", "wattlock", "encrypt", 64)];
    for (changed_manifest, changed_source, reason) in [
        (manifest.clone(), source.replace("0x9e3779b9", "0x9e3779b8"), "refused by its own proof"),
        (
            manifest.clone(),
            source.replace("sizeof(struct context)", "100000"),
            "100000 B, the image has room for 8192 B",
        ),
        (manifest.clone(), source.replace("return 0;", "return -1;"), "wattlock_key_setup failed"),
        (manifest.clone(), source.replace("return 0;", "return nothing;"), "xtea.c of library mine: "),
        (manifest.clone(), source.replace("return 0;", "for (;;) *(volatile int *)0xfffffff0 = 1;"), "faulted"),
        (manifest.replace("cortex-m4", "cortex-m5"), source.clone(), "no code for the core cortex-m4"),
        (manifest.replace("xtea.c\"]", "../xtea.c\"]"), source.clone(), "a source lies in the folder"),
    ] {
        fs::write(folder.join("adapter.toml"), changed_manifest).unwrap();
        fs::write(folder.join("xtea.c"), changed_source).unwrap();
        let found = with_library(&folder, &cases);
        assert!(failure(&found).contains(reason), "{reason}: {found:?}");
        assert_eq!(of_kind(&found, "count").len(), 1, "the other case goes on");
    }
}
