# Two commands matter: `make run` and `make test`. Each sets up what it needs, once; CONTRIBUTING.md explains the steps.
PYTHON ?= python3
VENV := .venv
PIP := $(VENV)/bin/python -m pip --quiet --disable-pip-version-check
CRATES := $(shell find crates -type f -name '*.rs' -o -type f -name '*.toml' -o -type f -name '*.txt')
NO_STD := -p wattlock-ciphers -p wattlock-frames -p wattlock-engine -p wattlock-air -p wattlock-records -p wattlock-bench
BARE_TARGETS := thumbv6m-none-eabi thumbv7em-none-eabi riscv32imc-unknown-none-elf wasm32-unknown-unknown
# Each family alone, as a firmware takes it.
FAMILIES := $(shell sed -n '/^all = \[/,/^\]/p' crates/ciphers/Cargo.toml | grep -o '"[a-z0-9-]*"' | tr -d '"')
PROTOCOLS := $(filter-out handshake,$(shell sed -n 's/^default = //p' crates/frames/Cargo.toml | grep -o '"[a-z0-9]*"' | tr -d '"'))

# The image for microcontrollers: a target each for Cortex-M0, M3, M4, M33 and RV32; IMAGES="aes rc4" for other families.
FIRMWARE_TARGETS := thumbv6m-none-eabi thumbv7m-none-eabi thumbv7em-none-eabi thumbv8m.main-none-eabi riscv32imc-unknown-none-elf
IMAGES ?= aes-gcm ascon

# Elsewhere the joules stay empty until a card is named.
MACHINE := $(shell uname -m)
ENERGY := $(if $(filter x86_64 amd64,$(MACHINE)),--device x86-server-assumed --allow-assumed)
ENERGY += $(if $(filter aarch64 arm64,$(MACHINE)),--device aarch64-core-assumed --allow-assumed)

# What is pushed to other devices, static and without libraries; PROBES="..." builds some of them.
PROBES ?= x86_64-unknown-linux-musl aarch64-unknown-linux-musl armv7-unknown-linux-gnueabihf riscv64gc-unknown-linux-gnu
PROBES_PROFILE ?= release
PROBES_FOLDER ?= build/probes

# `make test PYTEST="--deselect ... tests/python/lab"`: some of Python's tests.
PYTEST ?=

# What stands apart from the workspace is built beside it all the same.
SHARED := CARGO_TARGET_DIR="$(CURDIR)/target"

# What Rust tests could not test, for want of a program of others: a passing test's own words are not shown.
UNTESTED := target/untested

.NOTPARALLEL:
.PHONY: run test check lint bare firmware page fuzz tally tally-models tally-peers corrupt mutants advisories bench bench-advise bench-air bench-battery bench-calls bench-ciphers bench-conditions bench-frames bench-gate bench-page bench-recordings bench-sweep bench-verbs bench-ways docs lab wheels probes board-plugin adapters changelog setup dev clean help

help: ## list these rules
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' Makefile

run: setup ## set up, then weigh the papers' ciphers on this machine and write the report
	$(VENV)/bin/wattlock run first-look $(ENERGY)
	@echo "The five papers, measured and judged on this machine in about two minutes: $(VENV)/bin/wattlock papers $(ENERGY)"
	@echo "Its first screen, as it came out on another machine: docs/verdicts.png, at the head of README.md"

test: dev ## set up, then run all tests, Rust and Python
	@if [ -d "$$(rustc --print sysroot)/lib/rustlib/$(PAGE_TARGET)" ]; then \
		$(MAKE) --no-print-directory page PAGE_PROFILE=trial PAGE_FOLDER=build/page-trial; \
	else echo "skipped: the Rust target $(PAGE_TARGET) is missing; get it with \`rustup target add $(PAGE_TARGET)\`"; fi
	@failed=; rm -f $(UNTESTED); \
	cargo test --workspace --locked --no-fail-fast || failed="$$failed cargo-test"; \
	$(VENV)/bin/python -m pytest $(PYTEST) || failed="$$failed pytest"; \
	if [ -s $(UNTESTED) ]; then echo "skipped: $$(wc -l < $(UNTESTED)) Rust tests, WATTLOCK_REQUIRE_TOOLS=1 makes them fail:"; \
		sort $(UNTESTED) | sed 's/^/skipped: /'; fi; \
	if [ -n "$$failed" ]; then echo "error: failed:$$failed" >&2; exit 1; fi

check: lint bare ## formatting, lints, types, licences, builds without an operating system

lint: dev
	@cargo fmt --version >/dev/null 2>&1 || { echo "error: rustfmt is missing; get it with \`rustup component add rustfmt\`" >&2; exit 1; }
	@cargo clippy --version >/dev/null 2>&1 || { echo "error: clippy is missing; get it with \`rustup component add clippy\`" >&2; exit 1; }
	cargo fmt --all --check
	rustfmt --edition 2024 --check crates/ciphers/src/families/*.rs crates/providers/src/libraries/*.rs # lists in macros name them
	cargo clippy --workspace --all-targets --locked -- -D warnings
	for apart in fuzz benchmarks/criterion; do (cd $$apart && cargo fmt --check && $(SHARED) cargo clippy --quiet --locked -- -D warnings) || exit 1; done
	cd crates/firmware && cargo fmt --check
	cd benchmarks/criterion && $(SHARED) cargo build --quiet --locked
	cc -Wall -Wextra -Werror -o /dev/null benchmarks/direct_loop.c -ldl
	for api in 1 2; do cc -Wall -Wextra -Werror -DAPI=$$api -fsyntax-only crates/cores/plugin/trace.c || exit 1; done
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/ruff check
	$(VENV)/bin/mypy
	@if cargo deny --version >/dev/null 2>&1; then \
		echo "cargo deny check bans licenses sources"; cargo deny --locked check bans licenses sources && \
		cargo deny --locked --manifest-path crates/firmware/Cargo.toml check -A license-not-encountered bans licenses sources; \
	else echo "skipped: cargo-deny is missing, so licences stay unchecked; get it with \`cargo install --locked cargo-deny\`"; fi

bare:
	@for target in $(BARE_TARGETS); do \
		if [ -d "$$(rustc --print sysroot)/lib/rustlib/$$target" ]; then \
			echo "cargo build $(NO_STD) --target $$target"; cargo build --profile bare --locked $(NO_STD) --target $$target || exit 1; \
		else echo "skipped: the Rust target $$target is missing; get it with \`rustup target add $$target\`"; fi; \
	done
	@if [ -d "$$(rustc --print sysroot)/lib/rustlib/$(firstword $(BARE_TARGETS))" ]; then \
		for family in $(FAMILIES); do \
			echo "cargo check -p wattlock-ciphers --no-default-features --features $$family"; \
			cargo check --quiet --locked -p wattlock-ciphers --no-default-features --features $$family \
				--target $(firstword $(BARE_TARGETS)) || exit 1; \
		done; \
		for protocol in $(PROTOCOLS); do \
			echo "cargo check -p wattlock-frames --no-default-features --features $$protocol"; \
			cargo check --quiet --locked -p wattlock-frames --no-default-features --features $$protocol \
				--target $(firstword $(BARE_TARGETS)) || exit 1; \
		done; \
	fi

PAGE_TARGET := wasm32-unknown-unknown
PAGE_PROFILE ?= release
PAGE_FOLDER ?= build/page

page: ## build the instrument as WebAssembly, which `wattlock page` serves, into build/page
	@[ -d "$$(rustc --print sysroot)/lib/rustlib/$(PAGE_TARGET)" ] || \
		{ echo "error: the Rust target $(PAGE_TARGET) is missing; get it with \`rustup target add $(PAGE_TARGET)\`" >&2; exit 1; }
	cargo build --quiet --profile $(PAGE_PROFILE) --config 'profile.$(PAGE_PROFILE).strip=true' --config "$(WITHOUT_PATHS)" --locked \
		-p wattlock-page --target $(PAGE_TARGET)
	@install -D -m 644 target/$(PAGE_TARGET)/$(PAGE_PROFILE)/wattlock_page.wasm $(PAGE_FOLDER)/instrument.wasm
	@ls -l $(PAGE_FOLDER)/instrument.wasm

lab: dev ## all that `wattlock lab` needs: its packages, and the page that measures a browser where its target is installed
	@if [ -d "$$(rustc --print sysroot)/lib/rustlib/$(PAGE_TARGET)" ]; then $(MAKE) --no-print-directory page; \
	else echo "skipped: the page that measures a browser; \`rustup target add $(PAGE_TARGET)\`, then \`make lab\` builds it"; fi
	@echo "The lab: $(VENV)/bin/wattlock lab --fleet"

firmware: ## lint and build the image for microcontrollers for each core, some families: IMAGES="aes-gcm ascon"
	@for target in $(FIRMWARE_TARGETS); do \
		if [ ! -d "$$(rustc --print sysroot)/lib/rustlib/$$target" ]; then \
			echo "skipped: the Rust target $$target is missing; get it with \`rustup target add $$target\`"; continue; fi; \
		echo "wattlock-firmware for $$target: $(IMAGES)"; \
		(cd crates/firmware && export CARGO_TARGET_DIR=../../target/firmware && \
			cargo clippy --quiet --release --locked --all-features --target $$target -- -D warnings && \
			for family in $(IMAGES); do \
				cargo build --quiet --release --locked --target $$target --features $$family || exit 1; \
			done) || exit 1; \
	done

fuzz: ## fuzz the capture and frame parsers, FUZZ_SECONDS (60) for each
	cd fuzz && $(SHARED) FUZZ_SECONDS=$${FUZZ_SECONDS:-60} cargo run --quiet --release --locked

TALLY := experiments/tally

tally: dev tally-models ## all of the experimental link: lints, tests, models, ten million guesses, fuzzing for FUZZ_SECONDS (60) each
	for apart in . image peers; do (cd $(TALLY)/$$apart && cargo fmt --all --check) || exit 1; done
	cd $(TALLY) && $(SHARED) cargo clippy --quiet --workspace --all-targets --locked -- -D warnings
	cd $(TALLY)/peers && $(SHARED) cargo clippy --quiet --locked -- -D warnings
	cd $(TALLY) && $(SHARED) cargo test --workspace --locked --no-fail-fast
	cd $(TALLY) && $(SHARED) cargo test --release --locked -p wattlock-tally -- --ignored
	@for target in $(BARE_TARGETS); do \
		if [ -d "$$(rustc --print sysroot)/lib/rustlib/$$target" ]; then \
			(cd $(TALLY) && $(SHARED) cargo build --quiet --profile bare --locked -p wattlock-tally --target $$target) || exit 1; \
		else echo "skipped: the Rust target $$target is missing; get it with \`rustup target add $$target\`"; fi; \
	done
	@if cargo deny --version >/dev/null 2>&1; then \
		cargo deny --locked --manifest-path $(TALLY)/Cargo.toml --exclude wattlock-tally-fuzz check -A license-not-encountered bans licenses sources; \
	else echo "skipped: cargo-deny is missing, so licences stay unchecked; get it with \`cargo install --locked cargo-deny\`"; fi
	$(SHARED) $(VENV)/bin/python -m pytest -p no:cacheprovider $(TALLY)/tests
	cd $(TALLY)/fuzz && $(SHARED) FUZZ_SECONDS=$${FUZZ_SECONDS:-60} cargo run --quiet --profile fuzz --locked

tally-models: setup ## check tally's formal models (Spin, Verifpal) and that each catches its broken variants; WORDS="live" for some
	$(VENV)/bin/python $(TALLY)/models/check.py $(WORDS)

tally-peers: setup ## what other people's secure links send, beside the octets by clause, through one lossy proxy; fetches aiocoap
	$(VENV)/bin/python $(TALLY)/peers/compare.py

mutants: dev ## which mutants the tests notice: hours; ROOMS="engine papers" for some rooms, SEED=N for another sample; goes on where it stopped
	@cargo mutants --version >/dev/null 2>&1 || { echo "error: cargo-mutants is missing; get it with \`cargo install --locked cargo-mutants\`" >&2; exit 1; }
	$(PIP) install cosmic-ray==8.7.0
	$(VENV)/bin/python tools/mutants.py $(ROOMS)

corrupt: dev ## change a sealed run at 300 places a file, and try each verb that takes a run
	cd tests/python && ../../$(VENV)/bin/python -m support.corruptions

# Programs for others hold `cargo/...` in place of where their sources lay (setup.py does the same for a wheel's).
WITHOUT_PATHS = target.'cfg(all())'.rustflags=['--cfg', 'aes_force_soft', \
	'--remap-path-prefix=$${CARGO_HOME:-$$HOME/.cargo}=cargo', '--remap-path-prefix=$(CURDIR)=wattlock']

probes: ## build the static probes that are pushed to other devices into build/probes
	@for target in $(PROBES); do \
		[ -d "$$(rustc --print sysroot)/lib/rustlib/$$target" ] || \
			{ echo "error: the Rust target $$target is missing; get it with \`rustup target add $$target\`" >&2; exit 1; }; \
		linker=$$(sed -n "/^\[target\.$$target\]/,/^$$/s/^linker = \"\(.*-gcc\)\"/\1/p" .cargo/config.toml); \
		[ -z "$$linker" ] || command -v $$linker >/dev/null || \
			{ echo "error: $$linker is missing, which links $$target; get it with \`apt-get install gcc-$${linker%-gcc}\`" >&2; exit 1; }; \
	done
	cargo build --profile $(PROBES_PROFILE) --config 'profile.$(PROBES_PROFILE).strip=true' --config "$(WITHOUT_PATHS)" --locked \
		-p wattlock-probe --no-default-features $(addprefix --target ,$(PROBES))
	@for target in $(PROBES); do \
		install -D -m 755 target/$$target/$(PROBES_PROFILE)/wattlock-probe $(PROBES_FOLDER)/$$target/wattlock-probe && \
			ls -l $(PROBES_FOLDER)/$$target/wattlock-probe || exit 1; \
	done

board-plugin: ## build QEMU's plugin that counts on microcontrollers' cores: build/board/trace.so up to QEMU 8.2, trace-v2.so from 9.0 on
	@mkdir -p build/board
	cc -Wall -Wextra -Werror -O2 -shared -fPIC -fvisibility=hidden -o build/board/trace.so crates/cores/plugin/trace.c
	cc -Wall -Wextra -Werror -O2 -shared -fPIC -fvisibility=hidden -DAPI=2 -o build/board/trace-v2.so crates/cores/plugin/trace.c

adapters: setup ## fetch the AES of others that is counted on microcontrollers' cores (GitHub), each file checked by its hash
	$(VENV)/bin/python tools/adapters.py

advisories: ## ask the network for known holes in the Rust dependencies
	cargo deny --locked check advisories

bench-battery: setup ## print how long drawing battery lives takes
	$(VENV)/bin/python benchmarks/battery.py

bench-recordings: setup ## join 500 made-up recordings to made-up runs, and compare with the truth
	$(VENV)/bin/python benchmarks/recordings.py

bench-ciphers: setup ## compare every implementation with the libraries' own benchmarks
	$(VENV)/bin/python benchmarks/ciphers.py

bench-calls: setup ## what the engine adds to a small call, beside bare loops in C over each library
	$(VENV)/bin/python benchmarks/direct.py

bench-conditions: setup ## do printed intervals hold the truth, in six conditions? Some 40 minutes
	$(VENV)/bin/python benchmarks/conditions.py

bench-gate: setup ## does a gate tell two builds of a library apart, in four conditions? Some 30 minutes; goes on where it was
	$(VENV)/bin/python benchmarks/gate.py

bench-air: setup ## hold `wattlock-net air` against ns-3, figures and speed
	$(VENV)/bin/python benchmarks/air.py

bench-advise: setup ## how long advice takes: a million candidates, and the usual answer
	$(VENV)/bin/python benchmarks/advise.py

bench-frames: setup ## count a capture of 1 GB beside tshark, protect frames beside the bare AEAD
	$(VENV)/bin/python benchmarks/frames.py

bench-sweep: setup ## the share of bare wattlock-net's throughput that a sweep keeps; minutes
	$(VENV)/bin/python benchmarks/sweep.py

bench-page: dev page ## do the ratios of ten ciphers in a browser agree over ten loads, idle and beside four busy loops? minutes; LOOPS="0 4" FIREFOX=1
	PYTHONPATH=tests/python $(VENV)/bin/python benchmarks/page.py $(if $(LOOPS),--loops $(LOOPS)) $(if $(FIREFOX),--firefox)

bench-verbs: setup ## how long show, advise, report and compare take, beside the import of Polars; RUN=last OTHER=last
	$(VENV)/bin/python benchmarks/verbs.py $(if $(RUN),--run $(RUN)) $(if $(OTHER),--other $(OTHER))

bench-ways: setup ## what ssh costs and moves, and what a killed client and a cut network lose; PARTS="same cost" for some
	PYTHONPATH=tests/python $(VENV)/bin/python benchmarks/ways.py $(PARTS)

bench: setup ## compare with `openssl speed` and criterion, in shuffled order
	$(VENV)/bin/python benchmarks/against_peers.py

docs: $(VENV)-docs/.locked ## make a site of all pages that works offline: build/docs/site/index.html
	rm -rf build/docs && mkdir -p build/docs/source
	git ls-files -coz --exclude-standard -- '*.md' docs 'LICENSE-*' ':!changelog.d' | tar -cf - --null -T - | tar -xf - -C build/docs/source
	NO_MKDOCS_2_WARNING=1 $(VENV)-docs/bin/mkdocs build --strict --quiet
	@! grep -rlE '<(script|link|img|iframe)[^>]* (src|href)="?(https?:)?//' build/docs/site --include='*.html' || \
		{ echo "error: these pages fetch from the network" >&2; exit 1; }
	@echo "build/docs/site/index.html"

# What a wheel carries for other devices (setup.py names the same).
WHEEL_PROBES := x86_64-unknown-linux-musl aarch64-unknown-linux-musl

# The oldest C library that the programs run with is 2.28 (2018); zig links against it, whatever this machine has.
WHEELS := x86_64-unknown-linux-gnu.2.28 aarch64-unknown-linux-gnu.2.28

wheels: $(VENV)-wheels/.locked ## dist/: the source package, and a wheel for Linux on x86-64 and on ARM64; WHEELS="..." for some
	@.ci/requires "$(PYTHON)"
	@mkdir -p build
	@$(MAKE) --no-print-directory probes PROBES="$(WHEEL_PROBES)"
	@$(MAKE) --no-print-directory page
	$(VENV)-wheels/bin/python -m build --sdist --no-isolation --outdir dist >build/sdist.log 2>&1 || { cat build/sdist.log; exit 1; }
	@for target in $(WHEELS); do \
		[ -d "$$(rustc --print sysroot)/lib/rustlib/$${target%%.*}" ] || \
			{ echo "error: the Rust target $${target%%.*} is missing; get it with \`rustup target add $${target%%.*}\`" >&2; exit 1; }; \
		rm -rf build/lib* build/bdist.* build/scripts-*; \
		echo "building for $$target, some minutes"; \
		PATH="$(CURDIR)/$(VENV)-wheels/bin:$$PATH" CARGO=cargo-zigbuild CARGO_BUILD_TARGET=$$target \
			$(VENV)-wheels/bin/python -m build --wheel --no-isolation --outdir dist >build/wheel.log 2>&1 || \
			{ cat build/wheel.log; exit 1; }; \
	done
	@for wheel in dist/*-manylinux_*.whl; do \
		tag=$${wheel##*-}; tag=$${tag%.whl}; \
		$(VENV)-wheels/bin/auditwheel show $$wheel | tr '\n' ' ' | grep -q "following platform tag: \"$$tag\"" || \
			{ echo "error: auditwheel finds another platform for $$wheel" >&2; exit 1; }; \
		[ "$$($(VENV)-wheels/bin/python -m zipfile -l $$wheel | grep -c '/data/probes/.*/wattlock-probe')" = $(words $(WHEEL_PROBES)) ] || \
			{ echo "error: $$wheel lacks a static probe" >&2; exit 1; }; \
		echo "$$wheel"; \
	done

changelog: dev ## join the fragments of changelog.d/ to CHANGELOG.md: make changelog VERSION=0.1.0
	$(VENV)/bin/towncrier build --yes --version "$(VERSION)"

setup: $(VENV)/.built ## make .venv with both programs
dev: $(VENV)/.tools-locked setup

$(VENV)/.made:
	@.ci/requires "$(PYTHON)"
	"$(PYTHON)" -m venv $(VENV)
	@touch $@

$(VENV)/.locked: requirements.lock | $(VENV)/.made
	$(PIP) install --require-hashes -r requirements.lock
	@touch $@

$(VENV)/.tools-locked: requirements-dev.lock | $(VENV)/.locked
	$(PIP) install --require-hashes -r requirements-dev.lock
	@touch $@

$(VENV)-docs/.locked: requirements-docs.lock
	@.ci/requires "$(PYTHON)"
	"$(PYTHON)" -m venv $(VENV)-docs
	$(VENV)-docs/bin/python -m pip --quiet --disable-pip-version-check install --require-hashes -r requirements-docs.lock
	@touch $@

$(VENV)-wheels/.locked: requirements-wheels.lock
	@.ci/requires "$(PYTHON)"
	"$(PYTHON)" -m venv $(VENV)-wheels
	$(VENV)-wheels/bin/python -m pip --quiet --disable-pip-version-check install --require-hashes -r requirements-wheels.lock
	@touch $@

# Editable: Python is read from the tree, and both programs are built in release into .venv/bin.
$(VENV)/.built: $(VENV)/.locked pyproject.toml Cargo.toml Cargo.lock $(CRATES)
	@.ci/requires "$(PYTHON)"
	@cargo build --quiet --release --locked -p wattlock-probe -p wattlock-net # both at once: on two processors, two links side by side
	$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

clean: ## remove all that was built; runs stay
	rm -rf $(VENV) $(VENV)-docs $(VENV)-wheels dist target fuzz/target benchmarks/criterion/target $(TALLY)/target $(TALLY)/peers/target $(TALLY)/peers/.venv build python/wattlock.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find python tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
