//! What a plan's cases become: pairs, a reference without states, witnesses, first calls after a pause.

use super::*;

#[test]
fn the_reference_and_its_copies_take_narrow_code_where_the_planned_provider_s_is_wide_and_say_so() {
    let several = |number: u32, role: &str, provider: &str| {
        case(number, json!({"cipher": "sum-of-several", "role": role, "provider": provider}))
    };
    let measured_by = |provider: &str| {
        let cases = vec![
            several(0, "reference", provider),
            several(1, "aa_test", provider),
            several(2, "injected_slowdown", provider),
            several(3, "study", provider),
        ];
        let (records, ended) = measured(&Shared::default(), &share(json!({}), cases), usize::MAX);
        ended.unwrap();
        let cases = lines(&records, "header")[0]["cases"].as_array().unwrap().clone();
        let chosen =
            cases.into_iter().map(|case| [&case["provider"], &case["path"]].map(|s| s.as_str().unwrap().to_owned()));
        chosen.collect::<Vec<_>>()
    };
    let both = |provider: &str, path: &str| [provider.to_owned(), path.to_owned()];
    let narrow = || both("narrow", "aesni");
    assert_eq!(measured_by("wide"), [narrow(), narrow(), narrow(), both("wide", "vaes512")]);
    let slow = || both("slow", "tables");
    assert_eq!(measured_by("slow"), [slow(), slow(), slow(), slow()]);
}

#[test]
fn a_case_of_wide_code_and_one_of_unknown_code_have_witnesses_and_a_narrow_one_has_none() {
    let machine = Rc::new(RefCell::new(Machine { has_wide: true, ..Machine::default() }));
    let several = |number, provider: &str| case(number, json!({"cipher": "sum-of-several", "provider": provider}));
    let cases = vec![several(0, "wide"), several(1, "narrow"), several(2, "half-wide"), case(3, json!({}))];
    let (records, ended) = measured(&machine, &share(json!({}), cases), usize::MAX);
    ended.unwrap();
    assert_eq!(lines(&records, "header")[0]["granted_ppm"], json!({"512": 500_000}));
    for batch in lines(&records, "batch") {
        let is_wide = [0, 3].contains(&batch["case"].as_u64().unwrap());
        for name in ["witness_before_ticks", "witness_after_ticks"] {
            assert_eq!(batch.get(name), is_wide.then(|| json!(4_500)).as_ref(), "{batch}");
        }
    }
    let narrow = measured(&machine, &share(json!({}), vec![several(1, "narrow")]), usize::MAX).0;
    assert!(lines(&narrow, "header")[0].get("granted_ppm").is_none());
}

#[test]
fn a_case_after_a_pause_is_one_call_a_batch_after_2_ms_and_has_no_halves() {
    let cases = vec![case(0, json!({"readiness": "after-pause"})), case(1, json!({}))];
    let (records, ended) = measured(&Shared::default(), &share(json!({}), cases), usize::MAX);
    ended.unwrap();
    let header = lines(&records, "header")[0];
    assert_eq!((&header["cases"][0]["calls"], &header["cases"][0]["readiness"]), (&json!(1), &json!("after-pause")));
    assert_eq!(header["cases"][1]["readiness"], "steady");
    let calls: Vec<_> = lines(&records, "batch").into_iter().filter(|batch| batch["case"] == 0).collect();
    assert_eq!(calls.len(), 6);
    assert!(calls.iter().all(|batch| batch["calls"] == 1 && batch["ticks"] == 1000));
    let wall_ns = lines(&records, "end")[0]["wall_ns"].as_u64().unwrap();
    assert!((12_000_000..15_000_000).contains(&wall_ns), "{wall_ns} ns");
}

#[test]
fn cases_that_name_each_other_are_measured_one_just_after_the_other() {
    let machine = Shared::default();
    let pair = |number: u32, other: u32| case(number, json!({"pair": other, "visits": 30}));
    let cases = vec![pair(0, 3), case(1, json!({"visits": 30})), pair(2, 9), pair(3, 0)];
    let (records, ended) = measured(&machine, &share(json!({"rounds": 30}), cases), usize::MAX);
    ended.unwrap();
    let whole = lines(&records, "batch").into_iter().map(|batch| (batch["case"].as_u64().unwrap(), batch));
    let calls = |case: u64| lines(&records, "header")[0]["cases"][usize::try_from(case).unwrap()]["calls"].clone();
    let whole: Vec<u64> = whole.filter(|(case, batch)| batch["calls"] == calls(*case)).map(|(case, _)| case).collect();
    let at: Vec<usize> = (0..whole.len()).filter(|at| [0, 3].contains(&whole[*at])).collect();
    assert_eq!(at.len(), 60);
    assert!(at.chunks(2).all(|two| two[1] == two[0] + 1 && whole[two[0]] != whole[two[1]]), "{whole:?}");
    assert!(lines(&records, "header")[0]["cases"][0].get("pair").is_none(), "only in plans");
}
