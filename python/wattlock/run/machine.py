"""Which machine a run is of: by its fingerprint, never by a name."""

from collections.abc import Mapping
from typing import Any

OF_A_MACHINE = ("vendor", "model_name", "family", "model", "stepping", "processors")
"""What of the hardware's fingerprint makes a machine another one; its microcode, say, does not."""


def machine(header: Mapping[str, Any]) -> dict[str, Any]:
    """What runs of one machine have in common, by the header of one: hardware, instruction set, virtual machine."""
    fingerprint: Mapping[str, Any] = header["fingerprint"]
    hardware, virtual = fingerprint["hardware"], fingerprint["virtualisation"]
    return {
        "hardware": {name: hardware.get(name) for name in OF_A_MACHINE},
        "isa": fingerprint["build"]["isa"],
        "virtual": [virtual.get("hypervisor"), virtual.get("product"), virtual.get("emulator")],
    }
