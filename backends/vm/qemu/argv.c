/* argv - QEMU's arguments: a machine with four kinds of device, no more. */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdarg.h>
#include <time.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include "backends/vm/net/frame.h"
#include "backends/vm/qemu/qemu.h"

struct args {
	char **list;
	size_t n;
};

static void add(struct args *a, const char *fmt, ...) PRINTF_LIKE(2, 3);

static void add(struct args *a, const char *fmt, ...)
{
	AUTO_FREE char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		abort();
	va_end(ap);
	util_list_push(&a->list, &a->n, take_ptr(&text));
}

static int64_t mono_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/*
 * Returns the host's rate of the time stamp counter, which the emulated processor uses; 0: unknown.
 * A guest that measures the rate itself may fail and hang, so its command line states it.
 */
static int64_t tsc_khz(void)
{
#ifdef __x86_64__
	const int64_t span = 20000000;
	int64_t start = mono_ns(), now = start;
	uint64_t from = __rdtsc(), to = from;

	while (now - start < span) {
		now = mono_ns();
		to = __rdtsc();
	}
	return (int64_t)((to - from) * 1000000 / (uint64_t)(now - start));
#else
	return 0;
#endif
}

static void add_kernel(struct args *a, const struct qemu_spec *s)
{
	/* Each saves 0.1 s or more under emulation (measured). */
	static const char usual[] =
		"console=ttyS0 panic=-1 quiet loglevel=4 cryptomgr.notests audit=0 "
		"apparmor=0 8250.nr_uarts=1 rcupdate.rcu_expedited=1";

	add(a, "-kernel");
	add(a, "%s", s->kernel);
	add(a, "-initrd");
	add(a, "/proc/self/fd/%d", s->initrd);
	add(a, "-append");
	if (s->kvm)
		add(a, "%s", usual);
	else
		/* Mitigations are needless: no other process's secrets share an emulated cache. The
		 * check of the timer panics on a host that is too busy to emulate interrupts in
		 * time. */
		add(a, "%s mitigations=off no_timer_check tsc=reliable tsc_early_khz=%" PRId64,
		    usual, tsc_khz());
}

static void add_socket(struct args *a, const char *id, int fd)
{
	add(a, "-chardev");
	add(a, "socket,id=%s,fd=%d", id, fd);
}

static void add_port(struct args *a, const char *name, int fd)
{
	add_socket(a, name, fd);
	add(a, "-device");
	add(a, "virtserialport,chardev=%s,name=%s", name, name);
}

/* Adds the network device, without a boot ROM. Offloading is off: the guest sends whole packets. */
static void add_net(struct args *a, int fd)
{
	add(a, "-netdev");
	add(a, "stream,id=net,addr.type=fd,addr.str=%d", fd);
	add(a, "-device");
	add(a, "virtio-net-pci,netdev=net,mac=" FRAME_GUEST ",romfile=");
}

static void add_devices(struct args *a, const struct qemu_spec *s)
{
	add(a, "-device");
	add(a, "virtio-serial-pci,max_ports=4");
	add_port(a, "control", s->control);
	add_port(a, "tty", s->tty);
	add_socket(a, "console", s->console);
	add(a, "-serial");
	add(a, "chardev:console");
	add_socket(a, "qmp", s->qmp);
	add(a, "-mon");
	add(a, "chardev=qmp,mode=control");
	for (size_t i = 0; i < s->n; i++) {
		add(a, "-chardev");
		add(a, "socket,id=fs%zu,fd=%d", i, s->shares[i]);
		add(a, "-device");
		add(a, "vhost-user-fs-pci,queue-size=1024,chardev=fs%zu,tag=%s", i, s->tags[i]);
	}
	if (s->net >= 0)
		add_net(a, s->net);
	if (s->disk < 0)
		return;
	add(a, "-add-fd");
	add(a, "fd=%d,set=1", s->disk);
	add(a, "-add-fd");
	add(a, "fd=%d,set=1", s->disk_read);
	add(a, "-drive");
	add(a, "if=none,id=disk,format=raw,file=/dev/fdset/1,file.locking=off,discard=unmap");
	add(a, "-device");
	/* If the host's disk is full the guest gets an error; by default QEMU would stop the
	 * machine. */
	add(a, "virtio-blk-pci,drive=disk,werror=report,rerror=report");
}

char **qemu_argv(const struct qemu_spec *s)
{
	struct args a = {0};
	int64_t mib = s->memory >> 20;

	add(&a, "%s", s->program);
	add(&a, "-nodefaults");
	add(&a, "-no-user-config");
	add(&a, "-no-reboot");
	add(&a, "-display");
	add(&a, "none");
	add(&a, "-sandbox");
	add(&a, "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny");
	add(&a, "-accel");
	add(&a, "%s", s->kvm ? "kvm" : "tcg");
	add(&a, "-cpu");
	add(&a, "%s", s->kvm ? "host" : "max");
	add(&a, "-machine");
	/* Both machines have PCI, for the same devices, and ACPI, to switch off. */
	add(&a, "%s",
	    s->microvm ? "microvm,memory-backend=mem,acpi=on,pcie=on,auto-kernel-cmdline=off"
		       : "q35,memory-backend=mem,smm=off,hpet=off,vmport=off,sata=off,smbus=off");
	add(&a, "-object");
	add(&a, "memory-backend-memfd,id=mem,size=%" PRId64 "M,share=on", mib);
	add(&a, "-m");
	add(&a, "%" PRId64, mib);
	add(&a, "-smp");
	add(&a, "%d", s->cpus);
	add_kernel(&a, s);
	add_devices(&a, s);
	return a.list;
}
