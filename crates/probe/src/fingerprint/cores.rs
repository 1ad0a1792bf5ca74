//! The kinds of cores of a machine: big, middle, little.
#![forbid(unsafe_code)]

use wattlock_records::CoreClass;

use super::linux::Files;

/// What tells cores apart. The kind that the system names outweighs the rest, then what it says that they can do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    is_performance: Option<bool>,
    capacity: Option<u32>,
    part: Option<String>,
}

/// The names of so many kinds, the fastest first.
fn names(kinds: usize) -> Vec<String> {
    let middle = |number: usize| if kinds > 3 { format!("middle-{number}") } else { "middle".to_owned() };
    match kinds {
        0 | 1 => Vec::new(),
        _ => ["big".to_owned()].into_iter().chain((1..kinds - 1).map(middle)).chain(["little".to_owned()]).collect(),
    }
}

impl Files {
    /// The kinds of cores among some processors, the fastest first.
    pub(crate) fn core_classes(&self, processors: &[u32]) -> Vec<CoreClass> {
        let mut kinds: Vec<(Kind, Vec<u32>)> = Vec::new();
        for cpu in processors {
            let kind = self.kind_of(*cpu);
            match kinds.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, members)) => members.push(*cpu),
                None => kinds.push((kind, vec![*cpu])),
            }
        }
        kinds.sort_by(|(a, _), (b, _)| b.cmp(a));
        let mut names = names(kinds.len()).into_iter();
        let class = |(kind, processors): (Kind, Vec<u32>)| CoreClass {
            class: names.next(),
            part: kind.part,
            capacity: kind.capacity,
            processors,
        };
        kinds.into_iter().map(class).collect()
    }

    /// The kinds of the processors that may be used, by the names that they have among all on line: what one process
    /// says of the core that it is pinned to.
    pub(crate) fn usable_core_classes(&self, usable: &[u32]) -> Vec<CoreClass> {
        let known = self.online().unwrap_or_else(|| usable.to_vec());
        let mut classes = self.core_classes(&known);
        classes.iter_mut().for_each(|class| class.processors.retain(|cpu| usable.contains(cpu)));
        classes.retain(|class| !class.processors.is_empty());
        classes
    }

    /// The class of one processor among those on line; `None` where all are alike.
    pub(crate) fn core_class(&self, cpu: u32) -> Option<String> {
        let classes = self.core_classes(&self.online()?);
        classes.into_iter().find(|class| class.processors.contains(&cpu))?.class
    }

    fn kind_of(&self, cpu: u32) -> Kind {
        let of = Self::new(self.root(), cpu);
        let cpuinfo = of.cpuinfo();
        let part = cpuinfo.get("CPU implementer").zip(cpuinfo.get("CPU part"));
        Kind {
            is_performance: of.core_type().map(|kind| kind == "performance"),
            capacity: of.core_capacity(),
            part: part.map(|(implementer, part)| format!("{implementer} {part}")),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::tests::Machine;
    use super::*;

    fn classes(machine: &Machine, processors: &[u32]) -> Vec<(Option<String>, Vec<u32>)> {
        let found = Files::new(machine.root(), 0).core_classes(processors);
        found.into_iter().map(|class| (class.class, class.processors)).collect()
    }

    #[test]
    fn a_hybrid_laptop_has_big_and_little_cores() {
        let machine = Machine::new(
            "hybrid",
            &[
                ("sys/devices/cpu_core/cpus", "0-1\n"),
                ("sys/devices/cpu_atom/cpus", "2-3\n"),
                ("sys/devices/system/cpu/online", "0-3\n"),
            ],
        );
        let expected = [(Some("big".to_owned()), vec![0, 1]), (Some("little".to_owned()), vec![2, 3])];
        assert_eq!(classes(&machine, &[0, 1, 2, 3]), expected);
        assert_eq!(Files::new(machine.root(), 3).core_class(3).unwrap(), "little");
        let usable = Files::new(machine.root(), 0).usable_core_classes(&[2, 3]);
        assert_eq!(usable.len(), 1);
        assert_eq!(usable[0].class.as_deref(), Some("little"), "as they are called among all");
        assert_eq!(usable[0].processors, [2, 3]);
    }

    #[test]
    fn a_phone_has_three_kinds_by_what_they_can_do() {
        let capacities: Vec<_> = [250, 250, 700, 1024].into_iter().map(|capacity| format!("{capacity}\n")).collect();
        let paths: Vec<_> = (0..4).map(|cpu| format!("sys/devices/system/cpu/cpu{cpu}/cpu_capacity")).collect();
        let files: Vec<_> = paths.iter().map(String::as_str).zip(capacities.iter().map(String::as_str)).collect();
        let machine = Machine::new("phone", &files);
        let names: Vec<_> = classes(&machine, &[0, 1, 2, 3]).into_iter().map(|(name, _)| name.unwrap()).collect();
        assert_eq!(names, ["big", "middle", "little"]);
        assert_eq!(classes(&machine, &[0, 1]), [(None, vec![0, 1])], "alike among those that may be used");
        assert_eq!(super::names(4), ["big", "middle-1", "middle-2", "little"]);
    }

    #[test]
    fn cores_of_two_parts_differ_where_nothing_else_tells() {
        let line = |cpu: u32, part: &str| format!("processor: {cpu}\nCPU implementer: 0x41\nCPU part: {part}\n\n");
        let machine = Machine::new("parts", &[("proc/cpuinfo", &(line(0, "0xd03") + &line(1, "0xd09")))]);
        assert_eq!(classes(&machine, &[0, 1]).len(), 2);
    }
}
