/* probe - checks which features a virtual machine has here. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "backends/vm/net/guest_net.h"
#include "backends/vm/qemu/qemu.h"
#include "backends/vm/vm_priv.h"
#include "core/session/folders.h"

#define INSTALL "install QEMU for x86-64 (Debian and Ubuntu: qemu-system-x86)"

static bool look_for_qemu(struct probe_report *report, char **ret)
{
	struct err err = {0};

	*ret = qemu_find(&err);
	probe_add(report, "QEMU", true, *ret, *ret ? *ret : err.text, INSTALL);
	return *ret;
}

static bool look_for_kernel(struct probe_report *report, const struct vm_settings *s)
{
	AUTO_FREE char *state = folders_state_dir(getenv("HOME"));
	struct err err = {0};
	AUTO_FREE char *shim = guest_shim(&err);
	const struct guest_spec spec = {.state_dir = state, .kernel = s->kernel, .shim = shim};
	struct guest g = {0};
	char found[160];
	int r = shim ? guest_find(&g, &spec, &err) : err.code;

	if (r == 0)
		snprintf(found, sizeof(found), "%s, %" PRId64 " MiB are kept", g.release,
			 g.size >> 20);
	guest_done(&g);
	/* -EAGAIN (the files are not made yet) is fine: the first start makes them. */
	probe_add(report, "guest", true, r == 0 || r == -EAGAIN, r == 0 ? found : err.text,
		  "cordon vm build --download (Debian: a download of 27 MB, 100 MB on disk)");
	return r == 0 || r == -EAGAIN;
}

bool vm_has_kvm(const char *qemu, const char **why)
{
	static struct {
		bool known, works;
		char why[160];
	} kvm;

	if (!kvm.known)
		kvm.works = accel_works(qemu, "kvm", kvm.why, sizeof(kvm.why));
	kvm.known = true;
	*why = kvm.why;
	return kvm.works;
}

const char *vm_tier(void)
{
	struct err ignored = {0};
	AUTO_FREE char *qemu = qemu_find(&ignored);
	const char *why;

	return !qemu || vm_has_kvm(qemu, &why) ? "" : "emulated";
}

static bool look_at_size(struct probe_report *report, const struct vm_settings *s, bool kvm)
{
	struct err err = {0};
	char found[160];
	int64_t memory = 0;
	int cpus = 0, r = vm_choose_memory(s, &memory, &err);

	if (r == 0)
		r = vm_choose_cpus(s, kvm, &cpus, &err);
	snprintf(found, sizeof(found), "%s, %" PRId64 " MiB of memory, %d processor%s, %s",
		 s->microvm ? "microvm" : "q35", memory >> 20, cpus, cpus == 1 ? "" : "s",
		 s->persistent ? "its own changes are kept" : "its own changes end with it");
	probe_add(report, "size", true, r == 0, r == 0 ? found : err.text,
		  "set vm.memory and vm.cpus");
	return r == 0;
}

static bool look_at_processor(struct probe_report *report, const char *qemu)
{
	char found[320], why[160];
	const char *no_kvm;

	if (vm_has_kvm(qemu, &no_kvm)) {
		probe_add(report, "processor", false, true, "KVM", "");
		return true;
	}
	snprintf(found, sizeof(found), "emulated, five to twenty times slower; no KVM: %s", no_kvm);
	probe_add(report, "processor", false, false, found,
		  "switch virtualisation on in the firmware, or nested virtualisation in the host "
		  "of this machine; be of the group that may open /dev/kvm");
	if (accel_works(qemu, "tcg", why, sizeof(why)))
		return true;
	probe_add(report, "emulation", true, false, why, INSTALL);
	return false;
}

static void look_for_network(struct probe_report *report)
{
	char found[160] = "hosts are asked for";
	int r = guest_net_try();

	if (r < 0)
		snprintf(found, sizeof(found), "the guest has none: %s", strerror(-r));
	probe_add(report, "network", false, r == 0, found,
		  "let everybody open /dev/net/tun (modprobe tun; chmod 666 /dev/net/tun), and "
		  "make user "
		  "namespaces");
}

uint32_t vm_probe(struct probe_report *report, struct err *err)
{
	AUTO_FREE char *qemu = NULL;
	bool here = look_for_qemu(report, &qemu);
	const struct vm_settings usual = {0}, *s = report && report->vm ? report->vm : &usual;
	const char *why;

	(void)err;
	here &= look_for_kernel(report, s);
	if (qemu) {
		here &= look_at_processor(report, qemu);
		here &= look_at_size(report, s, vm_has_kvm(qemu, &why));
	}
	look_for_network(report);
	if (!here)
		return 0;
	return BACKEND_REQUIRED | BACKEND_LIMITS;
}
