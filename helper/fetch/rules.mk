# retort-fetch.  Included by the top Makefile.

fetch_objs = $(call objects,helper/fetch/*.c)

$(O)/retort-fetch: $(fetch_objs) $(lib_objs)
	$(call say,LINK $@)
	$(Q)$(LINK) -o $@ $^ -lcurl $(LDLIBS)

HELPER += $(O)/retort-fetch
