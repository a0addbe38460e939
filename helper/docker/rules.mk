# retort-docker.  Included by the top Makefile; what of it runs inside of a
# container is linked into retort-kernel.

docker_objs = $(call objects,helper/docker/*.c)

$(O)/helper/docker/plan.o: $(O)/gen/seccomp_profile.h $(O)/gen/docker_container.h

$(O)/gen/docker_container.h: helper/docker/container.json
	$(Q)mkdir -p $(@D)
	$(Q)sed 's/["\\]/\\&/g; s/^ *//; s/.*/"&"/' $< > $@.tmp
	$(Q)mv $@.tmp $@

$(O)/retort-docker: $(docker_objs) $(lib_objs) $(go_objs) $(lock_objs)
	$(call say,LINK $@)
	$(Q)$(LINK) -o $@ $^ -lcurl -ljson-c $(LDLIBS)

HELPER += $(O)/retort-docker
