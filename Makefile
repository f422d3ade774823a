# `make help` lists the targets. Variables: GPU=1 builds for NVIDIA GPUs into build-gpu, JOBS=n limits the
# compilers at work, CRISP_TORCH_DIR=.../site-packages/torch uses a torch that is already there.
.DEFAULT_GOAL := build
.PHONY: help setup configure build test check demo bench goldens format lint clean

GPU ?= 0
JOBS ?= $(shell nproc)
FORMAT ?= 1
preset := $(if $(filter 1,$(GPU)),gpu,release)
folder := $(if $(filter 1,$(GPU)),build-gpu,build)
export GPU CRISP_TORCH_DIR CRISP_DEPS_DIR

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

setup: ## install what the build needs and is not there yet (GPU=1: torch with CUDA)
	@scripts/setup.sh packages torch

configure: setup
	@cmake --preset $(preset) -DCRISP_TORCH_DIR="$(CRISP_TORCH_DIR)" -DCRISP_DEPS_DIR="$(CRISP_DEPS_DIR)" \
	  --log-level=WARNING >/dev/null

build: configure ## build/crispformer (GPU=1: build-gpu/crispformer), tests and benchmarks; the default
	@cmake --build $(folder) -j $(JOBS)

test: check build ## build, unit and golden tests, layers, docs, installed package, format (FORMAT=0: without)
	@ctest --test-dir $(folder) --output-on-failure -j2
	@scripts/check_install.sh $(folder)
	@scripts/check_docs.py --program $(folder)/crispformer

# What can be checked without compiling; first, because it takes a second.
check: setup
	@scripts/check_layers.py --self-test
	@scripts/check_layers.py
	@scripts/check_docs.py --self-test
ifneq ($(FORMAT),0)
	@scripts/setup.sh packages format
	@scripts/format.sh --check
endif

demo: configure ## the program alone, then the whole way from tags to masks on rendered scenes, with a report
	@cmake --build $(folder) -j $(JOBS) --target crispformer
	@scripts/demo.sh $(folder)/crispformer

bench: build ## our benchmarks, then ours against HF, ONNX Runtime and OpenVINO, interleaved
	@scripts/setup.sh peers
	@scripts/bench.sh $(folder)

goldens: ## make the committed reference values of tests/goldens anew, with their pinned Python packages
	@scripts/setup.sh packages goldens
	@scripts/goldens.sh

format: ## bring all C++ sources into the one format
	@scripts/setup.sh packages format
	@scripts/format.sh

lint: build ## clang-tidy over the sources (FILES="crisp/base/*.cpp" picks some)
	@scripts/setup.sh lint
	@scripts/lint.sh $(folder) $(FILES)

clean: ## remove the build folders; .deps stays
	@rm -rf build build-*
