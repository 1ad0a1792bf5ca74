//! A library of the user's own: the example, and libraries that are none.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use wattlock_test_tools as tools;

const PROBE: &str = env!("CARGO_BIN_EXE_wattlock-probe");
const CRATE: &str = env!("CARGO_MANIFEST_DIR");

/// A library built from C; none where there is no compiler, which is said.
fn built(name: &str, source: &Path) -> Option<PathBuf> {
    let library = tools::own(&format!("{name}.so"));
    let include = Path::new(CRATE).join("../providers/include");
    let mut compiler = Command::new("cc");
    compiler.args(["-Wall", "-Wextra", "-Werror", "-O2", "-shared", "-fPIC", "-I"]).arg(include);
    match compiler.arg("-o").arg(&library).arg(source).status() {
        Err(error) => tools::missing(&format!("cc: {error}")),
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
    let cases = [("encrypt", 100_000), ("decrypt", 100_000), ("key_setup", 0)];
    measured_at(cipher, name, library, &cases, None)
}

/// The records of a process that measures these operations at these lengths.
///
/// * `data`: a file whose bytes are the payload of all of them.
fn measured_at(cipher: &str, name: &str, library: &Path, cases: &[(&str, usize)], data: Option<&Path>) -> Vec<Value> {
    records_of(&plan(cipher, name, library, cases, data))
}

fn records_of(plan: &str) -> Vec<Value> {
    let output = probe(&["measure"], plan.as_bytes());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn plan(cipher: &str, name: &str, library: &Path, cases: &[(&str, usize)], data: Option<&Path>) -> String {
    let mut plan = vec![json!({
        "kind": "plan", "schema": 2, "process": 0, "seed": 1, "cpu": null, "rounds": 1, "batch_ns": 50_000,
        "libraries": [{"name": name, "path": library}],
    })];
    if let Some(path) = data {
        let size_B = fs::metadata(path).unwrap().len();
        plan.push(json!({"kind": "data", "data": "file", "path": path, "size_B": size_B}));
    }
    for (number, (operation, payload_B)) in cases.iter().enumerate() {
        plan.push(json!({
            "kind": "case", "case": number, "role": "study", "cipher": cipher, "provider": name,
            "operation": operation, "keying": "ready", "encoding": "raw", "placement": "hot", "pattern": "independent",
            "payload_B": payload_B, "data": if data.is_some() { "file" } else { "random" }, "visits": 1,
        }));
    }
    plan.iter().map(|line| format!("{line}\n")).collect()
}

/// The example without its header.
fn example_source() -> String {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/library/xtea.c");
    fs::read_to_string(example).unwrap().replace("#include \"wattlock_cipher.h\"", "")
}

/// The example with one place of its code changed.
fn changed(name: &str, from: &str, to: &str) -> Option<PathBuf> {
    let right = example_source();
    let source = right.replacen(from, to, 1);
    assert_ne!(source, right);
    written(name, &source)
}

/// Where the example encrypts or decrypts in CTR.
const CTR: &str = "        ctr(context, iv, input, input_B, output);";

/// Visits take turns between cases; before the first one each case is looked at by itself.
const LATER: &str = "        static size_t last_B; static int turns;\n\
                     if (input_B == 1000 && last_B == 64) turns++;\n\
                     if (input_B == 1000 || input_B == 64) last_B = input_B;";

/// A function of this name before the one that does the work, and `process_right` that does it.
fn wrapped(name: &str, before: &str) -> Option<PathBuf> {
    let right = example_source();
    let renamed = right.replacen("int64_t wattlock_process(", "static int64_t process_right(", 1);
    assert_ne!(renamed, right);
    let arguments = "void *context, int operation, const uint8_t *iv, size_t iv_B, const uint8_t *aad, size_t aad_B, \
                     const uint8_t *input, size_t input_B, uint8_t *output, size_t room_B";
    let (head, act) = before.split_once("----").unwrap_or(("", before));
    written(
        name,
        &format!(
            "{renamed}\n{head}\n#define RIGHT process_right(context, operation, iv, iv_B, aad, aad_B, input, input_B, output, room_B)\n\
             int64_t wattlock_process({arguments}) {{\n{act}\n}}\n"
        ),
    )
}

/// Each of these operations at these lengths fails with a reason that has these words, and no case of them is left.
fn fails_in_all(name: &str, library: &Path, cases: &[(&str, usize)], words: &str) {
    for cipher in ["xtea-ctr", "xtea-ecb"] {
        let (failed, _) = outcome(&measured_at(cipher, name, library, cases, None));
        let numbers: Vec<_> = failed.iter().map(|(case, _)| usize::try_from(*case).unwrap()).collect();
        assert_eq!(numbers, (0..cases.len()).collect::<Vec<_>>(), "{name} {cipher}: {failed:?}");
        assert!(failed.iter().all(|(_, error)| error.contains(words)), "{name} {cipher}: {failed:?}");
    }
}

/// The cases that failed, with their errors, and those that have batches.
fn outcome(records: &[Value]) -> (Vec<(u64, String)>, Vec<u64>) {
    let of_kind = |kind: &'static str| records.iter().filter(move |record| record["kind"] == kind);
    let failed = |record: &Value| (record["case"].as_u64().unwrap(), record["error"].as_str().unwrap().to_owned());
    let mut timed: Vec<_> = of_kind("batch").map(|record| record["case"].as_u64().unwrap()).collect();
    timed.sort_unstable();
    timed.dedup();
    (of_kind("failure").map(failed).collect(), timed)
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
    assert_eq!((&listed[0]["available"], &listed[0]["path"]), (&json!(true), &json!("portable")), "{listed}");
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
    assert_eq!(records[0]["cases"][2]["provider"], "fast");
    assert!(records[0]["cases"][0]["segments"].as_u64().unwrap() > 1, "a long message is cut into segments");
    for case in 0..3 {
        assert!(records.iter().any(|record| record["kind"] == "batch" && record["case"] == case));
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
    let (code, rows) = rows("catalogue", "/no/such/thing.so", "thing", "xtea-ecb");
    assert_eq!(code, Some(1));
    assert_eq!(rows[0]["reason"].as_str().unwrap().matches("/no/such/thing.so").count(), 1, "{rows}");
    let output = probe(&["catalogue", "--library", "/no/such/thing.so"], &[]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("error: library thing: /no/such/thing.so") && said.contains("\nhint: "), "{said}");
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
    let row_of = |id: &str| rows.as_array().unwrap().iter().find(|row| row["cipher"] == id).unwrap().clone();
    assert_eq!(row_of("xtea-ctr")["result"], "right");
    assert_eq!(row_of("xtea-ecb")["result"], "wrong");
    assert!(row_of("xtea-ecb")["detail"].as_str().unwrap().contains("crashed with signal 6"), "{rows}");
    assert_eq!(row_of("xtea-xyz")["result"], "wrong");
    // It lists the one that crashes: a program that plans a run has to know.
    let (code, rows) = self::rows("catalogue", &half, "half", "xtea-ecb");
    assert_eq!((code, &rows[0]["available"], &rows[0]["broken"]), (Some(0), &json!(false), &json!(true)));
    assert_eq!(self::rows("catalogue", &half, "half", "xtea-ctr").1[0].get("broken"), None);
}

#[test]
fn a_name_that_is_taken_and_one_that_is_none_are_refused() {
    let taken = probe(&["catalogue", "--library", "openssl=./mine.so"], &[]);
    assert_eq!(taken.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&taken.stderr).contains("there is a provider \"openssl\""));
    assert_eq!(probe(&["catalogue", "--library", "My Own=./mine.so"], &[]).status.code(), Some(2));
}

#[test]
fn a_library_that_is_wrong_beyond_a_length_is_timed_up_to_it_and_never_beyond() {
    for boundary in [2240, 4095, 16_384, 70_000] {
        // Beyond the boundary the key stream begins anew.
        let wrong = format!(
            "        if (input_B > {boundary}) {{ ctr(context, iv, input, {boundary}, output);\n\
             ctr(context, iv, input + {boundary}, input_B - {boundary}, output + {boundary}); return (int64_t)input_B; }}\n{CTR}"
        );
        let Some(library) = changed(&format!("repeats{boundary}"), CTR, &wrong) else { return };
        let cases =
            [("encrypt", boundary), ("decrypt", boundary), ("encrypt", boundary + 1), ("decrypt", boundary + 9)];
        let (failed, timed) = outcome(&measured_at("xtea-ctr", "repeats", &library, &cases, None));
        assert_eq!(timed, [0, 1], "{boundary}: {failed:?}");
        let differs = |operation: &str, payload_B| {
            format!("xtea-ctr: the output of {operation} {payload_B} B is not what another implementation gives")
        };
        assert_eq!(failed, [(2, differs("encrypt", boundary + 1)), (3, differs("decrypt", boundary + 9))]);
    }
}

#[test]
fn a_library_that_is_wrong_in_long_parts_alone_fails_where_its_input_is_cut_and_in_a_file() {
    let part = "        if (operation >= WATTLOCK_ENCRYPT_PART && input_B > 2240) { memset(output, 0, input_B); return (int64_t)input_B; }\n";
    let Some(library) = changed("parts", CTR, &format!("{part}{CTR}")) else { return };
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("parts.bin");
    fs::write(&file, (0..300_001_u32).map(|at| (at.wrapping_mul(at) >> 7).to_le_bytes()[0]).collect::<Vec<_>>())
        .unwrap();
    for (cases, data) in [
        ([("encrypt", 2000), ("encrypt", 1_000_000)], None),
        ([("encrypt", 300_001), ("decrypt", 300_001)], Some(&*file)),
    ] {
        let (failed, timed) = outcome(&measured_at("xtea-ctr", "parts", &library, &cases, data));
        assert!(failed.iter().all(|(_, error)| error.contains("B in segments is not what another")), "{failed:?}");
        assert_eq!((failed.len(), timed.len()), if data.is_none() { (1, 1) } else { (2, 0) });
    }
}

#[test]
fn a_library_that_is_wrong_now_and_then_or_takes_an_output_that_is_there_for_its_own_is_not_timed() {
    let spoils =
        "ctr(context, iv, input, input_B, output); if (input_B > 0) output[input_B / 2] ^= 1; return (int64_t)input_B;";
    for (name, act, reason) in [
        ("thousandth", format!("        static long calls; if (++calls % 1000 == 0) {{ {spoils} }}"), "64 B in call"),
        (
            "remembers",
            "        static const void *in, *out; static size_t of_B;\n\
             if (in == input && out == output && of_B == input_B) return (int64_t)input_B;\n\
             in = input; out = output; of_B = input_B;"
                .to_owned(),
            "is not what another implementation gives",
        ),
    ] {
        let Some(library) = changed(name, CTR, &format!("{act}\n{CTR}")) else { return };
        let (failed, timed) = outcome(&measured_at("xtea-ctr", name, &library, &[("encrypt", 64)], None));
        assert!(failed.len() == 1 && timed.is_empty() && failed[0].1.contains(reason), "{name}: {failed:?}");
    }
}

/// A library that remembers the last so many messages and what became of them.
fn remembering(count: usize, from: u32) -> Option<PathBuf> {
    let head = format!(
        "static struct {{ struct context context; size_t input_B; int64_t made; int operation; uint8_t iv[8], input[1600], \
         output[1640]; }} seen[{count}];\n\
         static size_t place(const uint8_t *iv, const uint8_t *input, size_t input_B) {{ uint64_t sum = 1, word = 0;\n\
         for (size_t at = 0; iv && at < 8; at++) sum = (sum ^ iv[at]) * 1099511628211u;\n\
         if (input_B >= 8) memcpy(&word, input, 8);\n\
         return (size_t)((sum ^ word) * 0x9e3779b97f4a7c15u >> 33) % {count}; }}\n"
    );
    let act = format!(
        "{LATER}\nif (operation > WATTLOCK_DECRYPT || input_B > 1600 || turns < {from}) return RIGHT;\n\
         size_t at = place(iv_B ? iv : NULL, input, input_B);\n\
         if (!memcmp(&seen[at].context, context, sizeof(struct context)) && seen[at].operation == operation && seen[at].input_B == input_B &&\n\
         !memcmp(seen[at].iv, iv, iv_B) && !memcmp(seen[at].input, input, input_B)) {{\n\
         memcpy(output, seen[at].output, (size_t)seen[at].made); return seen[at].made; }}\n\
         int64_t made = RIGHT;\nif (made < 0) return made;\n\
         memcpy(&seen[at].context, context, sizeof(struct context)); seen[at].operation = operation; seen[at].input_B = input_B; seen[at].made = made;\n\
         memcpy(seen[at].iv, iv, iv_B); memcpy(seen[at].input, input, input_B);\n\
         memcpy(seen[at].output, output, (size_t)made);\nreturn made;"
    );
    wrapped(&format!("memory-{count}-{from}"), &format!("{head}----{act}"))
}

#[test]
fn a_library_that_remembers_1_8_or_1000_messages_is_named_and_has_no_number() {
    for count in [1, 8, 1000] {
        let Some(library) = remembering(count, 0) else { return };
        let cases = [("encrypt", 64), ("decrypt", 64), ("encrypt", 1504)];
        fails_in_all("memory", &library, &cases, "the library remembers messages");
    }
    // Later than all that is looked at before the timing.
    let Some(library) = remembering(8, 6) else { return };
    let text = plan("xtea-ctr", "late", &library, &[("encrypt", 64), ("encrypt", 1000)], None);
    let text = text.replace("\"rounds\":1", "\"rounds\":50").replace("\"visits\":1", "\"visits\":50");
    let (failed, timed) = outcome(&records_of(&text));
    assert_eq!((failed.len(), timed.len()), (2, 2), "{failed:?}");
    assert!(failed.iter().all(|(_, error)| error.contains("the library remembers messages")), "{failed:?}");
}

#[test]
fn a_library_that_looks_up_only_each_second_third_or_fourth_call_is_named() {
    for each in [2, 3, 4] {
        let act = format!(
            "static struct context known; static uint8_t iv_of[8], from[1504], made[1504]; static size_t size_B;\n\
             static long calls;\nif (input_B > 1504 || ++calls % {each}) return RIGHT;\n\
             if (size_B == input_B && !memcmp(&known, context, sizeof known) && !memcmp(iv_of, iv, iv_B) && \
             !memcmp(from, input, input_B)) return memcpy(output, made, input_B), (int64_t)input_B;\n\
             int64_t done = RIGHT;\n\
             memcpy(&known, context, sizeof known); memcpy(iv_of, iv, iv_B); size_B = input_B;\n\
             memcpy(from, input, input_B); memcpy(made, output, input_B);\nreturn done;"
        );
        let Some(library) = wrapped(&format!("each-{each}"), &act) else { return };
        let cases = [("encrypt", 64), ("decrypt", 64), ("encrypt", 1504)];
        let (failed, _) = outcome(&measured_at("xtea-ctr", "each", &library, &cases, None));
        assert_eq!(failed.len(), 3, "{each}: {failed:?}");
        assert!(failed.iter().all(|(_, error)| error.contains("the library remembers messages")), "{failed:?}");
    }
}

#[test]
fn a_library_that_remembers_keys_is_named_and_the_example_is_not() {
    let Some(right) = example() else { return };
    let cases = [("encrypt", 0), ("encrypt", 1), ("encrypt", 64), ("decrypt", 64), ("encrypt", 1504), ("key_setup", 0)];
    for cipher in ["xtea-ctr", "xtea-ecb"] {
        assert_eq!(outcome(&measured_at(cipher, "right", &right, &cases, None)).0, []);
    }
    let again = "    static uint8_t known[16]; static struct context kept;\n\
                 if (context->mode == kept.mode && !memcmp(known, key, 16)) { *context = kept; return context; }\n\
                 for (volatile int on = 0; on < 3000; on++) {}\n    uint32_t sum = 0;";
    let source = example_source().replacen("    uint32_t sum = 0;", again, 1);
    let source = source.replacen(
        "    return context;\n}",
        "    kept = *context; memcpy(known, key, 16);\n    return context;\n}",
        1,
    );
    let Some(library) = written("keys", &source) else { return };
    let (failed, _) = outcome(&measured_at("xtea-ctr", "keys", &library, &[("key_setup", 0)], None));
    assert!(failed.len() == 1 && failed[0].1.contains("the library remembers keys"), "{failed:?}");
}

#[test]
fn a_library_that_is_wrong_in_one_call_of_50000_is_seen_in_one_process() {
    let act = "static long calls;\nint64_t made = RIGHT;\n\
               if (++calls % 50000 == 0 && made > 0) output[made / 2] ^= 4;\nreturn made;";
    let Some(library) = wrapped("rarely", act) else { return };
    for cases in [[("encrypt", 64)], [("decrypt", 64)], [("encrypt", 1504)]] {
        fails_in_all("rarely", &library, &cases, "is not what another implementation gives");
    }
}

#[test]
fn a_library_that_writes_1_to_64_octets_outside_of_its_room_is_named() {
    for past in [1, 2, 17, 64] {
        let behind =
            format!("int64_t made = RIGHT;\nif (made >= 0) output[room_B + {past} - 1] ^= 0x55;\nreturn made;");
        let before = format!("int64_t made = RIGHT;\nif (made >= 0) output[-{past}] ^= 0x55;\nreturn made;");
        let input = format!("((uint8_t *)input)[input_B + {past} - 1] ^= 0x55; return RIGHT;");
        let key_B = "((uint8_t *)iv)[iv_B] ^= 0x55; return RIGHT;";
        for (name, act, words) in [
            ("behind", &*behind, format!("wrote outside of the output, up to octet {past} behind its end")),
            ("before", &*before, format!("wrote outside of the output, up to octet {past} before its start")),
            ("input", &*input, format!("wrote outside of the input, up to octet {past} behind its end")),
            ("iv", key_B, "wrote outside of the IV, up to octet 1 behind its end".to_owned()),
        ] {
            // What lies in the proof's own buffers is as it was again in the next call.
            let late = format!("static long calls;\nif (++calls < 20000) return RIGHT;\n{act}");
            let Some(library) = wrapped(&format!("{name}{past}"), &late) else { return };
            let (failed, _) = outcome(&measured_at("xtea-ctr", name, &library, &[("encrypt", 64)], None));
            assert!(failed.len() == 1 && failed[0].1.contains(&words), "{name} {past}: {failed:?}");
        }
    }
}

#[test]
fn a_library_that_prints_is_measured_and_its_words_are_on_standard_error() {
    let head = "#include <stdio.h>\n\
                __attribute__((constructor)) static void loaded(void) { printf(\"loaded\\n\"); fflush(stdout); }\n\
                ----static long calls;\nif (calls++ % 5000 == 0) { printf(\"working\\n\"); fflush(stdout); }\nreturn RIGHT;";
    let Some(library) = wrapped("prints", head) else { return };
    let path = library.to_str().unwrap();
    let (code, rows) = rows("selftest", path, "prints", "xtea-ctr");
    assert_eq!((code, &rows[0]["result"]), (Some(0), &json!("right")), "{rows}");
    assert_eq!(self::rows("catalogue", path, "prints", "xtea-ctr").1[0]["available"], json!(true));
    let output = probe(&["measure"], plan("xtea-ctr", "prints", &library, &[("encrypt", 64)], None).as_bytes());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("loaded\n") && said.contains("working\n"), "{said}");
    let (failed, timed) = outcome(&measured_at("xtea-ctr", "prints", &library, &[("encrypt", 64)], None));
    assert_eq!((failed, timed), (vec![], vec![0]));
}

#[test]
#[cfg(target_os = "linux")]
fn a_library_that_starts_a_thread_is_named_be_it_joined_or_not() {
    let head = "#include <pthread.h>\n#include <unistd.h>\n\
                static void *other(void *spins) { if (!spins) sleep(1000);\n\
                for (volatile long on = 0; on < 20000; on++) {}\nreturn NULL; }\n";
    let loads = "__attribute__((constructor)) static void loaded(void) { pthread_t thread; pthread_create(&thread, NULL, \
                 other, NULL); }\n----return RIGHT;";
    let works = "----static long calls; pthread_t thread;\n\
                 if (++calls == 3000) pthread_create(&thread, NULL, other, NULL);\nreturn RIGHT;";
    let joins = "----static long calls; pthread_t thread;\nif (++calls % 100 == 0) { pthread_create(&thread, NULL, other, \
                 &calls); pthread_join(thread, NULL); }\nreturn RIGHT;";
    for (name, act) in [("loads", loads), ("works", works), ("joins", joins)] {
        let Some(library) = wrapped(&format!("thread-{name}"), &format!("{head}{act}")) else { return };
        let cases = [("encrypt", 64), ("decrypt", 64)];
        let (failed, _) = outcome(&measured_at("xtea-ctr", "threads", &library, &cases, None));
        assert_eq!(failed.len(), 2, "{name}: {failed:?}");
        assert!(failed.iter().all(|(_, error)| error.starts_with("library threads starts threads")), "{failed:?}");
    }
}

/// Acts in one case of three, of 1000 B, and what is said of that case alone; after the proof, which has such a length too.
const FAULTS: [(&str, &str, &str); 8] = [
    ("forks", "if (!fork()) pause();", "starts programs: what they do is in no number"),
    ("daemon", "if (!fork()) { setsid(); if (fork()) _exit(0); pause(); }", "starts programs"),
    ("goes-on-twice", "fork();", "starts programs"),
    (
        "writes-3-to-20",
        "for (int fd = 3; fd < 20; fd++) if (write(fd, \"x\\n\", 2)) {}",
        "writes into files that it did not",
    ),
    (
        "writes-a-record",
        "for (int fd = 3; fd < 20; fd++) if (write(fd, \"{}\\n\", 3)) {}",
        "writes into files that it did not",
    ),
    ("closes", "for (int fd = 3; fd < 20; fd++) close(fd);", " in xtea-ctr encrypt 1000 B"),
    ("prints", "for (;;) fputs(\"again and again\\n\", stdout);", "printed more than 8 MiB in xtea-ctr encrypt 1000 B"),
    ("memory", "for (;;) memset(malloc(1 << 20), 1, 1 << 20);", "needs more than 1024 MiB in xtea-ctr encrypt 1000 B"),
];

#[test]
#[cfg(target_os = "linux")]
fn a_case_in_which_a_library_does_what_the_probe_does_not_live_with_has_failed_and_the_others_are_measured() {
    let head = "#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n";
    for (name, act, words) in FAULTS {
        let once = format!(
            "{head}----{LATER}\nstatic int acted; if (input_B == 1000 && turns > 20 && !acted++) {{ {act} }}\nreturn RIGHT;"
        );
        let Some(library) = wrapped(&format!("fault-{name}"), &once) else { return };
        let text = plan("xtea-ctr", "bad", &library, &[("encrypt", 1000), ("encrypt", 64), ("decrypt", 64)], None);
        let text = text.replace("\"rounds\":1", "\"rounds\":200").replace("\"visits\":1", "\"visits\":200");
        let begun = std::time::Instant::now();
        let (failed, timed) = outcome(&records_of(&text));
        assert!(failed.len() == 1 && failed[0].0 == 0, "{name}: {failed:?}");
        assert!(failed[0].1.starts_with("library bad ") && failed[0].1.contains(words), "{name}: {failed:?}");
        assert!(timed.contains(&1) && timed.contains(&2), "{name}: {timed:?}");
        assert!(begun.elapsed().as_secs() < 20, "{name}: {:?}", begun.elapsed());
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_library_that_leaves_a_program_behind_or_takes_all_memory_as_it_is_loaded_is_a_row_that_says_so() {
    let loads = |act: &str| {
        format!(
            "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n__attribute__((constructor)) static void loaded(void) {{ {act} }}\n----return RIGHT;"
        )
    };
    for (name, act, words) in [
        ("loads-forks", "if (!fork()) pause();", "left another program running"),
        ("loads-prints", "for (int at = 0; at < 1000000; at++) puts(\"again and again\");", "printed more than 8 MiB"),
        ("loads-memory", "for (;;) memset(malloc(1 << 20), 1, 1 << 20);", "needs more than 1024 MiB"),
    ] {
        let Some(library) = wrapped(name, &loads(act)) else { return };
        let begun = std::time::Instant::now();
        let (code, rows) = rows("selftest", &format!("bad={}", library.display()), "bad", "xtea-ctr");
        assert_eq!(code, Some(1), "{name}: {rows}");
        assert!(rows.to_string().contains(words), "{name}: {rows}");
        assert!(begun.elapsed().as_secs() < 20, "{name}: {:?}", begun.elapsed());
    }
}

#[test]
fn a_library_that_is_wrong_where_a_message_is_not_aligned_is_not_timed() {
    for place in ["input", "output"] {
        let wrong = format!(
            "        if (((uintptr_t){place} & 1) && input_B > 0) {{ ctr(context, iv, input, input_B, output);\n\
             output[0] ^= 1; return (int64_t)input_B; }}\n{CTR}"
        );
        let Some(library) = changed(&format!("odd-{place}"), CTR, &wrong) else { return };
        let (failed, timed) = outcome(&measured_at("xtea-ctr", "odd", &library, &[("encrypt", 1000)], None));
        assert!(timed.is_empty() && failed[0].1.contains("than the built-in implementation"), "{place}: {failed:?}");
    }
}

#[test]
fn a_cipher_that_hangs_in_its_proof_is_waited_for_once_for_all_of_its_cases() {
    // The proof has a message of 1000 B.
    let hang = format!("        if (input_B == 1000) for (volatile int forever = 1; forever;) {{}}\n{CTR}");
    let Some(library) = changed("hangs-in-proof", CTR, &hang) else { return };
    let start = std::time::Instant::now();
    let cases = [("encrypt", 64), ("decrypt", 64), ("encrypt", 100), ("key_setup", 0)];
    let (failed, timed) = outcome(&measured_at("xtea-ctr", "bad", &library, &cases, None));
    let reason = "library bad did not come back within 5 s in the proof of xtea-ctr";
    assert_eq!((failed, timed), ((0..4).map(|case| (case, reason.to_owned())).collect(), vec![]));
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}

#[test]
fn a_case_in_whose_preparation_a_library_crashes_or_hangs_is_named_and_the_others_are_measured() {
    for (name, act, reason) in [
        ("aborts", "abort();", "library bad crashed with signal 6 (SIGABRT) in xtea-ctr encrypt 3000 B"),
        ("leaves", "_Exit(3);", "library bad ended its process with exit code 3 in xtea-ctr encrypt 3000 B"),
        (
            "hangs",
            "for (volatile int forever = 1; forever;) {}",
            "library bad did not come back within 5 s in xtea-ctr encrypt 3000 B",
        ),
    ] {
        let Some(library) = changed(name, CTR, &format!("        if (input_B == 3000) {{ {act} }}\n{CTR}")) else {
            return;
        };
        let cases = [("encrypt", 1000), ("encrypt", 3000), ("encrypt", 5000)];
        let records = measured_at("xtea-ctr", "bad", &library, &cases, None);
        assert_eq!(outcome(&records), (vec![(1, reason.to_owned())], vec![0, 2]));
        assert_eq!(records.last().unwrap()["kind"], "end");
    }
}

#[test]
fn a_case_in_whose_timing_a_library_crashes_or_hangs_is_the_last_record_of_its_process() {
    for (name, act, reason) in [
        (
            "crashes-later",
            "*(volatile int *)0 = 1;",
            "library bad crashed with signal 11 (SIGSEGV) in xtea-ctr encrypt 1000 B",
        ),
        (
            "hangs-later",
            "for (volatile int forever = 1; forever;) {}",
            "library bad did not come back within 5 s in xtea-ctr encrypt 1000 B",
        ),
    ] {
        let later = format!("{LATER}\n        if (input_B == 1000 && turns > 20) {{ {act} }}\n{CTR}");
        let Some(library) = changed(name, CTR, &later) else { return };
        let start = std::time::Instant::now();
        let mut text = plan("xtea-ctr", "bad", &library, &[("encrypt", 1000), ("encrypt", 64)], None);
        text = text.replace("\"rounds\":1", "\"rounds\":500").replace("\"visits\":1", "\"visits\":500");
        let output = probe(&["measure"], text.as_bytes());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let records: Vec<Value> =
            String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(records[0]["kind"], "header");
        let last = records.last().unwrap();
        assert_eq!((&last["kind"], &last["case"], &last["error"]), (&json!("failure"), &json!(0), &json!(reason)));
        assert!(!records.iter().any(|record| record["kind"] == "end"));
        assert!(start.elapsed().as_secs() < 12, "{:?}", start.elapsed());
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_library_that_hangs_ends_with_the_program_that_asked_for_it() {
    let hang = format!("        if (input_B == 3000) for (volatile int forever = 1; forever;) {{}}\n{CTR}");
    let Some(library) = changed("orphan", CTR, &hang) else { return };
    let mut parent = Command::new(PROBE).arg("measure").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let text = plan("xtea-ctr", "orphan", &library, &[("encrypt", 3000)], None);
    parent.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let children = format!("/proc/{0}/task/{0}/children", parent.id());
    let child = (0..200).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        let text = fs::read_to_string(&children).unwrap_or_default();
        text.split_whitespace().next().map(|id| format!("/proc/{id}/stat"))
    });
    let child = child.unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1500));
    parent.kill().unwrap();
    parent.wait().unwrap();
    let is_alive = || fs::read_to_string(&child).is_ok_and(|stat| !stat.contains(") Z "));
    let ended = (0..100).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        !is_alive()
    });
    assert!(ended, "{child}");
}
