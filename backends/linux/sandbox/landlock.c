/* landlock - Landlock rules that a process applies to itself and its children. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/sandbox/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Distributions' <linux/landlock.h> is older than the kernels that cordon runs on, so the interface
 * is declared here (it is stable: include/uapi/linux/landlock.h).
 */
enum {
	FS_EXECUTE = 1 << 0,
	FS_WRITE_FILE = 1 << 1,
	FS_READ_FILE = 1 << 2,
	FS_READ_DIR = 1 << 3,
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
	FS_TRUNCATE = 1 << 14,	/* ABI 3, Linux 6.2 */
	FS_IOCTL_DEV = 1 << 15, /* ABI 5, Linux 6.10 */

	FS_READ = FS_READ_FILE | FS_READ_DIR,
	FS_FILE = FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV,
	FS_WRITE = FS_WRITE_FILE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_CHAR | FS_MAKE_DIR |
		   FS_MAKE_REG | FS_MAKE_SOCK | FS_MAKE_FIFO | FS_MAKE_BLOCK | FS_MAKE_SYM |
		   FS_REFER,

	NET_BIND_TCP = 1 << 0, /* ABI 4, Linux 6.7 */
	NET_CONNECT_TCP = 1 << 1,

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
 * LANDLOCK_ACCESS_FS_TRUNCATE (ABI 3) is left out if there are read-only mounts: a domain that
 * handles it makes every open(2), also for reading, walk the path for each domain in case of a
 * later ftruncate(2), which doubles the cost of an open (2.1 -> 3.7 us). Opening for writing is
 * handled. truncate(2) meets the read-only mounts; the door performs it and never lets it continue,
 * nor an open(2) that truncates without writing (open_may_continue()).
 */
static struct ruleset_attr handled(int abi, const struct landlock_spec *spec)
{
	struct ruleset_attr attr = {.fs = FS_WRITE};

	if (abi < 2)
		attr.fs &= ~(uint64_t)FS_REFER;
	if (spec->trees)
		attr.fs |= FS_READ | FS_EXECUTE;
	if (spec->truncate && abi >= 3)
		attr.fs |= FS_TRUNCATE;
	if (spec->no_tcp && abi >= 4)
		attr.net = NET_BIND_TCP | NET_CONNECT_TCP;
	if (spec->agent && abi >= 5)
		attr.fs |= FS_IOCTL_DEV;
	if (spec->agent && abi >= 6)
		attr.scoped = SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL;
	return attr;
}

static int allow(int ruleset, uint64_t access, int fd, struct err *err)
{
	struct path_attr rule = {.access = access, .fd = fd};
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_set(err, -errno, "look at a place that a Landlock rule is for");
	if (!S_ISDIR(st.st_mode))
		rule.access &= FS_FILE;
	/* A symbolic link needs no rule: its target has one, or none. */
	if (!rule.access || S_ISLNK(st.st_mode) ||
	    syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &rule, 0) == 0)
		return 0;
	/* Pipes and sockets are in no tree, and Landlock does not handle them. */
	if (errno == EBADFD)
		return 0;
	return err_set(err, -errno, "add a Landlock rule");
}

/*
 * Adds rules to open /dev/stdout and the like again, with the rights of the open file. A rule to
 * write for a file that was opened for reading would give more.
 */
static int allow_stdio(int ruleset, uint64_t fs, const int *stdio, struct err *err)
{
	int r = 0;

	for (int i = 0; i < 3 && r == 0; i++) {
		int flags = fcntl(stdio[i], F_GETFL);
		uint64_t access = 0;

		if (flags < 0 || (flags & O_PATH))
			continue;
		if ((flags & O_ACCMODE) != O_RDONLY)
			access |= FS_WRITE_FILE | FS_TRUNCATE | FS_IOCTL_DEV;
		if ((flags & O_ACCMODE) != O_WRONLY)
			access |= FS_READ_FILE;
		r = allow(ruleset, access & fs, stdio[i], err);
	}
	return r;
}

static int allow_trees(int ruleset, uint64_t fs, const struct landlock_spec *spec, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < spec->n_trees && r == 0; i++) {
		const struct landlock_tree *t = &spec->trees[i];
		AUTO_CLOSE int fd = open(t->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		uint64_t access = 0;

		/* Missing inside, or not accessible for this user: needs no rule. */
		if (fd < 0)
			continue;
		if (t->rights & LANDLOCK_READ)
			access |= FS_READ;
		if (t->rights & LANDLOCK_EXEC)
			access |= FS_EXECUTE;
		r = allow(ruleset, access & fs, fd, err);
	}
	return r;
}

static int allow_places(int ruleset, uint64_t access, const struct landlock_places *p,
			struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < p->n && r == 0; i++) {
		AUTO_CLOSE int fd = openat(p->at, p->list[i], O_PATH | O_CLOEXEC);

		r = fd < 0 ? err_set(err, -errno, "open '%s'", p->list[i])
			   : allow(ruleset, access, fd, err);
	}
	return r;
}

static int add_rules(int ruleset, uint64_t fs, const struct landlock_spec *spec, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < spec->n && r == 0; i++) {
		if (spec->writable[i] >= 0)
			r = allow(ruleset, fs & ~(uint64_t)(FS_READ | FS_EXECUTE),
				  spec->writable[i], err);
	}
	for (size_t i = 0; i < ARRAY_LEN(spec->places) && r == 0; i++)
		r = allow_places(ruleset, fs & ~(uint64_t)(FS_READ | FS_EXECUTE), &spec->places[i],
				 err);
	if (r == 0 && spec->stdio)
		r = allow_stdio(ruleset, fs, spec->stdio, err);
	return r < 0 ? r : allow_trees(ruleset, fs, spec, err);
}

static int enter(int ruleset, struct err *err)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_set(err, -errno, "set no_new_privs");
	if (syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
		return err_set(err, -errno, "enter a Landlock domain");
	return 0;
}

int landlock_restrict(const struct landlock_spec *spec, struct err *err)
{
	int abi = landlock_abi(), r;
	struct ruleset_attr attr = handled(abi, spec);
	AUTO_CLOSE int ruleset = -1;

	if (abi == 0)
		return err_say(err, -EOPNOTSUPP, "this kernel has no Landlock");
	/* A kernel accepts a longer struct if the fields that it does not know are zero. */
	ruleset = create_ruleset(&attr, sizeof(attr), 0);
	if (ruleset < 0)
		return err_set(err, -errno, "create a Landlock ruleset");
	r = add_rules(ruleset, attr.fs, spec, err);
	if (r < 0)
		return r;
	return enter(ruleset, err);
}

int landlock_scope(struct err *err)
{
	const struct ruleset_attr attr = {.scoped = SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL};
	AUTO_CLOSE int ruleset = create_ruleset(&attr, sizeof(attr), 0);

	if (ruleset < 0)
		return err_set(err, -errno, "create a Landlock ruleset for signals");
	return enter(ruleset, err);
}
