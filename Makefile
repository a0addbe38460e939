
# Everything is built below objs/.  GNU make; may be run with -j.
#
#   make            the nginx module, the helper's programs, the kernel
#   make unit       unit test programs, objs/unit/*
#   make check      build, then every test (as root): auto/test
#   make asan       the same programs with ASan and UBSan, in objs/asan/, and
#                   a kernel with UBSan, in objs/ubsan/
#   make install    DESTDIR=, PREFIX= (/usr), SYSCONFDIR= (/etc)
#   make fuzz       an hour of libFuzzer for each target: auto/fuzz
#   make bench      beside what people would use instead: auto/bench
#   make budget     size of the privileged part
#   make clean
#   make V=1        shows the commands
#
# Two folders bring rules of their own, included below if they are there:
# helper/front/rules.mk and sandbox-image/kernel/rules.mk.  They may use
#
#   $(O)             where output goes
#   $(O)/%.o: %.c    the one rule that compiles; flags of one folder are added
#                    by "$(O)/helper/front/%.o: CPPFLAGS += ..."
#   $(call say,…)    what is being done; $(Q) in front of the command itself
#   $(LINK)          links: "$(LINK) -o $@ $^ $(LDLIBS)", or libraries of its own
#   $(lib_objs)      objects of helper/lib, linked into every program; lock.o
#                    wants libseccomp, and goes into broker and mapd alone
#   $(init_objs)     objects of helper/init, linked into retort-kernel
#   $(LAYER)         the tree that is laid over the sandbox image
#
# and they add the files that they make to HELPER, or to KERNEL.

SHELL = /bin/bash
.SHELLFLAGS = -e -o pipefail -c
.DELETE_ON_ERROR:
.SECONDEXPANSION:
.SUFFIXES:

MAKEFLAGS += --no-builtin-rules

O = objs
PREFIX = /usr
SYSCONFDIR = /etc
MODULEDIR = $(PREFIX)/lib/nginx/modules

CC = gcc
CFLAGS = -O2 -g
FORTIFY = -D_FORTIFY_SOURCE=2
SANITIZE =
ASAN_LOCK =
ASAN_END =

WARN = -Wall -Wextra -Wno-unused-parameter -Wconversion -Wshadow \
	-Wdeclaration-after-statement -Werror
HARDEN = -fstack-protector-strong -fstack-clash-protection $(FORTIFY) -fPIE
CPPFLAGS = -D_GNU_SOURCE -Ihelper -Ihelper/lib -Ihelper/protocol -I$(O)/gen
LDFLAGS = -pie -Wl,-z,relro,-z,now,-z,noexecstack -Wl,--as-needed
LDLIBS = -lcap-ng -lseccomp

COMPILE = $(CC) -std=c11 $(CFLAGS) $(WARN) $(HARDEN) $(SANITIZE) $(CPPFLAGS)
LINK = $(CC) $(CFLAGS) $(SANITIZE) $(LDFLAGS)

Q = $(if $(V),,@)
silent = $(findstring s,$(firstword -$(MAKEFLAGS)))
say = @$(if $(silent),:,echo "  $(1)")

comma = ,

LAYER = $(O)/layer
MODULE = $(O)/ngx_http_retort_module.so

objects = $(patsubst %.c,$(O)/%.o,$(wildcard $(1)))

lib_objs = $(call objects,helper/lib/fdpass.c) $(call objects,helper/lib/log.c)
go_objs = $(call objects,helper/lib/go.c)
lock_objs = $(call objects,helper/lib/lock.c)
counters_objs = $(call objects,helper/lib/counters.c)
init_objs = $(call objects,helper/init/*.c)
start_objs = $(call objects,helper/start/*.c)
broker_objs = $(call objects,helper/broker/*.c)
mapd_objs = $(call objects,helper/mapd/*.c)
launch_objs = $(call objects,helper/launch/*.c)
ctl_objs = $(call objects,helper/ctl/*.c helper/start/conf.c)

HELPER =
KERNEL =

all: module helper kernel

-include helper/front/rules.mk
-include helper/fetch/rules.mk
-include helper/docker/rules.mk
-include sandbox-image/kernel/rules.mk


# programs of the helper

HELPER += $(if $(start_objs),$(O)/retortd) \
	$(if $(broker_objs),$(O)/retort-broker) \
	$(if $(mapd_objs),$(O)/retort-mapd) \
	$(if $(launch_objs),$(O)/retort-launch) \
	$(if $(ctl_objs),$(O)/retortctl)

helper: $$(HELPER) $(lib_objs)

kernel: $$(KERNEL) $(init_objs)

$(O)/retortd: $(start_objs) $(lib_objs)
$(O)/retort-broker: $(broker_objs) $(lib_objs) $(lock_objs) $(counters_objs) \
	$(ASAN_LOCK)
$(O)/retort-mapd: $(mapd_objs) $(lib_objs) $(lock_objs) $(ASAN_LOCK)
$(O)/retort-launch: $(launch_objs) $(lib_objs)

# the sanitizers' runtime needs more calls than these two programs do

$(O)/retort-broker $(O)/retort-mapd: LDFLAGS += \
	$(if $(ASAN_LOCK),-Wl$(comma)--wrap=seccomp_init)

# and the front is looked at for leaks when it ends

$(O)/retort-front $(O)/lean/retort-front: LDFLAGS += \
	$(if $(ASAN_END),-Wl$(comma)--wrap=_exit)

$(O)/retortd $(O)/retort-broker $(O)/retort-mapd $(O)/retort-launch:
	$(call say,LINK $@)
	$(Q)$(LINK) -o $@ $^ $(LDLIBS)

$(O)/retortctl: $(ctl_objs) $(lib_objs)
	$(call say,LINK $@)
	$(Q)$(LINK) -o $@ $^ -ljson-c -lcrypto

$(O)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC   $<)
	$(Q)$(COMPILE) -MMD -MP -c -o $@ $<


# the sandbox's system call filter is compiled once, here, into an array

$(init_objs): $(O)/gen/seccomp_filter.h

$(O)/gen/seccomp_gen: helper/init/gen/seccomp_gen.c
	@mkdir -p $(@D)
	$(call say,LINK $@)
	$(Q)$(COMPILE) -MMD -MP $(LDFLAGS) -o $@ $< -lseccomp

$(O)/gen/seccomp_filter.h: $(O)/gen/seccomp_gen
	$(call say,GEN  $@)
	$(Q)$< > $@.tmp
	$(Q)mv $@.tmp $@


$(O)/gen/seccomp_profile.h: $(O)/gen/seccomp_gen
	$(call say,GEN  $@)
	$(Q)$< json > $@.tmp
	$(Q)mv $@.tmp $@


# the module is built by nginx's own configure, from the nginx-dev package

module: $(if $(wildcard ngx_module/build),$(MODULE))

$(MODULE): config $(wildcard ngx_module/*.c ngx_module/*.h ngx_module/build)
	$(call say,NGX  $@)
	$(Q)env -u MAKEFLAGS -u MAKELEVEL ngx_module/build


# unit tests: what a test needs stands in it as " * links: FILE.c ...", a
# library of its own as " * libs: -lNAME"

unit_srcs = $(wildcard tests/unit/*.c)
unit_links = $(shell sed -n 's/^ \* links: //p' tests/unit/$(1).c)
unit_libs = $(shell sed -n 's/^ \* libs: //p' tests/unit/$(1).c)
unit_objs = $(patsubst %.c,$(O)/%.o,$(call unit_links,$(1)))

UNIT = $(patsubst tests/unit/%.c,$(O)/unit/%,$(unit_srcs))

unit: $(UNIT)

$(UNIT): $(O)/unit/%: $(O)/tests/unit/%.o $$(call unit_objs,$$*)
	@mkdir -p $(@D)
	$(call say,LINK $@)
	$(Q)$(LINK) -o $@ $^ -lcmocka -ljson-c -lfcgi -lcrypto -lm \
	    $(call unit_libs,$*) $(LDLIBS)


# fuzz targets, by the same lines and more: tests/fuzz/lib/fuzz.h.  FUZZ_MAIN
# is what has their main()

fuzz_names = $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c))
fuzz_line = $(shell sed -n 's/^ \* $(2): //p' tests/fuzz/$(1).c)
fuzz_links = $(filter-out $(call fuzz_line,$(1),without),$(patsubst \
	front,$(filter-out %/main.c,$(wildcard helper/front/*.c \
	helper/front/dialect/*.c helper/lib/counters.c)),$(call \
	fuzz_line,$(1),links)) \
	tests/fuzz/lib/common.c)
fuzz_objs = $(patsubst %.c,$(O)/%.o,$(call fuzz_links,$(1)))

FUZZ_MAIN = $(O)/tests/fuzz/lib/driver.o
FUZZ = $(addprefix $(O)/fuzz/,$(fuzz_names))

fuzzers: $(FUZZ)

$(O)/tests/fuzz/%.o: CPPFLAGS += -Itests/fuzz/lib -Ihelper/front

# three of them are linked with parts of the module, and of nginx

NGX_OBJS = $(sort $(foreach t,answer module tokens,$(O)/tests/fuzz/$(t).o \
	$(call fuzz_objs,$(t))))
NGX_TREE = objs/nginx
NGX_DIRS = build src/core src/event src/event/modules src/os/unix src/http \
	src/http/modules src/http/v2

$(NGX_TREE)/.stamp:
	$(Q)env -u MAKEFLAGS -u MAKELEVEL ngx_module/build

$(NGX_OBJS): CPPFLAGS += -Ingx_module $(addprefix -I$(NGX_TREE)/,$(NGX_DIRS))
$(NGX_OBJS): WARN = -w
$(NGX_OBJS): | $(NGX_TREE)/.stamp

$(FUZZ): $(O)/fuzz/%: $(O)/tests/fuzz/%.o $$(call fuzz_objs,$$*) $(FUZZ_MAIN)
	@mkdir -p $(@D)
	$(call say,LINK $@)
	$(Q)$(LINK) $(addprefix -Wl$(comma)--wrap=,$(call fuzz_line,$*,wraps)) \
	    -o $@ $(filter %.o,$^) $(FUZZ_LIB) -ljson-c -lfcgi -lcrypto -lm \
	    $(call fuzz_line,$*,libs) $(LDLIBS)


# what auto/bench measures with, linked as unit tests are

bench_objs = $(patsubst %.c,$(O)/%.o,$(shell \
	sed -n 's/^ \* links: //p' tests/bench/$(1).c))

BENCH = $(patsubst tests/bench/%.c,$(O)/bench/%,$(wildcard tests/bench/*.c))

bench-programs: $(BENCH)

$(BENCH): $(O)/bench/%: $(O)/tests/bench/%.o $$(call bench_objs,$$*)
	@mkdir -p $(@D)
	$(call say,LINK $@)
	$(Q)$(LINK) -o $@ $^ -lfcgi $(LDLIBS)


# for "make asan": a front for tests of memory, and the other programs

$(O)/lean/retort-front: $(front_objs) $(lib_objs) $(counters_objs) \
	$(O)/tests/asan/lean.o $(ASAN_END)
	@mkdir -p $(@D)
	$(call say,LINK $@)
	$(Q)$(LINK) -o $@ $^ $(FRONT_LIBS)
	$(Q)ln -sf $(addprefix ../,$(filter-out retort-front,$(notdir $(HELPER)))) \
	    $(@D)


asan:
	+$(MAKE) O=objs/asan FORTIFY= CFLAGS="-O1 -g -fno-omit-frame-pointer" \
	    SANITIZE="-fsanitize=address,undefined -static-libasan \
	    -static-libubsan -fno-sanitize-recover=undefined" \
	    ASAN_LOCK=objs/asan/tests/asan/lock.o \
	    ASAN_END=objs/asan/tests/asan/end.o helper unit \
	    objs/asan/lean/retort-front
	+$(MAKE) O=objs/ubsan FORTIFY= CFLAGS="-O1 -g" \
	    SANITIZE="-fsanitize=undefined -fno-sanitize-recover=undefined \
	    -static-libubsan" kernel
	$(call say,NGX  objs/asan)
	$(Q)env -u MAKEFLAGS -u MAKELEVEL ngx_module/build --asan

check:
	auto/test

style boundary budget fuzz bench:
	auto/$@


install: all
	install -d $(DESTDIR)$(PREFIX)/lib/retort $(DESTDIR)$(PREFIX)/sbin \
	    $(DESTDIR)$(MODULEDIR) $(DESTDIR)$(SYSCONFDIR)/retort/profiles
	install -m 755 $(O)/retort-broker $(O)/retort-mapd \
	    $(O)/retort-launch $(O)/retort-front $(O)/retort-fetch \
	    $(O)/retort-docker \
	    $(DESTDIR)$(PREFIX)/lib/retort
	install -m 755 $(O)/retortd $(O)/retortctl $(DESTDIR)$(PREFIX)/sbin
	install -d $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 man/retortctl.1 $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 $(MODULE) $(DESTDIR)$(MODULEDIR)
	cp -R --no-preserve=ownership $(LAYER) $(DESTDIR)$(PREFIX)/lib/retort
	for f in retortd.conf profiles/default.conf; do \
	    test -e $(DESTDIR)$(SYSCONFDIR)/retort/$$f || install -m 644 \
	    packaging/etc/$$f $(DESTDIR)$(SYSCONFDIR)/retort/$$f; \
	done

clean:
	rm -rf objs


-include $(shell test ! -d $(O) || find $(O) -name '*.d' \
	$(if $(filter objs,$(O)),-not -path 'objs/*san/*'))

.PHONY: all module helper kernel unit asan check style boundary budget \
	bench bench-programs fuzz fuzzers install clean
