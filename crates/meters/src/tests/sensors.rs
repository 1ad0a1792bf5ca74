//! Sensors of power, sampled or with a counter of their own.

use super::*;

fn take(samples: &mut Samples, gauge: &mut dyn Gauge, time: &MadeUpTime) {
    let (at, power_nW) = sample(gauge, time);
    samples.push(at, power_nW);
}

#[test]
fn a_sampled_sensor_tells_the_truth_by_trapezoids() {
    let root = tree("ina", &[("class/hwmon/hwmon3/name", "ina3221")]);
    let time = MadeUpTime::default();
    let at = |file: &str| root.join("class/hwmon/hwmon3").join(file);
    let (mut gauge, mut samples) = (VoltageCurrent(at("in1_input"), at("curr1_input")), Samples::default());
    for _ in 0..=1000 {
        put(&root, "class/hwmon/hwmon3/in1_input", "5000");
        put(&root, "class/hwmon/hwmon3/curr1_input", &format!("{}", power_W(time.now()) / 5.0 * 1000.0));
        take(&mut samples, &mut gauge, &time);
        time.now.fetch_add(1_000_000, Ordering::Relaxed);
    }
    let measured = samples.reading(0).unwrap().counter as f64;
    assert!((measured - energy_J(1_000_000_000) * 1e9).abs() < 5e6, "{measured} nJ");
    let described = hwmon::found(&root);
    assert_eq!(described[0].record.name, "hwmon:ina3221/curr1");
    put(&root, "class/hwmon/hwmon3/curr1_input", "");
    take(&mut samples, &mut gauge, &time);
    assert_eq!(samples.reading(0).unwrap_err().cause, MeterError::Unreadable);
}

#[test]
fn a_sensor_of_power_is_read_in_microwatts_of_either_sign() {
    let root = tree("power", &[("class/hwmon/hwmon3/name", "ina226"), ("class/hwmon/hwmon3/power1_input", "2500000")]);
    let mut gauge = hwmon::Power(root.join("class/hwmon/hwmon3/power1_input"));
    assert_eq!(gauge.power_nW(), Ok(2_500_000_000));
    put(&root, "class/hwmon/hwmon3/power1_input", "-40000");
    assert_eq!(gauge.power_nW(), Ok(40_000_000));
}

/// A meter that takes its time.
struct Slow(std::time::Duration);

impl Meter for Slow {
    fn description(&self) -> wattlock_engine::MeterDescription {
        wattlock_engine::MeterDescription { range: None, update_period: 1, round_trip: 1, patience: 1 }
    }
    fn read(&mut self) -> Result<wattlock_engine::Reading, MeterError> {
        std::thread::sleep(self.0);
        Ok(wattlock_engine::Reading { counter: 0, before: 0, after: 0, suspended: 0 })
    }
}

#[test]
fn what_a_read_costs_is_the_time_that_it_takes() {
    let cost_ns = read_cost(&mut Slow(std::time::Duration::from_millis(1))).unwrap();
    assert!((1_000_000..1_000_000_000).contains(&cost_ns), "{cost_ns}");
}

#[test]
fn a_sensor_with_an_energy_counter_is_read_as_one() {
    let root = tree(
        "energy",
        &[
            ("class/hwmon/hwmon0/name", "amd_energy"),
            ("class/hwmon/hwmon0/energy1_input", "5"),
            ("class/hwmon/hwmon0/energy1_label", "Esocket0"),
        ],
    );
    let mut opened = hwmon::open(&root, "amd_energy/Esocket0", MadeUpTime::default()).unwrap();
    assert_eq!(opened.meter.read().unwrap().counter, 5000);
}
