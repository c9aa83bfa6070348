# `make` builds the engine as EXE, as OpenBench expects; `make test` installs what the tests need
# and runs them; `make signature` records the number of nodes of `bench` after a change to play;
# `make check-deep` runs the checks that take hours, and `make check-miri` and the like one of them.

EXE := azimuth
VENV := .venv
PACKAGE_VENV := target/package-venv

DEEP_CHECKS := $(addprefix check-,targets commands numbers address thread miri mates kills games soak lichess qemu)

.PHONY: engine test test-package signature check-deep $(DEEP_CHECKS) python compiler stockfish chromium torch \
    node

engine:
	cargo rustc --locked --profile dist --package azimuth --bin azimuth -- --emit link=$(EXE)

# Maturin builds the Python module, with other settings of PyO3, and the lints compile the examples:
# neither is built here.
test: python compiler stockfish chromium torch node
	cargo build --locked --workspace --release --bins
	cargo test --locked --workspace --release --no-fail-fast --tests
	cargo test --locked --workspace --release --no-fail-fast --doc
	$(MAKE) test-package

# Builds the wheel of the Python package, installs it into an environment without the repository,
# and tests it there. The tests compare it with the built programs.
test-package: $(PACKAGE_VENV)/ready
	rm -rf target/wheels
	. $(PACKAGE_VENV)/bin/activate && maturin build --release --manifest-path python/Cargo.toml --out target/wheels
	$(PACKAGE_VENV)/bin/pip install --quiet --disable-pip-version-check --no-deps --force-reinstall target/wheels/*.whl
	$(PACKAGE_VENV)/bin/pip check
	. $(PACKAGE_VENV)/bin/activate && cd python/tests && pytest --quiet

$(PACKAGE_VENV)/ready: python/requirements.txt
	rm -rf $(PACKAGE_VENV)
	python3 -m venv $(PACKAGE_VENV)
	$(PACKAGE_VENV)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r python/requirements.txt
	touch $@

signature:
	cargo build --locked --release --workspace --bin azimuth
	AZIMUTH_UPDATE_SIGNATURE=1 cargo test --locked --release --workspace --test signature

check-deep: python stockfish
	scripts/check-deep

check-kills check-soak: stockfish

$(DEEP_CHECKS): check-%: python
	scripts/check-deep $*

# Some tests compare results with python-chess, or play through it.
python: $(VENV)/ready

$(VENV)/ready: tests/requirements.txt
	python3 -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r tests/requirements.txt
	touch $@

# The tests of the CUDA kernels compile the kernels for the CPU.
compiler:
	@command -v "$${CXX:-c++}" >/dev/null \
	|| { command -v apt-get >/dev/null && test "$$(id -u)" = 0 \
	     && apt-get -qq update && apt-get -qq install -y g++ >/dev/null; } \
	|| { echo "make test: a C++ compiler is missing (Debian: apt-get install g++)" >&2; exit 1; }

stockfish:
	@command -v stockfish >/dev/null || test -x /usr/games/stockfish \
	|| { command -v apt-get >/dev/null && test "$$(id -u)" = 0 \
	     && apt-get -qq update && apt-get -qq install -y stockfish >/dev/null; } \
	|| { echo "make test: Stockfish is missing; install it so that 'stockfish' starts it (Debian: apt-get install stockfish)" >&2; exit 1; }

# Some tests open pages in Chromium.
chromium: python
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null \
	|| { command -v apt-get >/dev/null && test "$$(id -u)" = 0 \
	     && apt-get -qq update && apt-get -qq install -y chromium >/dev/null; } \
	|| $(VENV)/bin/playwright install chromium \
	|| { echo "make test: Chromium is missing (Debian: apt-get install chromium)" >&2; exit 1; }

# A test checks the page of `azimuth serve`, and fetches its libraries.
node:
	@{ command -v node && command -v npm; } >/dev/null \
	|| { command -v apt-get >/dev/null && test "$$(id -u)" = 0 \
	     && apt-get -qq update && apt-get -qq install -y --no-install-recommends nodejs npm >/dev/null; } \
	|| { echo "make test: Node.js or npm is missing (Debian: apt-get install nodejs npm)" >&2; exit 1; }

# Some tests write and read checkpoints with PyTorch.
torch: python
	@for python in $(VENV)/bin/python python3 /usr/bin/python3; do \
	  $$python -c "import torch, numpy" 2>/dev/null && exit 0; done; \
	{ command -v apt-get >/dev/null && test "$$(id -u)" = 0 \
	     && apt-get -qq update && apt-get -qq install -y --no-install-recommends python3-torch python3-numpy >/dev/null; } \
	|| $(VENV)/bin/pip install --quiet --disable-pip-version-check torch numpy \
	|| { echo "make test: PyTorch is missing (Debian: apt-get install python3-torch python3-numpy)" >&2; exit 1; }
