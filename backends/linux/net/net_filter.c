/* net_filter - the system calls that the relay, the router and the proxy may still make. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/linux/net/net_priv.h"

/*
 * Both read bytes of strangers. What one of them would need to become something else (programs,
 * files to write, other processes, code that was not there) is refused: EPERM, since a C library of
 * another age may try a call that it can do without.
 */
static const int common[] = {
	SCMP_SYS(brk),
	SCMP_SYS(clock_gettime),
	SCMP_SYS(close),
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
	SCMP_SYS(fstat),
	SCMP_SYS(futex),
	SCMP_SYS(getpid),
	SCMP_SYS(getsockopt),
	SCMP_SYS(gettid),
	SCMP_SYS(gettimeofday),
	SCMP_SYS(madvise),
	SCMP_SYS(mremap),
	SCMP_SYS(munmap),
	SCMP_SYS(read),
	SCMP_SYS(recvmsg),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(sendmsg),
	SCMP_SYS(setsockopt),
	SCMP_SYS(tgkill),
	SCMP_SYS(write),
	SCMP_SYS(bind),
	SCMP_SYS(listen),
};

/* Landlock says which files can be opened. */
static const int of_relay[] = {
	SCMP_SYS(accept4),     SCMP_SYS(connect),  SCMP_SYS(epoll_ctl),	  SCMP_SYS(epoll_pwait),
	SCMP_SYS(epoll_wait),  SCMP_SYS(fcntl),	   SCMP_SYS(getpeername), SCMP_SYS(getrandom),
	SCMP_SYS(getsockname), SCMP_SYS(lseek),	   SCMP_SYS(newfstatat),  SCMP_SYS(pipe2),
	SCMP_SYS(pread64),     SCMP_SYS(recvfrom), SCMP_SYS(sendto),	  SCMP_SYS(shutdown),
	SCMP_SYS(splice),      SCMP_SYS(stat),	   SCMP_SYS(statx),
};

static int allow(scmp_filter_ctx c, const int *list, size_t n)
{
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++)
		if (list[i] >= 0) /* else this architecture has none */
			r = seccomp_rule_add(c, SCMP_ACT_ALLOW, list[i], 0);
	return r;
}

/* A call whose argument `arg`, under the mask, is this. */
static int allow_if(scmp_filter_ctx c, int nr, unsigned arg, uint64_t mask, uint64_t is)
{
	const struct scmp_arg_cmp cmp = {arg, SCMP_CMP_MASKED_EQ, mask, is};

	return seccomp_rule_add_array(c, SCMP_ACT_ALLOW, nr, 1, &cmp);
}

static int add_common(scmp_filter_ctx c)
{
	int r = allow(c, common, ARRAY_LEN(common));

	if (r == 0)
		r = allow_if(c, SCMP_SYS(mmap), 2, PROT_EXEC, 0);
	if (r == 0)
		r = allow_if(c, SCMP_SYS(mprotect), 2, PROT_EXEC, 0);
	if (r == 0)
		r = allow_if(c, SCMP_SYS(socket), 0, UINT32_MAX, AF_INET);
	return r < 0 ? r : allow_if(c, SCMP_SYS(socket), 0, UINT32_MAX, AF_INET6);
}

static int load(uint32_t otherwise, int (*add)(scmp_filter_ctx c))
{
	scmp_filter_ctx c = seccomp_init(otherwise);
	int r = c ? add(c) : -ENOMEM;

	if (r == 0)
		r = seccomp_load(c);
	if (c)
		seccomp_release(c);
	return r;
}

static int add_relay(scmp_filter_ctx c)
{
	const uint64_t writes = O_ACCMODE | O_CREAT | O_TRUNC;
	int r = add_common(c);

	if (r == 0)
		r = allow(c, of_relay, ARRAY_LEN(of_relay));
	if (r == 0)
		r = allow_if(c, SCMP_SYS(ioctl), 1, UINT32_MAX, SIOCATMARK);
	if (r == 0) /* a connection's other end in the TLS process */
		r = allow_if(c, SCMP_SYS(socketpair), 0, UINT32_MAX, AF_UNIX);
	return r < 0 ? r : allow_if(c, SCMP_SYS(openat), 2, writes, O_RDONLY);
}

/* Bytes come and go through descriptors that it was given. */
static const int of_tls[] = {
	SCMP_SYS(brk),
	SCMP_SYS(clock_gettime),
	SCMP_SYS(close),
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
	SCMP_SYS(fcntl),
	SCMP_SYS(futex),
	SCMP_SYS(getpid),
	SCMP_SYS(getrandom),
	SCMP_SYS(getsockopt),
	SCMP_SYS(gettid),
	SCMP_SYS(gettimeofday),
	SCMP_SYS(madvise),
	SCMP_SYS(mremap),
	SCMP_SYS(munmap),
	SCMP_SYS(poll),
	SCMP_SYS(ppoll),
	SCMP_SYS(read),
	SCMP_SYS(recvfrom),
	SCMP_SYS(recvmsg),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(sendto),
	SCMP_SYS(shutdown),
	SCMP_SYS(time),
	SCMP_SYS(write),
	SCMP_SYS(rt_sigprocmask),
};

static int add_tls(scmp_filter_ctx c)
{
	const scmp_datum_t self = (scmp_datum_t)getpid();
	int r = allow(c, of_tls, ARRAY_LEN(of_tls));

	if (r == 0)
		r = allow_if(c, SCMP_SYS(mmap), 2, PROT_EXEC, 0);
	if (r == 0)
		r = allow_if(c, SCMP_SYS(mprotect), 2, PROT_EXEC, 0);
	return r < 0 ? r : allow_if(c, SCMP_SYS(tgkill), 0, UINT32_MAX, self); /* abort() */
}

static int add_router(scmp_filter_ctx c)
{
	int r = add_common(c);

	return r < 0 ? r : allow_if(c, SCMP_SYS(setns), 1, UINT32_MAX, CLONE_NEWNET);
}

/*
 * What the C library and its modules need to look a name up differs from host to host. So of the
 * proxy's calls only those are refused that none of them makes: programs, processes, other
 * processes' memory, signals, and what widens the kernel that is within reach. Landlock says which
 * files can be opened.
 */
static const int not_of_proxy[] = {
	SCMP_SYS(add_key),
	SCMP_SYS(bpf),
	SCMP_SYS(chroot),
	SCMP_SYS(execve),
	SCMP_SYS(execveat),
	SCMP_SYS(fork),
	SCMP_SYS(io_uring_enter),
	SCMP_SYS(io_uring_register),
	SCMP_SYS(io_uring_setup),
	SCMP_SYS(kcmp),
	SCMP_SYS(keyctl),
	SCMP_SYS(kill),
	SCMP_SYS(mount),
	SCMP_SYS(open_by_handle_at),
	SCMP_SYS(open_tree),
	SCMP_SYS(perf_event_open),
	SCMP_SYS(pidfd_getfd),
	SCMP_SYS(pidfd_open),
	SCMP_SYS(pidfd_send_signal),
	SCMP_SYS(process_vm_readv),
	SCMP_SYS(process_vm_writev),
	SCMP_SYS(ptrace),
	SCMP_SYS(request_key),
	SCMP_SYS(rt_sigqueueinfo),
	SCMP_SYS(rt_tgsigqueueinfo),
	SCMP_SYS(setns),
	SCMP_SYS(tkill),
	SCMP_SYS(unshare),
	SCMP_SYS(userfaultfd),
	SCMP_SYS(vfork),
};

static int refuse(scmp_filter_ctx c, int code, int nr, const struct scmp_arg_cmp *cmp)
{
	return nr < 0 ? 0 : seccomp_rule_add_array(c, SCMP_ACT_ERRNO(code), nr, cmp ? 1 : 0, cmp);
}

static int add_proxy(scmp_filter_ctx c)
{
	const struct scmp_arg_cmp no_thread = {0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0};
	const struct scmp_arg_cmp others = {0, SCMP_CMP_NE, (scmp_datum_t)getpid(), 0};
	const struct scmp_arg_cmp rare = {0, SCMP_CMP_GT, AF_NETLINK, 0};
	int r = 0;

	for (size_t i = 0; i < ARRAY_LEN(not_of_proxy) && r == 0; i++)
		r = refuse(c, EPERM, not_of_proxy[i], NULL);
	/* The flags of clone3() cannot be looked at: the C library takes clone() then. */
	if (r == 0)
		r = refuse(c, ENOSYS, SCMP_SYS(clone3), NULL);
	if (r == 0)
		r = refuse(c, EPERM, SCMP_SYS(clone), &no_thread);
	if (r == 0)
		r = refuse(c, EPERM, SCMP_SYS(tgkill), &others);
	return r < 0 ? r : refuse(c, EAFNOSUPPORT, SCMP_SYS(socket), &rare);
}

int net_filter_proxy(void)
{
	return load(SCMP_ACT_ALLOW, add_proxy);
}

int net_filter_tls(void)
{
	return load(SCMP_ACT_ERRNO(EPERM), add_tls);
}

int net_filter_relay(void)
{
	return load(SCMP_ACT_ERRNO(EPERM), add_relay);
}

int net_filter_router(void)
{
	return load(SCMP_ACT_ERRNO(EPERM), add_router);
}
