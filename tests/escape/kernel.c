/* kernel - attacks on the kernel's surface: rare calls, other ABIs, processes, terminals. */
/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/fscrypt.h>
#include <linux/keyctl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/param.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>

#include "tests/escape/attack.h"

#define CALL(name, ...)	  said(#name, syscall(SYS_##name, __VA_ARGS__))
#define NR(name, nr, ...) said(name, syscall(nr, __VA_ARGS__))

static void a_io_uring(char **a)
{
	char params[256] = "";

	(void)a;
	CALL(io_uring_setup, 8, params);
	CALL(io_uring_enter, 0, 0, 0, 0, NULL, 0);
	CALL(io_uring_register, 0, 0, NULL, 0);
}

/* Runs fn in a child, which may be killed as a correct reaction. A value below 0: refused. */
static void in_child(const char *what, long (*fn)(const char *), const char *arg)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(fn(arg) < 0 ? 0 : 1);
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		said_if(what, true, strsignal(WTERMSIG(status)));
	else
		said_if(what, WEXITSTATUS(status) == 0, "refused");
}

#ifdef __x86_64__
static long open_i386(const char *path) /* the path must be below 4 GiB */
{
	char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long r;

	strcpy(low, path);
	__asm__ volatile("int $0x80"
			 : "=a"(r)
			 : "a"(5), "b"(low), "c"(O_WRONLY | O_CREAT), "d"(0755)
			 : "memory");
	return r;
}

static long socket_i386(const char *unused)
{
	long r;

	(void)unused;
	__asm__ volatile("int $0x80"
			 : "=a"(r)
			 : "a"(359), "b"(AF_PACKET), "c"(SOCK_RAW), "d"(0)
			 : "memory");
	return r;
}

static long open_x32(const char *path)
{
	return syscall(0x40000000 | 2, path, O_WRONLY | O_CREAT, 0755);
}

static long execve_x32(const char *path)
{
	return syscall(0x40000000 | 520, path, NULL, NULL);
}
#endif

static long unknown_call(const char *unused)
{
	(void)unused;
	return syscall(1999, 0, 0, 0);
}

static void a_abi(char **a)
{
#ifdef __x86_64__
	in_child("i386-open", open_i386, a[0]);
	in_child("i386-socket", socket_i386, NULL);
	in_child("x32-open", open_x32, a[0]);
	in_child("x32-execve", execve_x32, "/bin/true");
#endif
	in_child("unknown-number", unknown_call, a[0]);
}

static long try_unshare(const char *flags)
{
	return unshare(atoi(flags));
}

static long clone_raw(unsigned long flags)
{
	long r = syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);

	if (r == 0)
		_exit(0);
	if (r > 0)
		waitpid((pid_t)r, NULL, 0);
	return r;
}

static void a_namespaces(char **a)
{
	static const int flags[] = {
		CLONE_NEWUSER, CLONE_NEWNS,  CLONE_NEWPID,    CLONE_NEWNET,
		CLONE_NEWUTS,  CLONE_NEWIPC, CLONE_NEWCGROUP, CLONE_NEWUSER | CLONE_NEWNS};
	struct {
		uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
	} c3 = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
	long r;

	(void)a;
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		char text[16], what[48];

		snprintf(text, sizeof(text), "%d", flags[i]);
		snprintf(what, sizeof(what), "unshare-%#x", (unsigned)flags[i]);
		in_child(what, try_unshare, text);
		snprintf(what, sizeof(what), "clone-%#x", (unsigned)flags[i]);
		said(what, clone_raw((unsigned)flags[i]));
		snprintf(what, sizeof(what), "clone-high-bits-%#x", (unsigned)flags[i]);
		said(what, clone_raw((unsigned)flags[i] | HIGH_BITS << 3));
	}
	r = syscall(SYS_clone3, &c3, sizeof(c3));
	if (r == 0)
		_exit(0);
	said("clone3-newuser", r);
	NR("unshare-high-bits", SYS_unshare, CLONE_NEWUSER | HIGH_BITS);
	CALL(setns, open("/proc/1/ns/user", O_RDONLY), 0);
	CALL(setns, open("/proc/self/ns/mnt", O_RDONLY), CLONE_NEWNS);
}

static void a_mounts(char **a)
{
	(void)a;
	said("mount-tmpfs", mount("none", "/tmp", "tmpfs", 0, NULL));
	said("mount-bind", mount("/", "/tmp", NULL, MS_BIND, NULL));
	said("mount-remount", mount(NULL, "/usr", NULL, MS_REMOUNT | MS_BIND, NULL));
	said("mount-overlay", mount("o", "/tmp", "overlay", 0, "lowerdir=/etc:/usr"));
	said("umount", umount2("/tmp", MNT_DETACH));
	said("chroot", chroot("/tmp"));
	CALL(pivot_root, "/tmp", "/tmp");
	NR("open_tree", 428, AT_FDCWD, "/", 1);
	NR("move_mount", 429, -1, "", AT_FDCWD, "/tmp", 4);
	NR("fsopen", 430, "tmpfs", 0);
	NR("fsconfig", 431, -1, 0, NULL, NULL, 0);
	NR("fsmount", 432, -1, 0, 0);
	NR("fspick", 433, AT_FDCWD, "/", 0);
	NR("mount_setattr", 442, AT_FDCWD, "/usr", 0, "\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0", 32);
	NR("open_tree_attr", 467, AT_FDCWD, "/", 1, NULL, 0);
}

/* PID: a process that is no child of the attacker. */
static void a_process(char **a)
{
	pid_t pid = atoi(a[0]);
	char buf[16];
	struct iovec l = {buf, sizeof(buf)}, r = {(void *)0x400000, sizeof(buf)};
	int fd;

	said("ptrace-attach", ptrace(PTRACE_ATTACH, pid, NULL, NULL));
	said("ptrace-seize", ptrace(PTRACE_SEIZE, pid, NULL, NULL));
	said("process_vm_readv", process_vm_readv(pid, &l, 1, &r, 1, 0));
	said("process_vm_writev", process_vm_writev(pid, &l, 1, &r, 1, 0));
	CALL(kcmp, getpid(), pid, 0, 0, 0);
	fd = (int)syscall(SYS_pidfd_open, pid, 0);
	said("pidfd_getfd", fd < 0 ? -1 : syscall(SYS_pidfd_getfd, fd, 0, 0));
	said("process_madvise", fd < 0 ? -1 : syscall(SYS_process_madvise, fd, &r, 1, 21, 0));
	CALL(move_pages, pid, 1, &r.iov_base, NULL, NULL, 0);
	CALL(migrate_pages, pid, 0, NULL, NULL);
}

/* PID of a host process, numbered as on the host. */
static void a_signals(char **a)
{
	pid_t pid = atoi(a[0]);
	struct f_owner_ex owner = {F_OWNER_PID, pid};
	uint64_t limit[2];
	int fd = open("/dev/null", O_RDONLY);

	said("kill-host", kill(pid, SIGTERM));
	said("stop-host", kill(pid, SIGSTOP));
	said("tgkill-host", syscall(SYS_tgkill, pid, pid, SIGTERM));
	said("pidfd-host", syscall(SYS_pidfd_open, pid, 0));
	said("pidfd-signal", syscall(SYS_pidfd_send_signal, (int)syscall(SYS_pidfd_open, pid, 0),
				     SIGTERM, NULL, 0));
	said("setown-host", fcntl(fd, F_SETOWN_EX, &owner));
	said("sched-host", sched_setscheduler(pid, SCHED_IDLE, &(struct sched_param){0}));
	CALL(prlimit64, pid, 7, NULL, limit);
}

/* Signals every process that it may: only the sandbox may be hit. Does not return. */
static void a_kill_all(char **a)
{
	(void)a;
	signal(SIGTERM, SIG_IGN);
	kill(-1, SIGTERM);
	kill(-1, SIGKILL);
}

static void a_rare(char **a)
{
	char attr[128] = "";

	(void)a;
	CALL(bpf, 0, attr, sizeof(attr));
	CALL(perf_event_open, attr, 0, -1, -1, 0);
	CALL(userfaultfd, 0);
	CALL(keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 1);
	CALL(keyctl, KEYCTL_READ, KEY_SPEC_SESSION_KEYRING, attr, sizeof(attr));
	CALL(add_key, "user", "cordon-test", "x", 1, KEY_SPEC_PROCESS_KEYRING);
	CALL(request_key, "user", "cordon-test", NULL, 0);
	CALL(kexec_load, 0, 0, NULL, 0);
	CALL(init_module, attr, sizeof(attr), "");
	CALL(finit_module, 0, "", 0);
	CALL(delete_module, "loop", 0);
	CALL(personality, READ_IMPLIES_EXEC);
	CALL(personality, PER_LINUX32);
	CALL(quotactl, 0, NULL, 0, NULL);
	CALL(acct, NULL);
	CALL(swapon, "/dev/null", 0);
	CALL(swapoff, "/dev/null");
	CALL(reboot, 0, 0, 0, NULL);
	CALL(settimeofday, NULL, attr);
	CALL(clock_settime, 0, attr);
	CALL(sethostname, "pwned", 5);
	CALL(setdomainname, "pwned", 5);
	CALL(syslog, 3, attr, sizeof(attr));
	CALL(vhangup, 0);
	NR("fanotify_init", SYS_fanotify_init, 0, 0);
	NR("lookup_dcookie", SYS_lookup_dcookie, 0, attr, sizeof(attr));
#ifdef SYS_iopl
	CALL(iopl, 3);
	CALL(ioperm, 0x80, 1, 1);
	CALL(modify_ldt, 0, attr, 0);
#endif
	NR("memfd_secret-or-none", 447, 0xffff);
	CALL(mknod, "dev-node", S_IFBLK | 0600, 0x0700);
	CALL(mknod, "dev-node", S_IFCHR | 0600, 0x0101);
}

static long load_filter(unsigned flags, struct sock_filter *code, unsigned short n)
{
	struct sock_fprog prog = {n, code};

	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
}

/* PATH is protected, also behind filters of the attacker's own. */
static void a_seccomp(char **a)
{
	struct sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_filter trace[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};

	said("new-listener", load_filter(SECCOMP_FILTER_FLAG_NEW_LISTENER, allow, 1));
	if (load_filter(0, allow, 1) < 0 || load_filter(0, trace, 4) < 0) {
		said("stack a filter", -1);
		return;
	}
	said("open-behind-own-filter", open(a[0], O_WRONLY | O_CREAT, 0755));
	said("unshare-behind-own-filter", unshare(CLONE_NEWUSER));
}

static void a_privileges(char **a)
{
	char line[256];
	FILE *f = fopen("/proc/self/status", "re");

	(void)a;
	while (f && fgets(line, sizeof(line), f)) {
		unsigned long long caps;
		char which[16];

		if (sscanf(line, "Cap%15[A-Za-z]: %llx", which, &caps) == 2)
			said_if(which, caps == 0, "0");
	}
	said_if("no-new-privs", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1, "set");
	said("proc-sys-hostname", open("/proc/sys/kernel/hostname", O_WRONLY));
	said("proc-sys-core-pattern", open("/proc/sys/kernel/core_pattern", O_WRONLY));
	said("proc-sysrq", open("/proc/sysrq-trigger", O_WRONLY));
	said("cgroup", open("/sys/fs/cgroup/cgroup.procs", O_WRONLY));
	said("cgroup-mkdir", mkdir("/sys/fs/cgroup/cordon-test", 0755));
	said("dev-mem", open("/dev/mem", O_RDONLY));
	said("dev-kmsg", open("/dev/kmsg", O_WRONLY));
	said("dev-sda", open("/dev/vda", O_RDONLY));
}

static void a_terminal(char **a)
{
	static const struct {
		const char *name;
		unsigned long cmd;
	} list[] = {{"TIOCSTI", TIOCSTI},
		    {"TIOCLINUX", 0x541C},
		    {"TIOCSETD", TIOCSETD},
		    {"TIOCEXCL", TIOCEXCL},
		    {"TIOCCONS", TIOCCONS}};
	int m = posix_openpt(O_RDWR | O_NOCTTY);
	int fds[2] = {0, -1};
	int zero = 0;

	(void)a;
	if (m >= 0 && grantpt(m) == 0 && unlockpt(m) == 0)
		fds[1] = open(ptsname(m), O_RDWR);
	for (int f = 0; f < 2; f++) {
		for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++) {
			char what[64];

			snprintf(what, sizeof(what), "%s on %s", list[i].name, f ? "pty" : "stdin");
			said(what, ioctl(fds[f], list[i].cmd, &zero));
			/* The kernel uses 32 bits of the command: so must the filter. */
			snprintf(what, sizeof(what), "%s high bits on %s", list[i].name,
				 f ? "pty" : "stdin");
			said(what, syscall(SYS_ioctl, fds[f], list[i].cmd | HIGH_BITS, &zero));
		}
	}
}

/* PATH: a file of the attacker's. The filter refuses leases on any file system. */
static void a_leases(char **a)
{
	static const struct {
		const char *name;
		unsigned long cmd;
	} list[] = {{"FS_IOC_ADD_ENCRYPTION_KEY", FS_IOC_ADD_ENCRYPTION_KEY},
		    {"FS_IOC_REMOVE_ENCRYPTION_KEY", FS_IOC_REMOVE_ENCRYPTION_KEY},
		    {"FAT_IOCTL_SET_ATTRIBUTES", 0x40047211},
		    {"OCFS2_IOC_REFLINK", 0x40186f04},
		    {"BCH_IOCTL_SUBVOLUME_CREATE", 0x4020bc10},
		    {"BCH_IOCTL_SUBVOLUME_DESTROY", 0x4020bc11},
		    {"EXT4_IOC_SETVERSION", 0x40086604},
		    {"BTRFS_IOC_SET_RECEIVED_SUBVOL", 0xc0c89425},
		    {"BTRFS_IOC_SET_RECEIVED_SUBVOL_32", 0xc0c09425},
		    {"BTRFS_IOC_DEFRAG", 0x50009402},
		    {"BTRFS_IOC_DEFRAG_RANGE", 0x40309410},
		    {"EXT4_IOC_MIGRATE", 0x6609},
		    {"F2FS_IOC_SET_PIN_FILE", 0x4004f50d},
		    {"F2FS_IOC_START_ATOMIC_WRITE", 0xf501},
		    {"F2FS_IOC_COMMIT_ATOMIC_WRITE", 0xf502},
		    {"F2FS_IOC_ABORT_ATOMIC_WRITE", 0xf505},
		    {"F2FS_IOC_RELEASE_COMPRESS_BLOCKS", 0x8008f512},
		    {"F2FS_IOC_RESERVE_COMPRESS_BLOCKS", 0x8008f513},
		    {"F2FS_IOC_START_ATOMIC_REPLACE", 0xf519},
		    {"ZFS_IOC_SETDOSFLAGS", 0x40088302},
		    {"CEPH_IOC_SET_LAYOUT", 0x40289702},
		    {"CEPH_IOC_SET_LAYOUT_POLICY", 0x40289705},
		    {"BTRFS_IOC_SUBVOL_CREATE", 0x5000940e},
		    {"BTRFS_IOC_SUBVOL_CREATE_V2", 0x50009418},
		    {"BTRFS_IOC_SNAP_CREATE_V2", 0x50009417},
		    {"BTRFS_IOC_SNAP_DESTROY", 0x5000940f},
		    {"BTRFS_IOC_SNAP_DESTROY_V2", 0x5000943f}};
	int fd = open(a[0], O_RDONLY), dir = open(".", O_RDONLY | O_DIRECTORY);
	char zero[4096] = "";

	said_if("read-lease", fcntl(fd, F_SETLEASE, F_RDLCK) < 0 && errno == EPERM, "EPERM");
	said_if("write-lease", fcntl(fd, F_SETLEASE, F_WRLCK) < 0 && errno == EPERM, "EPERM");
	said_if("lease-high-bits",
		syscall(SYS_fcntl, fd, F_SETLEASE | HIGH_BITS, F_RDLCK) < 0 && errno == EPERM,
		"EPERM");
	for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++)
		said_if(list[i].name, ioctl(dir, list[i].cmd, zero) < 0 && errno == EPERM, "EPERM");
}

/* PROGRAM: runs it from memory, without its name. Containment is what the program then finds. */
static void a_memfd_exec(char **a)
{
	char buf[65536], name[] = "paths", verb[] = "write";
	int m = memfd_create("x", MFD_CLOEXEC), s = open(a[0], O_RDONLY);
	ssize_t n;

	while ((n = read(s, buf, sizeof(buf))) > 0)
		(void)!write(m, buf, (size_t)n);
	fexecve(m, (char *[]){name, verb, a[1], NULL}, (char *[]){NULL});
	said("fexecve", -1);
}

/* MARK: tries to survive the end of the sandbox: outside the session, reparented, ignoring
 * signals. */
static void a_survive(char **a)
{
	(void)a;
	if (fork() != 0)
		return;
	setsid();
	if (fork() != 0)
		_exit(0);
	for (int s = 1; s < 65; s++)
		signal(s, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, 0);
	close(0);
	close(1);
	close(2);
	for (;;)
		pause();
}

/* The agent's parent is the keeper. The keeper does not know a child that is made as the agent's
 * sibling. */
static void a_sibling(char **a)
{
	(void)a;
	for (int i = 0; i < 8; i++)
		if (syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL) == 0)
			_exit(i % 2 ? 0 : (pause(), 1));
}

/* MARK: for the test to find it. A process traced by its parent reports every signal to it, and
 * stops. */
static void a_traced_by_keeper(char **a)
{
	(void)a;
	printf("standing\n");
	fflush(stdout);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGUSR1);
}

/* While another process traces the agent, the keeper cannot wait for its end. */
static void a_traced_by_child(char **a)
{
	pid_t agent = getpid();
	int p[2];

	(void)a;
	if (pipe(p) < 0 || fork() == 0) {
		setsid();
		ptrace(PTRACE_SEIZE, agent, NULL, NULL);
		(void)!write(p[1], "", 1);
		for (;;)
			pause();
	}
	(void)!read(p[0], &(char){0}, 1);
}

/* With 1 the kernel starts no crash handler of the host's for us; with 0 it does. */
static void a_crash(char **a)
{
	const struct rlimit none = {0, 0}, low = {0, 1};
	struct rlimit old, now;

	(void)a;
	getrlimit(RLIMIT_CORE, &old);
	syscall(SYS_setrlimit, RLIMIT_CORE, &low);
	syscall(SYS_setrlimit, RLIMIT_CORE | HIGH_BITS, &low);
	syscall(SYS_prlimit64, 0, RLIMIT_CORE, &low, NULL);
	syscall(SYS_prlimit64, 0, RLIMIT_CORE | HIGH_BITS, &low, NULL);
	syscall(SYS_prlimit64, getpid(), RLIMIT_CORE, &low, &now);
	said_if("programs-may-go-on", setrlimit(RLIMIT_CORE, &none) == 0, "0");
	getrlimit(RLIMIT_CORE, &now);
	said_if("core-limit",
		now.rlim_cur == old.rlim_cur && now.rlim_max == old.rlim_max &&
			old.rlim_cur == MIN((rlim_t)1, old.rlim_max),
		"as it was");
}

static const struct attack list[] = {
	{"io-uring", a_io_uring, 0},
	{"abi", a_abi, 1},
	{"namespaces", a_namespaces, 0},
	{"mounts", a_mounts, 0},
	{"process", a_process, 1},
	{"signals", a_signals, 1},
	{"kill-all", a_kill_all, 0},
	{"rare", a_rare, 0},
	{"seccomp", a_seccomp, 1},
	{"privileges", a_privileges, 0},
	{"terminal", a_terminal, 0},
	{"memfd-exec", a_memfd_exec, 2},
	{"survive", a_survive, 1},
	{"leases", a_leases, 1},
	{"crash", a_crash, 0},
	{"sibling", a_sibling, 0},
	{"traced-by-keeper", a_traced_by_keeper, 1},
	{"traced-by-child", a_traced_by_child, 0},
};

int main(int argc, char **argv)
{
	return attack_main(argc, argv, list, sizeof(list) / sizeof(*list));
}
