//! Libraries of the system, seen from outside: what becomes of cases that ask for one.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use data_encoding::HEXLOWER;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use wattlock_test_tools as tools;

const PROBE: &str = env!("CARGO_BIN_EXE_wattlock-probe");

fn opens() -> Output {
    opens_one("openssl")
}

fn opens_one(provider: &str) -> Output {
    Command::new(PROBE).args(["open-library", provider]).output().unwrap()
}

/// The rows of the catalogue for one cipher of one provider.
fn catalogue(cipher: &str, provider: &str) -> Value {
    let arguments = ["catalogue", "--format", "json", "--cipher", cipher, "--provider", provider];
    let output = Command::new(PROBE).args(arguments).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The records of one round over cases of these ciphers, providers and operations.
fn measured(cases: &[(&str, &str, &str)]) -> Vec<Value> {
    let plan =
        json!({"kind": "plan", "schema": 2, "process": 0, "seed": 1, "cpu": null, "rounds": 1, "batch_ns": 50_000});
    let mut lines = vec![plan];
    for (number, (cipher, provider, operation)) in cases.iter().enumerate() {
        lines.push(json!({
            "kind": "case", "case": number, "role": "study", "cipher": cipher, "provider": provider,
            "operation": operation, "keying": "ready", "encoding": "raw", "placement": "hot", "pattern": "independent",
            "payload_B": if *operation == "key_setup" { 0 } else { 1500 }, "data": "random", "visits": 1,
        }));
    }
    let mut child = Command::new(PROBE).arg("measure").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn errors(records: &[Value]) -> Vec<&str> {
    records
        .iter()
        .filter(|record| record["kind"] == "failure")
        .map(|record| record["error"].as_str().unwrap())
        .collect()
}

#[test]
fn a_library_that_opens_says_its_version_and_one_that_does_not_how_to_get_it() {
    let output = opens();
    if output.status.success() {
        assert!(String::from_utf8(output.stdout).unwrap().starts_with("works: openssl 3."));
    } else {
        assert!(String::from_utf8(output.stderr).unwrap().contains("package libssl3"));
    }
    let unknown = Command::new(PROBE).args(["open-library", "nonesuch"]).output().unwrap();
    assert_eq!(unknown.status.code(), Some(11));
}

#[test]
fn cases_of_openssl_are_measured_and_checked_like_all_others() {
    if !opens().status.success() {
        return tools::missing(&String::from_utf8_lossy(&opens().stderr));
    }
    let cases = ["encrypt", "decrypt", "key_setup"].map(|operation| ("aes128-cbc", "openssl", operation));
    let records = measured(&cases);
    assert_eq!(errors(&records), [""; 0]);
    let header = &records[0]["cases"];
    for number in 0..cases.len() {
        assert_eq!(header[number]["provider"], "openssl");
        assert!(header[number]["version"].as_str().unwrap().starts_with("3."));
        assert_eq!(header[number]["of"], "default");
        assert!(records.iter().any(|record| record["kind"] == "batch" && record["case"] == number));
    }
}

#[test]
fn a_case_whose_provider_or_cipher_there_is_not_fails_with_the_reason_and_the_others_are_measured() {
    let records = measured(&[
        ("des-ctr", "openssl", "encrypt"),
        ("aes128-cbc", "nonesuch", "encrypt"),
        ("aes128-cbc", "rustcrypto", "encrypt"),
    ]);
    let errors = errors(&records);
    assert_eq!(errors.len(), 2, "{errors:?}");
    if opens().status.success() {
        assert_eq!(errors[0], "des-ctr: OpenSSL has no CTR mode for blocks of 64 bits");
    }
    assert!(["rustcrypto", "openssl", "botan"].iter().all(|name| errors[1].contains(name)), "{errors:?}");
    assert!(records.iter().any(|record| record["kind"] == "batch" && record["case"] == 2));
}

#[test]
fn cases_of_aeads_carry_their_tag_and_associated_data_and_forged_ones_are_measured_too() {
    let cases = ["seal", "open", "open_forged"].map(|operation| ("aes256-ccm8", "rustcrypto", operation));
    let records = measured(&cases);
    assert_eq!(errors(&records), [""; 0]);
    for (number, (_, _, operation)) in cases.iter().enumerate() {
        let case = &records[0]["cases"][number];
        assert_eq!((&case["operation"], &case["tag_bits"], &case["aad_B"]), (&json!(operation), &json!(64), &json!(0)));
        assert_eq!((&case["mode"], &case["segments"]), (&json!("aead"), &json!(1)));
        let clean = |record: &&Value| record["kind"] == "batch" && record["case"] == number;
        assert!(records.iter().filter(clean).count() > 0, "{operation}");
    }
    let refused = measured(&[("aes256-ccm8", "rustcrypto", "encrypt"), ("aes128-cbc", "rustcrypto", "seal")]);
    let errors = errors(&refused);
    assert!(errors[0].contains("seal, open or open_forged") && errors[1].contains("encrypt or decrypt"), "{errors:?}");
}

#[test]
#[cfg(target_os = "linux")]
fn the_row_of_a_library_names_the_file_that_was_mapped_and_its_hash() {
    if !opens().status.success() {
        return tools::missing(&String::from_utf8_lossy(&opens().stderr));
    }
    let row = &catalogue("aes128-cbc", "openssl")[0];
    let file = row["file"].as_str().unwrap();
    assert!(file.contains("libcrypto"), "{file}");
    let hash = HEXLOWER.encode(&Sha256::digest(std::fs::read(file).unwrap()));
    assert_eq!(row["file_sha256"], hash.as_str());
}

#[test]
fn the_copy_of_openssl_without_its_aes_instructions_stands_beside_openssl_with_them() {
    let output = opens_one("openssl-tables");
    if !output.status.success() {
        return tools::missing(&String::from_utf8_lossy(&output.stderr));
    }
    let cases = ["openssl", "openssl-tables"].map(|provider| ("aes128-cbc", provider, "encrypt"));
    let records = measured(&cases);
    assert_eq!(errors(&records), [""; 0]);
    let case = |number: usize| &records[0]["cases"][number];
    assert_eq!([&case(1)["path"], &case(1)["of"]], ["tables", "default"]);
    assert_eq!(case(0)["path"] == "tables", !has_aes());
    let rows = [catalogue("aes128-cbc", "openssl"), catalogue("aes128-cbc", "openssl-tables")];
    assert_eq!(rows[0][0]["file_sha256"], rows[1][0]["file_sha256"]);
    let other = &catalogue("des-cbc", "openssl-tables")[0];
    assert!(other["reason"].as_str().unwrap().contains("AES only"), "{other}");
}

/// Whether this processor has AES instructions or byte shuffles.
fn has_aes() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("aes") || is_x86_feature_detected!("ssse3");
    #[cfg(not(target_arch = "x86_64"))]
    return true;
}
