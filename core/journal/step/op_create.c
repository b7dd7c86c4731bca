/* op_create - operations that create names: first the record, then the object. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/journal/fs/object.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/op.h"
#include "core/journal/step/expected_events.h"
#include "core/journal/step/hard_links.h"
#include "core/journal/step/limits.h"
#include "core/journal/step/open_files.h"
#include "core/journal/step/step.h"
#include "core/journal/step/target.h"
#include "core/journal/step/touched_inodes.h"
#include "core/os/beneath.h"

static const struct object nothing;

struct maker {
	const char *op;
	int (*make)(const struct maker *m, int dirfd, const char *name);
	enum rec_type type;
	mode_t mode;
	dev_t dev;
	const char *target; /* of a symbolic link; a socket's address */
	int base;	    /* where a relative address begins */
	int sock;
	const struct at *from;
	bool alias; /* the inode is not new */
	int exists; /* the error if the name exists, if not -EEXIST */
};

static int make(struct step *s, const struct maker *m, const struct at *at, bool *touched)
{
	AUTO_OP_TARGET struct op_target w = OP_TARGET_NONE;
	size_t mark = 0;
	int keep, r;

	r = op_target_look(&w, at);
	if (r < 0)
		return r;
	if (w.plain || !*at->name)
		return m->make(m, at->dirfd, w.raw);
	/* The name is looked up first: after a crash the recovery would believe a record that
	 * creates an existing object, and remove it. */
	if (w.obj.mode)
		return m->exists ? m->exists : -EEXIST;
	event_expect_no_close_at(s->j, w.root, w.path);
	keep = step_protects(s, m->op, w.path, 0, false);
	if (keep < 0)
		return keep;
	r = keep ? op_target_record_new(s, &w, m->type, &mark) : 0;
	if (r < 0)
		return r;
	r = m->make(m, at->dirfd, w.raw);
	if (r < 0) {
		if (keep)
			undo_log_take_back(&s->side.log, mark);
		return r;
	}
	if (!m->alias && object_stat(at->dirfd, w.bare, &w.obj) == 0 && w.obj.mode)
		step_learn(s, &w.obj, TOUCHED_CREATED);
	op_target_report(s, &w, &nothing, touched);
	return 0;
}

static int make_dir(const struct maker *m, int dirfd, const char *name)
{
	return mkdirat(dirfd, name, m->mode) < 0 ? -errno : 0;
}

int op_mkdir(struct step *s, const struct at *at, mode_t mode, bool *touched)
{
	const struct maker m = {.op = "mkdir", .make = make_dir, .type = REC_DIR_NEW, .mode = mode};

	return make(s, &m, at, touched);
}

static int make_node(const struct maker *m, int dirfd, const char *name)
{
	return mknodat(dirfd, name, m->mode, m->dev) < 0 ? -errno : 0;
}

/* Refuses a device node, which would give access to the host's devices. The kernel judges the name
 * first. */
static int refuse_device(const struct at *at)
{
	struct stat st;

	if (fstatat(at->dirfd, at->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	return errno == ENOENT ? -EPERM : -errno;
}

int op_mknod(struct step *s, const struct at *at, mode_t mode, dev_t dev, bool *touched)
{
	const struct maker m = {
		.op = "mknod", .make = make_node, .type = REC_NEW, .mode = mode, .dev = dev};

	/* Device 0:0 is a whiteout of overlayfs. */
	if (S_ISBLK(mode) || (S_ISCHR(mode) && dev != makedev(0, 0)))
		return refuse_device(at);
	return make(s, &m, at, touched);
}

static int make_symlink(const struct maker *m, int dirfd, const char *name)
{
	return symlinkat(m->target, dirfd, name) < 0 ? -errno : 0;
}

int op_symlink(struct step *s, const char *target, const struct at *at, bool *touched)
{
	const struct maker m = {
		.op = "symlink", .make = make_symlink, .type = REC_NEW, .target = target};

	return make(s, &m, at, touched);
}

static int make_link(const struct maker *m, int dirfd, const char *name)
{
	char proc[OS_FD_PATH];

	if (*m->from->name)
		return linkat(m->from->dirfd, m->from->name, dirfd, name, 0) < 0 ? -errno : 0;
	if (linkat(m->from->dirfd, "", dirfd, name, AT_EMPTY_PATH) == 0)
		return 0;
	if (errno != ENOENT) /* the error without CAP_DAC_READ_SEARCH */
		return -errno;
	os_fd_path(proc, m->from->dirfd);
	return linkat(AT_FDCWD, proc, dirfd, name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

int op_link(struct step *s, const struct at *from, const struct at *to, bool *touched)
{
	const struct maker m = {
		.op = "link", .make = make_link, .type = REC_NEW, .from = from, .alias = true};
	AUTO_OP_TARGET struct op_target w = OP_TARGET_NONE, old = OP_TARGET_NONE;
	struct object o;
	int r = object_stat(from->dirfd, from->name, &o);

	if (r < 0 || !o.mode)
		return r < 0 ? r : -ENOENT;
	r = make(s, &m, to, touched);
	if (r < 0)
		return r;
	op_target_set(&old, from);
	if (old.path)
		hard_link_note(s, &o, from->root, old.path);
	if (!S_ISREG(o.mode))
		return 0;
	/* The descriptor may be open for writing, or the file may be known to be so. */
	op_target_set(&w, to);
	if (!*from->name)
		open_file_add(s->j, &o, to->root, w.path);
	else
		open_file_named(s->j, &o, to->root, w.path, &nothing);
	return 0;
}

/* Opens the directory that has the last component of text. */
static int open_parent(int base, const char *text)
{
	char parent[sizeof(((struct sockaddr_un *)NULL)->sun_path) + 1];
	const char *slash = strrchr(text, '/');

	snprintf(parent, sizeof(parent), "%.*s", slash ? (int)(slash - text) + 1 : 1,
		 slash ? text : ".");
	return os_open_beneath(base, parent, O_PATH | O_DIRECTORY | O_CLOEXEC,
			       RESOLVE_NO_MAGICLINKS);
}

/* Returns whether text leads from base to name in that directory. */
static bool leads_there(int base, const char *text, int dirfd, const char *name)
{
	AUTO_CLOSE int parent = -1;
	const char *slash = strrchr(text, '/');
	struct stat a, b;

	if (strcmp(slash ? slash + 1 : text, name) != 0)
		return false;
	parent = open_parent(base, text);
	return parent >= 0 && fstat(parent, &a) == 0 && fstat(dirfd, &b) == 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/*
 * getsockname(2) always returns the address that bind(2) got: so bind(2) gets the caller's own
 * text, relative to the directory where that begins. No process inside can change a name between
 * the look and the call, as this thread makes all such changes. If the text leads elsewhere for
 * this process, the bare name in its directory is used.
 */
static int make_socket(const struct maker *m, int dirfd, const char *name)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	bool given = m->target && leads_there(m->base, m->target, dirfd, name);
	const char *text = given ? m->target : name;
	AUTO_CLOSE int here = -1;
	size_t len = strlen(text);
	socklen_t size;
	int r;

	if (len > sizeof(sa.sun_path))
		return -EINVAL;
	memcpy(sa.sun_path, text, len);
	size = (socklen_t)MIN(sizeof(sa), offsetof(struct sockaddr_un, sun_path) + len + 1);
	here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (here < 0 || fchdir(given && m->base >= 0 ? m->base : dirfd) < 0)
		return -errno;
	r = bind(m->sock, (struct sockaddr *)&sa, size) < 0 ? -errno : 0;
	if (fchdir(here) < 0)
		return -errno;
	return r;
}

int op_bind(struct step *s, int sock, const struct at *at, int base, const char *text,
	    bool *touched)
{
	const struct maker m = {.op = "bind",
				.make = make_socket,
				.type = REC_NEW,
				.sock = sock,
				.base = base,
				.target = text,
				.exists = -EADDRINUSE};

	return make(s, &m, at, touched);
}
