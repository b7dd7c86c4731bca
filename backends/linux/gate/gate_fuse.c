/* gate_fuse - handlers for the kernel's FUSE requests to the read gate. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/gate/gate_fuse.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <xxhash.h>

#include "core/policy/policy.h"

/* The kernel caches a name for GATE_BELIEVED_S seconds, and attributes as gate_nodes.h says. Opens
 * are never cached: each comes here and walks the path again, so a removed name gives ENOENT at
 * once. */

/* The kernel's __FMODE_EXEC, by which file systems see the open of an execve(2). */
#define OPEN_EXEC 0x20

struct gate_fs *gate_fs_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

struct gate_node *gate_fs_node(const struct gate_fs *fs, fuse_ino_t ino)
{
	union {
		fuse_ino_t number;
		struct gate_node *node;
	} u = {.number = ino};

	return ino == FUSE_ROOT_ID ? fs->tree.top : u.node;
}

fuse_ino_t gate_fs_number(struct gate_node *node)
{
	union {
		struct gate_node *node;
		fuse_ino_t number;
	} u = {.node = node};

	return u.number;
}

mode_t gate_fs_mode(mode_t mode)
{
	if (S_ISFIFO(mode) || S_ISCHR(mode) || S_ISBLK(mode))
		return (mode & ~(mode_t)S_IFMT) | S_IFREG;
	return mode;
}

void gate_fs_show(struct stat *st)
{
	st->st_mode = gate_fs_mode(st->st_mode);
	if (S_ISREG(st->st_mode))
		st->st_rdev = 0;
}

/* ---- names ----------------------------------------------------------------------------------- */

static int absolute(const struct gate_fs *fs, const char *below, char *out, size_t size)
{
	int n = str_eq(below, ".") ? snprintf(out, size, "%s", fs->tree.path)
				   : snprintf(out, size, "%s/%s", fs->tree.path, below);

	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : n;
}

bool gate_fs_hides(const struct gate_server *s, const char *path)
{
	const char *why;

	return (plan_is_hidden(s->plan, path) ||
		policy_check_read(s->policy, RULE_READ, path, &why) == POLICY_HIDE) &&
	       !plan_leads_to_grant(s->plan, path);
}

/* Reports a look at a hidden name to the keeper: not if the socket is full, and once for each
 * process and name, as long as that is remembered. */
static void tell_look(const struct gate_server *s, fuse_req_t req, const char *path)
{
	static uint64_t told[256];
	struct gate_note note = {.what = GATE_LOOKED, .tid = fuse_req_ctx(req)->pid};
	uint64_t key = XXH3_64bits_withSeed(path, strlen(path), (uint64_t)note.tid);

	if (!gate_is_armed() || told[key % ARRAY_LEN(told)] == key)
		return;
	told[key % ARRAY_LEN(told)] = key;
	snprintf(note.path, sizeof(note.path), "%s", path);
	(void)!send(s->sock, &note, GATE_NOTE_HEAD + strlen(note.path) + 1,
		    MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void on_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct gate_fs *fs = gate_fs_of(req);
	struct fuse_entry_param e = {.entry_timeout = GATE_BELIEVED_S};
	struct gate_node *dir = gate_fs_node(fs, parent), *n;
	char below[PATH_MAX], path[PATH_MAX];
	AUTO_CLOSE int fd = -1;
	bool hidden = false;
	int r = strlen(name) > NAME_MAX ? -ENAMETOOLONG
					: gate_node_path(dir, name, below, sizeof(below));

	if (r >= 0)
		r = absolute(fs, below, path, sizeof(path));
	if (r >= 0)
		r = (hidden = gate_fs_hides(fs->server, path))
			    ? -ENOENT
			    : (fd = gate_tree_open(&fs->tree, below, O_PATH));
	if (hidden)
		tell_look(fs->server, req, path);
	if (r >= 0 && fstat(fd, &e.attr) < 0)
		r = -errno;
	if (r < 0) {
		fuse_reply_err(req, r == -ELOOP ? ESTALE : -r);
		return;
	}
	n = gate_node_enter(&fs->tree, dir, name, &e.attr);
	if (!n) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	e.attr_timeout = gate_node_tell(&fs->tree, n, &e.attr);
	gate_fs_show(&e.attr);
	e.ino = gate_fs_number(n);
	if (fuse_reply_entry(req, &e) < 0)
		gate_node_forget(&fs->tree, n, 1);
}

static void on_forget(fuse_req_t req, fuse_ino_t ino, uint64_t times)
{
	struct gate_fs *fs = gate_fs_of(req);

	gate_node_forget(&fs->tree, gate_fs_node(fs, ino), times);
	fuse_reply_none(req);
}

static void on_forget_multi(fuse_req_t req, size_t n, struct fuse_forget_data *list)
{
	struct gate_fs *fs = gate_fs_of(req);

	for (size_t i = 0; i < n; i++)
		gate_node_forget(&fs->tree, gate_fs_node(fs, list[i].ino), list[i].nlookup);
	fuse_reply_none(req);
}

/* ---- what shows through ---------------------------------------------------------------------- */

/* Returns -1 if it has answered the request. */
static int object(fuse_req_t req, fuse_ino_t ino, struct stat *st)
{
	struct gate_fs *fs = gate_fs_of(req);
	int fd = gate_node_open(&fs->tree, gate_fs_node(fs, ino), O_PATH, st);

	if (fd >= 0)
		return fd;
	fuse_reply_err(req, -fd);
	return -1;
}

static void on_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *file)
{
	struct gate_fs *fs = gate_fs_of(req);
	struct stat st;
	AUTO_CLOSE int fd = object(req, ino, &st);
	double believed;

	(void)file;
	if (fd < 0)
		return;
	believed = gate_node_tell(&fs->tree, gate_fs_node(fs, ino), &st);
	gate_fs_show(&st);
	fuse_reply_attr(req, &st, believed);
}

static void on_readlink(fuse_req_t req, fuse_ino_t ino)
{
	AUTO_CLOSE int fd = object(req, ino, NULL);
	char text[PATH_MAX];
	ssize_t n;

	if (fd < 0)
		return;
	n = readlinkat(fd, "", text, sizeof(text) - 1);
	if (n < 0) {
		fuse_reply_err(req, errno);
		return;
	}
	text[n] = '\0';
	fuse_reply_readlink(req, text);
}

/* The server has the agent's ids and no further rights, so its own access is the agent's. */
static void on_access(fuse_req_t req, fuse_ino_t ino, int mask)
{
	AUTO_CLOSE int fd = object(req, ino, NULL);

	if (fd < 0)
		return;
	if (mask & W_OK)
		fuse_reply_err(req, EROFS);
	else if (syscall(SYS_faccessat2, fd, "", mask, AT_EMPTY_PATH | AT_EACCESS) < 0)
		fuse_reply_err(req, errno);
	else
		fuse_reply_err(req, 0);
}

static void on_statfs(fuse_req_t req, fuse_ino_t ino)
{
	AUTO_CLOSE int fd = object(req, ino, NULL);
	struct statvfs fs;

	if (fd < 0)
		return;
	if (fstatvfs(fd, &fs) < 0)
		fuse_reply_err(req, errno);
	else
		fuse_reply_statfs(req, &fs);
}

static void reply_value(fuse_req_t req, const char *value, ssize_t n, size_t size)
{
	if (n < 0)
		fuse_reply_err(req, errno);
	else if (size == 0)
		fuse_reply_xattr(req, (size_t)n);
	else
		fuse_reply_buf(req, value, (size_t)n);
}

/* name is NULL for the list of names. */
static void attribute(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	AUTO_CLOSE int fd = object(req, ino, NULL);
	AUTO_FREE char *value = NULL;
	char path[32];

	if (fd < 0)
		return;
	size = MIN(size, (size_t)XATTR_SIZE_MAX);
	value = xmalloc(size + 1);
	/* fgetxattr(2) refuses an O_PATH descriptor, so its name in /proc is used. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	reply_value(req, value,
		    name ? getxattr(path, name, value, size) : listxattr(path, value, size), size);
}

static void on_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	attribute(req, ino, name, size);
}

static void on_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	attribute(req, ino, NULL, size);
}

/* ---- what is asked for ----------------------------------------------------------------------- */

static void open_any(fuse_req_t req, fuse_ino_t ino, const struct fuse_file_info *file, bool dir)
{
	struct gate_fs *fs = gate_fs_of(req);
	struct gate_node *n = gate_fs_node(fs, ino);
	struct gate_open o = {.fs = fs,
			      .req = req,
			      .ino = ino,
			      .file = *file,
			      .fd = -1,
			      .dir = dir,
			      .exec = !dir && (file->flags & OPEN_EXEC)};
	char below[PATH_MAX], path[PATH_MAX];
	int r;

	if ((file->flags & O_ACCMODE) != O_RDONLY || S_ISDIR(gate_node_type(n)) != dir) {
		fuse_reply_err(req, EACCES);
		return;
	}
	/* Objects are not opened if the open could block or have an effect. */
	o.special = !dir && !S_ISREG(gate_node_type(n));
	r = gate_node_path(n, NULL, below, sizeof(below));
	if (r >= 0)
		r = absolute(fs, below, path, sizeof(path));
	if (r >= 0 && !o.special)
		r = o.fd = gate_node_open(&fs->tree, n,
					  O_RDONLY | O_NONBLOCK | (dir ? O_DIRECTORY : 0), NULL);
	if (r < 0)
		fuse_reply_err(req, -r);
	else
		gate_hold(&o, path);
}

static void on_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *file)
{
	open_any(req, ino, file, false);
}

static void on_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *file)
{
	open_any(req, ino, file, true);
}

/* Makes the kernel drop what it has cached of a changed file. It reads only up to the size that it
 * knows. */
static void tell_change(const struct gate_open *o)
{
	struct gate_node *n = gate_fs_node(o->fs, o->ino);
	struct stat st;

	if (fstat(o->fd, &st) < 0 || gate_node_is_as_told(n, &st))
		return;
	gate_node_tell(&o->fs->tree, n, &st);
	fuse_lowlevel_notify_inval_inode(o->fs->session, o->ino, -1, 0);
}

void gate_finish(const struct gate_open *o, const char *path, int result)
{
	struct fuse_file_info file = o->file;

	if (o->withheld) {
		fuse_reply_err(o->req, result == -EINTR ? EINTR : EACCES);
	} else if (result < 0 || o->special) {
		if (o->fd >= 0)
			close(o->fd);
		fuse_reply_err(o->req, result < 0 ? -result : EACCES);
	} else if (o->dir) {
		gate_list_open(o, path);
	} else {
		tell_change(o);
		file.fh = (uint64_t)o->fd;
		if (fuse_reply_open(o->req, &file) < 0)
			close(o->fd);
	}
}

static void on_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t at,
		    struct fuse_file_info *file)
{
	static char *room;
	ssize_t n;

	(void)ino;
	if (!room)
		room = xmalloc(READ_MAX);
	n = pread((int)file->fh, room, MIN(size, (size_t)READ_MAX), at);
	if (n < 0)
		fuse_reply_err(req, errno);
	else
		fuse_reply_buf(req, room, (size_t)n);
}

static void on_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *file)
{
	(void)ino;
	close((int)file->fh);
	fuse_reply_err(req, 0);
}

/* ---- life ------------------------------------------------------------------------------------ */

void gate_fs_disbelieve(struct gate_fs *fs)
{
	struct gate_node *n;

	while ((n = gate_tree_disbelieve(&fs->tree)))
		fuse_lowlevel_notify_inval_inode(
			fs->session, n == fs->tree.top ? FUSE_ROOT_ID : gate_fs_number(n), -1, 0);
}

void gate_fs_on_init(void *data, struct fuse_conn_info *conn)
{
	(void)data;
	/* Answers are small and there is one thread: pipes would cost more than they save. */
	conn->want &=
		~(unsigned)(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE);
}

static const struct fuse_lowlevel_ops ops = {
	.init = gate_fs_on_init,
	.lookup = on_lookup,
	.forget = on_forget,
	.forget_multi = on_forget_multi,
	.getattr = on_getattr,
	.readlink = on_readlink,
	.access = on_access,
	.statfs = on_statfs,
	.getxattr = on_getxattr,
	.listxattr = on_listxattr,
	.open = on_open,
	.read = on_read,
	.release = on_release,
	.opendir = on_opendir,
	.readdir = gate_list_read,
	.readdirplus = gate_list_read_plus,
	.releasedir = gate_list_release,
};

int gate_fs_init(struct gate_fs *fs, const struct gate_server *server, const char *path, int fuse)
{
	char name[] = "cordon", device[32];
	char *argv[] = {name, NULL};
	struct fuse_args args = FUSE_ARGS_INIT(1, argv);
	int r;

	fs->server = server;
	fs->tree.changing = gate_changing();
	r = path ? gate_tree_init(&fs->tree, path, server->plan->home_points) : 0;
	if (r < 0)
		return r;
	fs->session = fuse_session_new(&args, path ? &ops : &stand_in_ops, sizeof(ops), fs);
	fuse_opt_free_args(&args);
	snprintf(device, sizeof(device), "/dev/fd/%d", fuse);
	if (!fs->session || fuse_session_mount(fs->session, device) < 0)
		return -EIO;
	return 0;
}

void gate_fs_done(struct gate_fs *fs)
{
	if (fs->session)
		fuse_session_destroy(fs->session);
	gate_tree_done(&fs->tree);
}
