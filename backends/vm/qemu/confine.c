/* confine - confines QEMU to its own files and its descriptors. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "backends/linux/native_priv.h"
#include "backends/linux/sandbox/call_filter.h"
#include "backends/linux/sandbox/landlock.h"
#include "backends/vm/qemu/qemu.h"

/*
 * QEMU's own filter (-sandbox) begins after it has parsed its arguments, and forbids programs and
 * processes. This filter begins before its first instruction. It forbids calls that neither a start
 * nor a run needs: new sockets, access to other processes, and large parts of the kernel.
 */
static const struct call_rule refused[] = {
	CALL(socket),
	CALL(connect),
	CALL(bind),
	CALL(listen),
	CALL(add_key),
	CALL(bpf),
	CALL(chroot),
	CALL(fork),
	CALL(io_uring_enter),
	CALL(io_uring_register),
	CALL(io_uring_setup),
	CALL(kcmp),
	CALL(keyctl),
	CALL(mount),
	CALL(open_by_handle_at),
	CALL(open_tree),
	CALL(perf_event_open),
	CALL(pidfd_getfd),
	CALL(pidfd_open),
	CALL(pidfd_send_signal),
	CALL(process_vm_readv),
	CALL(process_vm_writev),
	CALL(ptrace),
	CALL(request_key),
	CALL(setns),
	CALL(unshare),
	CALL(userfaultfd),
	CALL(vfork),
};

static int filter(struct err *err)
{
	struct call_filter f;

	call_filter_begin(&f, SCMP_ACT_ALLOW);
	call_filter_add(&f, SCMP_ACT_ERRNO(EPERM), refused, ARRAY_LEN(refused));
	return call_filter_load(&f, "QEMU's", err);
}

/* Removes components: "/opt/qemu/bin/qemu-system-x86_64" -> "/opt/qemu", whose share/ has the
 * firmware. */
static char *above(const char *path, int levels)
{
	char *dir = xstrdup(path);

	for (char *slash; levels-- > 0 && (slash = strrchr(dir, '/'));)
		*slash = '\0';
	return dir;
}

static int open_kvm(bool kvm)
{
	return kvm ? open("/dev/kvm", O_PATH | O_CLOEXEC) : -1;
}

int qemu_confine(const char *program, const char *kernel, bool kvm, struct err *err)
{
	const struct rlimit no_core = {0, 0};
	AUTO_FREE char *own = above(program, 2);
	AUTO_FREE char *kernels = above(kernel, 1);
	AUTO_CLOSE int device = open_kvm(kvm);
	const unsigned both = LANDLOCK_READ | LANDLOCK_EXEC;
	const struct landlock_tree trees[] = {
		{.path = (char[]){"/usr"}, .rights = both},
		{.path = (char[]){"/lib"}, .rights = both},
		{.path = (char[]){"/lib64"}, .rights = both},
		{.path = (char[]){"/nix/store"}, .rights = both},
		{.path = (char[]){"/gnu/store"}, .rights = both},
		{.path = (char[]){"/etc/ld.so.cache"}, .rights = LANDLOCK_READ},
		{.path = (char[]){"/dev/null"}, .rights = LANDLOCK_READ},
		{.path = (char[]){"/dev/urandom"}, .rights = LANDLOCK_READ},
		{.path = (char[]){"/dev/kvm"}, .rights = kvm ? LANDLOCK_READ : 0},
		{.path = (char[]){"/sys/devices/system"}, .rights = LANDLOCK_READ},
		{.path = own, .rights = *own ? both : 0},
		{.path = kernels, .rights = *kernels ? LANDLOCK_READ : 0},
	};
	const struct landlock_spec rules = {.writable = &device,
					    .n = 1,
					    .trees = trees,
					    .n_trees = ARRAY_LEN(trees),
					    .agent = true,
					    .truncate = true,
					    .no_tcp = true};
	int r = confine_drop_all(err);

	setrlimit(RLIMIT_CORE, &no_core);
	if (r == 0 && landlock_abi() >= LANDLOCK_ABI_NEEDED)
		r = landlock_restrict(&rules, err);
	return r < 0 ? r : filter(err);
}
