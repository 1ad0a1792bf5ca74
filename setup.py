"""What `pyproject.toml` can't say: how a wheel of programs is called, and what is missing to build one."""

import os
import re
import shutil
import tomllib
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.errors import PlatformError

TARGET = re.compile(r"(\w+?)-unknown-linux-gnu\.(\d+)\.(\d+)")
"""A target of cargo-zigbuild: the processor, and the oldest C library that the programs may meet."""
MISSING = """Rust is missing, and wattlock's two programs are built by it.
hint: install Rust {} or newer (https://rustup.rs, or your system's packages) so that `cargo` runs, and install again;
hint: or install a wheel, which has both programs built: there are such for Linux on x86-64 and ARM64."""

PROBES = ("x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl")
"""The static probes that a wheel carries for other devices, where `make probes` built them before it."""


def without_paths() -> str:
    """Give cargo's setting by which a program holds `cargo/...` in place of where its sources lay (the Makefile too).

    `aes_force_soft` is said again: flags of a target hide those of `[build]` in .cargo/config.toml.
    """
    cargo = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    flags = ["--cfg", "aes_force_soft"]
    flags += [f"--remap-path-prefix={place}={name}" for place, name in ((cargo, "cargo"), (Path.cwd(), "wattlock"))]
    return f"target.'cfg(all())'.rustflags={flags}"


class Wheel(bdist_wheel):
    """A wheel without an extension module: any Python 3 will do."""

    def get_tag(self) -> tuple[str, str, str]:
        """Give the tags of Python, ABI and platform: `manylinux` where cargo-zigbuild links for an older C library."""
        target = TARGET.fullmatch(os.environ.get("CARGO_BUILD_TARGET", ""))
        platform = "manylinux_{1}_{2}_{0}".format(*target.groups()) if target else super().get_tag()[2]
        return "py3", "none", platform


class Package(build_py):
    """The Python package, with the static probes and the page's module that were built."""

    def run(self) -> None:
        """Copy the package, and beside its data the module, and each probe with its permission to be started."""
        super().run()
        if self.editable_mode:
            return
        module = Path(os.environ.get("WATTLOCK_PAGE_MODULE", "build/page/instrument.wasm"))
        if module.is_file():
            self.copy_file(str(module), str(Path(self.build_lib, "wattlock", "data", "page", "instrument.wasm")))
        folder = Path(os.environ.get("WATTLOCK_PROBES", "build/probes"))
        for program in (folder / target / "wattlock-probe" for target in PROBES):
            if program.is_file():
                place = Path(self.build_lib, "wattlock", "data", "probes", program.parent.name)
                self.mkpath(str(place))
                self.copy_file(str(program), str(place / program.name))


class Programs(build_ext):
    """The step at which setuptools-rust builds the programs."""

    def run(self) -> None:
        """Say in words that cargo is missing, before a traceback does; build for others without the builder's paths."""
        if shutil.which(os.environ.get("CARGO", "cargo")) is None:
            workspace = tomllib.loads(Path("Cargo.toml").read_text(encoding="utf-8"))["workspace"]
            raise PlatformError(MISSING.format(workspace["package"]["rust-version"]))
        # An editable install takes what `make` compiled, whose flags are those of .cargo/config.toml alone.
        if not (self.inplace or self.editable_mode):
            for program in self.distribution.rust_extensions:
                program.args = [*(program.args or []), "--config", without_paths()]
        super().run()


setup(cmdclass={"bdist_wheel": Wheel, "build_ext": Programs, "build_py": Package})
