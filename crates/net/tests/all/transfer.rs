//! The pair of verbs from outside: over loopback, and between two machines as far as network namespaces make two of one.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use wattlock_test_tools as tools;

const PROBE: &str = env!("CARGO_BIN_EXE_wattlock-net");

/// An empty folder of the test's own.
fn place(name: &str) -> PathBuf {
    let path = tools::own(name);
    std::fs::create_dir(&path).unwrap();
    path
}

/// A receiver under way: the child, its address and its token.
fn receive(mut command: Command, arguments: &[&str]) -> (Child, String, String) {
    command.args(["transfer", "receive", "--max-time", "60", "--timeout", "10"]).args(arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr_lines = BufReader::new(child.stderr.as_mut().unwrap()).lines();
    let mut after = |word: &str| stderr_lines.next().unwrap().unwrap().strip_prefix(word).unwrap().to_owned();
    let (address, token) = (after("listening on "), after("token: "));
    (child, address, token)
}

fn send(mut command: Command, token: &str, arguments: &[&str]) -> Output {
    command.args(["transfer", "send", "--timeout", "10"]).args(arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The program may refuse before it reads.
    let _ = writeln!(child.stdin.take().unwrap(), "{token}");
    child.wait_with_output().unwrap()
}

fn records(output: &[u8]) -> Vec<Value> {
    String::from_utf8_lossy(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn file(folder: &Path, name: &str, content: &[u8]) -> String {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn two_programs_carry_a_file_and_a_file_holds_the_token_for_its_owner() {
    let place = place("pair");
    let (from, into, secret) = (file(&place, "file", &[7; 5000]), place.join("there"), place.join("token"));
    let arguments = ["--into", into.to_str().unwrap(), "--token-file", secret.to_str().unwrap()];
    let (child, address, token_line) = receive(Command::new(PROBE), &arguments);
    assert_eq!(token_line, format!("in {}", secret.display()));
    #[cfg(unix)]
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&secret).unwrap().permissions()) & 0o777,
        0o600
    );
    let token = std::fs::read_to_string(&secret).unwrap();
    let sent = send(Command::new(PROBE), token.trim(), &[&from, "--to", &address, "--cipher", "chacha20-poly1305"]);
    let came = child.wait_with_output().unwrap();
    assert!(sent.status.success() && came.status.success(), "{sent:?} {came:?}");
    assert_eq!(std::fs::read(into.join("file")).unwrap(), [7; 5000]);
    let (sent, came) = (records(&sent.stdout), records(&came.stdout));
    assert_eq!((sent.len(), &sent[1]), (2, &came[0]));
    assert_eq!(sent[0]["encoded_B"], 5016);
}

#[test]
fn a_refusal_is_a_record_an_error_and_exit_code_4_on_both_sides() {
    let place = place("refused");
    let from = file(&place, "file", &[7; 5000]);
    let into = place.join("there");
    let (child, address, token) =
        receive(Command::new(PROBE), &["--into", into.to_str().unwrap(), "--max-size", "4999"]);
    let sent = send(Command::new(PROBE), &token, &[&from, "--to", &address, "--cipher", "null"]);
    let came = child.wait_with_output().unwrap();
    for (output, by_peer) in [(&sent, true), (&came, false)] {
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{words}");
        assert!(words.contains("error: ") && words.contains("hint: `receive --max-size"), "{words}");
        let records = records(&output.stdout);
        assert_eq!((&records[0]["kind"], &records[0]["reason"]), (&"failure".into(), &"too_large".into()));
        assert_eq!((&records[0]["file"], &records[0]["by_peer"]), (&0.into(), &by_peer.into()));
    }
    assert_eq!(std::fs::read_dir(into).unwrap().count(), 0);
}

#[test]
fn what_can_not_be_sent_is_refused_before_anybody_is_called() {
    let place = place("local");
    let from = file(&place, "file", b"x");
    let folder = place.to_str().unwrap();
    let hidden = file(&place, ".hidden", b"x");
    for (arguments, code, word) in [
        ([&*from, "--to", "127.0.0.1:1", "--cipher", "null"], 12, "refused"),
        ([&*from, "--to", "nowhere", "--cipher", "null"], 12, "nowhere"),
        ([&*from, "--to", "127.0.0.1:1", "--cipher", "aes128cbc"], 3, "did you mean \"aes128-cbc\"?"),
        ([folder, "--to", "127.0.0.1:1", "--cipher", "null"], 10, "no file"),
        ([&*hidden, "--to", "127.0.0.1:1", "--cipher", "null"], 4, "begins with a dot"),
    ] {
        let output = send(Command::new(PROBE), &"0".repeat(32), &arguments);
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(code) && words.contains(word), "{arguments:?}: {words}");
        assert!(words.contains("hint: "), "{words}");
    }
    let output = send(Command::new(PROBE), "secret", &[&from, "--to", "127.0.0.1:1", "--cipher", "null"]);
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(10) && !words.contains("secret"), "{words}");
}

/// Two network namespaces with a cable between them; gone when dropped.
#[cfg(target_os = "linux")]
struct Net(String);

#[cfg(target_os = "linux")]
impl Net {
    /// `None`, with words, where this user may not make them.
    fn lay(name: &str) -> Option<Self> {
        let net = Self(format!("wl{}{name}", std::process::id()));
        let (one, two) = (net.name(1), net.name(2));
        let steps = [
            format!("netns add {one}"),
            format!("netns add {two}"),
            format!("link add e1 netns {one} type veth peer name e2 netns {two}"),
            format!("-n {one} addr add 10.213.7.1/24 dev e1"),
            format!("-n {two} addr add 10.213.7.2/24 dev e2"),
            format!("-n {one} link set e1 up"),
            format!("-n {two} link set e2 up"),
        ];
        for step in steps {
            let done = Command::new("ip").args(step.split(' ')).output();
            if !done.as_ref().is_ok_and(|output| output.status.success()) {
                tools::missing(&format!("what `ip {step}` needs (iproute2 and root)"));
                return None;
            }
        }
        Some(net)
    }

    fn name(&self, side: u8) -> String {
        format!("{}-{side}", self.0)
    }

    fn probe(&self, side: u8) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.name(side), PROBE]);
        command
    }
}

#[cfg(target_os = "linux")]
impl Drop for Net {
    fn drop(&mut self) {
        for side in [1, 2] {
            let _ = Command::new("ip").args(["netns", "del", &self.name(side)]).output();
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_crosses_from_one_network_namespace_to_another() {
    let Some(net) = Net::lay("a") else { return };
    let place = place("namespaces");
    let content: Vec<u8> = (0..=255).cycle().take(300_000).collect();
    let from = file(&place, "file", &content);
    for (transport, into) in [(None, place.join("tcp")), (Some("--udp"), place.join("udp"))] {
        let (child, address, token) =
            receive(net.probe(1), &["--bind", "10.213.7.1:0", "--into", into.to_str().unwrap()]);
        let mut arguments = vec![&*from, "--to", &address, "--cipher", "aes256-cbc", "--encoding", "hex"];
        arguments.extend(transport);
        let sent = send(net.probe(2), &token, &arguments);
        let came = child.wait_with_output().unwrap();
        assert!(sent.status.success() && came.status.success(), "{sent:?} {came:?}");
        assert_eq!(std::fs::read(into.join("file")).unwrap(), content);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_narrow_link_that_drops_datagrams_still_brings_the_file_whole_and_the_loss_is_counted() {
    let Some(net) = Net::lay("b") else { return };
    // A queue of ten frames before a link of 20 Mb/s: a window of 64 datagrams does not fit.
    let narrow = ["-n", &net.name(2), "qdisc", "add", "dev", "e2", "root", "tbf"];
    let narrow = Command::new("tc").args(narrow).args("rate 20mbit burst 3000 limit 15000".split(' ')).output();
    if !narrow.as_ref().is_ok_and(|output| output.status.success()) {
        tools::missing("the token bucket of tc (iproute2 and the kernel's sch_tbf)");
        return;
    }
    let place = place("narrow");
    let content: Vec<u8> = (0..=255).cycle().take(200_000).collect();
    let (from, into) = (file(&place, "file", &content), place.join("there"));
    let (child, address, token) = receive(net.probe(1), &["--bind", "10.213.7.1:0", "--into", into.to_str().unwrap()]);
    let sent = send(net.probe(2), &token, &[&from, "--to", &address, "--cipher", "rc4-128", "--udp"]);
    let came = child.wait_with_output().unwrap();
    assert!(sent.status.success() && came.status.success(), "{sent:?} {came:?}");
    assert_eq!(std::fs::read(into.join("file")).unwrap(), content);
    let records = records(&sent.stdout);
    let of = |side: usize, key: &str| records[side]["datagrams"][key].as_u64().unwrap();
    assert_eq!(of(0, "needed"), 139);
    assert!(of(0, "lost") > 0, "{records:?}");
    assert_eq!(of(0, "handled"), of(0, "needed") + of(0, "lost"));
    assert_eq!((of(0, "lost"), of(1, "needed")), (of(1, "lost"), 139));
    assert_eq!(of(1, "handled"), of(1, "needed") + of(1, "duplicates"));
}
