/* restore_apply - restores one object through operations that are captured themselves. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/journal/fs/object.h"
#include "core/journal/history/content.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/journal.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/op.h"
#include "core/journal/rollback/restore.h"
#include "core/journal/step/guarded.h"
#include "core/journal/store/store.h"

/* ---- places -----------------------------------------------------------------------------------
 */

struct target { /* a struct at with its memory, and what is there */
	struct at at;
	struct obj now;
	char *path, *dir;
	int fd;
};

#define AUTO_TARGET CLEANUP(target_done)
#define TARGET_NONE                                                                                \
	{                                                                                          \
		.fd = -1                                                                           \
	}

static void target_done(struct target *t)
{
	util_close_fd(&t->fd);
	free(t->path);
	free(t->dir);
}

static int target_find(struct restore *r, int root, const char *path, struct target *t)
{
	const char *slash;
	struct spot spot;
	int e;

	t->path = xstrdup(path);
	slash = strrchr(t->path, '/');
	e = spot_find(r->j, root, t->path, &spot);
	if (e < 0)
		return e;
	t->fd = obj_open(spot.fd, "");
	if (t->fd < 0)
		return t->fd;
	t->dir = xstrndup(t->path, slash ? (size_t)(slash - t->path) : 0);
	t->at = (struct at){
		.root = root, .dirfd = t->fd, .dir = t->dir, .name = slash ? slash + 1 : t->path};
	t->at.leaf = ""; /* for the root itself, whose name is "" */
	return obj_stat(t->fd, t->at.name, &t->now);
}

static int remove_now(struct restore *r, struct target *t)
{
	int e;

	if (!t->now.mode)
		return 0;
	e = S_ISDIR(t->now.mode) ? op_rmdir(r->s, &t->at, NULL) : op_unlink(r->s, &t->at, NULL);
	store_forget_near(r->j);
	return e;
}

/* One of them, as the step left it; what somebody else took away is not known. What stands in its
 * place goes. */
static int make_parent(struct restore *r, int root, const char *path, struct target *t)
{
	const struct change c = {.root = root,
				 .path = (char *)(uintptr_t)path,
				 .after = {.exists = true, .mode = S_IFDIR}};
	AUTO_ORIGIN struct origin o = ORIGIN_NONE;
	struct err ignored = {0};
	struct parent *p;
	int e = remove_now(r, t);

	if (e < 0)
		return e;
	if (origin_find(r->j, r->id, &c, true, &o, &ignored) < 0 || o.present)
		return op_mkdir(r->s, &t->at, 0755, NULL);
	r->parents = xrealloc(r->parents, (r->n_parents + 1) * sizeof(*r->parents));
	p = &r->parents[r->n_parents++];
	*p = (struct parent){.root = root, .path = xstrdup(path), .meta = BUF_INIT};
	buf_add(&p->meta, o.meta.data, o.meta.len);
	return op_mkdir(r->s, &t->at, 0700, NULL);
}

/* The directories above a path; those of the step itself were made before, these lost theirs since.
 */
static int make_parents(struct restore *r, int root, const char *path)
{
	AUTO_FREE char *prefix = xstrdup(path);
	int e = 0;

	for (char *slash = strchr(prefix, '/'); e == 0 && slash; slash = strchr(slash + 1, '/')) {
		AUTO_TARGET struct target t = TARGET_NONE;

		*slash = '\0';
		e = target_find(r, root, prefix, &t);
		if (e == 0 && !S_ISDIR(t.now.mode))
			e = make_parent(r, root, prefix, &t);
		*slash = '/';
	}
	return e;
}

static int target_make(struct restore *r, int root, const char *path, struct target *t)
{
	int e = make_parents(r, root, path);

	return e < 0 ? e : target_find(r, root, path, t);
}

/* Beside the target, under a name that nobody has. */
static struct at beside(struct restore *r, const struct target *t, char name[64])
{
	struct at at = t->at;

	snprintf(name, 64, ".cordon-restore-%lld-%u", (long long)step_id(r->s), r->tmp++);
	at.name = name;
	return at;
}

/* ---- names ------------------------------------------------------------------------------------
 */

/* A path of the step's end: where it lies now. Heap string. */
static char *lies_now(const struct restore *r, int root, const char *path)
{
	char *p = xstrdup(path);

	moves_follow(&r->moved, 0, &root, &p);
	return p;
}

static char *way_name(const struct target *t, const char *name)
{
	return xasprintf("%s%s%s", t->dir, *t->dir ? "/" : "", name);
}

/* Changes come from the bottom up: the directories above still have their names of the end. */
int bring_out(struct restore *r, size_t i)
{
	const struct change *c = &r->list[i];
	AUTO_TARGET struct target t = TARGET_NONE;
	AUTO_FREE char *temp = NULL;
	char name[64];
	struct at tmp;
	int e = target_find(r, c->root, c->path, &t);

	if (e == 0 && (t.now.mode & S_IFMT) != (c->after.mode & S_IFMT))
		e = -ESTALE;
	if (e < 0)
		return e;
	tmp = beside(r, &t, name);
	e = op_rename(r->s, &t.at, &tmp, 0, NULL);
	store_forget_near(r->j);
	temp = way_name(&t, name);
	if (e == 0)
		moves_push(&r->moved, c->root, c->path, temp);
	r->pieces[i].temp = take_ptr(&temp);
	return e;
}

/* And from the top down: what they are brought into has its old name already. */
int bring_back(struct restore *r, size_t i)
{
	const struct change *c = &r->list[i];
	struct piece *p = &r->pieces[i], *source = &r->pieces[p->source];
	AUTO_FREE char *from = lies_now(r, c->root, source->temp);
	AUTO_TARGET struct target a = TARGET_NONE;
	AUTO_TARGET struct target b = TARGET_NONE;
	int e = target_make(r, c->root, p->was, &b);

	if (e == 0)
		e = target_find(r, c->root, from, &a);
	if (e == 0)
		e = remove_now(r, &b);
	if (e == 0 && S_ISREG(c->before.mode) && guarded_name(r->j, c->root, p->was, S_IFREG))
		return op_unlink(r->s, &a.at, NULL); /* see bring_copy() */
	if (e == 0)
		e = op_rename(r->s, &a.at, &b.at, 0, NULL);
	store_forget_near(r->j);
	if (e == 0)
		moves_push(&r->moved, c->root, from, p->was);
	return e;
}

int bring_nothing(struct restore *r, size_t i)
{
	const struct change *c = &r->list[i];
	AUTO_FREE char *path = lies_now(r, c->root, c->path);
	AUTO_TARGET struct target t = TARGET_NONE;
	int e = target_find(r, c->root, path, &t);

	if (e == 0)
		e = remove_now(r, &t);
	/* What comes to the name from here on is not the step's. */
	r->pieces[i].gone = e == 0 || e == -ENOENT || e == -ENOTDIR || e == -ELOOP;
	if (r->pieces[i].gone)
		return 0;
	/* Of a directory what is not the step's stays, and so does the directory. */
	return (e == -ENOTEMPTY || e == -EEXIST) && S_ISDIR(c->after.mode) ? 0 : e;
}

/* ---- objects ----------------------------------------------------------------------------------
 */

static void learn_made(struct restore *r, uint64_t ino, int root, const char *path)
{
	struct made *m;

	HASH_FIND(hh, r->made, &ino, sizeof(ino), m);
	if (m || !ino)
		return;
	m = xcalloc(1, sizeof(*m));
	m->ino = ino;
	m->root = root;
	m->path = xstrdup(path);
	HASH_ADD(hh, r->made, ino, sizeof(m->ino), m);
}

/* The name is never half of one and half of the other. */
static int rename_over(struct restore *r, const struct at *tmp, struct target *t)
{
	int e = S_ISDIR(t->now.mode) ? remove_now(r, t) : 0;

	return e < 0 ? e : op_rename(r->s, tmp, &t->at, 0, NULL);
}

static int copy_over(struct restore *r, struct target *t, const struct origin *o)
{
	char name[64];
	struct at tmp = beside(r, t, name);
	AUTO_CLOSE int fd = op_open(r->s, &tmp, O_WRONLY | O_CREAT | O_EXCL, 0600, NULL);
	int e;

	if (fd < 0)
		return take_fd(&fd);
	e = data_copy(o->fd, fd);
	/* Made in this step: its creation is the record of all that happens to it. */
	if (e >= 0)
		e = meta_apply(fd, (struct span){o->meta.data, o->meta.len});
	if (e < 0) {
		int undone = op_unlink(r->s, &tmp, NULL);

		return undone < 0 ? undone : e;
	}
	return rename_over(r, &tmp, t);
}

static int link_over(struct restore *r, struct target *t, const struct at *from)
{
	char name[64];
	struct at tmp = beside(r, t, name);
	int e = op_link(r->s, from, &tmp, NULL);

	return e < 0 ? e : rename_over(r, &tmp, t);
}

static int link_made(struct restore *r, struct target *t, const struct made *m)
{
	AUTO_TARGET struct target first = TARGET_NONE;
	int e = target_find(r, m->root, m->path, &first);

	return e < 0 ? e : link_over(r, t, &first.at);
}

/* By a descriptor: its name in the store is none of the folder's. */
static int link_slot(struct restore *r, struct target *t, const struct origin *o)
{
	AUTO_CLOSE int fd = obj_open(o->slots, o->slot);
	const struct at from = {.root = t->at.root, .dirfd = fd, .dir = "", .name = ""};

	return fd < 0 ? fd : link_over(r, t, &from);
}

/* The slot's inode has names in the folder too, and nobody changed it since: it is one of them. */
static bool slot_is_shared(struct restore *r, const struct origin *o, const struct change_side *was)
{
	struct obj slot;

	if (o->slots < 0 || obj_stat(o->slots, o->slot, &slot) < 0 || !slot.mode)
		return false;
	return slot.nlink > origin_slots_of(r->j, slot.ino) && slot.mode == was->mode &&
	       slot.uid == was->uid && slot.gid == was->gid && slot.size == was->size &&
	       slot.mtime_ns == was->mtime_ns;
}

/* It is the file that has the bytes: to write to it would empty it first. */
static bool has_them(const struct target *t, const struct origin *o)
{
	struct obj from;

	return obj_stat(o->fd, "", &from) == 0 && from.ino == t->now.ino && from.dev == t->now.dev;
}

/* Other names of the file are to show the same bytes. */
static int write_in_place(struct restore *r, struct target *t, const struct origin *o)
{
	const struct span meta = {o->meta.data, o->meta.len};
	AUTO_CLOSE int fd = -1;
	int e;

	if (has_them(t, o))
		return op_set_attrs(r->s, &t->at, meta);
	fd = op_open(r->s, &t->at, O_WRONLY, 0, NULL);
	if (fd == -EACCES) {
		e = op_chmod(r->s, &t->at, (t->now.mode & 07777) | 0200, NULL);
		if (e < 0)
			return e;
		fd = op_open(r->s, &t->at, O_WRONLY, 0, NULL);
	}
	if (fd < 0)
		return take_fd(&fd);
	e = data_copy(o->fd, fd);
	return e < 0 ? e : op_set_attrs(r->s, &t->at, meta);
}

static int bring_file(struct restore *r, struct target *t, const struct origin *o,
		      const struct change_side *was)
{
	int e;

	if (S_ISREG(t->now.mode) && t->now.ino == was->ino && t->now.nlink > 1)
		return write_in_place(r, t, o);
	e = copy_over(r, t, o);
	if (e != -EPERM)
		return e;
	/* Somebody else's file: a copy would be ours, its own inode is theirs. */
	if (o->slots >= 0)
		return link_slot(r, t, o);
	return S_ISREG(t->now.mode) && t->now.ino == was->ino ? write_in_place(r, t, o) : e;
}

static int bring_symlink(struct restore *r, struct target *t, const struct origin *o)
{
	char name[64], goal[PATH_MAX + 1];
	struct at tmp = beside(r, t, name);
	ssize_t n = io_pread_full(o->fd, goal, PATH_MAX, 0);
	int e;

	if (n < 0)
		return (int)n;
	goal[n] = '\0';
	e = op_symlink(r->s, goal, &tmp, NULL);
	if (e == 0)
		e = op_set_attrs(r->s, &tmp, (struct span){o->meta.data, o->meta.len});
	return e < 0 ? e : rename_over(r, &tmp, t);
}

/* A pipe, a socket, a device: nothing is in it that two names could spoil. */
static int bring_special(struct restore *r, struct target *t, const struct origin *o,
			 const struct change_side *was)
{
	int e;

	if (o->slots >= 0)
		e = link_slot(r, t, o);
	else if ((e = remove_now(r, t)) == 0)
		e = op_mknod(r->s, &t->at, was->mode, 0, NULL);
	return e < 0 ? e : op_set_attrs(r->s, &t->at, (struct span){o->meta.data, o->meta.len});
}

static int bring_dir(struct restore *r, struct target *t)
{
	int e = S_ISDIR(t->now.mode) ? 0 : remove_now(r, t);

	if (e < 0 || S_ISDIR(t->now.mode))
		return e;
	return op_mkdir(r->s, &t->at, 0700, NULL);
}

static int bring(struct restore *r, struct target *t, const struct origin *o,
		 const struct change_side *was)
{
	const struct made *m;

	HASH_FIND(hh, r->made, &was->ino, sizeof(was->ino), m);
	if (m)
		return t->now.ino == was->ino ? 0 : link_made(r, t, m);
	if (t->now.ino != was->ino && slot_is_shared(r, o, was))
		return link_slot(r, t, o);
	if (S_ISREG(was->mode))
		return bring_file(r, t, o, was);
	return S_ISLNK(was->mode) ? bring_symlink(r, t, o) : bring_special(r, t, o, was);
}

/* To a guarded name comes no file that somebody may still write to: a new one, with the bytes that
 * the step found. */
static int bring_copy(struct restore *r, size_t i, struct target *t)
{
	const struct origin *here = &r->pieces[i].here;
	AUTO_ORIGIN struct origin o = ORIGIN_NONE;
	struct err ignored = {0};
	int e;

	if (here->present && here->fd < 0 && S_ISREG(t->now.mode) &&
	    !guarded_is_held(r->j, t->at.dirfd, t->at.name, &t->now))
		return op_set_attrs(r->s, &t->at, (struct span){here->meta.data, here->meta.len});
	e = origin_find(r->j, r->id, &r->list[i], false, &o, &ignored);
	return e < 0 ? e : copy_over(r, t, &o);
}

static int bring_bytes(struct restore *r, size_t i, struct target *t)
{
	const struct change *c = &r->list[i];
	AUTO_ORIGIN struct origin o = ORIGIN_NONE;
	struct origin *here = &r->pieces[i].here;
	struct err ignored = {0};
	int e;

	if (S_ISREG(c->before.mode) && guarded_name(r->j, c->root, r->pieces[i].was, S_IFREG))
		return bring_copy(r, i, t);
	if (here->present && here->fd < 0 && /* they are at their place */
	    (t->now.mode & S_IFMT) == (c->before.mode & S_IFMT))
		return op_set_attrs(r->s, &t->at, (struct span){here->meta.data, here->meta.len});
	if (here->present)
		return bring(r, t, here, &c->before);
	e = origin_find(r->j, r->id, c, false, &o, &ignored);
	return e < 0 ? e : bring(r, t, &o, &c->before);
}

int bring_object(struct restore *r, size_t i)
{
	const struct change *c = &r->list[i];
	const char *path = r->pieces[i].was;
	AUTO_TARGET struct target t = TARGET_NONE;
	int e = target_make(r, c->root, path, &t);

	if (e == 0)
		e = S_ISDIR(c->before.mode) ? bring_dir(r, &t) : bring_bytes(r, i, &t);
	if (e == 0)
		learn_made(r, c->before.ino, c->root, path);
	return e;
}

int bring_attrs(struct restore *r, size_t i)
{
	const struct buf *meta = &r->pieces[i].here.meta;
	AUTO_TARGET struct target t = TARGET_NONE;
	int e = target_find(r, r->list[i].root, r->pieces[i].was, &t);

	if (e < 0 || !S_ISDIR(t.now.mode))
		return e;
	return op_set_attrs(r->s, &t.at, (struct span){meta->data, meta->len});
}

/* Those of another's directory are not ours to set. */
static int set_times(struct restore *r, struct target *t, const struct timespec times[2])
{
	int e = op_utimens(r->s, &t->at, times, NULL);

	return e == -EPERM && t->now.uid != geteuid() ? 0 : e;
}

/* Its times are not those of when it was emptied. */
static int parent_attrs(struct restore *r, const struct parent *p)
{
	AUTO_TARGET struct target t = TARGET_NONE;
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {0}};
	int e = target_find(r, p->root, p->path, &t);

	if (e < 0 || !S_ISDIR(t.now.mode)) /* what the step had made there went again */
		return e == -ENOENT || e == -ENOTDIR ? 0 : e;
	times[1].tv_sec = t.now.mtime_ns / 1000000000;
	times[1].tv_nsec = t.now.mtime_ns % 1000000000;
	e = op_set_attrs(r->s, &t.at, (struct span){p->meta.data, p->meta.len});
	return e < 0 ? e : set_times(r, &t, times);
}

/* From the bottom up: one may lock what lies in it. */
int bring_parents(struct restore *r)
{
	int e = 0;

	for (size_t i = r->n_parents; e == 0 && i-- > 0;)
		e = parent_attrs(r, &r->parents[i]);
	return e;
}

/* The directory that has this number, or is there in its stead? The step may have made another of
 * that name. */
static bool stands_for(const struct restore *r, const struct target *t, uint64_t ino)
{
	const struct made *m;
	bool made;

	HASH_FIND(hh, r->made, &ino, sizeof(ino), m);
	made = m && m->root == t->at.root && str_eq(m->path, t->path);
	for (size_t i = 0; !made && i < r->n_parents; i++)
		made = r->parents[i].root == t->at.root && str_eq(r->parents[i].path, t->path);
	return made || t->now.ino == ino;
}

int bring_times(struct restore *r, int root, const char *path, const struct rec *rec)
{
	AUTO_TARGET struct target t = TARGET_NONE;
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {0}};
	struct get g = {.p = rec->meta.data, .end = rec->meta.data + rec->meta.len};
	int e = target_find(r, root, path, &t);

	times[1].tv_sec = (time_t)get_u64(&g);
	times[1].tv_nsec = get_u32(&g);
	if (e < 0 || !S_ISDIR(t.now.mode) || g.bad)
		return e == -ENOENT || e == -ENOTDIR ? 0 : e;
	if (!stands_for(r, &t, rec->ino))
		return 0;
	return set_times(r, &t, times);
}
