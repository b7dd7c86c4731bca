# cordon - build, test, install. `make help` lists the targets.
# SPDX-License-Identifier: MIT

MAKEFLAGS += --no-builtin-rules
SHELL := /bin/bash

# Variants live side by side: build/<B>/. B=debug|release|asan|tsan|cov
B ?= release
CC ?= gcc
ifeq ($(origin CC),default)
CC := gcc
endif
V ?= 0
# DEPS=no: never install anything
DEPS ?= yes
VERSION := 0.2.0
PREFIX ?= /usr/local
DESTDIR ?=
# make run: what runs in the console; empty: the caller's own shell
CMD ?=
# options of `cordon run` for it, --allow-network for instance
OPTS ?=
# make test: which tests (a shell pattern on their paths)
T ?= *
# how many files are built and tests run at a time
ifndef JOBS
JOBS := $(shell n=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2); echo $$((n < 8 ? n : 8)))
endif
# make lint: clang-tidy stops after this many seconds and names what it has not looked at: what was changed last comes first
TIDY_SECONDS ?= $(if $(CI),150,480)
# make soak: seconds at most, how many sequences, from which on (0: from the clock)
SOAK_SECONDS ?= 600
SOAK_N ?= 20000
SEED ?= 0
# make fuzz: seconds for each target
FUZZ_SECONDS ?= 20

# which system the program is for: Linux, Darwin
SYSTEM ?= $(shell uname -s)

comma := ,
O := build/$(B)
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),@:,@printf '  %-7s %s\n' '$(1)' '$(2)')

# ---- flags ---------------------------------------------------------------------------------------
cc-option = $(shell $(CC) -Werror $(1) -x c -c /dev/null -o /dev/null 2>/dev/null && echo '$(1)')

LIBS_Linux := libseccomp fuse3
LIBS := libuv ncursesw libcjson libzstd libutf8proc vterm libxxhash libmd $(LIBS_$(SYSTEM))
OPENED_Linux := openssl
OPENED := libgit2 $(OPENED_$(SYSTEM))
PKG_CFLAGS = $(shell pkg-config --cflags $(LIBS) $(OPENED) 2>/dev/null | sed 's/-I\([^ ]*\)/-isystem \1/g')
# (giflib has no .pc file everywhere)
PKG_LIBS = $(shell pkg-config --libs $(LIBS) 2>/dev/null) -lgif $(SYSTEM_LIBS_$(SYSTEM))
SYSTEM_LIBS_Darwin := -lEndpointSecurity -lbsm -framework CoreServices
# libgit2 and libssl are opened when they are first needed (core/base/git2.c, backends/linux/net/openssl.c):
# they and their libraries cost 5 ms of every start and 6 MB of memory. The names are those that this
# build was compiled against.
ifeq ($(SYSTEM),Darwin)
# (the loader looks in no directory of Homebrew's)
GIT2_SONAME = $(shell pkg-config --variable=libdir libgit2 2>/dev/null)/libgit2.dylib
else
GIT2_SONAME = $(shell ls $$(pkg-config --variable=libdir libgit2 2>/dev/null)/libgit2.so.*.* \
	2>/dev/null | sed 's|.*/||' | grep -E '^libgit2\.so\.[0-9]+\.[0-9]+$$' | tail -n 1)
endif

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wvla -Wundef -Wformat=2 -Wstrict-prototypes \
	-Wmissing-prototypes -Wpointer-arith -Wwrite-strings -Wcast-qual -Wswitch-enum \
	-Wimplicit-fallthrough -Wnull-dereference \
	-Werror=return-type -Werror=incompatible-pointer-types $(if $(CI),-Werror)
HARDEN = -fstack-protector-strong -fno-strict-aliasing -fno-common -fPIE \
	$(call cc-option,-fstack-clash-protection) $(call cc-option,-ftrivial-auto-var-init=zero) \
	$(call cc-option,-fcf-protection) $(call cc-option,-mbranch-protection=standard)

MODE_release := -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
MODE_debug   := -O0 -g3
# (what a report needs are lines and names: with more, building and copying takes a fifth longer)
MODE_asan    := -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
MODE_tsan    := -O1 -g3 -fsanitize=thread
MODE_cov     := -O0 -g3 --coverage
MODE_fuzz    := $(MODE_asan) -fsanitize=fuzzer-no-link
MODE := $(MODE_$(B))
$(if $(MODE),,$(error B=$(B) is not one of release debug asan tsan cov fuzz))

DEFS_Darwin := -D_DARWIN_C_SOURCE -fblocks
DEFS := -std=c17 -D_GNU_SOURCE -I. -I$(O)/gen $(DEFS_$(SYSTEM)) \
	-DCORDON_VERSION='"$(VERSION)"'
ifneq ($(MAKECMDGOALS),clean)
DEFS += -DLIBGIT2_SONAME='"$(GIT2_SONAME)"' $(PKG_CFLAGS)
# (-g1 builds in a fifth less time, and has what a backtrace needs)
# (the same bytes wherever the sources lie)
FLAGS := $(DEFS) $(WARN) $(HARDEN) -ffile-prefix-map=$(CURDIR)=. $(if $(CI),-g1,-g) $(MODE)
# (BESIDE=yes: the program and its libraries look beside it first. DT_RPATH counts for libraries of libraries, DT_RUNPATH does not)
ELF_Linux := -Wl,-z,relro,-z,now
LINK := $(MODE) $(if $(ELF_$(SYSTEM)),-pie $(ELF_$(SYSTEM))$(comma)-z$(comma)noexecstack -Wl$(comma)--as-needed) -pthread \
	$(if $(filter yes,$(BESIDE)),-Wl$(comma)--disable-new-dtags$(comma)-rpath$(comma)'$$ORIGIN/../lib/cordon')
endif

# ---- files ---------------------------------------------------------------------------------------
# Loaded into other programs, so it has nothing of the program's own, nor the program its calls.
PRELOAD := backends/interpose/preload.c
INTERPOSE := backends/interpose/portmap_read.c $(PRELOAD)
# Programs of their own, for macOS: root's, and what runs beside the keeper.
LOOPBACK := backends/macos/alias/helper_darwin.c
HELPER := backends/macos/helper/main_darwin.c
# (NAME_linux.c and NAME_darwin.c are for that system alone)
# The first program of a virtual machine: static, and of its own.
SHIM := $(wildcard backends/vm/shim/*.c)
SHIM_CC := $(if $(shell command -v musl-gcc 2>/dev/null),musl-gcc,$(CC))
ALLC := $(filter-out $(PRELOAD) $(SHIM) $(LOOPBACK) $(HELPER),$(sort $(shell find core backends tui -name '*.c')))
SRC_Linux := $(filter-out %_darwin.c,$(ALLC))
SRC_Darwin := $(filter-out %_linux.c,$(filter core/% tui/% backends/macos/% backends/interpose/% backends/registry.c,$(ALLC)))
SRC := $(SRC_$(SYSTEM))
HDR := $(sort $(shell find core backends tui -name '*.h'))
LIBSRC := $(filter-out tui/main.c,$(SRC))
OBJ := $(SRC:%.c=$(O)/%.o)
LIB := $(O)/libcordon.a

UNITSRC := $(wildcard tests/unit/test_*.c tests/screen/test_*.c)
UNIT := $(UNITSRC:%.c=$(O)/%)
# Tools that read the program's own tables: linked with all of it.
CONTRASTSRC := tests/support/contrast.c
MANUALSRC := tests/support/manual.c
MANUAL := $(sort $(wildcard tui/man/*.[157]))
TOOLSRC := $(filter-out $(CONTRASTSRC) $(MANUALSRC),$(wildcard tests/support/*.c tests/escape/*.c))
TOOLS := $(TOOLSRC:%.c=$(O)/%)
BENCHSRC := $(wildcard tests/bench/*.c)
BENCH := $(BENCHSRC:%.c=$(O)/%)
FUZZSRC := $(wildcard tests/fuzz/fuzz_*.c)
FUZZ := $(FUZZSRC:%.c=$(O)/%)
MODELSRC := $(wildcard tests/model/*.c)
# Evaluates profiles of Seatbelt: the oracle for tests of the profiles that cordon writes.
EVALSRC := $(wildcard tests/seatbelt/*.c)
MODEL := $(O)/tests/model/model
SCRIPTS := $(wildcard tests/model/model.sh tests/fs/*.sh tests/e2e/*.sh tests/escape/*.sh tests/crash/*.sh)
SHELLSRC := .ci/run $(wildcard core/setup/packages/*.sh) $(SCRIPTS) $(wildcard tests/model/soak.sh tests/fresh/*.sh tests/support/*.sh tests/bench/*.sh tests/darwin/*.sh)

SAFE_TOOLS := find parallel rm xargs

.DEFAULT_GOAL := all
.PHONY: all
BESIDE_Linux := $(O)/interpose.so $(O)/vm-init
BESIDE_Darwin := $(O)/interpose.dylib $(O)/cordon-loopback $(O)/cordon-seatbelt
all: build/cordon $(BESIDE_$(SYSTEM)) ## build the program at build/cordon

# Another B= must move the link even when both programs are older than it.
ifneq ($(shell readlink build/cordon 2>/dev/null),$(B)/cordon)
.PHONY: build/cordon
endif
build/cordon: $(O)/cordon
	$(Q)ln -sfn $(B)/cordon $@

$(O)/cordon: $(O)/tui/main.o $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) $(LINK) -o $@ $< $(LIB) $(PKG_LIBS) -ldl
	$(Q)mkdir -p $(O)/safe-tools && for t in $(SAFE_TOOLS); do ln -sfn ../cordon $(O)/safe-tools/$$t; done

$(O)/interpose.so $(O)/interpose.dylib: $(INTERPOSE) backends/interpose/portmap.h Makefile
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(DEFS) $(WARN) $(filter-out -fPIE,$(HARDEN)) $(MODE_release) \
		-fPIC -fvisibility=hidden -shared $(ELF_$(SYSTEM)) -o $@ $(INTERPOSE) -ldl

$(O)/cordon-loopback: $(LOOPBACK:%.c=$(O)/%.o) $(O)/backends/macos/alias/alias.o
	$(call say,LD,$@)
	$(Q)$(CC) $(LINK) -o $@ $^

# (of the libraries it has those that it uses)
$(O)/cordon-seatbelt: $(HELPER:%.c=$(O)/%.o) $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) $(LINK) -Wl,-dead_strip_dylibs -o $@ $< $(LIB) $(PKG_LIBS)

# (musl makes 70 KB of it, glibc 700)
$(O)/vm-init: $(SHIM) backends/vm/shim/shim.h Makefile
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(SHIM_CC) -std=c17 -D_GNU_SOURCE -I. $(filter-out -Wnull-dereference,$(WARN)) -Os \
		-fno-strict-aliasing -fstack-protector-strong -static -s -o $@ $(SHIM)

$(LIB): $(LIBSRC:%.c=$(O)/%.o) $(O)/gen/builtin_files.o
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# Which commit it is, for --version; where there is none (a tarball), nothing.
COMMIT := $(shell git describe --always --dirty --abbrev=12 --exclude='*' 2>/dev/null)
$(O)/tui/commands/version.o: FLAGS += -DCORDON_COMMIT='"$(COMMIT)"'
$(O)/tui/commands/version.o: $(O)/gen/commit
ifneq ($(shell cat $(O)/gen/commit 2>/dev/null),$(COMMIT))
.PHONY: $(O)/gen/commit
endif
$(O)/gen/commit:
	$(Q)mkdir -p $(@D) && echo '$(COMMIT)' >$@

$(O)/%.o: %.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(FLAGS) -MMD -MP -c $< -o $@

# The shipped themes, keymaps, profiles and lists, and the schemas of messages, are part of the program.
SHIPPED := $(wildcard themes/*.theme keymaps/*.keys core/config/profiles/*.profile core/setup/files/* \
	core/api/*.json) core/config/edits.ignore backends/linux/apparmor.in tui/look/unifont.hex
$(O)/gen/builtin_files.c: $(SHIPPED) Makefile
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D) && tab=$$(printf '\t') && { echo '#include "core/base/builtin.h"'; \
	echo '#pragma GCC diagnostic ignored "-Woverlength-strings"'; \
	echo 'const struct builtin_file builtin_files[] = {'; \
	for f in $(SHIPPED); do printf '{"%s",\n' "$${f##*/}"; \
	sed 's/\\/\\\\/g; s/"/\\"/g; s/'"$$tab"'/\\t/g; s/.*/"&\\n"/' "$$f"; echo '},'; done; \
	echo '{0, 0}};'; } >$@
$(O)/gen/builtin_files.o: $(O)/gen/builtin_files.c
	$(call say,CC,$<)
	$(Q)$(CC) $(FLAGS) -c $< -o $@

# The tests themselves are built with less: with the sanitizers -O1 takes four times as long for them as -O0.
TEST_MODE_release := -O1
TEST_MODE_asan    := -O0
$(UNIT:=.o): FLAGS += $(TEST_MODE_$(B))
$(filter $(O)/tests/screen/%,$(UNIT)): $(O)/tests/screen/scene.o
$(O)/tests/unit/test_compare: $(addprefix $(O)/tests/model/,compare.o edits.o history.o lines.o restored.o)
$(addprefix $(O)/tests/,unit/test_seatbelt_eval unit/test_seatbelt_profile unit/test_macos_xpc fuzz/fuzz_seatbelt): $(EVALSRC:%.c=$(O)/%.o)
$(UNIT): $(O)/%: $(O)/%.o $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) $(LINK) -o $@ $(filter %.o,$^) $(LIB) $(PKG_LIBS) -lcmocka -ldl

$(MODEL): $(MODELSRC:%.c=$(O)/%.o) $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) $(LINK) -o $@ $(filter %.o,$^) $(LIB) $(PKG_LIBS) -ldl

$(BENCH) $(CONTRASTSRC:%.c=$(O)/%) $(MANUALSRC:%.c=$(O)/%): $(O)/%: $(O)/%.o $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) $(LINK) -o $@ $< $(LIB) $(PKG_LIBS) -ldl

# Without libFuzzer: the corpus and a few thousand mutations of it, as a TAP test.
$(FUZZ): $(O)/%: $(O)/%.o $(O)/tests/fuzz/driver.o $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) $(LINK) -o $@ $(filter %.o,$^) $(LIB) $(PKG_LIBS) -ldl

# Stand-alone, and static where that is possible: they also run in places without a libc.
$(TOOLS): $(O)/%: $(O)/%.o
	$(call say,LD,$@)
	$(Q)$(CC) $(if $(filter release debug,$(B)),-static,$(MODE)) -o $@ $< -pthread

-include $(OBJ:.o=.d) $(O)/tests/screen/scene.d $(UNIT:=.d) $(MODELSRC:%.c=$(O)/%.d) $(EVALSRC:%.c=$(O)/%.d) $(TOOLS:=.d) $(CONTRASTSRC:%.c=$(O)/%.d) $(MANUALSRC:%.c=$(O)/%.d) $(FUZZ:=.d) $(BENCH:=.d)

# ---- run -----------------------------------------------------------------------------------------
# What is missing is installed first; the flags above must be read anew after that: hence a second
# make, which works in parallel unless the caller's -j says otherwise.
again = $(MAKE) --no-print-directory DEPS=no $(if $(findstring -j,$(MAKEFLAGS)),,-j$(JOBS))

.PHONY: run
run: deps ## build and open the console; CMD='...' runs that instead of your shell, with OPTS='...'
	$(Q)$(again) all
	$(Q)build/cordon run $(OPTS) -- $(if $(CMD),$(CMD),"$${SHELL:-/bin/sh}" || \
		[ $$? != 125 ]) # how a shell ended is no error of make's: 127 after a mistyped last command, too

# ---- dependencies --------------------------------------------------------------------------------
DEPS_apt := gcc libc6-dev pkg-config libuv1-dev libncurses-dev libcjson-dev libzstd-dev \
	libutf8proc-dev libvterm-dev libseccomp-dev libxxhash-dev libmd-dev libfuse3-dev libgit2-dev libssl-dev libgif-dev uthash-dev
DEPS_dnf := gcc pkgconf-pkg-config libuv-devel ncurses-devel cjson-devel libzstd-devel \
	utf8proc-devel libvterm-devel libseccomp-devel xxhash-devel libmd-devel fuse3-devel libgit2-devel openssl-devel giflib-devel uthash-devel
DEPS_pacman := gcc pkgconf libuv ncurses cjson zstd libutf8proc libvterm libseccomp xxhash libmd fuse3 \
	libgit2 openssl giflib uthash
DEPS_brew := pkg-config libuv ncurses cjson zstd utf8proc libvterm xxhash libmd libgit2 giflib uthash

# (an npm from elsewhere conflicts with the distribution's)
NPM = $(if $(shell command -v npm 2>/dev/null),,npm)
TEST_DEPS_apt = libcmocka-dev perl dpkg-dev tmux git rsync python3 vim sqlite3 procps attr acl \
	e2fsprogs xfsprogs btrfs-progs bubblewrap python3-jsonschema python3-pil iproute2 curl \
	iputils-ping bind9-dnsutils htop fzf openssl openssh-client openssh-server qemu-system-x86 cpio kmod musl-tools $(NPM)
TEST_DEPS_dnf = libcmocka-devel perl-Test-Harness tmux git rsync python3 vim sqlite procps-ng \
	attr acl e2fsprogs xfsprogs btrfs-progs bubblewrap python3-jsonschema python3-pillow iproute2 curl iputils bind-utils openssl openssh-clients openssh-server qemu-system-x86-core cpio kmod $(NPM)
TEST_DEPS_pacman = cmocka perl tmux git rsync python vim sqlite procps-ng attr acl \
	e2fsprogs xfsprogs btrfs-progs bubblewrap python-jsonschema python-pillow qemu-system-x86 cpio kmod $(NPM)
TEST_DEPS_brew := cmocka tmux git rsync python pillow vim node sqlite

LINT_DEPS_apt := clang clang-format clang-tidy cppcheck libcmocka-dev mandoc shellcheck
LINT_DEPS_dnf := clang clang-tools-extra cppcheck libcmocka-devel ShellCheck
LINT_DEPS_pacman := clang cmocka cppcheck shellcheck
LINT_DEPS_brew := llvm cmocka cppcheck shellcheck

have-build = pkg-config --exists $(LIBS) $(OPENED) && \
	echo '\#include <uthash.h>' | $(CC) -E -x c - -o /dev/null && \
	printf '\#include <stddef.h>\n\#include <gif_lib.h>\n' | $(CC) -E -x c - -o /dev/null
have-test = pkg-config --exists cmocka && { python3 -c 'import jsonschema' || /usr/bin/python3 -c 'import jsonschema'; } && \
	{ python3 -c 'import PIL' || /usr/bin/python3 -c 'import PIL'; } && \
	command -v prove tmux git rsync python3 vim npm sqlite3 \
	setfattr setfacl ps mkfs.ext4 mkfs.xfs mkfs.btrfs bwrap ip curl ping dig openssl ssh-agent sshd qemu-system-x86_64 cpio && \
	[ "$$(PATH=$$PATH:/usr/sbin:/sbin command -v prove tmux git rsync python3 vim npm sqlite3 \
	setfattr setfacl ps mkfs.ext4 mkfs.xfs mkfs.btrfs bwrap ip curl ping dig openssl ssh-agent sshd qemu-system-x86_64 cpio | wc -l)" = 24 ]
RPM_DEPS_apt := rpm
RPM_DEPS_dnf := rpm-build
have-rpm = command -v rpmbuild
DEB_DEPS_apt := dpkg-dev musl-tools
BENCH_DEPS_apt := tinyproxy-bin
BENCH_DEPS_dnf := tinyproxy
BENCH_DEPS_pacman := tinyproxy
BENCH_DEPS_brew := tinyproxy
have-bench = command -v tinyproxy
have-deb = command -v dpkg-shlibdeps && command -v musl-gcc
# what a slow registry may take: its tests are skipped then
FETCH := $(if $(shell command -v timeout),timeout 300)
have-lint = command -v clang-format && command -v clang-tidy && command -v cppcheck && \
	command -v shellcheck && command -v mandoc && pkg-config --exists cmocka
install-deps = @if [ '$(DEPS)' != no ] && ! { $($(1)); } >/dev/null 2>&1; then \
	if [ "$$(id -u)" = 0 ]; then sudo=; else sudo=sudo; fi; \
	if command -v apt-get >/dev/null; then \
		set -- env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $($(2)apt); \
		$$sudo apt-get update -qq; \
	elif command -v dnf >/dev/null; then set -- dnf install -y $($(2)dnf); \
	elif command -v pacman >/dev/null; then set -- pacman -S --needed --noconfirm $($(2)pacman); \
	elif command -v brew >/dev/null; then sudo=; set -- brew install $($(2)brew); \
	else echo 'make: no apt, dnf, pacman or brew here: install these yourself: $($(2)apt)' >&2; exit 1; fi; \
	echo "make: installing what is missing: $$sudo $$*"; $$sudo "$$@"; fi

.PHONY: deps test-deps lint-deps
deps: ## install what the build needs, if anything is missing (DEPS=no: never)
	$(call install-deps,have-build,DEPS_)
test-deps: deps
	$(call install-deps,have-test,TEST_DEPS_)
	$(if $(filter no,$(DEPS)),,$(Q)[ -d build/npm/node_modules/typescript ] || $(FETCH) tests/support/validators.sh build/npm || \
		{ rm -rf build/npm; echo 'make: ajv, TypeScript and the schemas of MCP cannot be fetched: tests do without them' >&2; })
	$(if $(filter no,$(DEPS)),,$(Q)[ -d build/zig/lib/libc/musl ] || $(FETCH) tests/darwin/zig.sh build/zig || \
		{ rm -rf build/zig; echo 'make: zig cannot be fetched: nothing is compiled for macOS and arm64' >&2; })
lint-deps: deps
	$(call install-deps,have-lint,LINT_DEPS_)

# ---- test ----------------------------------------------------------------------------------------
.PHONY: test tests unit
test: test-deps ## everything: unit, screen, end-to-end, escape, crash; T='*undo*' picks some
	$(Q)$(again) all $(UNIT) $(MODEL) $(TOOLS) $(if $(SANITIZED),,$(FUZZ)) $(if $(filter no,$(DEPS)),,agents)
	$(if $(SANITIZED),$(Q)$(again) B=asan build/asan/cordon $(SANITIZED))
	$(Q)B=$(B) JOBS=$(JOBS) tests/support/test.sh '$(T)' $(SANITIZED) $(UNIT) $(if $(SANITIZED),,$(FUZZ)) $(SCRIPTS)

tests: all $(UNIT) $(MODEL) $(TOOLS) $(FUZZ) $(BENCH)

# All the unit tests run once more with AddressSanitizer and UBSan, and the fuzz targets only so,
# where the compiler has them; scripts "also with: SANITIZED=1" run the program itself.
can-sanitize = $(shell mkdir -p $(O) && echo 'int main(void) { return 0; }' | \
	$(CC) $(MODE_asan) -x c - -o $(O)/can-sanitize 2>/dev/null && echo yes)
CAN_SANITIZE = $(eval CAN_SANITIZE := $(can-sanitize))$(CAN_SANITIZE)
SANITIZED = $(if $(filter release-*,$(B)-$(T)),$(if $(CAN_SANITIZE),$(patsubst $(O)/%,build/asan/%,$(UNIT) $(FUZZ))))

unit: $(UNIT) ## build and run the unit and screen tests only
	CMOCKA_MESSAGE_OUTPUT=TAP prove -e '' $(UNIT)

# (1 GB; beside the build, which is not waited for by the registry)
.PHONY: agents
agents: build/agents/ready ## fetch the agents that tests/e2e/agent_*.sh run from the npm registry
build/agents/ready: tests/support/agents.sh
	$(call say,NPM,build/agents)
	$(Q)rm -rf build/agents && $(FETCH) tests/support/agents.sh build/agents && touch $@ || \
		{ rm -rf build/agents; echo 'make: the agents cannot be fetched: their tests are skipped' >&2; }

.PHONY: attacks
attacks: test-deps ## the escape tests on every backend, and the table of what they said in tests/escape/README.md
	$(Q)$(again) tests
	$(Q)rm -rf build/tap && mkdir -p build/tap
	$(Q)TEST_TAP=$(CURDIR)/build/tap B=$(B) JOBS=$(JOBS) tests/support/test.sh \
		'@(*tests/escape/*|tests/e2e/@(approval|audit_attack).sh)' $(SCRIPTS) || \
		{ tests/support/attacks.sh build/tap && exit 1; }
	$(Q)tests/support/attacks.sh build/tap tests/escape/README.md

.PHONY: soak
soak: test-deps ## random sequences against a model (SEED= picks the first), then every script as root and as a user, every fault, 200 kills, 100 000 races
	$(Q)$(again) tests $(MODEL)
	$(Q)rm -rf build/agents && tests/support/agents.sh build/agents latest && \
		B=$(B) JOBS=1 tests/support/test.sh '*' $(wildcard tests/e2e/agent_*.sh)
	$(Q)tests/model/soak.sh $(MODEL) -t $(SOAK_SECONDS) -n $(SOAK_N) -j $(JOBS) \
		-s $(or $(filter-out 0,$(SEED)),$(shell date +%s)000)
	$(Q)CORDON_TEST_THOROUGH=1 CRASH_ROUNDS=200 SESSIONS=200 FLOOD=100000 RACES=100000 B=$(B) JOBS=$(JOBS) tests/support/test.sh '*' \
		$(filter $(O)/tests/unit/test_journal%,$(UNIT)) $(SCRIPTS)

.PHONY: bench-deps
bench-deps:
	$(call install-deps,have-bench,BENCH_DEPS_)

.PHONY: bench
bench: test-deps bench-deps ## measure against native (and bwrap), as root and as a user, in tmpfs and on ext4
	$(Q)$(again) all $(BENCH)
	$(Q)B=$(B) tests/bench/all.sh

.PHONY: fuzz
fuzz: lint-deps ## run each fuzz target for FUZZ_SECONDS under clang's libFuzzer
	$(Q)$(again) B=fuzz CC=clang fuzzers
	$(Q)for f in $(FUZZSRC:tests/fuzz/%.c=%); do \
		corpus=tests/fuzz/corpus/$${f#fuzz_}; mkdir -p "build/fuzz/found/$$f"; \
		[ -d "$$corpus" ] || corpus=; echo "  FUZZ    $$f"; \
		"build/fuzz/tests/fuzz/$$f" -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 \
			-print_final_stats=0 -verbosity=0 "build/fuzz/found/$$f" $$corpus || exit 1; \
	done

.PHONY: fuzzers
fuzzers: $(LIB) $(FUZZSRC:%.c=$(O)/%.o) $(EVALSRC:%.c=$(O)/%.o)
	$(Q)for f in $(FUZZSRC:%.c=%); do \
		$(CC) $(LINK) -fsanitize=fuzzer -o $(O)/$$f $(O)/$$f.o $(EVALSRC:%.c=$(O)/%.o) $(LIB) $(PKG_LIBS) -ldl || exit 1; \
	done

.PHONY: screenshots
screenshots: test-deps ## take the pictures in screenshots/ from real runs
	$(Q)$(again) all
	$(Q)tests/support/screenshots.sh

# ---- macOS ---------------------------------------------------------------------------------------
# Compiled and linked on any system, with clang and a linker of zig's; run by nobody here. Of the libraries there
# are Debian's headers, and stubs that list what Debian's libraries export.
.PHONY: check-darwin darwin darwin-libraries
check-darwin: test-deps ## compile and link for macOS, arm64 and x86_64
	$(Q)DARWIN_ARCHS='$(DARWIN_ARCHS)' tests/support/one.sh tests/e2e/darwin.sh

# The rules that a Mac uses: only the compiler and the places of libraries are others.
darwin: darwin-libraries
	$(Q)for arch in $(DARWIN_ARCHS); do \
		$(MAKE) --no-print-directory DEPS=no SYSTEM=Darwin CI=yes O=build/darwin/$$arch B=release MODE_release=-O0 \
			CC="tests/darwin/cc.sh $$arch" AR='build/zig/zig ar' PKG_CFLAGS= PKG_LIBS='$(DARWIN_LIBS)' \
			$(addprefix build/darwin/$$arch/,cordon $(notdir $(BESIDE_Darwin))) || exit 1; done
DARWIN_ARCHS ?= arm64 x86_64
DARWIN_LIBS := -luv -lncursesw -ltinfo -lcjson -lzstd -lutf8proc -lvterm -lxxhash -lmd -lgif -lEndpointSecurity -lbsm -lCoreServices
darwin-libraries: build/darwin/include/ready
build/darwin/include/ready: tests/darwin/libraries.sh
	$(Q)tests/darwin/libraries.sh build/darwin

# ---- lint ----------------------------------------------------------------------------------------
.PHONY: lint lint-format lint-tree lint-themes lint-manual lint-headers lint-cppcheck lint-shell lint-clang lint-tidy
lint: lint-deps ## formatting, include directions, contrast, clang, clang-tidy, cppcheck, shellcheck
	$(Q)$(again) -k lint-format lint-tree lint-headers lint-shell \
		lint-clang lint-cppcheck lint-themes lint-manual
	$(Q)mkdir -p $(O)/tidy && date +%s >$(O)/tidy/began
	$(Q)$(again) -k lint-tidy RECENT="$$(git log -n 50 --format= --name-only -- '*.c' 2>/dev/null | awk '!seen[$$0]++' | paste -sd' ')"
	@echo 'lint: clean'

ALLSRC := $(SRC) $(SHIM) $(PRELOAD) $(UNITSRC) $(MODELSRC) $(EVALSRC) $(TOOLSRC) $(CONTRASTSRC) $(MANUALSRC) $(BENCHSRC) $(FUZZSRC) $(wildcard tests/fuzz/driver.c)
CLANG_FORMAT ?= $(firstword $(shell command -v clang-format-14 clang-format 2>/dev/null))

# Other majors format differently: without 14 the check is left out, and says so.
lint-format:
	$(Q)if $(CLANG_FORMAT) --version | grep -q 'version 14\.'; then \
		$(CLANG_FORMAT) --dry-run -Werror $(ALLSRC) $(filter %_darwin.c,$(ALLC)) $(LOOPBACK) $(HELPER) $(HDR); \
	else echo 'lint: clang-format 14 is not here: formatting not checked'; fi

lint-tree: # sizes, include directions, every action bound
	$(Q)tests/support/lint.sh

lint-themes: $(CONTRASTSRC:%.c=$(O)/%) # each text of a theme can be read on its ground
	$(Q)$< $(sort $(wildcard themes/*.theme))

lint-manual: $(MANUALSRC:%.c=$(O)/%) # the manual's tables are the program's, and its pages are right
	$(Q)$< --check $(MANUAL)
	$(Q)if command -v mandoc >/dev/null; then mandoc -T lint -W warning $(MANUAL); \
	else echo 'lint: mandoc is not here: the manual is not checked'; fi

lint-headers: $(HDR:%=$(O)/headers/%.ok)
$(O)/headers/%.ok: %
	$(Q)mkdir -p $(@D) && printf '#include "%s"\n' '$<' | \
		$(CC) $(FLAGS) -Werror -Wno-unused-function -Wno-pedantic -fsyntax-only -x c - && touch $@

lint-clang: $(ALLSRC:%.c=$(O)/clang/%.ok) # what is built with gcc has no warning of clang's
$(O)/clang/%.ok: %.c
	$(Q)mkdir -p $(@D) && clang $(DEFS) $(WARN) -Werror -fsyntax-only $< && touch $@

lint-shell: $(SHELLSRC:%=$(O)/shell/%.ok)
$(O)/shell/%.ok: % .shellcheckrc tests/support/lib.sh tests/support/tmux.sh
	$(Q)mkdir -p $(@D) && shellcheck $< && touch $@

lint-cppcheck:
	$(Q)mkdir -p $(O)/cppcheck && cppcheck -q -j $(JOBS) --std=c11 --library=posix \
		--enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
		--suppressions-list=tests/support/cppcheck.txt --cppcheck-build-dir=$(O)/cppcheck \
		-I. -D_GNU_SOURCE -D__linux__ -D__x86_64__ -DLIBGIT2_SONAME='""' -DCORDON_VERSION='""' \
		$(addprefix --include=,$(wildcard /usr/include/uthash.h)) \
		$(SRC)

# The analyzer leaves a function after this many states: its own 225000 take four times as long and find no more.
TIDY_DEPTH := -Xclang -analyzer-config -Xclang max-nodes=50000
lint-tidy: $(patsubst %.c,$(O)/tidy/%.ok,$(filter $(SRC) $(SHIM),$(RECENT)) $(filter-out $(RECENT),$(SRC) $(SHIM)))
$(O)/tidy/%.ok: %.c .clang-tidy
	$(Q)mkdir -p $(@D); \
	if [ $$(($$(date +%s) - $$(cat $(O)/tidy/began))) -gt $(TIDY_SECONDS) ]; then \
		echo 'lint: no time left for clang-tidy on $<'; \
	else \
		clang-tidy --quiet --warnings-as-errors='*' $< -- $(DEFS) $(TIDY_DEPTH) >$@.out 2>$@.err && \
		mv $@.out $@ || { cat $@.out; grep -v 'warnings\? generated' $@.err; exit 1; }; \
	fi

.PHONY: man
man: $(MANUALSRC:%.c=$(O)/%) ## write the tables of the manual's pages from the program's own
	$(Q)$< $(MANUAL)

.PHONY: words
words: ## added lines, since BASE, of sources and documents that CONTRIBUTING.md's rules about words are against
	$(Q)tests/support/words.sh $(BASE)

.PHONY: format
format: ## let clang-format rewrite the sources
	$(CLANG_FORMAT) -i $(ALLSRC) $(filter %_darwin.c,$(ALLC)) $(LOOPBACK) $(HELPER) $(HDR)

compile_commands.json: Makefile ## for editors
	$(Q){ echo '['; sep=; for f in $(ALLSRC); do \
		printf '%s{"directory":"%s","file":"%s","command":"%s"}\n' "$$sep" "$$PWD" "$$f" \
			"$$(printf '%s' '$(CC) $(subst ','\'',$(FLAGS)) -c '"$$f" | sed 's/["\\]/\\&/g')"; \
		sep=,; done; echo ']'; } >$@

# ---- install -------------------------------------------------------------------------------------
SHARE := $(DESTDIR)$(PREFIX)/share
APPARMOR := $(DESTDIR)/etc/apparmor.d

.PHONY: install uninstall
install: ## install below PREFIX (DESTDIR for packages), with manual, themes, keymaps and profiles
	$(Q)$(again) all
	@# (a Mac's install has no -D)
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/cordon $(DESTDIR)$(PREFIX)/libexec/cordon/safe-tools
	install -m 755 $(O)/cordon $(DESTDIR)$(PREFIX)/bin/cordon
	install -m 644 $(filter %.so %.dylib,$(BESIDE_$(SYSTEM))) $(DESTDIR)$(PREFIX)/lib/cordon
	install -m 755 $(filter-out %.so %.dylib,$(BESIDE_$(SYSTEM))) $(DESTDIR)$(PREFIX)/libexec/cordon
	for t in $(SAFE_TOOLS); do ln -sfn ../../../bin/cordon $(DESTDIR)$(PREFIX)/libexec/cordon/safe-tools/$$t; done
	install -d $(foreach n,1 5 7,$(SHARE)/man/man$(n)) $(SHARE)/bash-completion/completions \
		$(SHARE)/zsh/site-functions $(SHARE)/fish/vendor_completions.d
	for page in $(MANUAL); do install -m 644 $$page $(SHARE)/man/man$${page##*.}/$${page##*/}; done
	install -d $(SHARE)/cordon/themes $(SHARE)/cordon/keymaps $(SHARE)/cordon/profiles
	install -m 644 themes/*.theme $(SHARE)/cordon/themes
	install -m 644 keymaps/*.keys $(SHARE)/cordon/keymaps
	install -m 644 core/config/profiles/*.profile $(SHARE)/cordon/profiles
	install -m 644 core/setup/files/cordon.bash $(SHARE)/bash-completion/completions/cordon
	install -m 644 core/setup/files/cordon.zsh $(SHARE)/zsh/site-functions/_cordon
	install -m 644 core/setup/files/cordon.fish $(SHARE)/fish/vendor_completions.d/cordon.fish
	install -m 644 core/config/edits.ignore core/api/protocol.json core/api/example.ndjson $(SHARE)/cordon
	@# Ubuntu 24.04 lets only programs with a profile make user namespaces.
	@if [ '$(SYSTEM)' = Linux ] && { [ -n '$(DESTDIR)' ] || [ -w $(APPARMOR) ]; }; then \
		install -d $(APPARMOR) && sed 's|@BINARY@|$(PREFIX)/bin/cordon|g' \
			backends/linux/apparmor.in >$(APPARMOR)/cordon && \
		echo 'installed $(APPARMOR)/cordon'; \
	elif [ -d $(APPARMOR) ]; then \
		echo 'not installed: $(APPARMOR)/cordon, which is for root to write: cordon doctor says if it is needed'; \
	fi
	@if [ -z '$(DESTDIR)' ] && [ -w $(APPARMOR) ] && [ -d /sys/kernel/security/apparmor ] && \
		command -v apparmor_parser >/dev/null; then apparmor_parser -r $(APPARMOR)/cordon; fi
	@case '$(DESTDIR)'::$$PATH: in :*:$(PREFIX)/bin:*) ;; :*) \
		echo 'not in your PATH: $(PREFIX)/bin: export PATH=$(PREFIX)/bin:$$PATH, or log in again if your profile adds it' ;; \
	esac

uninstall: ## remove what install put there
	rm -f $(DESTDIR)$(PREFIX)/bin/cordon $(foreach page,$(notdir $(MANUAL)),$(SHARE)/man/man$(patsubst .%,%,$(suffix $(page)))/$(page))
	@if [ -z '$(DESTDIR)' ] && [ -w $(APPARMOR) ] && [ -e $(APPARMOR)/cordon ] && \
		command -v apparmor_parser >/dev/null; then apparmor_parser -R $(APPARMOR)/cordon || :; fi
	@[ ! -w $(APPARMOR) ] || rm -f $(APPARMOR)/cordon
	rm -rf $(SHARE)/cordon $(DESTDIR)$(PREFIX)/lib/cordon $(DESTDIR)$(PREFIX)/libexec/cordon
	rm -f $(SHARE)/bash-completion/completions/cordon $(SHARE)/zsh/site-functions/_cordon \
		$(SHARE)/fish/vendor_completions.d/cordon.fish

.PHONY: source
source: ## build/cordon-<version>.tar.gz: the source of what is committed, and a Homebrew formula for it
	$(Q)core/setup/packages/source.sh $(VERSION)

.PHONY: app
app: ## on a Mac: build/Cordon.app; SIGN=identity PROFILE=file NOTARY=name: see core/setup/packages/app.sh
	$(Q)[ '$(SYSTEM)' = Darwin ] || { echo 'make app: a bundle for macOS is made on a Mac' >&2; exit 1; }
	$(Q)$(again) O=build/app GIT2_SONAME=@executable_path/../Frameworks/libgit2.dylib \
		$(addprefix build/app/,cordon $(notdir $(BESIDE_Darwin)))
	$(Q)core/setup/packages/app.sh $(VERSION) build/app "$$(pkg-config --variable=libdir libgit2)/libgit2.dylib"

.PHONY: dist
dist: deps ## build/cordon-<version>-linux-<arch>.tar.gz: runs where it is unpacked, with its libraries
	$(Q)$(again) O=build/dist BESIDE=yes build/dist/cordon
	$(Q)core/setup/packages/dist.sh $(VERSION) build/dist

.PHONY: rpm
rpm: deps ## build/cordon-<version>-1.<arch>.rpm, for this distribution and those with the same libraries
	$(call install-deps,have-rpm,RPM_DEPS_)
	$(Q)$(again) PREFIX=/usr O=build/package build/package/cordon
	$(Q)core/setup/packages/rpm.sh $(VERSION) build/package

.PHONY: deb
deb: deps ## build/cordon_<version>_<arch>.deb, for this distribution and those with the same libraries
	$(call install-deps,have-deb,DEB_DEPS_)
	$(Q)$(again) PREFIX=/usr O=build/package build/package/cordon build/package/interpose.so build/package/vm-init
	$(Q)core/setup/packages/deb.sh $(VERSION) build/package

.PHONY: npm
npm: dist ## build/cordon-<version>-npm.tgz: the same as a package of npm
	$(Q)core/setup/packages/npm.sh $(VERSION)

.PHONY: release
release: ## build/release-<version>/: source, deb, rpm, tarball, npm package, SHA256SUMS; MINISIGN_KEY= or SSH_KEY= signs
	$(Q)$(again) source deb npm
	$(Q)if $(have-rpm) >/dev/null; then $(again) rpm; else echo 'release: no rpm: rpmbuild is not here' >&2; fi
	$(Q)core/setup/packages/release.sh $(VERSION)

.PHONY: test-fresh
test-fresh: deb dist ## the packages on Debians that are installed for it; downloads them, needs root and debootstrap
	$(Q)tests/support/one.sh tests/fresh/debian.sh

.PHONY: ci
ci: ## what CI runs
	.ci/run

.PHONY: clean
clean: ## remove build/
	rm -rf build compile_commands.json

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 22
	@echo '  B=release|debug|asan|tsan|cov  CC=clang  V=1  DEPS=no  PREFIX=  DESTDIR='
