/* mounter - the process that mounts the read gate, and later binds granted trees over it. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "backends/linux/gate/gate_priv.h"
#include "backends/linux/gate/mount_calls.h"
#include "core/base/log.h"
#include "core/base/path.h"

/*
 * The mounter stays in a copy of the host's mounts that the sandbox's user namespace owns: there it
 * may clone a tree. To attach a clone it enters the sandbox's mounts and returns. It takes orders
 * from the keeper alone, and of the agent's bytes sees only names of directories.
 */
struct places {
	int own;    /* the mounter's own mount namespace */
	int inside; /* the sandbox's */
	bool blank; /* the file BLANK exists */
};

/* ---- gates ----------------------------------------------------------------------------------- */

static int configure(int fs, int fuse)
{
	const struct {
		const char *key;
		unsigned value;
		bool octal;
	} options[] = {{"fd", (unsigned)fuse, false},
		       {"rootmode", S_IFDIR | 0755, true},
		       {"user_id", geteuid(), false},
		       {"group_id", getegid(), false}};
	char value[16];

	if (syscall(SYS_fsconfig, fs, FSCONFIG_STRING, "source", "cordon-gate", 0) < 0)
		return -errno;
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		snprintf(value, sizeof(value), options[i].octal ? "%o" : "%u", options[i].value);
		if (syscall(SYS_fsconfig, fs, FSCONFIG_STRING, options[i].key, value, 0) < 0)
			return -errno;
	}
	if (syscall(SYS_fsconfig, fs, FSCONFIG_FLAG, "ro", NULL, 0) < 0 ||
	    syscall(SYS_fsconfig, fs, FSCONFIG_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	return 0;
}

static int mount_gate(int *ret_fuse, int *ret_mount)
{
	AUTO_CLOSE int fs = -1;
	int r;

	*ret_fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (*ret_fuse < 0)
		return -errno;
	fs = (int)syscall(SYS_fsopen, "fuse", FSOPEN_CLOSE);
	if (fs < 0)
		return -errno;
	r = configure(fs, *ret_fuse);
	if (r < 0)
		return r;
	*ret_mount = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOSE,
				  ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV);
	return *ret_mount < 0 ? -errno : 0;
}

static void send_gates(const struct mounter *m)
{
	struct note note = {.kind = NOTE_GATES};
	size_t n = plan_gate_mounts(m->plan);
	int fds[2 * GATES_MAX] = {0}, r;
	struct err err = {0};

	if (setns(m->user_ns, CLONE_NEWUSER) < 0 || unshare(CLONE_NEWNS) < 0) {
		err_set(&err, -errno, "enter the namespaces of the read gate");
		child_message_fail(m->sock, 125, &err);
	}
	/* A change of credentials clears it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < n; i++) {
		r = mount_gate(&fds[i], &fds[n + i]);
		if (r < 0) {
			err_set(&err, r, "mount the read gate before '%s'",
				i < m->plan->n_gated ? m->plan->gated[i] : "hidden files");
			child_message_fail(m->sock, 125, &err);
		}
	}
	if (child_message_send(m->sock, &note, fds, 2 * n) < 0)
		_exit(1);
	/* Only the server may keep the devices. */
	for (size_t i = 0; i < 2 * n; i++)
		close(fds[i]);
}

/* ---- binding granted trees ------------------------------------------------------------------- */

static int open_dir(const char *path)
{
	struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
			       .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

/* Returns a detached mount of the host's directory, read-only unless it is a tool's. */
static int clone_tree(const char *path, struct stat *st, bool tool)
{
	const struct mount_attrs attr = {.set = (tool ? 0 : ATTR_RDONLY) | ATTR_NOSUID | ATTR_NODEV,
					 .clear = tool ? ATTR_RDONLY : 0};
	AUTO_CLOSE int dir = open_dir(path);
	AUTO_CLOSE int tree = -1;

	if (dir < 0)
		return dir;
	if (fstat(dir, st) < 0)
		return -errno;
	tree = (int)syscall(SYS_open_tree, dir, "",
			    TREE_CLONE | TREE_CLOSE | AT_EMPTY_PATH | AT_RECURSIVE);
	if (tree < 0 || syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr,
				sizeof(attr)) < 0)
		return -errno;
	return take_fd(&tree);
}

/* Called in the sandbox's mounts. Returns 1 if fd is the gate's view of the same directory, 0 if it
 * is another object. */
static int is_gate(int fd, const struct stat *st)
{
	struct statfs fs;
	struct stat own;

	if (fstatfs(fd, &fs) < 0 || fstat(fd, &own) < 0)
		return -errno;
	return fs.f_type == FUSE_SUPER_MAGIC && (!st || own.st_ino == st->st_ino);
}

static int attach(int tree, const char *path, const struct stat *st)
{
	AUTO_CLOSE int dir = open_dir(path);
	int r;

	if (dir < 0)
		return dir;
	r = is_gate(dir, st);
	if (r <= 0)
		return r;
	return syscall(SYS_move_mount, tree, "", dir, "", MOVE_EMPTY_PATH | MOVE_EMPTY_TARGET) < 0
		       ? -errno
		       : 1;
}

static bool holds_planned(const struct mounter *m, const char *dir)
{
	for (const struct absent_home *h = m->plan->absent; h && h->path; h++) {
		if (path_is_beneath(h->path, dir))
			return true;
	}
	for (size_t i = 0; i < m->plan->n; i++) {
		if (path_is_beneath(m->plan->ops[i].path, dir) &&
		    !(m->plan->ops[i].granted && str_eq(m->plan->ops[i].path, dir)))
			return true;
	}
	return false;
}

/*
 * Returns whether dir may be bound as a whole. Mounts of the plan beneath it would be covered, and
 * the host's files would show. The keeper has checked the rules.
 */
static bool is_whole(const struct mounter *m, const char *dir)
{
	if (holds_planned(m, dir))
		return false;
	for (size_t i = 0; i < m->plan->n_hidden; i++) {
		if (path_is_beneath(m->plan->hidden[i], dir))
			return false;
	}
	return true;
}

static int bind_tree(const struct mounter *m, const struct places *at, const char *dir)
{
	AUTO_CLOSE int tree = -1;
	struct stat st;
	int r;

	if (!is_whole(m, dir))
		return 0;
	tree = clone_tree(dir, &st, false);
	if (tree < 0)
		return tree;
	if (setns(at->inside, CLONE_NEWNS) < 0)
		return -errno;
	r = attach(tree, dir, &st);
	if (setns(at->own, CLONE_NEWNS) < 0)
		_exit(1);
	return r;
}

/* Returns 1, or 0 if the path now shows another object. */
static int bind_tool(const struct mounter *m, const struct places *at, const char *path)
{
	const struct absent_home *h = m->plan->absent;
	AUTO_CLOSE int tree = -1;
	struct stat st;
	int r;

	while (h && h->path && !str_eq(h->path, path))
		h++;
	if (!h || !h->path)
		return -EPERM;
	tree = clone_tree(h->dir, &st, true);
	if (tree < 0)
		return tree;
	if (setns(at->inside, CLONE_NEWNS) < 0)
		return -errno;
	r = attach(tree, path, NULL);
	if (setns(at->own, CLONE_NEWNS) < 0)
		_exit(1);
	return r;
}

static int unbind_tree(const struct places *at, const char *dir)
{
	int r;

	if (setns(at->inside, CLONE_NEWNS) < 0)
		return -errno;
	/* Open files stay open; later opens go through the gate again. */
	r = umount2(dir, MNT_DETACH | UMOUNT_NOFOLLOW) < 0 ? -errno : 0;
	if (setns(at->own, CLONE_NEWNS) < 0)
		_exit(1);
	return r;
}

/* ---- covering new files ---------------------------------------------------------------------- */

/* An empty, unreadable file, on a tmpfs over a directory that the mounter does not need. */
#define BLANK_IN "/proc"
#define BLANK	 BLANK_IN "/blank"

static int make_blank(struct places *at)
{
	AUTO_CLOSE int fs = (int)syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOSE);
	AUTO_CLOSE int tree = -1;

	if (at->blank)
		return 0;
	if (fs < 0 || syscall(SYS_fsconfig, fs, FSCONFIG_STRING, "size", "4k", 0) < 0 ||
	    syscall(SYS_fsconfig, fs, FSCONFIG_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	tree = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOSE, ATTR_NOSUID | ATTR_NODEV);
	if (tree < 0 ||
	    syscall(SYS_move_mount, tree, "", AT_FDCWD, BLANK_IN, MOVE_EMPTY_PATH) < 0 ||
	    mknod(BLANK, S_IFREG, 0) < 0)
		return -errno;
	at->blank = true;
	return 0;
}

/* Called in the sandbox's mounts. The name may lead to another file by now; a file that has a
 * stand-in of the gate's stays. */
static int cover_inside(int blank, const char *path)
{
	struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
			       .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
	AUTO_CLOSE int file = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	struct stat st = {0}, own = {0};
	int r = file < 0 || fstat(file, &st) < 0 || fstat(blank, &own) < 0 ? -errno
									   : is_gate(file, NULL);

	if (r != 0)
		return r;
	if (st.st_dev == own.st_dev)
		return 1; /* already covered */
	if (!S_ISREG(st.st_mode))
		return -EISDIR;
	return syscall(SYS_move_mount, blank, "", file, "", MOVE_EMPTY_PATH | MOVE_EMPTY_TARGET) < 0
		       ? -errno
		       : 1;
}

static void cover_one(struct places *at, const char *path)
{
	AUTO_CLOSE int blank = -1;
	int r = make_blank(at);

	if (r == 0) {
		blank = (int)syscall(SYS_open_tree, AT_FDCWD, BLANK, TREE_CLONE | TREE_CLOSE);
		r = blank < 0 || setns(at->inside, CLONE_NEWNS) < 0 ? -errno : 0;
	}
	if (r == 0) {
		r = cover_inside(blank, path);
		if (setns(at->own, CLONE_NEWNS) < 0)
			_exit(1);
	}
	log_info("mounter", "%s: %s", path, r >= 0 ? "covered" : strerror(-r));
}

/* ---- orders ---------------------------------------------------------------------------------- */

struct bound {
	struct bound *next;
	bool off; /* to be unmounted, once no later bind covers it */
	char path[PATH_MAX];
};

static void add_bound(struct bound **list, const char *dir)
{
	struct bound *b = xcalloc(1, sizeof(*b));

	snprintf(b->path, sizeof(b->path), "%s", dir);
	b->next = *list;
	*list = b;
}

static void bind_one(const struct mounter *m, const struct places *at, struct bound **list,
		     const char *dir)
{
	int r = bind_tree(m, at, dir);

	log_info("mounter", "%s: %s", dir,
		 r > 0	  ? "native from now on"
		 : r == 0 ? "stays behind the gate, which asks the rules for each open"
			  : strerror(-r));
	if (r <= 0)
		return;
	add_bound(list, dir);
}

/* Unmounts the bind of dir, newest first, because a later bind may cover it. Returns false if a
 * bind stays. */
static bool unbind_one(const struct mounter *m, const struct places *at, struct bound **list,
		       const char *dir)
{
	struct bound **p = list;
	bool all = true;

	for (struct bound *b = *list; b; b = b->next)
		b->off = b->off || str_eq(b->path, dir);
	while (*p) {
		struct bound *b = *p;
		/* Unmounting would remove a working folder in it, too. */
		int r = !b->off ? 0 : holds_planned(m, b->path) ? -EBUSY : unbind_tree(at, b->path);

		if (r < 0)
			log_warn("mounter", "%s: stays native: %s", b->path, strerror(-r));
		if (!b->off || r < 0) {
			all = all && !b->off;
			b->off = false;
			p = &b->next;
			continue;
		}
		log_info("mounter", "%s: behind the gate again", b->path);
		*p = b->next;
		free(b);
	}
	return all;
}

static void reply(const struct mounter *m, const struct bind_note *order, bool on)
{
	const struct bind_note done = {.number = order->number, .on = on};

	send(m->sock, &done, BIND_NOTE_HEAD + 1, MSG_NOSIGNAL);
}

static bool show_tool(const struct mounter *m, const struct places *at, const char *path)
{
	int r = bind_tool(m, at, path);

	log_info("mounter", "%s: %s", path, r > 0 ? "made" : r == 0 ? "shown" : strerror(-r));
	return r > 0;
}

/* Lists the trees that were bound at the start. */
static struct bound *bound_by_plan(const struct mounter *m)
{
	struct bound *list = NULL;

	for (size_t i = 0; i < m->plan->n; i++)
		if (m->plan->ops[i].granted)
			add_bound(&list, m->plan->ops[i].path);
	return list;
}

static void serve(const struct mounter *m, struct places *at)
{
	struct bound *bound = bound_by_plan(m);
	struct bind_note note;

	for (;;) {
		ssize_t n = recv(m->sock, &note, sizeof(note), 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= (ssize_t)BIND_NOTE_HEAD)
			break;
		note.path[MIN((size_t)n - BIND_NOTE_HEAD, sizeof(note.path)) - 1] = '\0';
		if (note.cover)
			cover_one(at, note.path);
		else if (note.tool)
			reply(m, &note, show_tool(m, at, note.path));
		else if (note.on)
			bind_one(m, at, &bound, note.path);
		else
			reply(m, &note, !unbind_one(m, at, &bound, note.path));
	}
}

NORETURN void mounter_run(const struct mounter *m)
{
	struct places at = {.own = -1, .inside = -1};
	struct note note;

	prctl(PR_SET_NAME, "cordon-mounter");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	gate_keep_only((const int[]){m->sock, m->user_ns, log_descriptor()}, 3);
	send_gates(m);
	prctl(PR_SET_DUMPABLE, 0);
	at.own = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	if (at.own >= 0 && child_message_recv(m->sock, &note, &at.inside, 1) > 0 &&
	    note.kind == NOTE_HOME)
		serve(m, &at);
	_exit(0);
}
