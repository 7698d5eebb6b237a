# SPDX-License-Identifier: Apache-2.0
# The front door. CMake does the work; this file knows the few commands that people type.

BUILD  ?= build
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc)
PYTHON ?= python3

MAKEFLAGS += --no-print-directory
PRODUCT = holdfast_shared holdfast_static holdfast

.PHONY: all help demo docs docs-links site test test-all check-quick bench install install-python install-r uninstall format tidy clean

all: ## build library and tool (what is missing on the system is named, not installed)
	@cmake -S . -B $(BUILD)
	@cmake --build $(BUILD) -j $(JOBS) --target $(PRODUCT)

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(firstword $(MAKEFILE_LIST)) | sed -E 's/:.*## /\t/' | while IFS='	' read -r name text; do \
	    printf '  make %-12s %s\n' "$$name" "$$text"; done

demo: ## install what is missing, build, and show what a robust Gaussian process is good for
	@scripts/install-dependencies demo
	@cmake -S . -B $(BUILD) >$(BUILD)-demo.log 2>&1 && \
	    cmake --build $(BUILD) -j $(JOBS) --target holdfast >>$(BUILD)-demo.log 2>&1 || { tail -n 30 $(BUILD)-demo.log; exit 1; }
	@rm -f $(BUILD)-demo.log
	@HOLDFAST=$(abspath $(BUILD))/holdfast scripts/demo

test: ## install what is missing and run the tests (sanitizers, other processors, house rules, installation): 20 minutes
	@scripts/install-dependencies test
	@scripts/test --build $(BUILD) -j $(JOBS)

test-all: ## the longer tests too (threads, valgrind, fuzzers, MPI, another architecture, the tool under sanitizers): 40 minutes
	@scripts/install-dependencies test
	@scripts/test --build $(BUILD) -j $(JOBS) --all

check-quick: ## the tests of the rooms and the quick house rules on the plain build
	@scripts/test --build $(BUILD) -j $(JOBS) quick

docs: ## the documentation site, in build/site/html; installs what is missing
	@$(MAKE) site SITE=

docs-links: ## ask whether the site's links to elsewhere answer (needs a network)
	@$(MAKE) site SITE=--links

site:
	@scripts/install-dependencies docs
	@cmake -S . -B $(BUILD) >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target holdfast_shared holdfast >/dev/null
	@/usr/bin/python3 scripts/site --build $(BUILD) $(SITE)

bench: ## timings, beside peers where they are installed
	@cmake -S . -B $(BUILD) -DHF_TESTS=ON
	@cmake --build $(BUILD) -j $(JOBS) --target holdfast_shared bench
	@HF_BUILD=$(abspath $(BUILD)) scripts/bench

install: ## install below PREFIX (/usr/local); DESTDIR is honoured
	@cmake -S . -B $(BUILD) -DCMAKE_INSTALL_PREFIX=$(PREFIX)
	@cmake --build $(BUILD) -j $(JOBS) --target $(PRODUCT) experiments
	@DESTDIR=$(DESTDIR) cmake --install $(BUILD)
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ] && command -v ldconfig >/dev/null; then ldconfig; fi

install-python: ## install the Python package, with pip of $(PYTHON) and its $(PIPFLAGS); no network is needed
	@cmake -S . -B $(BUILD)
	@cmake --build $(BUILD) -j $(JOBS) --target holdfast_shared
	@HOLDFAST_LIBRARY=$(abspath $(BUILD))/libholdfast.so $(PYTHON) -m pip install $(PIPFLAGS) --no-index --no-deps --force-reinstall ./bindings/python

install-r: ## install the R package, which holds the library; no network is needed
	@cmake -S . -B $(BUILD)
	@cmake --build $(BUILD) -j $(JOBS) --target holdfast_static
	@HOLDFAST_BUILD=$(abspath $(BUILD)) R CMD INSTALL --preclean --clean bindings/r

uninstall: ## remove what the last `make install` laid down
	@DESTDIR=$(DESTDIR) cmake --build $(BUILD) --target uninstall

format: ## run clang-format over all C files; headers have the 100 columns of the public ones
	@program=$$(command -v clang-format-14 clang-format | head -n 1); \
	    git ls-files --cached --others --exclude-standard '*.c' | xargs -r $$program -i; \
	    git ls-files --cached --others --exclude-standard '*.h' | xargs -r $$program --style=file:include/.clang-format -i

tidy: ## run clang-tidy over library, tool and examples
	@cmake -S . -B $(BUILD) -DHF_TESTS=ON >/dev/null
	@HF_TEST_ALL=1 /usr/bin/python3 tests/house/check_tidy.py --source . --build $(BUILD)

clean: ## remove all build directories
	@rm -rf $(BUILD) $(BUILD)-sanitize $(BUILD)-thread $(BUILD)-fuzz
