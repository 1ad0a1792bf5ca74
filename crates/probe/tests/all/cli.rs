//! The program from outside: what anybody who runs it sees.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const PROBE: &str = env!("CARGO_BIN_EXE_wattlock-probe");
const KEY: &str = "2b7e151628aed2a6abf7158809cf4f3c";
const IV: &str = "000102030405060708090a0b0c0d0e0f";

fn probe(arguments: &[&str], input: &[u8]) -> Output {
    let mut command = Command::new(PROBE);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The program may refuse before it reads.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// `apply` with arguments as one would type them.
fn apply(arguments: &str, input: &[u8]) -> Output {
    let arguments: Vec<_> = ["apply"].into_iter().chain(arguments.split_whitespace()).collect();
    probe(&arguments, input)
}

fn bytes(hex: &str) -> Vec<u8> {
    data_encoding::HEXLOWER.decode(hex.as_bytes()).unwrap()
}

fn rows(arguments: &[&str]) -> Vec<Value> {
    let output = probe(arguments, b"");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The refusal is one `error:` line with these words, one `hint:` line, this code, and nothing on standard output.
fn assert_refused(output: &Output, code: i32, words: &[&str]) {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(output.status.code(), Some(code), "{text}");
    assert!(output.stdout.is_empty(), "{text}");
    assert!(lines.len() == 2 && lines[0].starts_with("error: ") && lines[1].starts_with("hint: "), "{text}");
    assert!(words.iter().all(|word| text.contains(word)), "{text} lacks one of {words:?}");
}

/// A file in the build's own folder for tests.
fn file(name: &str, text: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// Cipher, key, IV, plaintext, ciphertext without padding.
const PUBLISHED: &[(&str, &str, &str, &str, &str)] = &[
    // NIST SP 800-38A, F.2.1, F.5.1
    ("aes128-cbc", KEY, IV, "6bc1bee22e409f96e93d7e117393172a", "7649abac8119b246cee98e9b12e9197d"),
    (
        "aes128-ctr",
        KEY,
        "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
        "6bc1bee22e409f96e93d7e117393172a",
        "874d6191b620e3261bef6864990db6ce",
    ),
    // RFC 2268, 5
    ("rc2-64-ecb", "ffffffffffffffff", "", "ffffffffffffffff", "278b27e42e2f0d49"),
    // RFC 6229, 2
    ("rc4-128", "0102030405060708090a0b0c0d0e0f10", "", "00000000000000000000", "9ac7cc9a609d1ef7b293"),
];

#[test]
fn apply_agrees_with_what_was_published() {
    for (cipher, key, iv, plaintext, ciphertext) in PUBLISHED {
        let (plaintext, ciphertext) = (bytes(plaintext), bytes(ciphertext));
        let iv = if iv.is_empty() { String::new() } else { format!("--iv {iv}") };
        let with = |operation| format!("--cipher {cipher} --operation {operation} --key {key} {iv}");
        let sealed = apply(&with("encrypt"), &plaintext);
        assert!(sealed.status.success() && sealed.stderr.is_empty(), "{cipher}");
        assert_eq!(sealed.stdout[..ciphertext.len()], ciphertext, "{cipher}");
        assert_eq!(apply(&with("decrypt"), &sealed.stdout).stdout, plaintext, "{cipher}");
    }
}

#[test]
fn a_key_may_come_from_a_file_or_before_the_message() {
    let by_argument = apply(&format!("--cipher aes128-cbc --operation encrypt --key {KEY} --iv {IV}"), b"\nmessage");
    let path = file("key.hex", &format!("  {}\n", KEY.to_uppercase()));
    let by_file = Command::new(PROBE)
        .args(["apply", "--cipher", "aes128-cbc", "--operation", "encrypt", "--iv", IV, "--key-file"])
        .arg(path)
        .stdin(std::fs::File::open(file("message", "\nmessage")).unwrap())
        .output()
        .unwrap();
    let before = format!("{KEY}\r\n\nmessage");
    let by_line = apply(&format!("--cipher aes128-cbc --operation encrypt --key-file - --iv {IV}"), before.as_bytes());
    assert_eq!(by_argument.stdout.len(), 16);
    assert_eq!(by_argument.stdout, by_file.stdout);
    assert_eq!(by_argument.stdout, by_line.stdout);
}

#[test]
fn an_unknown_cipher_is_refused_with_the_one_that_was_meant() {
    let output = apply(&format!("--cipher aes128cbc --operation encrypt --key {KEY}"), b"x");
    assert_refused(&output, 3, &["\"aes128cbc\"", "did you mean \"aes128-cbc\"?"]);
    let output = apply(&format!("--cipher rc5-32-13-128-cbc --operation encrypt --key {KEY}"), b"x");
    assert_refused(&output, 3, &["13", "8 to 28 in steps of 4"]);
}

#[test]
fn a_key_or_an_iv_of_the_wrong_length_is_refused_with_the_right_one() {
    let output = apply(&format!("--cipher aes256-cbc --operation encrypt --key {KEY} --iv {IV}"), b"x");
    assert_refused(&output, 4, &["aes256-cbc", "128", "256", "64 hex digits"]);
    let output = apply(&format!("--cipher aes128-cbc --operation encrypt --key {KEY} --iv 0001"), b"x");
    assert_refused(&output, 4, &["2 bytes", "16", "32 hex digits"]);
    let output = apply(&format!("--cipher aes128-cbc --operation encrypt --key {KEY}"), b"x");
    assert_refused(&output, 4, &["needs an IV of 16 bytes", "--iv"]);
    let output = apply(&format!("--cipher aes128-ecb --operation encrypt --key {KEY} --iv {IV}"), b"x");
    assert_refused(&output, 4, &["takes none", "leave --iv out"]);
}

#[test]
fn a_damaged_ciphertext_gives_no_output() {
    let decrypt = format!("--cipher aes128-cbc --operation decrypt --key {KEY} --iv {IV}");
    assert_refused(&apply(&decrypt, &[0; 32]), 5, &["padding"]);
    assert_refused(&apply(&decrypt, &[0; 31]), 5, &["31", "16"]);
    assert_eq!(apply(&decrypt, b"").status.code(), Some(5), "an empty message has one block of padding");
}

/// RFC 3610, section 8, packet vector 1: options, plaintext, ciphertext with its tag of 8 bytes.
const PACKET: (&str, &str, &str) = (
    "--cipher aes128-ccm8 --key c0c1c2c3c4c5c6c7c8c9cacbcccdcecf --iv 00000003020100a0a1a2a3a4a5",
    "08090a0b0c0d0e0f101112131415161718191a1b1c1d1e",
    "588c979a61c663d2f066d0c2c0f989806d5f6b61dac38417e8d12cfdf926e0",
);
const PACKET_AAD: &str = "--aad 0001020304050607";

#[test]
fn what_is_sealed_ends_in_its_tag_and_opens_with_the_same_associated_data() {
    let (options, plaintext, ciphertext) = PACKET;
    let sealed = apply(&format!("--operation seal {options} {PACKET_AAD}"), &bytes(plaintext));
    assert_eq!((sealed.stdout, sealed.stderr), (bytes(ciphertext), vec![]));
    let opened = apply(&format!("--operation open {options} {PACKET_AAD}"), &bytes(ciphertext));
    assert_eq!((opened.stdout, opened.stderr), (bytes(plaintext), vec![]));
    // An empty message is a tag alone.
    let sealed = apply(&format!("--operation seal {options}"), b"");
    assert_eq!(sealed.stdout.len(), 8);
    let opened = apply(&format!("--operation open {options}"), &sealed.stdout);
    assert!(opened.status.success() && opened.stdout.is_empty());
}

#[test]
fn a_wrong_tag_gives_no_output_and_exit_code_4() {
    let (options, _, ciphertext) = PACKET;
    let open = format!("--operation open {options} {PACKET_AAD}");
    let sealed = bytes(ciphertext);
    for at in [0, sealed.len() - 9, sealed.len() - 1] {
        let mut forged = sealed.clone();
        forged[at] ^= 1;
        assert_refused(&apply(&open, &forged), 4, &["aes128-ccm8", "the tag is wrong", "nothing of it is written"]);
    }
    assert_refused(&apply(&open, &sealed[..sealed.len() - 1]), 4, &["the tag is wrong"]);
    assert_refused(&apply(&open, &sealed[..7]), 4, &["the tag is wrong"]);
    assert_refused(&apply(&open, b""), 4, &["the tag is wrong"]);
    for aad in ["", "--aad 0001020304050600", "--aad 000102030405060700"] {
        assert_refused(&apply(&format!("--operation open {options} {aad}"), &sealed), 4, &["associated data"]);
    }
}

#[test]
fn an_operation_that_the_cipher_has_not_is_refused_with_those_that_it_has() {
    let (options, ..) = PACKET;
    for operation in ["encrypt", "decrypt"] {
        let output = apply(&format!("--operation {operation} {options}"), b"x");
        assert_refused(&output, 2, &["aes128-ccm8", "seal or open"]);
    }
    let cbc = format!("--cipher aes128-cbc --key {KEY} --iv {IV}");
    for operation in ["seal", "open"] {
        let output = apply(&format!("--operation {operation} {cbc}"), b"x");
        assert_refused(&output, 2, &["aes128-cbc", "encrypt or decrypt"]);
    }
    let output = apply(&format!("--operation encrypt {cbc} --aad 00"), b"x");
    assert_refused(&output, 2, &["aes128-cbc has no associated data", "--aad"]);
    let output = apply(&format!("--operation seal {options} --aad 0x"), b"x");
    assert_refused(&output, 2, &["--aad", "character 2"]);
}

#[test]
fn a_nonce_of_another_length_or_a_message_over_the_limit_of_ccm_is_refused_with_the_right_one() {
    let (options, ..) = PACKET;
    let short = options.replace("a4a5", "a4");
    assert_refused(&apply(&format!("--operation seal {short}"), b"x"), 4, &["12 bytes", "13", "26 hex digits"]);
    let none = options.split(" --iv").next().unwrap();
    assert_refused(&apply(&format!("--operation seal {none}"), b"x"), 4, &["13 bytes", "--iv"]);
    let output = apply(&format!("--operation seal {options}"), &vec![0; 65_536]);
    assert_refused(&output, 10, &["65536", "65535", "nonce"]);
    assert_eq!(apply(&format!("--operation seal {options}"), &vec![0; 65_535]).stdout.len(), 65_543);
}

#[test]
fn a_provider_is_taken_by_its_name_and_an_unknown_one_refused_with_those_that_there_are() {
    let (options, plaintext, ciphertext) = PACKET;
    let seal = format!("--operation seal {options} {PACKET_AAD} --provider");
    assert_eq!(apply(&format!("{seal} rustcrypto"), &bytes(plaintext)).stdout, bytes(ciphertext));
    let openssl = apply(&format!("{seal} openssl"), &bytes(plaintext));
    if openssl.status.success() {
        assert_eq!(openssl.stdout, bytes(ciphertext));
    } else {
        assert_refused(&openssl, 3, &["openssl"]);
    }
    let unknown = apply(&format!("{seal} nonesuch"), &bytes(plaintext));
    assert_refused(&unknown, 3, &["nonesuch", "rustcrypto", "openssl"]);
}

#[test]
fn keys_that_are_no_hex_are_refused_without_being_repeated() {
    let output = apply("--cipher rc4-40 --operation encrypt --key c0ffeeg00d", b"x");
    assert_refused(&output, 2, &["--key", "character 7"]);
    assert!(!String::from_utf8_lossy(&output.stderr).contains("c0ffee"));
    let output = apply("--cipher rc4-40 --operation encrypt --key-file /there/is/no/such/file", b"x");
    assert_refused(&output, 10, &["/there/is/no/such/file"]);
}

#[test]
fn exactly_one_key_is_asked_for() {
    assert_eq!(apply("--cipher rc4-40 --operation encrypt", b"x").status.code(), Some(2));
    let both = "--cipher rc4-40 --operation encrypt --key 0102030405 --key-file -";
    assert_eq!(apply(both, b"x").status.code(), Some(2));
}

#[test]
fn the_help_of_apply_says_that_a_key_is_visible_to_others() {
    let output = probe(&["apply", "--help"], b"");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("Visible to others") && text.contains("Examples:"));
}

#[test]
fn a_reader_of_a_table_that_goes_away_ends_the_program_quietly() {
    let mut command = Command::new(PROBE);
    let mut child = command.arg("catalogue").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

/// Shell commands around the program, its exit code last.
#[cfg(unix)]
fn in_a_shell(script: &str) -> (i32, String) {
    let done = Command::new("bash").args(["-c", script]).env("PROBE", PROBE).output().unwrap();
    (done.status.code().unwrap(), String::from_utf8(done.stderr).unwrap())
}

#[test]
#[cfg(unix)]
fn a_message_whose_output_is_lost_ends_with_9() {
    let apply = format!("$PROBE apply --cipher aes128-ctr --operation encrypt --key {KEY} --iv {IV}");
    for (script, words) in [
        (format!("head -c 1000000 /dev/zero | {apply} | true; exit ${{PIPESTATUS[1]}}"), "Broken pipe"),
        (format!("head -c 10 /dev/zero | {apply} >&-"), "it is closed"),
        (format!("head -c 10 /dev/zero | {apply} > /dev/full"), "No space left"),
    ] {
        let (code, said) = in_a_shell(&script);
        let lines: Vec<_> = said.lines().collect();
        assert_eq!((code, lines.len()), (9, 2), "{script}: {said}");
        assert!(lines[0].starts_with("error: standard output: ") && lines[0].contains(words), "{said}");
    }
    assert_eq!(in_a_shell(&format!("head -c 10 /dev/zero | {apply} > /dev/null")), (0, String::new()));
    assert_eq!(in_a_shell(&format!("head -c 10 /dev/zero | {apply} | cat > /dev/null")).0, 0);
}

#[test]
fn associated_data_of_any_length_comes_from_a_file_as_it_is() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("associated");
    let seal = format!("--cipher aes128-gcm --operation seal --key {KEY} --iv 000102030405060708090a0b");
    std::fs::write(&path, b"header\n").unwrap();
    let file = format!("{seal} --aad-file {}", path.display());
    let sealed = apply(&file, b"message").stdout;
    assert_eq!(sealed, apply(&format!("{seal} --aad 6865616465720a"), b"message").stdout);
    assert_ne!(sealed, apply(&seal, b"message").stdout);
    std::fs::write(&path, vec![7; 1 << 20]).unwrap();
    let sealed = apply(&file, b"message").stdout;
    let opened = apply(&file.replace("seal", "open"), &sealed);
    assert_eq!((opened.status.code(), opened.stdout), (Some(0), b"message".to_vec()));
    assert_refused(&apply(&format!("{seal} --aad-file /no/such/file"), b""), 10, &["--aad-file /no/such/file"]);
    assert_refused(&apply(&format!("{file} --aad 00"), b""), 2, &["--aad"]);
    let cbc = file.replace("aes128-gcm", "aes128-cbc").replace("seal", "encrypt");
    assert_refused(&apply(&cbc, b""), 2, &["no associated data", "--aad-file"]);
}

#[test]
fn wrong_usage_of_every_verb_is_one_error_and_one_hint() {
    let help = String::from_utf8(probe(&["--help"], b"").stdout).unwrap();
    let verbs =
        help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1).take_while(|line| !line.is_empty());
    // Verbs are indented by two spaces, further lines of their help by more.
    let verbs: Vec<_> =
        verbs.filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' ')).collect();
    let verbs: Vec<_> = verbs.iter().filter_map(|line| line.split(' ').next()).filter(|verb| *verb != "help").collect();
    assert!(verbs.len() >= 7 && verbs.contains(&"apply"), "{verbs:?}");
    for verb in verbs {
        let wrong = probe(&[verb, "--nonesuch"], b"");
        assert_refused(&wrong, 2, &["--nonesuch", &format!("`wattlock-probe {verb} --help`")]);
    }
    assert_refused(&probe(&[], b""), 2, &["no verb is given", "`wattlock-probe --help`"]);
    assert_refused(&probe(&["catalog"], b""), 2, &["'catalog'", "'catalogue'"]);
    assert_refused(&apply("--cipher aes128-cbc", b""), 2, &["--operation", "`wattlock-probe apply --help`"]);
    assert_refused(&apply("--operation encrpt", b""), 2, &["'encrpt'", "encrypt, decrypt, seal, open"]);
    for asked in [&["--help"][..], &["--version"], &["apply", "--help"]] {
        let output = probe(asked, b"");
        assert!(output.status.success() && output.stderr.is_empty() && !output.stdout.is_empty());
    }
}

#[test]
fn a_plan_of_another_version_or_of_no_known_kind_is_refused_with_what_to_do() {
    let plan = |line: &str| probe(&["measure"], line.as_bytes());
    assert_refused(&plan(r#"{"kind":"plan","schema":1,"cells":[]}"#), 2, &["plan line 1", "version 1", "version 2"]);
    assert_refused(&plan(r#"{"kind":"study","schema":3}"#), 2, &["plan line 1", "version 3", "version 2"]);
    assert_refused(&plan("\n{\"kind\":\"cell\"}"), 2, &["plan line 2", "`cell`", "`wattlock-probe schema`"]);
    assert_refused(&plan(""), 2, &["no line of kind \"plan\"", "`wattlock-probe schema`"]);
}

#[test]
fn a_long_name_is_repeated_no_further_than_80_characters() {
    let long = "x".repeat(5000);
    for arguments in [
        &["apply", "--cipher", &long, "--operation", "encrypt", "--key", KEY][..],
        &["apply", "--cipher", "rc4-128", "--operation", &long, "--key", KEY],
        &["apply", "--cipher", "rc4-128", "--operation", "encrypt", "--key", KEY, "--provider", &long],
        &["selftest", "--provider", &long],
        &["catalogue", "--cipher", &long],
        &["catalogue", "--library", &format!("X{long}=./mine.so")],
        &[&long],
    ] {
        let said = String::from_utf8(probe(arguments, b"").stderr).unwrap();
        let longest = said.split(|letter| letter != 'x').map(str::len).max();
        assert!(said.starts_with("error: ") && longest.is_some_and(|longest| longest <= 80), "{said}");
        assert_eq!(said.lines().count(), 2, "{said}");
    }
}

#[test]
fn the_catalogue_as_json_is_one_array_in_which_an_unknown_id_is_a_row() {
    let all = rows(&["catalogue", "--format", "json"]);
    assert!(all.len() > 60, "{} rows", all.len());
    assert!(all.iter().all(|row| row["proof"].as_str().is_some_and(|proof| !proof.is_empty())));

    let some = rows(&["catalogue", "--cipher", "rc2-128-e64-cbc", "aes128cbc", "--cipher", "?", "--format", "json"]);
    let (known, some) = some.split_at(some.len() - 2);
    assert!(known.iter().all(|row| (&row["key_bits"], &row["effective_bits"]) == (&128.into(), &64.into())));
    assert!(known.iter().all(|row| row["available"].is_boolean() && row["available"] == row["reason"].is_null()));
    assert_eq!((&some[0]["id"], &some[0]["nearest"]), (&"aes128cbc".into(), &"aes128-cbc".into()));
    assert!(some[0]["error"].is_string());
    assert_eq!((&some[1]["id"], &some[1]["nearest"]), (&"?".into(), &Value::Null));
}

#[test]
fn the_selftest_proves_every_cipher_of_the_catalogue() {
    let output = probe(&["selftest", "--format", "json"], b"");
    let proven: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let listed = rows(&["catalogue", "--format", "json"]);
    let there = listed.iter().filter(|row| row["available"] == true).map(|row| (&row["id"], &row["provider"]));
    let here = proven.iter().filter(|row| row["result"] != "absent").map(|row| (&row["cipher"], &row["provider"]));
    assert!(here.eq(there));
    let wrong: Vec<_> = proven.iter().filter(|row| row["result"] == "wrong").collect();
    assert!(wrong.is_empty() && output.status.success(), "{wrong:?}");
    assert_refused(&probe(&["selftest", "--cipher", "aes129-cbc"], b""), 3, &["aes129-cbc", "128, 192 or 256"]);
    assert_refused(&probe(&["selftest", "--provider", "opnssl"], b""), 3, &["opnssl", "rustcrypto", "openssl"]);
    assert_refused(&probe(&["catalogue", "--cipher", "aes129-cbc"], b""), 3, &["aes129-cbc", "128, 192 or 256"]);
}

#[test]
fn the_doctor_never_calls_fine_what_it_did_not_see() {
    let output = probe(&["doctor", "--seconds", "1", "--format", "json"], b"");
    let checks: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert!(checks.len() >= 12);
    for check in &checks {
        assert_eq!(check["value"].is_null(), check["verdict"] == "not visible", "{check}");
        assert!(check["verdict"] == "ok" || check["advice"].is_string(), "{check}");
    }
    let failed = checks.iter().any(|check| check["verdict"] == "fail");
    assert_eq!(output.status.code(), Some(i32::from(failed)));
}

/// A plan of one case that a battery run repeats, and a made-up battery.
fn battery_run(name: &str, battery: &str, status: &str) -> (PathBuf, Output) {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let supply = root.join("class/power_supply/BAT0");
    std::fs::create_dir_all(&supply).unwrap();
    for (file, text) in [("type", "Battery"), ("status", status), ("capacity", "80"), ("energy_now", "40000000")] {
        std::fs::write(supply.join(file), format!("{text}\n")).unwrap();
    }
    let head = format!(
        r#"{{"kind":"plan","schema":2,"process":0,"seed":1,"cpu":null,"rounds":1,"batch_ns":100000,"battery":{{"case":0,"log_every_s":1,"sys_root":{root:?},{battery}}}}}"#
    );
    let case = r#"{"kind":"case","case":0,"role":"study","cipher":"aes128-cbc","provider":"rustcrypto","operation":"encrypt","keying":"ready","encoding":"raw","placement":"hot","pattern":"independent","payload_B":1024,"data":"random","visits":1}"#;
    let output = probe(&["measure"], format!("{head}\n{case}\n").as_bytes());
    (root, output)
}

fn levels(output: &Output) -> Vec<Value> {
    let lines = String::from_utf8(output.stdout.clone()).unwrap();
    let records = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    records.filter(|record| record["kind"] == "battery_level").collect()
}

#[test]
fn a_battery_run_goes_on_from_the_calls_done_and_ends_at_its_repeats_or_its_level() {
    let (_, output) = battery_run("battery-repeats", r#""repeats":2000,"done":1500"#, "Discharging");
    let lines = levels(&output);
    assert_eq!(lines[0]["repeats_done"], 1500);
    assert!(lines.last().unwrap()["repeats_done"].as_u64().unwrap() >= 2000);
    assert_eq!((&lines[0]["level_percent"], &lines[0]["energy_nJ"]), (&80.into(), &144_000_000_000_000_u64.into()));
    let (_, output) = battery_run("battery-level", r#""until_percent":80"#, "Discharging");
    assert_eq!(levels(&output).len(), 1, "it stands at its end");
}

#[test]
fn a_battery_run_on_the_mains_ends_with_its_reason_and_one_without_an_end_is_refused() {
    let (_, output) = battery_run("battery-mains", r#""repeats":2000"#, "Charging");
    let lines = levels(&output);
    assert_eq!(lines.len(), 1);
    assert!(lines[0]["error"].as_str().unwrap().contains("not discharging"), "{lines:?}");
    let (_, output) = battery_run("battery-endless", r#""done":0"#, "Discharging");
    assert_refused(&output, 2, &["without an end", "until_percent"]);
}

#[test]
fn a_meter_with_a_value_in_five_minutes_is_not_tried_for_an_hour() {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("slow-meter");
    let chip = root.join("class/hwmon/hwmon0");
    std::fs::create_dir_all(&chip).unwrap();
    for (file, text) in [("name", "power_meter"), ("power1_average", "90000000"), ("power1_average_interval", "300000")]
    {
        std::fs::write(chip.join(file), text).unwrap();
    }
    let root = root.to_str().unwrap();
    let read = probe(&["meters", "--sys-root", root, "--read", "hwmon:power_meter/power1"], b"");
    assert_refused(&read, 11, &["a value every 300 s is too slow to be tried"]);
}

#[test]
fn meters_of_an_empty_tree_are_none_and_that_is_said() {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("no-meters");
    std::fs::create_dir_all(&root).unwrap();
    let root = root.to_str().unwrap();
    assert_refused(&probe(&["meters", "--sys-root", root], b""), 11, &["no energy meter", "virtual machines"]);
    assert_eq!(rows(&["meters", "--sys-root", root, "--format", "json"]), Vec::<Value>::new());
    assert_refused(&probe(&["meters", "--sys-root", root, "--read", "powercap"], b""), 11, &["no powercap"]);
}
