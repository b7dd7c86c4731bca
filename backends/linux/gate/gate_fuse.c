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

#include "core/base/path.h"
#include "core/policy/policy.h"

/*
 * The kernel believes a name this many seconds, and attributes as gate_nodes.h says. Opens are
 * never believed: each comes here and walks the path again, so a name that is gone gives ENOENT at
 * once.
 */
#define BELIEVED GATE_BELIEVED_S
/* __FMODE_EXEC of the kernel, which shows it to file systems: the open of an execve(2). */
#define OPEN_EXEC 0x20
#define READ_MAX  (1u << 20)

static struct gate_fs *fs_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

static struct gate_node *node_of(const struct gate_fs *fs, fuse_ino_t ino)
{
	union {
		fuse_ino_t number;
		struct gate_node *node;
	} u = {.number = ino};

	return ino == FUSE_ROOT_ID ? fs->tree.top : u.node;
}

static fuse_ino_t number_of(struct gate_node *node)
{
	union {
		struct gate_node *node;
		fuse_ino_t number;
	} u = {.node = node};

	return u.number;
}

/*
 * The kernel opens pipes and devices itself wherever their names are, and waits there for another
 * end that cannot be. As plain files they come here, are refused, and the audit log knows.
 */
static mode_t shown_as(mode_t mode)
{
	if (S_ISFIFO(mode) || S_ISCHR(mode) || S_ISBLK(mode))
		return (mode & ~(mode_t)S_IFMT) | S_IFREG;
	return mode;
}

static void show(struct stat *st)
{
	st->st_mode = shown_as(st->st_mode);
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

/* The way to what is mounted on the gate shows in any case: without it nobody gets there. */
static bool is_hidden(const struct gate_server *s, const char *path)
{
	const char *why;

	return (plan_is_hidden(s->plan, path) ||
		policy_check_read(s->policy, RULE_READ, path, &why) == POLICY_HIDE) &&
	       !plan_leads_to_grant(s->plan, path);
}

/* Tells the keeper of a look at a hidden name: quietly, so not where the socket is full, and once
 * for the same process and name, as long as that is remembered. */
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
	struct gate_fs *fs = fs_of(req);
	struct fuse_entry_param e = {.entry_timeout = BELIEVED};
	struct gate_node *dir = node_of(fs, parent), *n;
	char below[PATH_MAX], path[PATH_MAX];
	AUTO_CLOSE int fd = -1;
	bool hidden = false;
	int r = strlen(name) > NAME_MAX ? -ENAMETOOLONG
					: gate_node_path(dir, name, below, sizeof(below));

	if (r >= 0)
		r = absolute(fs, below, path, sizeof(path));
	if (r >= 0)
		r = (hidden = is_hidden(fs->server, path))
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
	show(&e.attr);
	e.ino = number_of(n);
	if (fuse_reply_entry(req, &e) < 0)
		gate_node_forget(&fs->tree, n, 1);
}

static void on_forget(fuse_req_t req, fuse_ino_t ino, uint64_t times)
{
	struct gate_fs *fs = fs_of(req);

	gate_node_forget(&fs->tree, node_of(fs, ino), times);
	fuse_reply_none(req);
}

static void on_forget_multi(fuse_req_t req, size_t n, struct fuse_forget_data *list)
{
	struct gate_fs *fs = fs_of(req);

	for (size_t i = 0; i < n; i++)
		gate_node_forget(&fs->tree, node_of(fs, list[i].ino), list[i].nlookup);
	fuse_reply_none(req);
}

/* ---- what shows through ---------------------------------------------------------------------- */

/* -1: the request has been answered. */
static int object(fuse_req_t req, fuse_ino_t ino, struct stat *st)
{
	struct gate_fs *fs = fs_of(req);
	int fd = gate_node_open(&fs->tree, node_of(fs, ino), O_PATH, st);

	if (fd >= 0)
		return fd;
	fuse_reply_err(req, -fd);
	return -1;
}

static void on_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *file)
{
	struct gate_fs *fs = fs_of(req);
	struct stat st;
	AUTO_CLOSE int fd = object(req, ino, &st);
	double believed;

	(void)file;
	if (fd < 0)
		return;
	believed = gate_node_tell(&fs->tree, node_of(fs, ino), &st);
	show(&st);
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

/* The server has the agent's ids and no more rights than it: what it may, the agent may. */
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
	/* An O_PATH descriptor has no fgetxattr(2); what it stands for has a name in /proc. */
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

struct listing {
	DIR *dir;
	off_t at;	     /* where what the kernel has been told of ends */
	struct dirent *kept; /* what follows, if it has been read; of the stream */
	char path[];	     /* the agent may hold as many as it may have files open */
};

static struct listing *listing_of(const struct fuse_file_info *file)
{
	union {
		uint64_t number;
		struct listing *listing;
	} u = {.number = file->fh};

	return u.listing;
}

static void open_any(fuse_req_t req, fuse_ino_t ino, const struct fuse_file_info *file, bool dir)
{
	struct gate_fs *fs = fs_of(req);
	struct gate_node *n = node_of(fs, ino);
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
	/* Nothing that could block or do something by being opened. */
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

static void hand_dir(const struct gate_open *o, const char *path)
{
	union {
		struct listing *listing;
		uint64_t number;
	} u = {.listing = xcalloc(1, sizeof(struct listing) + strlen(path) + 1)};
	struct fuse_file_info file = o->file;

	memcpy(u.listing->path, path, strlen(path));
	u.listing->dir = fdopendir(o->fd);
	file.fh = u.number;
	if (!u.listing->dir) {
		close(o->fd);
		free(u.listing);
		fuse_reply_err(o->req, ENOMEM);
	} else if (fuse_reply_open(o->req, &file) < 0) {
		closedir(u.listing->dir);
		free(u.listing);
	}
}

/* The kernel reads no further than the size that it believes: what has changed it asks for anew. */
static void tell_change(const struct gate_open *o)
{
	struct gate_node *n = node_of(o->fs, o->ino);
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
		hand_dir(o, path);
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

/* What of a listing goes to the kernel at once. */
struct page {
	fuse_req_t req;
	struct gate_fs *fs;
	struct gate_node *dir;
	char *room;
	size_t size, used;
	struct gate_node **known; /* made known to the kernel by it; NULL: names alone are wanted */
	size_t n_known;
};

/* With its attributes, as if it had been looked up: that saves a turn for each file that is read.
 * Whatever lies there by then, an open walks the path anew. False: no room. */
static bool add_known(struct page *p, int dir, const struct dirent *e, off_t next)
{
	struct fuse_entry_param entry = {.entry_timeout = BELIEVED};
	size_t n = fuse_add_direntry_plus(p->req, NULL, 0, e->d_name, NULL, 0);
	struct gate_node *node = NULL;

	if (n > p->size - p->used)
		return false;
	if (!str_eq(e->d_name, ".") && !str_eq(e->d_name, "..") &&
	    fstatat(dir, e->d_name, &entry.attr, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) == 0)
		node = gate_node_enter(&p->fs->tree, p->dir, e->d_name, &entry.attr);
	if (node) {
		entry.attr_timeout = gate_node_tell(&p->fs->tree, node, &entry.attr);
		entry.ino = number_of(node);
		p->known[p->n_known++] = node;
	} else {
		entry.attr = (struct stat){.st_ino = e->d_ino, .st_mode = DTTOIF(e->d_type)};
	}
	show(&entry.attr);
	p->used += fuse_add_direntry_plus(p->req, p->room + p->used, n, e->d_name, &entry, next);
	return true;
}

static bool add_name(struct page *p, const struct dirent *e, off_t next)
{
	const struct stat st = {.st_ino = e->d_ino, .st_mode = shown_as(DTTOIF(e->d_type))};
	size_t n = fuse_add_direntry(p->req, p->room + p->used, p->size - p->used, e->d_name, &st,
				     next);

	if (n > p->size - p->used)
		return false;
	p->used += n;
	return true;
}

static bool add(struct page *p, const struct listing *l, const struct dirent *e)
{
	return p->known ? add_known(p, dirfd(l->dir), e, telldir(l->dir))
			: add_name(p, e, telldir(l->dir));
}

static void fill(struct page *p, struct listing *l)
{
	char path[PATH_MAX + NAME_MAX + 2];
	struct dirent *e;

	while ((e = l->kept ? l->kept : readdir(l->dir))) {
		l->kept = NULL;
		snprintf(path, sizeof(path), "%s/%s", l->path, e->d_name);
		if (is_hidden(p->fs->server, path))
			continue;
		if (!add(p, l, e)) {
			l->kept = e;
			return;
		}
		l->at = telldir(l->dir);
	}
}

static void list(struct page *p, off_t at, const struct fuse_file_info *file)
{
	struct listing *l = listing_of(file);

	p->room = xmalloc(p->size);
	if (at != l->at) {
		seekdir(l->dir, at);
		l->kept = NULL;
		l->at = at;
	}
	fill(p, l);
	if (fuse_reply_buf(p->req, p->room, p->used) < 0)
		while (p->n_known)
			gate_node_forget(&p->fs->tree, p->known[--p->n_known], 1);
	free(p->room);
	free(p->known);
}

static void on_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t at,
		       struct fuse_file_info *file)
{
	struct page p = {.req = req, .fs = fs_of(req), .size = MIN(size, (size_t)READ_MAX)};

	(void)ino;
	list(&p, at, file);
}

static void on_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t at,
			   struct fuse_file_info *file)
{
	struct page p = {.req = req, .fs = fs_of(req), .size = MIN(size, (size_t)READ_MAX)};
	size_t least = fuse_add_direntry_plus(req, NULL, 0, "x", NULL, 0);

	p.dir = node_of(p.fs, ino);
	p.known = xcalloc(p.size / least + 1, sizeof(struct gate_node *));
	list(&p, at, file);
}

static void on_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *file)
{
	struct listing *l = listing_of(file);

	(void)ino;
	closedir(l->dir);
	free(l);
	fuse_reply_err(req, 0);
}

/* ---- life ------------------------------------------------------------------------------------ */

void gate_fs_disbelieve(struct gate_fs *fs)
{
	struct gate_node *n;

	while ((n = gate_tree_disbelieve(&fs->tree)))
		fuse_lowlevel_notify_inval_inode(
			fs->session, n == fs->tree.top ? FUSE_ROOT_ID : number_of(n), -1, 0);
}

void gate_fs_on_init(void *data, struct fuse_conn_info *conn)
{
	(void)data;
	/* Small answers, one thread: pipes would cost more than they save. */
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
	.readdir = on_readdir,
	.readdirplus = on_readdirplus,
	.releasedir = on_releasedir,
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
