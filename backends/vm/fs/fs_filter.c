/* fs_filter - the system calls that the fs server makes, and no other. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <sys/mman.h>

#include "backends/vm/fs/fs_process.h"

/*
 * A guest that takes the server over, by a message that it misreads, has its sockets, the host's
 * files read-only (Landlock), and the files that the keeper has opened for it: no socket of its
 * own, no program, no other process. Anything that is not listed ends the server, and so the guest.
 */
static const int calls[] = {
	/* its loop */
	SCMP_SYS(poll),
	SCMP_SYS(ppoll),
	SCMP_SYS(read),
	SCMP_SYS(write),
	SCMP_SYS(sendto),
	SCMP_SYS(recvfrom),
	SCMP_SYS(sendmsg),
	SCMP_SYS(recvmsg),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(exit_group),
	/* what libraries do about it */
	SCMP_SYS(futex),
	SCMP_SYS(getrandom),
	SCMP_SYS(gettid),
	SCMP_SYS(getpid),
	SCMP_SYS(clock_gettime),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigaction),
	SCMP_SYS(sigaltstack),
	/* names and what they mean */
	SCMP_SYS(close),
	SCMP_SYS(fstat),
	SCMP_SYS(newfstatat),
	SCMP_SYS(fstatfs),
	SCMP_SYS(readlink),
	SCMP_SYS(readlinkat),
	SCMP_SYS(getxattr),
	SCMP_SYS(listxattr),
	SCMP_SYS(getdents64),
	/* content of open files */
	SCMP_SYS(pread64),
	SCMP_SYS(preadv),
	SCMP_SYS(pwrite64),
	SCMP_SYS(pwritev),
	SCMP_SYS(lseek),
	SCMP_SYS(ftruncate),
	SCMP_SYS(fallocate),
	SCMP_SYS(copy_file_range),
	SCMP_SYS(fsync),
	SCMP_SYS(fdatasync),
	/* memory; what could make it run is left out below */
	SCMP_SYS(brk),
	SCMP_SYS(munmap),
	SCMP_SYS(mremap),
	SCMP_SYS(madvise),
};

/* Allowed where these bits of that argument are these. */
static const struct {
	int nr;
	unsigned arg;
	uint64_t mask, value;
} some[] = {
	{SCMP_SYS(openat), 2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY},
	{SCMP_SYS(mmap), 2, PROT_EXEC, 0},
	{SCMP_SYS(mprotect), 2, PROT_EXEC, 0},
	{SCMP_SYS(fcntl), 1, ~UINT64_C(0), F_GETFL},
	{SCMP_SYS(fcntl), 1, ~UINT64_C(0), F_DUPFD_CLOEXEC},
	{SCMP_SYS(fcntl), 1, ~UINT64_C(0), F_OFD_SETLK},
	{SCMP_SYS(fcntl), 1, ~UINT64_C(0), F_OFD_GETLK},
};

static int add_calls(scmp_filter_ctx c)
{
	int r = 0;

	for (size_t i = 0; i < ARRAY_LEN(calls) && r == 0; i++)
		if (calls[i] >= 0) /* else this architecture has it not */
			r = seccomp_rule_add(c, SCMP_ACT_ALLOW, calls[i], 0);
	for (size_t i = 0; i < ARRAY_LEN(some) && r == 0; i++) {
		const struct scmp_arg_cmp cmp = {some[i].arg, SCMP_CMP_MASKED_EQ, some[i].mask,
						 some[i].value};

		r = seccomp_rule_add_array(c, SCMP_ACT_ALLOW, some[i].nr, 1, &cmp);
	}
	return r;
}

int fs_filter(struct err *err)
{
	scmp_filter_ctx c = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int r;

	if (!c)
		return err_say(err, -ENOMEM, "no memory for the file server's system call filter");
	r = seccomp_attr_set(c, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (r == 0)
		r = add_calls(c);
	if (r == 0)
		r = seccomp_load(c);
	seccomp_release(c);
	return r < 0 ? err_set(err, r, "filter the file server's system calls") : 0;
}
