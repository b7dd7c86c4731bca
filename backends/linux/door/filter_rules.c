/* filter_rules - the calls that the sandbox refuses, and those that are trapped. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/filter_rules.h"

#include <errno.h>
#include <linux/fs.h>
#include <linux/fscrypt.h>
#include <linux/fsverity.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/linux/door/table.h"

/* The default is native. The kernel keeps a bitmap of the numbers that are always allowed (Linux
 * 5.11), so read, write, stat and futex never run the program. All other calls are listed: refused
 * below, or trapped in door_calls[]. Numbers newer than this list get ENOSYS from a prologue
 * (filter_prologue.c). */
#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif
#define LOW32 0xffffffffULL /* int arguments: the kernel ignores the upper half */

/* Refused with EPERM, whatever the arguments. Negative numbers do not exist on this architecture.
 */
static const int refused[] = {
	SCMP_SYS(acct),
	SCMP_SYS(add_key),
	SCMP_SYS(afs_syscall),
	SCMP_SYS(bpf),
	SCMP_SYS(clock_settime),
	SCMP_SYS(create_module),
	SCMP_SYS(delete_module),
	SCMP_SYS(fanotify_init),
	SCMP_SYS(finit_module),
	SCMP_SYS(get_kernel_syms),
	SCMP_SYS(init_module),
	SCMP_SYS(io_uring_enter),
	SCMP_SYS(io_uring_register),
	SCMP_SYS(io_uring_setup),
	SCMP_SYS(ioperm),
	SCMP_SYS(iopl),
	SCMP_SYS(kexec_file_load),
	SCMP_SYS(kexec_load),
	SCMP_SYS(keyctl),
	SCMP_SYS(lookup_dcookie),
	SCMP_SYS(modify_ldt),
	SCMP_SYS(nfsservctl),
	SCMP_SYS(open_by_handle_at),
	SCMP_SYS(perf_event_open),
	SCMP_SYS(query_module),
	SCMP_SYS(quotactl),
	SCMP_SYS(quotactl_fd),
	SCMP_SYS(reboot),
	SCMP_SYS(request_key),
	SCMP_SYS(setdomainname),
	SCMP_SYS(sethostname),
	SCMP_SYS(settimeofday),
	SCMP_SYS(swapoff),
	SCMP_SYS(swapon),
	SCMP_SYS(sysfs),
	SCMP_SYS(_sysctl),
	SCMP_SYS(syslog),
	SCMP_SYS(uselib),
	SCMP_SYS(userfaultfd),
	SCMP_SYS(vhangup),
	460 /* lsm_set_self_attr, Linux 6.8 */,
};

/* Refused unless nesting is switched on. */
static const int mounting[] = {
	SCMP_SYS(chroot),    SCMP_SYS(fsconfig),   SCMP_SYS(fsmount),	    SCMP_SYS(fsopen),
	SCMP_SYS(fspick),    SCMP_SYS(mount),	   SCMP_SYS(mount_setattr), SCMP_SYS(move_mount),
	SCMP_SYS(open_tree), SCMP_SYS(pivot_root), SCMP_SYS(setns),	    SCMP_SYS(umount),
	SCMP_SYS(umount2),
};

/* Refused with --no-debug. */
static const int debugging[] = {
	SCMP_SYS(ptrace),
	SCMP_SYS(process_vm_readv),
	SCMP_SYS(process_vm_writev),
	SCMP_SYS(pidfd_getfd),
	SCMP_SYS(kcmp),
};

/* Without namespaces these give access to data of the user's other processes: memory, queues and
 * semaphores of System V, and POSIX message queues. */
static const int shared[] = {
	SCMP_SYS(shmget),    SCMP_SYS(shmat),  SCMP_SYS(shmctl),     SCMP_SYS(msgget),
	SCMP_SYS(msgsnd),    SCMP_SYS(msgrcv), SCMP_SYS(msgctl),     SCMP_SYS(semget),
	SCMP_SYS(semop),     SCMP_SYS(semctl), SCMP_SYS(semtimedop), SCMP_SYS(mq_open),
	SCMP_SYS(mq_unlink),
};

/* Calls that change how a process runs: allowed for the caller itself, named by 0. arg: the
 * argument with the process. */
static const struct {
	int nr;
	unsigned arg;
} others[] = {
	{SCMP_SYS(prlimit64), 0},	   {SCMP_SYS(setpriority), 1},
	{SCMP_SYS(ioprio_set), 1},	   {SCMP_SYS(sched_setaffinity), 0},
	{SCMP_SYS(sched_setattr), 0},	   {SCMP_SYS(sched_setparam), 0},
	{SCMP_SYS(sched_setscheduler), 0}, {SCMP_SYS(migrate_pages), 0},
	{SCMP_SYS(move_pages), 0},
};

/* Calls that type into, redirect, reconfigure or lock a terminal (without a console it is the
 * user's own); that set inode flags, which the journal cannot undo; and that change names, modes or
 * the user's encryption keys in ways that Landlock does not control. */
static const uint64_t ioctls[] = {
	TIOCSTI,
	TIOCCONS,
	TIOCSETD,
	TIOCEXCL,
	0x541c, /* TIOCLINUX */
	FS_IOC_SETFLAGS,
	FS_IOC32_SETFLAGS,
	FS_IOC_FSSETXATTR,
	FS_IOC_SETVERSION,
	_IOW('f', 4, long), /* EXT4_IOC_SETVERSION, the same */
	FS_IOC_ENABLE_VERITY,
	FS_IOC_SET_ENCRYPTION_POLICY,
	FS_IOC_ADD_ENCRYPTION_KEY,
	FS_IOC_REMOVE_ENCRYPTION_KEY,
	FS_IOC_REMOVE_ENCRYPTION_KEY_ALL_USERS,
	_IOW('r', 0x11, uint32_t), /* FAT_IOCTL_SET_ATTRIBUTES */
	_IOW(0x94, 1, char[4096]), /* btrfs: creates and deletes snapshots and subvolumes */
	_IOW(0x94, 14, char[4096]),
	_IOW(0x94, 15, char[4096]),
	_IOW(0x94, 23, char[4096]),
	_IOW(0x94, 24, char[4096]),
	_IOW(0x94, 26, uint64_t),   /* btrfs: makes a subvolume read-only or writable */
	_IOWR(0x94, 37, char[200]), /* btrfs: the origin of a received subvolume */
	_IOWR(0x94, 37, char[192]), /* the same for 32 bits, which is served to all */
	_IOW(0x94, 63, char[4096]),
	_IOW(0x94, 2, char[4096]), /* btrfs: rewrites a file that is open for reading */
	_IOW(0x94, 16, char[48]),
	_IO('f', 9),		/* EXT4_IOC_MIGRATE: the same, and sets an inode flag */
	_IOW('o', 4, char[24]), /* OCFS2: a clone under a new name */
};

/* File systems whose commands of their own are all refused. They create subvolumes too, set
 * attributes that entries inherit, and set flags that make a file read-only: ZFS may do that
 * without asking whether the mount is writable. F2FS cuts off or takes back the content of a file
 * that is open for reading (before Linux 6.12). */
#define IOCTL_TYPE 0xff00u
static const uint64_t ioctl_types[] = {
	0xbc00, /* bcachefs */
	0x8300, /* ZFS */
	0x9700, /* Ceph */
	0xf500, /* F2FS */
};

/* A lease on a file delays every open of it for 45 seconds: in an editor of the host, and in the
 * keeper, which opens files for all processes. */
static const uint64_t fcntls[] = {
	F_SETLEASE, F_SETLEASE + 16, /* F_SETDELEG, Linux 6.19 */
};

static const uint64_t namespaces[] = {
	CLONE_NEWNS,   CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
	CLONE_NEWUSER, CLONE_NEWPID,	CLONE_NEWNET,
};

static int rule(scmp_filter_ctx c, uint32_t action, int nr)
{
	int r;

	if (nr < 0)
		return 0;
	r = seccomp_rule_add(c, action, nr, 0);
	return r == -EEXIST ? 0 : r;
}

static int rule_if(scmp_filter_ctx c, uint32_t action, int nr, unsigned arg, uint64_t mask,
		   uint64_t value)
{
	struct scmp_arg_cmp cmp = {arg, SCMP_CMP_MASKED_EQ, mask, value};

	if (nr < 0)
		return 0;
	return seccomp_rule_add_array(c, action, nr, 1, &cmp);
}

static int rules_all(scmp_filter_ctx c, uint32_t action, const int *nr, size_t n)
{
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++)
		r = rule(c, action, nr[i]);
	return r;
}

/* The first argument is AF_UNIX; the type in the second is SOCK_DGRAM or SOCK_RAW, which the kernel
 * treats alike. */
static int rules_datagrams(scmp_filter_ctx c, int nr)
{
	int r = 0;

	for (uint64_t type = SOCK_DGRAM; type <= SOCK_RAW && r == 0; type++) {
		const struct scmp_arg_cmp datagram[] = {
			{0, SCMP_CMP_MASKED_EQ, LOW32, AF_UNIX},
			{1, SCMP_CMP_MASKED_EQ, 0xf, type},
		};

		r = seccomp_rule_add_array(c, SCMP_ACT_NOTIFY, nr, 2, datagram);
	}
	return r;
}

static int rules_trap(scmp_filter_ctx c, const struct filter_spec *spec)
{
	static const uint64_t writes[] = {O_WRONLY, O_RDWR, O_CREAT, O_TRUNC,
					  O_TMPFILE & ~O_DIRECTORY};
	int r = 0;

	for (size_t i = 0; i < door_calls_len && r == 0; i++) {
		const struct door_call *call = &door_calls[i];
		unsigned arg = (unsigned)call->when_arg;

		if (call->when == WHEN_ALWAYS || (call->when == WHEN_WRITES && spec->reads))
			r = rule(c, SCMP_ACT_NOTIFY, call->nr);
		else if (call->when == WHEN_W_OK)
			r = rule_if(c, SCMP_ACT_NOTIFY, call->nr, arg, W_OK, W_OK);
		else if (call->when == WHEN_LISTEN)
			r = spec->windowed || (!spec->alone && !spec->allow_network)
				    ? rule(c, SCMP_ACT_NOTIFY, call->nr)
				    : 0;
		else if (call->when == WHEN_DATAGRAM)
			r = rules_datagrams(c, call->nr);
		else
			for (size_t j = 0; j < ARRAY_LEN(writes) && r == 0; j++)
				r = rule_if(c, SCMP_ACT_NOTIFY, call->nr, arg, writes[j],
					    writes[j]);
	}
	return r;
}

static int rules_namespaces(scmp_filter_ctx c, bool nesting)
{
	int r;

	/* clone3 passes its flags in memory, where they cannot be checked: callers fall back. */
	r = rule(c, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3));
	if (nesting || r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_LEN(namespaces) && r == 0; i++) {
		r = rule_if(c, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 0, namespaces[i],
			    namespaces[i]);
		if (r == 0)
			r = rule_if(c, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(unshare), 0, namespaces[i],
				    namespaces[i]);
	}
	if (r == 0) /* in clone() this bit is a part of the exit signal */
		r = rule_if(c, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(unshare), 0, CLONE_NEWTIME,
			    CLONE_NEWTIME);
	return r < 0 ? r : rules_all(c, SCMP_ACT_ERRNO(EPERM), mounting, ARRAY_LEN(mounting));
}

/* Refuses netlink but for routing. Unix streams, IPv4 and IPv6 are allowed: see the prologue. */
static int rules_sockets(scmp_filter_ctx c)
{
	int r = 0;

	for (uint64_t bit = 1; bit < 32 && r == 0;
	     bit <<= 1) { /* all protocols but NETLINK_ROUTE */
		const struct scmp_arg_cmp netlink[] = {
			{0, SCMP_CMP_MASKED_EQ, LOW32, AF_NETLINK},
			{2, SCMP_CMP_MASKED_EQ, bit, bit},
		};

		r = seccomp_rule_add_array(c, SCMP_ACT_ERRNO(EPROTONOSUPPORT), SCMP_SYS(socket), 2,
					   netlink);
	}
	return r;
}

/*
 * Refuses connections that the network gate cannot decide on: over several addresses, or begun by
 * the first write. Programs have to do without them anyway, on a kernel that lacks them.
 */
static int rules_protocols(scmp_filter_ctx c)
{
	static const struct {
		int nr;
		unsigned flags; /* the argument */
	} sending[] = {{SCMP_SYS(sendto), 3}, {SCMP_SYS(sendmsg), 2}, {SCMP_SYS(sendmmsg), 3}};
	static const unsigned protocols[] = {IPPROTO_DCCP, 115 /* L2TP */, IPPROTO_SCTP,
					     256 /* SMC */, IPPROTO_MPTCP};
	const struct scmp_arg_cmp fast[] = {{1, SCMP_CMP_MASKED_EQ, LOW32, IPPROTO_TCP},
					    {2, SCMP_CMP_MASKED_EQ, LOW32, TCP_FASTOPEN_CONNECT}};
	int r = 0;

	for (size_t i = 0; i < ARRAY_LEN(protocols) && r == 0; i++)
		r = rule_if(c, SCMP_ACT_ERRNO(EPROTONOSUPPORT), SCMP_SYS(socket), 2, LOW32,
			    protocols[i]);
	for (size_t i = 0; i < ARRAY_LEN(sending) && r == 0; i++)
		r = rule_if(c, SCMP_ACT_ERRNO(EOPNOTSUPP), sending[i].nr, sending[i].flags,
			    MSG_FASTOPEN, MSG_FASTOPEN);
	if (r == 0)
		r = seccomp_rule_add_array(c, SCMP_ACT_ERRNO(ENOPROTOOPT), SCMP_SYS(setsockopt), 2,
					   fast);
	return r;
}

/* For the host's own network: allows TCP, and only as the door performs it on the caller's socket.
 * The sandbox must not see devices, names and addresses of the host's interfaces. */
static int rules_proxied(scmp_filter_ctx c)
{
	static const uint64_t families[] = {AF_INET, AF_INET6};
	/* All types but SOCK_STREAM, which is 1. */
	static const struct {
		uint64_t mask, value;
	} types[] = {{1, 0}, {2, 2}, {4, 4}, {8, 8}};
	static const uint64_t options[] = {SO_REUSEPORT, SO_BINDTODEVICE};
	int r = 0;

	for (size_t i = 0; i < ARRAY_LEN(families) * ARRAY_LEN(types) && r == 0; i++) {
		const struct scmp_arg_cmp other[] = {
			{0, SCMP_CMP_MASKED_EQ, LOW32, families[i / ARRAY_LEN(types)]},
			{1, SCMP_CMP_MASKED_EQ, types[i % ARRAY_LEN(types)].mask,
			 types[i % ARRAY_LEN(types)].value},
		};

		r = seccomp_rule_add_array(c, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(socket), 2, other);
	}
	for (size_t i = 0; i < ARRAY_LEN(options) && r == 0; i++) {
		const struct scmp_arg_cmp option[] = {{1, SCMP_CMP_MASKED_EQ, LOW32, SOL_SOCKET},
						      {2, SCMP_CMP_MASKED_EQ, LOW32, options[i]}};

		r = seccomp_rule_add_array(c, SCMP_ACT_ERRNO(ENOPROTOOPT), SCMP_SYS(setsockopt), 2,
					   option);
	}
	/* SIOC*: 0x8910 to 0x89ff. */
	for (uint64_t bit = 0x10; bit <= 0x80 && r == 0; bit <<= 1)
		r = rule_if(c, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1, 0xffffff00 | bit,
			    0x8900 | bit);
	return r;
}

static int rules_alone(scmp_filter_ctx c)
{
	int r = rules_all(c, SCMP_ACT_ERRNO(EPERM), shared, ARRAY_LEN(shared));

	/* PRIO_USER means all processes of the user, including those outside. */
	if (r == 0)
		r = rule_if(c, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(setpriority), 0, 2, PRIO_USER);
	if (r == 0)
		r = rule_if(c, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioprio_set), 0, 3,
			    3 /* IOPRIO_WHO_USER */);
	for (size_t i = 0; i < ARRAY_LEN(others) && r == 0; i++)
		for (uint64_t bit = 1; bit <= LOW32 && r == 0; bit <<= 1)
			r = rule_if(c, SCMP_ACT_ERRNO(EPERM), others[i].nr, others[i].arg, bit,
				    bit);
	return r;
}

/* RLIMIT_CORE is 1, at which the kernel starts no crash handler of the host (limits.c); at 0 it
 * would. A program that wants no core files gets none: its call succeeds without effect. A call
 * that also wants the old value is refused, because it would get no value. */
static int rules_core(scmp_filter_ctx c)
{
	const struct scmp_arg_cmp set[] = {{1, SCMP_CMP_MASKED_EQ, LOW32, RLIMIT_CORE},
					   {2, SCMP_CMP_NE, 0, 0},
					   {3, SCMP_CMP_EQ, 0, 0}};
	const struct scmp_arg_cmp swap[] = {set[0], set[1], {3, SCMP_CMP_NE, 0, 0}};
	int r = rule_if(c, SCMP_ACT_ERRNO(0), SCMP_SYS(setrlimit), 0, LOW32, RLIMIT_CORE);

	if (r == 0)
		r = seccomp_rule_add_array(c, SCMP_ACT_ERRNO(0), SCMP_SYS(prlimit64), 3, set);
	if (r == 0)
		r = seccomp_rule_add_array(c, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prlimit64), 3, swap);
	return r;
}

/* For an ordinary user one id is mapped. Any other id gives EINVAL in the sandbox, where it gives
 * EPERM natively. */
static int rules_ids(scmp_filter_ctx c, const struct filter_spec *spec)
{
	const struct {
		int nr;
		uint64_t own;
		bool one;
	} ids[] = {{SCMP_SYS(setuid), geteuid(), getuid() == geteuid()},
		   {SCMP_SYS(setgid), getegid(), getgid() == getegid()}};
	int r = 0;

	if (geteuid() == 0 || spec->nesting || spec->alone)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(ids) && r == 0; i++) {
		const struct scmp_arg_cmp other = {0, SCMP_CMP_NE, ids[i].own, 0};

		if (ids[i].one)
			r = seccomp_rule_add_array(c, SCMP_ACT_ERRNO(EPERM), ids[i].nr, 1, &other);
	}
	return r;
}

int filter_rules_add(scmp_filter_ctx c, const struct filter_spec *spec)
{
	int r;

	/* For i386 and x32 callers the kernel has none of these calls. */
	r = seccomp_attr_set(c, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
	if (r == 0)
		r = seccomp_attr_set(c, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (r == 0)
		r = rules_trap(c, spec);
	if (r == 0)
		r = rules_all(c, SCMP_ACT_ERRNO(EPERM), refused, ARRAY_LEN(refused));
	if (r == 0 && spec->no_debug)
		r = rules_all(c, SCMP_ACT_ERRNO(EPERM), debugging, ARRAY_LEN(debugging));
	if (r == 0)
		r = rules_namespaces(c, spec->nesting);
	for (size_t i = 0; i < ARRAY_LEN(ioctls) && r == 0; i++)
		r = rule_if(c, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1, LOW32, ioctls[i]);
	for (size_t i = 0; i < ARRAY_LEN(ioctl_types) && r == 0; i++)
		r = rule_if(c, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1, IOCTL_TYPE,
			    ioctl_types[i]);
	for (size_t i = 0; i < ARRAY_LEN(fcntls) && r == 0; i++)
		r = rule_if(c, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(fcntl), 1, LOW32, fcntls[i]);
	if (r == 0)
		r = rules_sockets(c);
	if (r == 0 && !spec->allow_network)
		r = rules_protocols(c);
	if (r == 0)
		r = rules_core(c);
	if (r == 0)
		r = rules_ids(c, spec);
	if (r == 0 && spec->alone)
		r = rules_alone(c);
	if (r == 0 && spec->proxied)
		r = rules_proxied(c);
	return r;
}
