/* plan - checks a virtual machine's needs before any process starts. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "backends/vm/disk.h"
#include "backends/vm/qemu/qemu.h"
#include "backends/vm/vm.h"
#include "backends/vm/vm_priv.h"

#define MEMORY_USUAL ((int64_t)2 << 30)
#define CPUS_USUAL   4

/* Returns a value of /proc/meminfo in bytes; 0 if it is unknown. */
static int64_t memory_of(const char *name)
{
	AUTO_FILE FILE *f = fopen("/proc/meminfo", "re");
	char line[128];
	int64_t kib;

	while (f && fgets(line, sizeof(line), f))
		if (str_starts(line, name) && line[strlen(name)] == ':' &&
		    sscanf(line + strlen(name) + 1, "%" SCNd64, &kib) == 1)
			return kib << 10;
	return 0;
}

int vm_choose_memory(const struct vm_settings *s, int64_t *ret, struct err *err)
{
	int64_t total = memory_of("MemTotal"), left = memory_of("MemAvailable"), memory;

	memory = s->memory ? s->memory : MIN(MEMORY_USUAL, total / 2);
	*ret = memory = memory >> 20 << 20;
	if (memory < VM_MEMORY_MIN)
		return err_say(err, -EINVAL,
			       "vm.memory: %" PRId64 " MiB are too little for a guest: 128 MiB "
			       "or more are needed",
			       memory >> 20);
	if (memory <= left)
		return 0;
	return err_say(err, -ENOMEM,
		       "the guest's %" PRId64 " MiB of memory are not free here, %" PRId64
		       " MiB are: say --vm-memory %" PRId64 "m",
		       memory >> 20, left >> 20, MAX(left >> 21, (int64_t)128));
}

int vm_choose_cpus(const struct vm_settings *s, bool kvm, int *ret, struct err *err)
{
	long here = sysconf(_SC_NPROCESSORS_ONLN);

	if (s->cpus < 0 || s->cpus > 255)
		return err_say(err, -EINVAL, "vm.cpus: %d is no number of processors from 1 to 255",
			       s->cpus);
	*ret = s->cpus;
	/* Several emulated processors spend more time on waiting for each other than on work. */
	if (!*ret)
		*ret = kvm ? (int)MIN(MAX(here, 1), CPUS_USUAL) : 1;
	return 0;
}

int vm_check(const struct spawn_spec *spec, struct err *err)
{
	if (spec->publish && spec->publish->port)
		return err_say(
			err, -EOPNOTSUPP,
			"--backend vm cannot show a port of the guest on the host: leave --publish "
			"out");
	if (spec->overlays && *spec->overlays)
		return err_say(err, -EOPNOTSUPP,
			       "--backend vm keeps all that changes outside the working folders "
			       "apart: leave --overlay out");
	return 0;
}

int vm_plan_make(struct vm_plan *ret, const struct spawn_spec *spec, struct err *err)
{
	struct guest_spec guest = {.state_dir = spec->state_dir, .kernel = spec->vm.kernel};
	AUTO_FREE char *shim = NULL;
	int r = vm_check(spec, err);

	*ret = (struct vm_plan){.disk = -1};
	if (r == 0 && !(ret->qemu = qemu_find(err)))
		r = err->code;
	if (r == 0 && !(shim = guest_shim(err)))
		r = err->code;
	guest.shim = shim;
	if (r == 0)
		r = vm_choose_memory(&spec->vm, &ret->memory, err);
	if (r == 0)
		r = guest_prepare(&ret->guest, &guest, err);
	if (r == 0) {
		ret->kvm = vm_has_kvm(ret->qemu, &ret->no_kvm);
		r = vm_choose_cpus(&spec->vm, ret->kvm, &ret->cpus, err);
	}
	if (r == 0 && spec->vm.persistent) {
		ret->disk = disk_open(spec->state_dir, spec->folders[0], spec->vm.disk, err);
		r = MIN(ret->disk, 0);
	}
	if (r < 0)
		vm_plan_done(ret);
	return r;
}

void vm_plan_done(struct vm_plan *p)
{
	free(p->qemu);
	guest_done(&p->guest);
	if (p->disk >= 0)
		close(p->disk);
	*p = (struct vm_plan){.disk = -1};
}
