//! `wattlock-net air` from outside.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

const PROBE: &str = env!("CARGO_BIN_EXE_wattlock-net");

fn air(input: &str) -> Output {
    let mut command = Command::new(PROBE);
    command.arg("air").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn lines(output: &Output) -> Vec<Value> {
    String::from_utf8_lossy(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn result(scenario: &Value) -> Value {
    let output = air(&scenario.to_string());
    let line = lines(&output).remove(0);
    assert_eq!(line["kind"], "result", "{line}");
    line
}

/// What is said of a scenario that can't be: key, message, hint.
fn refusal(scenario: &Value) -> (String, String, String) {
    let output = air(&scenario.to_string());
    let line = lines(&output).remove(0);
    assert_eq!((line["kind"].as_str(), output.status.code()), (Some("failure"), Some(3)), "{line}");
    let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
    (text("key"), text("message"), text("hint"))
}

fn seconds(result: &Value) -> f64 {
    result["duration_ns"].as_f64().unwrap() / 1e9
}

#[test]
fn a_line_that_does_not_end_is_refused_in_bounded_memory_and_the_answers_before_it_stay() {
    let mut command = Command::new(PROBE);
    command.arg("air").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"{\"phy\":\"b\",\"datagrams\":1}\n").unwrap();
    // It reads no more than it has room for: the pipe breaks.
    let is_over = (0..1024).any(|_| input.write_all(&[b' '; 1 << 16]).is_err());
    drop(input);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(is_over, "64 MiB of one line were read");
    assert_eq!((output.status.code(), lines(&output).len()), (Some(4), 1), "{said}");
    assert!(said.starts_with("error: line 2: has more than 1048576 bytes") && said.contains("\nhint: "), "{said}");
    assert_eq!(said.lines().count(), 2);
}

#[test]
fn a_bad_line_is_told_with_its_number_its_key_and_the_right_values_and_the_rest_goes_on() {
    let text = concat!(
        r#"{"phy":"g","datagrams":100}"#,
        "\n\n",
        r#"{"phy":"g","rate_Mb_s":7,"datagrams":100}"#,
        "\n",
        r#"{"phy":"b","datagrams":100,"id":"last"}"#,
        "\n"
    );
    let output = air(text);
    let answers = lines(&output);
    let kinds: Vec<_> =
        answers.iter().map(|line| (line["kind"].as_str().unwrap(), line["line"].as_u64().unwrap())).collect();
    assert_eq!(kinds, [("result", 1), ("failure", 3), ("result", 4)]);
    assert_eq!(answers[1]["key"], "rate_Mb_s");
    assert!(answers[1]["hint"].as_str().unwrap().contains("48, 54"));
    assert_eq!(answers[2]["id"], "last");
    assert_eq!(output.status.code(), Some(3));
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(words.starts_with("error: line 3: rate_Mb_s: 7 Mb/s"), "{words}");
    assert!(words.contains("\nhint: 1, 2, 5.5"), "{words}");
}

#[test]
fn networks_in_2_4_ghz_have_the_basic_rates_of_b_and_g_whatever_their_generation() {
    let basic = |scenario: &Value| result(scenario)["resolved"]["basic_rates_Mb_s"].clone();
    for phy in ["g", "n", "ax"] {
        let rates = basic(&json!({"phy": phy, "topology": "to-ap", "datagrams": 1}));
        assert_eq!(rates, json!([1.0, 2.0, 5.5, 11.0, 6.0, 12.0, 24.0]), "{phy}");
    }
    for (phy, band) in [("a", "5"), ("n", "5"), ("ac", "5"), ("ax", "5")] {
        let rates = basic(&json!({"phy": phy, "band": band, "topology": "to-ap", "datagrams": 1}));
        assert_eq!(rates, json!([6.0, 12.0, 24.0]), "{phy} in {band} GHz");
    }
    // A beacon of 78 octets goes at the lowest: 192 us and 624 us at 1 Mb/s, 20 us and 27 symbols at 6 Mb/s.
    let beacon_us = |band: &str| {
        let answer = result(&json!({"phy": "n", "band": band, "topology": "to-ap", "duration_s": 1}));
        answer["beacon_ns"].as_u64().unwrap() / answer["beacons"].as_u64().unwrap() / 1_000
    };
    assert_eq!((beacon_us("2.4"), beacon_us("5")), (816, 128));
}

#[test]
fn minstrel_tries_a_frame_as_often_as_its_chain_says_unless_a_limit_is_given() {
    // Nothing gets through: one or two tries in each of three places, and seven more at the lowest rate.
    let scenario = |limit: Option<u32>| {
        let mut scenario = json!({"phy": "b", "datagrams": 400, "rssi_dBm": -150, "rate_control": "minstrel"});
        if let Some(limit) = limit {
            scenario["retry_limit"] = json!(limit);
        }
        result(&scenario)
    };
    let tries = |answer: &Value| answer["frames"].as_f64().unwrap() / answer["drops"].as_f64().unwrap();
    let of_chain = tries(&scenario(None));
    assert!((10.0..=13.0).contains(&of_chain), "{of_chain}");
    assert!((tries(&scenario(Some(3))) - 3.0).abs() < 1e-9);
}

#[test]
fn impossible_scenarios_name_the_key_that_makes_them_so() {
    let wrong = [
        (json!({"datagrams": 1}), "phy"),
        (json!({"phy": "q", "datagrams": 1}), "phy"),
        (json!({"phy": "g"}), "datagrams"),
        (json!({"phy": "g", "datagrams": 0}), "datagrams"),
        (json!({"phy": "g", "datagrams": -1}), "datagrams"),
        (json!({"phy": "g", "duration_s": 1e300}), "duration_s"),
        (json!({"phy": "a", "datagrams": 1, "band": "2.4"}), "band"),
        (json!({"phy": "b", "datagrams": 1, "rate_Mb_s": 54}), "rate_Mb_s"),
        (json!({"phy": "n", "datagrams": 1, "rate_Mb_s": 54}), "rate_Mb_s"),
        (json!({"phy": "g", "datagrams": 1, "mcs": 7}), "mcs"),
        (json!({"phy": "n", "datagrams": 1, "mcs": 8}), "mcs"),
        (json!({"phy": "ac", "datagrams": 1, "mcs": 9}), "mcs"),
        (json!({"phy": "n", "datagrams": 1, "streams": 5}), "streams"),
        (json!({"phy": "n", "datagrams": 1, "channel_MHz": 80}), "channel_MHz"),
        (json!({"phy": "ax", "datagrams": 1, "gi_ns": 400}), "gi_ns"),
        (json!({"phy": "g", "datagrams": 1, "payload_B": 2277}), "payload_B"),
        (json!({"phy": "g", "datagrams": 1, "payload_B": 0}), "payload_B"),
        (json!({"phy": "b", "datagrams": 1, "slot_us": 9}), "slot_us"),
        (json!({"phy": "b", "datagrams": 1, "basic_rates_Mb_s": [6]}), "basic_rates_Mb_s"),
        (json!({"phy": "g", "datagrams": 1, "basic_rates_Mb_s": []}), "basic_rates_Mb_s"),
        (json!({"phy": "g", "datagrams": 1, "stations": 0}), "stations"),
        (json!({"phy": "g", "datagrams": 1, "stations": 5000}), "stations"),
        (json!({"phy": "n", "datagrams": 1, "protection": "wep"}), "protection"),
        (json!({"phy": "g", "datagrams": 1, "ampdu_B": 1000}), "ampdu_B"),
        (json!({"phy": "g", "datagrams": 1, "rssi_dBm": -60, "distance_m": 3}), "rssi_dBm"),
        (json!({"phy": "g", "datagrams": 1, "distance_m": [1, 2, 3]}), "distance_m"),
        (json!({"phy": "g", "datagrams": 1, "walls_dB": 10}), "walls_dB"),
        (json!({"phy": "g", "datagrams": 1, "capture_dB": 10}), "capture_dB"),
        (json!({"phy": "g", "datagrams": 1, "power_save": true}), "power_save"),
        (json!({"phy": "g", "datagrams": 1, "retry_limit": 0}), "retry_limit"),
        (json!({"phy": "g", "datagrams": 1, "fragment_B": 100}), "fragment_B"),
        (json!({"phy": "g", "datagrams": 1, "queue_packets": 0}), "queue_packets"),
        (json!({"phy": "g", "datagrams": 1, "transport": "tcp", "tcp_window_B": 100}), "tcp_window_B"),
        (json!({"phy": "g", "datagrams": 1, "stations": 2, "engine": "closed-form"}), "stations"),
        (json!({"phy": "g", "datagrams": 1, "topology": "bss", "engine": "bianchi"}), "topology"),
        (json!({"phy": "n", "datagrams": 1, "engine": "closed-form"}), "ampdu_B"),
        (json!({"phy": "g", "datagrams": 1, "speed": 1}), "speed"),
    ];
    for (scenario, key) in wrong {
        let (named, message, _) = refusal(&scenario);
        assert_eq!(named, key, "{scenario}: {message}");
        assert!(!message.is_empty(), "{scenario}");
    }
    let output = air("{\"phy\":\n");
    assert_eq!(lines(&output)[0]["key"], "");
}

#[test]
fn a_key_that_is_there_twice_is_refused_with_its_line() {
    let output = air("{\"phy\":\"g\",\"datagrams\":1}\n{\"phy\":\"g\",\"datagrams\":1,\"seed\":1,\"seed\":2}\n");
    let answers = lines(&output);
    assert_eq!((&answers[0]["kind"], &answers[1]["kind"]), (&json!("result"), &json!("failure")));
    assert_eq!(output.status.code(), Some(3));
    let words = String::from_utf8(output.stderr).unwrap();
    assert_eq!(words, "error: line 2: seed: is there twice: 1 and 2\nhint: each key once\n");
}

#[test]
fn a_number_out_of_its_range_is_told_short_and_with_the_range() {
    for (scenario, message, hint) in [
        (json!({"phy": "g", "datagrams": 1, "distance_m": -5}), "-5 is not from 0 to 100000", "0 to 100000"),
        (json!({"phy": "g", "datagrams": 1, "distance_m": 1e308}), "1e308 is not from 0 to 100000", "0 to 100000"),
        (json!({"phy": "g", "duration_s": 1e300}), "1e300 is not from 1e-6 to 31557600", "1e-6 to 31557600"),
        (json!({"phy": "g", "datagrams": 1, "rate_Mb_s": 1e99}), "1e99 Mb/s is not of this PHY", "1, 2, 5.5"),
    ] {
        let (_, found, right) = refusal(&scenario);
        assert_eq!(found, message);
        assert!(right.starts_with(hint), "{right}");
    }
}

#[test]
fn a_folder_is_no_file_of_scenarios() {
    let output = Command::new(env!("CARGO_BIN_EXE_wattlock-net")).args(["air", env!("CARGO_MANIFEST_DIR")]).output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(4));
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(words.contains(": is a folder\nhint: a file of scenarios"), "{words}");
}

#[test]
fn a_value_of_the_wrong_kind_is_told_with_what_is_right() {
    for (scenario, key, words) in [
        (json!({"phy": "g", "datagrams": 1, "slot_us": 1_000_000_000_000_u64}), "slot_us", ["1000000000000", "65535"]),
        (json!({"phy": "g", "datagrams": 1, "mcs": 300}), "mcs", ["300", "255"]),
        (json!({"phy": "g", "datagrams": 1, "stations": -3}), "stations", ["-3", "4294967295"]),
        (json!({"phy": "g", "datagrams": 1e6}), "datagrams", ["1000000.0", "in digits alone"]),
        (json!({"phy": "g", "datagrams": 1, "payload_B": 100_000_000}), "payload_B", ["100000000", "1 to 2268"]),
        (
            json!({"phy": "g", "datagrams": 1, "payload_B": 10_000_000_000_u64}),
            "payload_B",
            ["10000000000", "4294967295"],
        ),
        (json!({"phy": "g", "datagrams": 1, "rts": 1}), "rts", ["1", "true or false"]),
        (json!({"phy": "g", "datagrams": 1, "rssi_dBm": "x"}), "rssi_dBm", ["\"x\"", "a list of numbers"]),
        (json!({"phy": "g", "datagrams": 1, "basic_rates_Mb_s": 6}), "basic_rates_Mb_s", ["6", "a list of numbers"]),
        (json!({"phy": "g", "datagrams": 1, "walls_dB": []}), "walls_dB", ["[]", "a number"]),
        (json!({"phy": "g", "datagrams": 5_000_000_000_u64}), "datagrams", ["5000000000", "4294967295"]),
    ] {
        let (named, message, hint) = refusal(&scenario);
        assert_eq!(named, key, "{message}");
        assert!(message.contains(words[0]), "{message}");
        assert!(format!("{message} {hint}").contains(words[1]), "{message}: {hint}");
        assert!(!message.contains("expected") && !message.contains("u16"), "{message}");
    }
}

#[test]
fn work_for_hours_is_refused_before_it_begins_with_what_would_be_right() {
    let much = [
        (json!({"phy": "g", "datagrams": 4_000_000_000_u64}), "datagrams", "closed-form"),
        (json!({"phy": "g", "datagrams": 4_000_000_000_u64, "duration_s": 30_000_000}), "datagrams", "duration_s"),
        (json!({"phy": "g", "duration_s": 31_000_000}), "duration_s", "closed-form"),
        (json!({"phy": "n", "duration_s": 31_000_000}), "duration_s", "at most"),
        (
            json!({"phy": "g", "duration_s": 31_000_000, "datagrams": 4_294_967_295_u64, "stations": 20}),
            "datagrams",
            "bianchi",
        ),
        (
            json!({"phy": "g", "topology": "bss", "transport": "tcp", "datagrams": 2_000_000_000}),
            "datagrams",
            "at most",
        ),
        (json!({"phy": "b", "stations": 2007, "datagrams": 10_000}), "datagrams", "bianchi"),
        (json!({"phy": "b", "datagrams": 700_000_000, "rssi_dBm": -150}), "datagrams", "closed-form"),
        // Hardly a datagram, but beacons of months; datagrams that are ages apart.
        (
            json!({"phy": "g", "topology": "to-ap", "stations": 500, "interval_us": 1_000_000_000, "duration_s": 1e7,
            "beacon_interval_us": 10_000}),
            "duration_s",
            "at most",
        ),
        (json!({"phy": "g", "datagrams": 1_000_000, "interval_us": 86_400_000_000_u64}), "interval_us", "duration_s"),
    ];
    for (scenario, key, hint) in much {
        let (named, message, hints) = refusal(&scenario);
        assert_eq!(named, key, "{scenario}: {message}");
        assert!(hints.contains(hint), "{message}: {hints}");
    }
    // The means take no longer for more.
    let mut means = json!({"phy": "g", "datagrams": 4_000_000_000_u64, "engine": "closed-form"});
    assert_eq!(result(&means)["delivered"], 4_000_000_000_u64);
    means["engine"] = json!("bianchi");
    assert!(result(&means)["duration_ns"].as_u64().unwrap() > 1_000_000_000_000);
    // A month of a sensor is little.
    let sensor = json!({"phy": "g", "topology": "to-ap", "interval_us": 60_000_000, "power_save": true, "duration_s": 2_592_000,
        "beacon_interval_us": 0});
    assert!(result(&sensor)["delivered"].as_u64().unwrap() > 43_000);
}

#[test]
fn the_states_of_every_node_add_up_in_every_engine() {
    for engine in ["dcf", "closed-form", "bianchi"] {
        for topology in ["adhoc", "to-ap"] {
            let scenario =
                json!({"phy": "g", "datagrams": 2000, "engine": engine, "topology": topology, "rssi_dBm": -71.5});
            let result = result(&scenario);
            for node in result["nodes"].as_array().unwrap() {
                let states = ["tx_ns", "rx_ns", "cca_ns", "idle_ns", "sleep_ns"];
                let sum: u64 = states.iter().map(|state| node[state].as_u64().unwrap()).sum();
                assert_eq!(sum, result["duration_ns"].as_u64().unwrap(), "{engine} {topology}: {node}");
            }
        }
    }
}

/// Sum of a key over legs.
fn over_legs(result: &Value, key: &str) -> u64 {
    result["legs"].as_array().unwrap().iter().map(|leg| leg[key].as_u64().unwrap()).sum()
}

#[test]
fn what_hops_beacons_and_collisions_take_leaves_the_idle_time_of_every_node() {
    let scenarios = [
        json!({"phy": "b", "datagrams": 500}),
        json!({"phy": "b", "datagrams": 500, "rts": true, "stations": 4}),
        json!({"phy": "g", "topology": "bss", "transport": "tcp", "datagrams": 500}),
        json!({"phy": "g", "topology": "bss", "datagrams": 500, "fragment_B": 600, "rssi_dBm": -72}),
        json!({"phy": "n", "topology": "bss", "transport": "tcp", "datagrams": 500, "rssi_dBm": -70}),
        json!({"phy": "b", "topology": "to-ap", "datagrams": 500, "engine": "closed-form", "rssi_dBm": -86}),
        json!({"phy": "a", "datagrams": 500, "engine": "bianchi", "stations": 6}),
    ];
    for scenario in scenarios {
        let answer = result(&scenario);
        let busy: u64 = ["sent_ns", "rts_ns", "response_ns"].iter().map(|key| over_legs(&answer, key)).sum();
        let busy = busy + answer["beacon_ns"].as_u64().unwrap() + answer["collision_ns"].as_u64().unwrap();
        let left = answer["duration_ns"].as_u64().unwrap() - busy;
        for node in answer["nodes"].as_array().unwrap() {
            // Means are rounded to nanoseconds one by one.
            assert!(node["idle_ns"].as_u64().unwrap().abs_diff(left) <= 5, "{scenario}: {node} beside {left}");
        }
        for leg in answer["legs"].as_array().unwrap() {
            let [sent, data, octets] = ["sent_ns", "data_ns", "octets_ns"].map(|key| leg[key].as_u64().unwrap());
            assert!(octets < data && data <= sent, "{scenario}: {leg}");
        }
    }
}

#[test]
fn a_packet_that_arrives_is_data_once_a_hop_and_its_octets_are_those_of_the_frame() {
    let answer = result(&json!({
        "phy": "g", "topology": "bss", "datagrams": 2_000, "rssi_dBm": -72, "fragment_B": 600, "protection": "tkip"
    }));
    let legs = answer["legs"].as_array().unwrap();
    assert_eq!(legs.len(), 2);
    assert!(answer["retries"].as_u64().unwrap() > 0);
    for leg in legs {
        let packets = leg["packets"].as_u64().unwrap();
        assert!(packets >= answer["delivered"].as_u64().unwrap());
        assert_eq!(leg["data_ns"].as_u64(), Some(packets * answer["resolved"]["data_ns"].as_u64().unwrap()));
        let octets = &answer["resolved"]["octets"];
        let [payload, transport, ip, llc] =
            ["payload_B", "transport_B", "ip_B", "llc_B"].map(|key| octets[key].as_u64().unwrap());
        let [msdu, mpdu, mac] =
            ["msdu_protection_B", "mpdu_protection_B", "mac_B"].map(|key| octets[key].as_u64().unwrap());
        assert_eq!([payload, transport, ip, llc, msdu, mpdu, mac], [1472, 8, 20, 8, 8, 12, 28]);
        let fragments = answer["resolved"]["fragments"].as_u64().unwrap();
        let all = payload + transport + ip + llc + msdu + fragments * (mpdu + mac);
        assert_eq!(leg["octets_ns"].as_u64(), Some(packets * (all * 8_000 / 54)));
    }
}

#[test]
fn the_engines_agree_where_all_three_can_answer() {
    for scenario in [
        json!({"phy": "g", "datagrams": 20000}),
        json!({"phy": "b", "datagrams": 20000, "topology": "to-ap"}),
        json!({"phy": "a", "datagrams": 20000, "rssi_dBm": -71.6}),
        json!({"phy": "n", "band": "5", "datagrams": 20000, "ampdu_B": 0}),
    ] {
        let by = |engine: &str| {
            let mut scenario = scenario.clone();
            scenario["engine"] = json!(engine);
            result(&scenario)
        };
        let [dcf, form, chain] = ["dcf", "closed-form", "bianchi"].map(by);
        for mean in [&form, &chain] {
            let ratio = seconds(mean) / seconds(&dcf);
            assert!((ratio - 1.0).abs() < 0.01, "{scenario}: {ratio} of {}", mean["engine"]);
            let frames = mean["frames"].as_f64().unwrap() / dcf["frames"].as_f64().unwrap();
            assert!((frames - 1.0).abs() < 0.01, "{scenario}: {frames} of {}", mean["engine"]);
            for (one, other) in mean["nodes"].as_array().unwrap().iter().zip(dcf["nodes"].as_array().unwrap()) {
                let tx = one["tx_ns"].as_f64().unwrap() / other["tx_ns"].as_f64().unwrap();
                assert!((tx - 1.0).abs() < 0.01, "{scenario}: transmits {tx} of {}", mean["engine"]);
            }
        }
    }
}

#[test]
fn through_an_access_point_it_takes_what_the_papers_found() {
    let time =
        |phy: &str, topology: &str| seconds(&result(&json!({"phy": phy, "topology": topology, "datagrams": 5000})));
    let g = time("g", "bss") / time("g", "adhoc");
    let b = time("b", "bss") / time("b", "adhoc");
    // The ratio of the papers' tables is 1.48 to 1.56; two hops of 802.11b alone take more.
    assert!((1.45..1.65).contains(&g), "{g}");
    assert!((1.85..2.15).contains(&b), "{b}");
}

#[test]
fn distance_and_its_power_are_the_same_signal() {
    let far = result(&json!({"phy": "g", "datagrams": 1000, "distance_m": 30, "walls_dB": 6, "rate_control": "ideal"}));
    let rssi = far["nodes"][1]["rssi_dBm"].as_f64().unwrap();
    let same = result(&json!({"phy": "g", "datagrams": 1000, "rssi_dBm": rssi, "rate_control": "ideal"}));
    // 16.0206 - 40.046 - 30 log10(30) - 6.
    assert!((rssi + 74.34).abs() < 0.01, "{rssi}");
    assert_eq!(far["duration_ns"], same["duration_ns"]);
}

#[test]
fn a_wide_channel_at_2_4_ghz_is_refused_by_its_key_and_taken_without_the_rates_that_it_lacks() {
    for phy in ["n", "ax"] {
        let mut scenario = json!({"phy": phy, "band": "2.4", "channel_MHz": 40, "payload_B": 1000, "datagrams": 10});
        let (key, message, hint) = refusal(&scenario);
        assert_eq!((key.as_str(), message.contains("40 MHz has no 1 Mb/s")), ("channel_MHz", true), "{message}");
        assert!(hint.contains("basic_rates_Mb_s"), "{hint}");
        scenario["basic_rates_Mb_s"] = json!([6, 12, 24]);
        result(&scenario);
    }
}
