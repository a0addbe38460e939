
# The kernel and the tree that is laid over the sandbox image.  Included by
# the Makefile; by itself: make -f sandbox-image/kernel/rules.mk, at the top.

O ?= objs
LAYER ?= $(O)/layer

kern_dir = sandbox-image/kernel
kern_lib = $(LAYER)/usr/lib/retort
kern_objs = $(patsubst %.c,$(O)/%.o,$(wildcard $(kern_dir)/*.c))

kern_python = $(patsubst sandbox-image/python/%,$(kern_lib)/python/%, \
	$(wildcard sandbox-image/python/*.py))
# all of helper/lib that goes into a sandbox
kern_helper = $(O)/helper/lib/fdpass.o $(O)/helper/lib/go.o
# and what makes a container one
kern_carry = $(patsubst %.c,$(O)/%.o,helper/docker/carry.c \
	$(wildcard helper/docker/inside/*.c))
kern_libs = -lpython3.11 -lcrypto -ldl -lm

$(kern_objs): CPPFLAGS += -isystem /usr/include/python3.11

KERNEL += $(kern_lib)/retort-kernel $(kern_lib)/bash_env $(kern_python) \
	$(kern_lib)/python/.compiled

# where retortd and the sandboxes mount (helper/start/root.c)

kern_mounts = $(addprefix $(LAYER)/,.box .image .layer)

KERNEL += $(kern_mounts)

$(kern_mounts):
	@mkdir -p $@

# what code that was written for another service calls its folder

KERNEL += $(LAYER)/mnt/data

$(LAYER)/mnt/data:
	@mkdir -p $(@D)
	$(Q)ln -sfn /workspace $@

# other names of folders in /workspace, by which code of some platforms knows
# them

KERNEL += $(LAYER)/.linked

$(LAYER)/.linked:
	@mkdir -p $(LAYER)/home
	$(Q)ln -sfn /workspace $(LAYER)/home/user
	$(Q)ln -sfn /workspace/uploaded_files $(LAYER)/home/uploaded_files
	$(Q)touch $@

$(kern_lib)/retort-kernel: $(kern_objs) $(init_objs) $(kern_helper) \
		$(kern_carry)
	@mkdir -p $(@D)
	$(call say,LINK $@)
	$(Q)$(LINK) -Wl,-E -o $@ $^ $(kern_libs)

$(kern_lib)/bash_env: $(kern_dir)/bash_env
	@mkdir -p $(@D)
	$(Q)install -m 644 $< $@

$(kern_lib)/python/%.py: sandbox-image/python/%.py
	@mkdir -p $(@D)
	$(Q)install -m 644 $< $@

# the hash in the .pyc, not a time stamp: packaging may change those

$(kern_lib)/python/.compiled: $(kern_python)
	$(call say,PYC  $(kern_lib)/python)
	$(Q)cd $(kern_lib)/python && /usr/bin/python3 -I -m compileall -q \
		--invalidation-mode unchecked-hash .
	$(Q)touch $@
