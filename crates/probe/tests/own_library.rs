//! A library of the user's own: the example, and libraries that are none.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

const PROBE: &str = env!("CARGO_BIN_EXE_wattlock-probe");
const CRATE: &str = env!("CARGO_MANIFEST_DIR");

/// A library built from C; none where there is no compiler, which is said.
fn built(name: &str, source: &Path) -> Option<PathBuf> {
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.so"));
    let include = Path::new(CRATE).join("include");
    let mut compiler = Command::new("cc");
    compiler.args(["-Wall", "-Wextra", "-Werror", "-O2", "-shared", "-fPIC", "-I"]).arg(include);
    match compiler.arg("-o").arg(&library).arg(source).status() {
        Err(error) => println!("skipped: cc: {error}"),
        Ok(status) => {
            assert!(status.success(), "{} does not compile", source.display());
            return Some(library);
        }
    }
    None
}

fn example() -> Option<PathBuf> {
    built("xtea", &Path::new(CRATE).join("../../examples/library/xtea.c"))
}

/// As [`built`], from a source that includes the header.
fn written(name: &str, source: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.c"));
    fs::write(&path, format!("#include \"wattlock_cipher.h\"\n{source}")).unwrap();
    built(name, &path)
}

fn probe(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(PROBE)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

fn rows(verb: &str, library: &str, name: &str, cipher: &str) -> (Option<i32>, Value) {
    let arguments = [verb, "--library", library, "--provider", name, "--cipher", cipher, "--format", "json"];
    let output = probe(&arguments, &[]);
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or_default())
}

fn measured(cipher: &str, name: &str, library: &Path) -> Vec<Value> {
    let head = json!({
        "kind": "plan", "schema": 1, "process": 0, "seed": 1, "cpu": null, "rounds": 1, "batch_ns": 50_000,
        "libraries": [{"name": name, "path": library}],
    });
    let mut plan = vec![head];
    for (number, operation) in ["encrypt", "decrypt", "key_setup"].into_iter().enumerate() {
        plan.push(json!({
            "kind": "cell", "cell": number, "role": "study", "cipher": cipher, "provider": name,
            "operation": operation, "keying": "ready", "encoding": "raw", "placement": "hot", "pattern": "independent",
            "payload_B": if operation == "key_setup" { 0 } else { 100_000 }, "data": "random", "visits": 1,
        }));
    }
    let text: String = plan.iter().map(|line| format!("{line}\n")).collect();
    let output = probe(&["measure"], text.as_bytes());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_example_is_proven_listed_with_its_file_applied_and_measured() {
    let Some(library) = example() else { return };
    let path = library.to_str().unwrap();
    for id in ["xtea-ecb", "xtea-ctr"] {
        let (code, rows) = rows("selftest", path, "xtea", id);
        assert_eq!(
            (code, &rows[0]["result"], &rows[0]["version"]),
            (Some(0), &json!("right"), &json!("1.0.0")),
            "{rows}"
        );
    }
    let (_, listed) = rows("catalogue", &format!("mine={path}"), "mine", "xtea-ctr");
    assert_eq!((&listed[0]["available"], &listed[0]["backend"]), (&json!(true), &json!("portable")), "{listed}");
    if cfg!(target_os = "linux") {
        assert_eq!(listed[0]["file"], path);
        assert_eq!(listed[0]["file_sha256"].as_str().unwrap().len(), 64);
    }
    let (_, other) = rows("catalogue", path, "xtea", "aes128-cbc");
    assert_eq!(other[0]["reason"], "aes128-cbc: xtea does not list it");

    let key = "000102030405060708090a0b0c0d0e0f";
    let apply = |more: &[&str]| {
        let arguments = ["apply", "--cipher", "xtea-ecb", "--operation", "encrypt", "--key", key];
        probe(&[&arguments, more].concat(), b"thirteen bytes").stdout
    };
    let ours = apply(&[]);
    assert_eq!(ours.len(), 16);
    assert_eq!(apply(&["--library", path, "--provider", "xtea"]), ours);

    let records = measured("xtea-ctr", "fast", &library);
    assert!(!records.iter().any(|record| record["kind"] == "failure"), "{records:?}");
    assert_eq!(records[0]["cells"][2]["provider"], "fast");
    assert!(records[0]["cells"][0]["segments"].as_u64().unwrap() > 1, "a long message is cut into segments");
    for cell in 0..3 {
        assert!(records.iter().any(|record| record["kind"] == "batch" && record["cell"] == cell));
    }
}

#[test]
fn a_library_without_the_functions_of_another_version_or_that_crashes_is_a_row_that_says_so() {
    let crash = "#include <stdlib.h>\n__attribute__((constructor)) static void loaded(void) { abort(); }";
    let rest = "void *wattlock_key_setup(size_t c, const uint8_t *k, size_t n, int d, void *r) \
        { (void)c, (void)k, (void)n, (void)d; return r; }\n\
        int64_t wattlock_process(void *c, int o, const uint8_t *i, size_t I, const uint8_t *a, size_t A, const uint8_t *in, \
        size_t n, uint8_t *out, size_t r) { (void)c, (void)o, (void)i, (void)I, (void)a, (void)A, (void)in, (void)n, \
        (void)out; return (int64_t)r; }\nvoid wattlock_free(void *c) { (void)c; }\n";
    let later = format!("const char *wattlock_ciphers(uint32_t abi) {{ return abi == 2 ? \"1\" : NULL; }}\n{rest}");
    let cases = [
        ("bare", "int nothing;", "bare.so has no function wattlock_ciphers"),
        ("later", &later, "later.so does not know version 1 of the interface"),
        ("crash", crash, "crash: the process that tried it crashed with signal 6"),
    ];
    for (name, source, reason) in cases {
        let Some(library) = written(name, source) else { return };
        let (code, rows) = rows("selftest", library.to_str().unwrap(), name, "xtea-ecb");
        assert_eq!((code, &rows[0]["result"]), (Some(1), &json!("absent")), "{rows}");
        assert!(rows[0]["detail"].as_str().unwrap().contains(reason), "{rows}");
    }
    let (_, rows) = rows("catalogue", "/no/such/thing.so", "thing", "xtea-ecb");
    assert!(rows[0]["reason"].as_str().unwrap().contains("/no/such/thing.so"), "{rows}");
}

#[test]
fn a_cipher_that_computes_something_else_is_wrong_and_never_timed() {
    let source = "static int context;\n\
        const char *wattlock_ciphers(uint32_t abi) { return abi == 1 ? \"0\\nxtea-ctr\" : NULL; }\n\
        void *wattlock_key_setup(size_t c, const uint8_t *k, size_t n, int d, void *r) \
        { (void)c, (void)k, (void)n, (void)d, (void)r; return &context; }\n\
        int64_t wattlock_process(void *c, int o, const uint8_t *i, size_t I, const uint8_t *a, size_t A, const uint8_t *in, \
        size_t n, uint8_t *out, size_t r) { (void)c, (void)o, (void)i, (void)I, (void)a, (void)A, (void)r; \
        for (size_t at = 0; at < n; at++) out[at] = in[at]; return (int64_t)n; }\n\
        void wattlock_free(void *c) { (void)c; }\n";
    let Some(library) = written("copies", source) else { return };
    let records = measured("xtea-ctr", "copies", &library);
    let failures = records.iter().filter(|record| record["kind"] == "failure").count();
    assert_eq!((failures, records.iter().any(|record| record["kind"] == "batch")), (3, false), "{records:?}");
}

#[test]
fn a_cipher_that_crashes_and_an_id_that_nobody_knows_are_rows_and_the_others_are_proven() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/library/xtea.c");
    let right = std::fs::read_to_string(example).unwrap().replace("#include \"wattlock_cipher.h\"", "");
    let source = right
        .replace(
            "    if (context->mode == CTR) {",
            "    if (context->mode == ECB) abort();\n    if (context->mode == CTR) {",
        )
        .replace("xtea-ctr portable", "xtea-ctr portable\\nxtea-xyz portable");
    assert_ne!(source, right);
    let Some(library) = written("half", &source) else { return };
    let half = format!("half={}", library.display());
    let output = probe(&["selftest", "--library", &half, "--provider", "half", "--format", "json"], &[]);
    assert_eq!(output.status.code(), Some(1));
    let rows: Value = serde_json::from_slice(&output.stdout).unwrap();
    let told = |id: &str| rows.as_array().unwrap().iter().find(|row| row["cipher"] == id).unwrap().clone();
    assert_eq!(told("xtea-ctr")["result"], "right");
    assert_eq!(told("xtea-ecb")["result"], "wrong");
    assert!(told("xtea-ecb")["detail"].as_str().unwrap().contains("crashed with signal 6"), "{rows}");
    assert_eq!(told("xtea-xyz")["result"], "wrong");
}

#[test]
fn a_name_that_is_taken_and_one_that_is_none_are_refused() {
    let taken = probe(&["catalogue", "--library", "openssl=./mine.so"], &[]);
    assert_eq!(taken.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&taken.stderr).contains("there is a provider \"openssl\""));
    assert_eq!(probe(&["catalogue", "--library", "My Own=./mine.so"], &[]).status.code(), Some(2));
}
