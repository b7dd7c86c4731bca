/* landlock - rules that a process puts on itself: where it and its children may still write. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * <linux/landlock.h> of the distributions that we build on is older than the kernels that we run
 * on, so the interface is written down here (it is stable: include/uapi/linux/landlock.h).
 */
enum {
	FS_WRITE_FILE = 1 << 1,
	FS_REMOVE_DIR = 1 << 4,
	FS_REMOVE_FILE = 1 << 5,
	FS_MAKE_CHAR = 1 << 6,
	FS_MAKE_DIR = 1 << 7,
	FS_MAKE_REG = 1 << 8,
	FS_MAKE_SOCK = 1 << 9,
	FS_MAKE_FIFO = 1 << 10,
	FS_MAKE_BLOCK = 1 << 11,
	FS_MAKE_SYM = 1 << 12,
	FS_REFER = 1 << 13,	/* ABI 2, Linux 5.19 */
	FS_IOCTL_DEV = 1 << 15, /* ABI 5, Linux 6.10 */

	FS_FILE = FS_WRITE_FILE | FS_IOCTL_DEV,
	FS_WRITE = FS_WRITE_FILE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_CHAR | FS_MAKE_DIR |
		   FS_MAKE_REG | FS_MAKE_SOCK | FS_MAKE_FIFO | FS_MAKE_BLOCK | FS_MAKE_SYM |
		   FS_REFER,

	SCOPE_ABSTRACT_UNIX = 1 << 0, /* ABI 6, Linux 6.12 */
	SCOPE_SIGNAL = 1 << 1,

	CREATE_VERSION = 1 << 0,
	RULE_PATH_BENEATH = 1,
};

struct ruleset_attr {
	uint64_t fs;
	uint64_t net;	 /* ABI 4 */
	uint64_t scoped; /* ABI 6 */
};

struct path_attr {
	uint64_t access;
	int32_t fd;
} __attribute__((packed));

static int create_ruleset(const struct ruleset_attr *attr, size_t size, unsigned flags)
{
	return (int)syscall(SYS_landlock_create_ruleset, attr, size, flags);
}

int landlock_abi(void)
{
	int abi = create_ruleset(NULL, 0, CREATE_VERSION);

	return MAX(abi, 0);
}

/*
 * LANDLOCK_ACCESS_FS_TRUNCATE (ABI 3) is left out: a domain that handles it makes every open(2),
 * also one for reading, walk the path for each domain in case of a later ftruncate(2), which
 * doubles the cost of an open (2.1 -> 3.7 us). Opening for writing is handled; truncate(2) meets
 * the read-only mounts, and is always performed by the door and never let continue.
 */
static struct ruleset_attr handled(int abi, bool agent)
{
	struct ruleset_attr attr = {.fs = FS_WRITE};

	if (abi < 2)
		attr.fs &= ~(uint64_t)FS_REFER;
	if (agent && abi >= 5)
		attr.fs |= FS_IOCTL_DEV;
	if (agent && abi >= 6)
		attr.scoped = SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL;
	return attr;
}

static int allow(int ruleset, uint64_t access, int fd, struct err *err)
{
	struct path_attr rule = {.access = access, .fd = fd};
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_set(err, -errno, "look at a place that stays writable");
	if (!S_ISDIR(st.st_mode))
		rule.access &= FS_FILE;
	if (syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &rule, 0) == 0)
		return 0;
	/* Pipes and sockets have no place in a tree, and Landlock lets them be. */
	if (errno == EBADFD)
		return 0;
	return err_set(err, -errno, "add a Landlock rule");
}

int landlock_stdio(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && !(flags & O_PATH) && (flags & O_ACCMODE) != O_RDONLY ? fd : -1;
}

int landlock_restrict(const struct landlock_spec *spec, struct err *err)
{
	int abi = landlock_abi(), r;
	struct ruleset_attr attr = handled(abi, spec->agent);
	AUTO_CLOSE int ruleset = -1;

	if (abi == 0)
		return err_say(err, -EOPNOTSUPP, "this kernel has no Landlock");
	/* A kernel takes a longer struct as long as what it does not know is zero. */
	ruleset = create_ruleset(&attr, sizeof(attr), 0);
	if (ruleset < 0)
		return err_set(err, -errno, "create a Landlock ruleset");
	for (size_t i = 0; i < spec->n; i++) {
		if (spec->writable[i] < 0)
			continue;
		r = allow(ruleset, attr.fs, spec->writable[i], err);
		if (r < 0)
			return r;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_set(err, -errno, "set no_new_privs");
	if (syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
		return err_set(err, -errno, "enter a Landlock domain");
	return 0;
}

int landlock_restrict_paths(const char *const *paths, struct err *err)
{
	enum {
		MAX_PATHS = 64
	};
	int fds[MAX_PATHS], r;
	struct landlock_spec spec = {.writable = fds};

	for (; paths[spec.n]; spec.n++) {
		if (spec.n == MAX_PATHS) {
			r = err_say(err, -E2BIG, "more than %d writable places", MAX_PATHS);
			goto out;
		}
		fds[spec.n] = open(paths[spec.n], O_PATH | O_CLOEXEC);
		if (fds[spec.n] < 0 && errno != ENOENT) {
			r = err_set(err, -errno, "open '%s'", paths[spec.n]);
			goto out;
		}
	}
	r = landlock_restrict(&spec, err);
out:
	for (size_t i = 0; i < spec.n; i++)
		util_close_fd(&fds[i]);
	return r;
}
