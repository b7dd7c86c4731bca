/* filter - compiles and installs the seccomp filter of the sandbox. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/filter.h"

#include <errno.h>
#include <linux/filter.h>
#include <seccomp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backends/linux/door/filter_prologue.h"
#include "backends/linux/door/filter_rules.h"
#include "core/base/util.h"
#include "core/base/io.h"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV /* Linux 5.19 */
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

/* The program in the kernel's format. The keeper compiles it once, and its children inherit it. */
static struct {
	bool ready;
	struct filter_spec spec;
	struct sock_filter code[4096];
	unsigned short len;
} program;

static int export_rules(scmp_filter_ctx c, const struct filter_spec *spec, struct err *err)
{
	AUTO_CLOSE int fd = memfd_create("filter", MFD_CLOEXEC);
	unsigned short head;
	ssize_t n;
	int r;

	if (fd < 0)
		return err_set(err, -errno, "make room for the system call filter");
	r = seccomp_export_bpf(c, fd);
	if (r < 0)
		return err_set(err, r, "compile the system call filter");
	head = filter_prologue(program.code, spec);
	n = io_pread_full(fd, program.code + head,
			  sizeof(program.code) - head * sizeof(*program.code), 0);
	if (n <= 0 || (size_t)n % sizeof(*program.code) != 0 ||
	    head + (size_t)n / sizeof(*program.code) >= ARRAY_LEN(program.code))
		return err_say(err, -E2BIG, "the system call filter is too long");
	program.len = (unsigned short)(head + (size_t)n / sizeof(*program.code));
	return 0;
}

int filter_prepare(const struct filter_spec *spec, struct err *err)
{
	scmp_filter_ctx c;
	int r;

	if (program.ready && memcmp(&program.spec, spec, sizeof(*spec)) == 0)
		return 0;
	program.ready = false;
	c = seccomp_init(SCMP_ACT_ALLOW);
	if (c == NULL)
		return err_say(err, -ENOMEM, "no memory for the system call filter");
	r = filter_rules_add(c, spec);
	if (r < 0)
		r = err_set(err, r, "build the system call filter");
	else
		r = export_rules(c, spec, err);
	seccomp_release(c);
	if (r < 0)
		return r;
	program.spec = *spec;
	program.ready = true;
	return 0;
}

const struct sock_filter *filter_code(size_t *ret_len)
{
	*ret_len = program.ready ? program.len : 0;
	return program.code;
}

static int install(unsigned long flags)
{
	struct sock_fprog prog = {.len = program.len, .filter = program.code};
	long r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);

	return r < 0 ? -errno : (int)r;
}

int filter_install(const struct filter_spec *spec, int *ret_listener)
{
	int r = filter_prepare(spec, NULL);

	if (r < 0)
		return r;
	r = install(SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
	if (r == -EINVAL)
		r = install(SECCOMP_FILTER_FLAG_NEW_LISTENER);
	if (r < 0)
		return r;
	*ret_listener = r;
	return 0;
}

bool filter_wait_killable(void)
{
	/* For an unknown flag the kernel returns EINVAL before it reads the program; for a known
	 * one EFAULT. */
	long r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			 SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
			 NULL);

	return r < 0 && errno == EFAULT;
}
