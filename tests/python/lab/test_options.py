"""What a job may be asked to measure: as `wattlock run` takes it, refused with its reason, and never a path."""

from pathlib import Path

import pytest

from support import scripted_probe
from support.labs import asking
from support.tree import PROBE
from wattlock.errors import InputError
from wattlock.lab.collection import Collection
from wattlock.lab.fleet.conductor import Drive, Send
from wattlock.lab.fleet.job_options import ALL, JobOptions
from wattlock.lab.fleet.queue import Queue
from wattlock.lab.fleet.worker import TaskOrder, TaskOutput, key_of, refuse_unsigned
from wattlock.targets import named

CARD = "x86-server-assumed"
FORM = {"study": "quick", "targets": ["local"]}


def send_of(lab: Collection) -> Send:
    """A worker in this process."""

    def send(order: TaskOrder, *_given: object) -> TaskOutput:
        refuse_unsigned(key_of(lab.data).public, order)
        written: list[bytes] = []
        device = named.target(order.target)
        code, complaints = device.start(["measure"], order.text, order.limits, written.append, who=order.who)
        return TaskOutput(b"".join(written), code, complaints)

    return send


def carried_out(place: Path, options: JobOptions) -> tuple[Collection, Queue]:
    """A lab after one job."""
    lab = Collection.open(place)
    (place / "fleet").mkdir()
    queue = Queue(lab.engine, backoff_s=0.0)
    queue.enqueue("quick", "local", options)
    job = queue.next_job("local")
    assert job is not None
    Drive(place, lab, queue, key_of(place), send_of(lab), "local").carry_out(job)
    return lab, queue


def test_a_card_values_the_run_and_libraries_narrow_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATTLOCK_PROBE", str(scripted_probe.install(tmp_path / "probe")))
    options = JobOptions(("rc4*",), libraries=("rustcrypto",), card=CARD, allow_assumed=True)
    lab, queue = carried_out(tmp_path / "lab", options)
    (job,) = queue.jobs()
    assert (job.state, job.reason) == ("done", None)
    (run,) = lab.runs()
    assert (run.card, run.energy_evidence) == (CARD, "assumed")
    assert [library.name for library in run.libraries] == ["rustcrypto"]
    rows = asking(lab).get(f"/runs/{run.hash}.json").json()
    assert {row["cipher"] for row in rows} == {"rc4-128"}
    assert all(row["energy_uJ"] > 0 for row in rows)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (JobOptions(card=CARD), "assumed"),
        (JobOptions(meter="powercap:package-99"), "powercap"),
        (JobOptions(libraries=("nothing",)), "provider=nothing"),
    ],
)
def test_what_cannot_be_measured_fails_the_job_with_its_reason_before_a_task_is_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: JobOptions, why: str
) -> None:
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))
    _, queue = carried_out(tmp_path / "lab", options)
    (job,) = queue.jobs()
    assert job.state == "failed"
    assert why in str(job.reason)
    assert queue.tasks() == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"card": "nothing"},
        {"card": "/etc/passwd"},
        {"card": "../x86-server-assumed"},
        {"card": ["x"]},
        {"meter": "a b"},
        {"meter": "/dev/ttyACM0"},
        {"meter": 7},
        {"baseline": "asleep"},
        {"card": CARD, "meter": "powercap:package-0"},
        {"libraries": ["x" * 300]},
        {"libraries": 7},
        {"library": ["rustcrypto"]},
        {"input": "/etc"},
    ],
)
def test_what_can_not_be_asked_for_is_refused_with_a_hint(tmp_path: Path, wrong: dict[str, object]) -> None:
    lab = Collection.open(tmp_path / "lab")
    answer = asking(lab, targets=("local",)).post("/queue", json=FORM | wrong)
    assert (answer.status_code, set(answer.json())) == (400, {"error", "hint"})
    assert Queue(lab.engine).jobs() == []


@pytest.mark.parametrize(
    ("target", "wrong", "why"),
    [
        ("local", {"card": CARD}, "numbers that nobody verified"),
        ("ssh:far", {"card": CARD}, "numbers that nobody verified"),
        ("qemu:cortex-m4", {"card": CARD, "allow_assumed": True}, "the processor is emulated"),
        ("local", {"card": "nrf52840"}, "values cycles of thumbv7em"),
        ("local", {"libraries": ["nothing"]}, "provider=nothing"),
        ("local", {"only": ["nothing*"]}, "nothing*"),
        ("ssh:far", {"study": "page"}, "is of a browser"),
    ],
)
def test_what_is_known_to_fail_is_refused_when_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, wrong: dict[str, object], why: str
) -> None:
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))
    lab = Collection.open(tmp_path / "lab")
    client = asking(lab, targets=(target,))
    answer = client.post("/queue", json={"study": "quick", "targets": [target], **wrong})
    assert (answer.status_code, set(answer.json())) == (422, {"error", "hint"})
    assert why in answer.json()["error"]
    assert answer.json()["hint"]
    assert Queue(lab.engine).jobs() == []
    assert 'value="page"' not in client.get("/queue").text


def test_an_older_job_has_the_options_that_there_were() -> None:
    assert JobOptions.read({"only": ["aes*"], "core_classes": ["big"]}) == JobOptions(("aes*",), ("big",))
    assert str(ALL) == ""
    assert JobOptions(("aes*", "payload_B=64"), libraries=("openssl",)).patterns == [
        "cipher=aes*,provider=openssl",
        "payload_B=64,provider=openssl",
    ]
    with pytest.raises(InputError, match="a run has one of them"):
        JobOptions(card=CARD, meter="powercap:package-0")
