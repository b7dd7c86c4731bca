/* net_filter - the only system calls that the relay, the router and the proxy may make. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/linux/net/net_priv.h"
#include "backends/linux/sandbox/call_filter.h"

/*
 * Relay and router read untrusted bytes. Calls that would let one run programs, write files, reach
 * other processes or map new code are refused. The error is EPERM, because C libraries of other
 * versions may try calls that they can do without.
 */
static const struct call_rule common[] = {
	CALL(exit),
	CALL(fstat),
	CALL(getsockopt),
	CALL(gettimeofday),
	CALL(recvmsg),
	CALL(sendmsg),
	CALL(setsockopt),
	CALL(tgkill),
	CALL(bind),
	CALL(listen),
	CALL_IF(socket, 0, UINT32_MAX, AF_INET),
	CALL_IF(socket, 0, UINT32_MAX, AF_INET6),
};

/* Landlock limits the files that can be opened. */
static const struct call_rule of_relay[] = {
	CALL(accept4),
	CALL(connect),
	CALL(epoll_ctl),
	CALL(epoll_pwait),
	CALL(epoll_wait),
	CALL(fcntl),
	CALL(getpeername),
	CALL(getsockname),
	CALL(lseek),
	CALL(newfstatat),
	CALL(pipe2),
	CALL(pread64),
	CALL(recvfrom),
	CALL(sendto),
	CALL(shutdown),
	CALL(splice),
	CALL(stat),
	CALL(statx),
	CALL_IF(ioctl, 1, UINT32_MAX, SIOCATMARK),
	/* for connections through the TLS process */
	CALL_IF(socketpair, 0, UINT32_MAX, AF_UNIX),
	CALL_IF(openat, 2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY),
};

static const struct call_rule of_router[] = {
	CALL_IF(setns, 1, UINT32_MAX, CLONE_NEWNET),
};

static int confine(const struct call_rule *own, size_t n, const char *whose)
{
	struct call_filter f;

	call_filter_begin(&f, SCMP_ACT_ERRNO(EPERM));
	call_filter_serve(&f);
	call_filter_add(&f, SCMP_ACT_ALLOW, common, ARRAY_LEN(common));
	call_filter_add(&f, SCMP_ACT_ALLOW, own, n);
	return call_filter_load(&f, whose, NULL);
}

int net_filter_relay(void)
{
	return confine(of_relay, ARRAY_LEN(of_relay), "the relay's");
}

int net_filter_router(void)
{
	return confine(of_router, ARRAY_LEN(of_router), "the router's");
}

/* Allows only calls on descriptors that the process already has. */
int net_filter_tls(void)
{
	const struct call_rule calls[] = {
		CALL(exit),	  CALL(fcntl),
		CALL(getsockopt), CALL(gettimeofday),
		CALL(recvfrom),	  CALL(recvmsg),
		CALL(sendto),	  CALL(shutdown),
		CALL(time),	  CALL_IF(tgkill, 0, UINT32_MAX, (uint32_t)getpid()), /* abort() */
	};

	return call_filter_confine(SCMP_ACT_ERRNO(EPERM), calls, ARRAY_LEN(calls),
				   "the TLS process's", NULL);
}

/*
 * Calls for a name look-up differ between C libraries and their modules. So only calls are refused
 * that none of them makes: programs, processes, other processes' memory, signals, and large parts
 * of the kernel. Landlock limits the files that can be opened.
 */
static const struct call_rule not_of_proxy[] = {
	CALL(add_key),
	CALL(bpf),
	CALL(chroot),
	CALL(execve),
	CALL(execveat),
	CALL(fork),
	CALL(io_uring_enter),
	CALL(io_uring_register),
	CALL(io_uring_setup),
	CALL(kcmp),
	CALL(keyctl),
	CALL(kill),
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
	CALL(rt_sigqueueinfo),
	CALL(rt_tgsigqueueinfo),
	CALL(setns),
	CALL(tkill),
	CALL(unshare),
	CALL(userfaultfd),
	CALL(vfork),
	CALL_IF(clone, 0, CLONE_THREAD, 0),
};
/* A filter cannot read the flags of clone3(). The C library falls back to clone(). */
static const struct call_rule clone3_of_proxy[] = {CALL(clone3)};

static void refuse(struct call_filter *f, int code, int nr, enum scmp_compare how, uint64_t value)
{
	const struct scmp_arg_cmp cmp = {0, how, value, 0};

	if (f->r == 0)
		f->r = seccomp_rule_add_array(f->ctx, SCMP_ACT_ERRNO(code), nr, 1, &cmp);
}

int net_filter_proxy(void)
{
	struct call_filter f;

	call_filter_begin(&f, SCMP_ACT_ALLOW);
	call_filter_add(&f, SCMP_ACT_ERRNO(EPERM), not_of_proxy, ARRAY_LEN(not_of_proxy));
	call_filter_add(&f, SCMP_ACT_ERRNO(ENOSYS), clone3_of_proxy, 1);
	refuse(&f, EPERM, SCMP_SYS(tgkill), SCMP_CMP_NE, (scmp_datum_t)getpid());
	refuse(&f, EAFNOSUPPORT, SCMP_SYS(socket), SCMP_CMP_GT, AF_NETLINK);
	return call_filter_load(&f, "the proxy's", NULL);
}
