# retort-front.  Included by the top Makefile; also usable by itself:
#
#   make -f helper/front/rules.mk [O=objs] [SANITIZE=-fsanitize=address]

ifndef LINK
FRONT_ALONE = 1
O = objs
CC = gcc
CFLAGS = -O2 -g
FORTIFY = -D_FORTIFY_SOURCE=2
CPPFLAGS = -D_GNU_SOURCE -Ihelper -Ihelper/lib -Ihelper/protocol
COMPILE = $(CC) -std=c11 $(CFLAGS) -Wall -Wextra -Wconversion -Wshadow \
	-Werror -fstack-protector-strong $(FORTIFY) -fPIE $(SANITIZE) $(CPPFLAGS)
LINK = $(CC) $(CFLAGS) $(SANITIZE) -pie -Wl,-z,relro,-z,now
lib_objs = $(patsubst %.c,$(O)/%.o,$(wildcard helper/lib/*.c))
say = @echo "  $(1)"
Q = @
all: $(O)/retort-front
endif

FRONT_LIBS = -lfcgi -ljson-c -lcap-ng -lseccomp -lcrypto -lm -lpthread
front_objs = $(patsubst %.c,$(O)/%.o,$(wildcard helper/front/*.c \
	helper/front/dialect/*.c))

$(front_objs): CPPFLAGS += -Ihelper/front

$(O)/retort-front: $(front_objs) $(lib_objs) $(counters_objs) $(ASAN_END)
	$(call say,LINK $@)
	$(Q)$(LINK) -o $@ $^ $(FRONT_LIBS)

# the native API's document, as bytes

$(O)/gen/openapi.h: helper/front/dialect/openapi.json
	@mkdir -p $(@D)
	$(call say,GEN  $@)
	$(Q)od -An -v -tx1 $< | sed 's/ \(..\)/ 0x\1,/g' > $@.tmp
	$(Q)mv $@.tmp $@

$(O)/helper/front/dialect/native_openapi.o: $(O)/gen/openapi.h
$(O)/helper/front/dialect/native_openapi.o: CPPFLAGS += -I$(O)/gen

HELPER += $(O)/retort-front

ifdef FRONT_ALONE
$(O)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC   $<)
	$(Q)$(COMPILE) -MMD -MP -c -o $@ $<

-include $(front_objs:.o=.d)
endif
