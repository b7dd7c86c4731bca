/* restore_apply - restores one object through operations that are captured themselves. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/journal/fs/object.h"
#include "core/journal/history.h"
#include "core/journal/history/content.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/op.h"
#include "core/journal/rollback/restore.h"
#include "core/journal/rollback/restore_target.h"
#include "core/journal/step/guarded.h"
#include "core/journal/store/placed.h"
#include "core/journal/store/roots.h"
#include "core/journal/util/codec.h"

/* ---- names ------------------------------------------------------------------------------------
 */

static char *way_name(const struct target *t, const char *name)
{
	return xasprintf("%s%s%s", t->dir, *t->dir ? "/" : "", name);
}

/* Called from the bottom up, so that the directories above still have the names that the step
 * left. */
int restore_out(struct restore *r, size_t i)
{
	const struct change *c = &r->list[i];
	AUTO_TARGET struct target t = TARGET_NONE;
	AUTO_FREE char *temp = NULL;
	char name[64];
	struct at tmp;
	int e = target_find(r, c->root, c->path, &t);

	if (e == 0 && (t.now.mode & S_IFMT) != (c->after.mode & S_IFMT))
		e = -ESTALE;
	if (e == 0 && !restore_expects(r, c->root, c->path, &t.now))
		e = -RESTORE_EDITED;
	if (e < 0)
		return e;
	placed_keep(r->j, &t.now);
	tmp = target_beside(r, &t, name);
	e = op_rename(r->s, &t.at, &tmp, 0, NULL);
	store_forget_near(r->j);
	temp = way_name(&t, name);
	if (e == 0)
		renames_push(&r->moved, c->root, c->path, temp);
	r->pieces[i].temp = take_ptr(&temp);
	return e;
}

/* Called from the top down, so that the directories above have their old names already. */
int restore_back(struct restore *r, size_t i)
{
	const struct change *c = &r->list[i];
	struct piece *p = &r->pieces[i], *source = &r->pieces[p->source];
	int root = c->root;
	AUTO_FREE char *from = renames_now(&r->moved, 0, &root, source->temp);
	AUTO_TARGET struct target a = TARGET_NONE;
	AUTO_TARGET struct target b = TARGET_NONE;
	int e = target_make(r, c->root, p->was, &b);

	if (e == 0)
		e = target_find(r, c->root, from, &a);
	if (e == 0)
		e = target_clear(r, &b);
	if (e == 0 && S_ISREG(c->before.mode) && root_guards(r->j, c->root, p->was, S_IFREG))
		return op_unlink(r->s, &a.at, NULL); /* see bring_copy() */
	if (e == 0) {
		placed_keep(r->j, &a.now);
		e = op_rename(r->s, &a.at, &b.at, 0, NULL);
	}
	store_forget_near(r->j);
	if (e == 0)
		renames_push(&r->moved, c->root, from, p->was);
	return e;
}

int restore_remove(struct restore *r, size_t i)
{
	const struct change *c = &r->list[i];
	int root = c->root;
	AUTO_FREE char *path = renames_now(&r->moved, 0, &root, c->path);
	AUTO_TARGET struct target t = TARGET_NONE;
	int e = target_find(r, c->root, path, &t);

	if (e == 0)
		e = target_clear(r, &t);
	/* Objects that get this name from here on are not the step's. */
	r->pieces[i].gone = e == 0 || e == -ENOENT || e == -ENOTDIR || e == -ELOOP;
	if (r->pieces[i].gone)
		return 0;
	/* Entries of a directory that the step did not create stay, and so does the directory. */
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

static int link_made(struct restore *r, struct target *t, const struct made *m)
{
	AUTO_TARGET struct target first = TARGET_NONE;
	int e = target_find(r, m->root, m->path, &first);

	return e < 0 ? e : replace_by_link(r, t, &first.at);
}

/* Links by descriptor: the slot's name is not in the folder. */
static int link_slot(struct restore *r, struct target *t, const struct content_origin *o)
{
	AUTO_CLOSE int fd = object_open(o->slots, o->slot);
	const struct at from = {.root = t->at.root, .dirfd = fd, .dir = "", .name = ""};

	return fd < 0 ? fd : replace_by_link(r, t, &from);
}

/* Returns whether the slot's inode also has names in the folder and is unchanged: the target
 * becomes one of its hard links. */
static bool slot_is_shared(struct restore *r, const struct content_origin *o,
			   const struct change_side *was)
{
	struct object slot;

	if (o->slots < 0 || object_stat(o->slots, o->slot, &slot) < 0 || !slot.mode)
		return false;
	return slot.nlink > content_slots_of(r->j, slot.ino) && slot.mode == was->mode &&
	       slot.uid == was->uid && slot.gid == was->gid && slot.size == was->size &&
	       slot.mtime_ns == was->mtime_ns;
}

static int bring_file(struct restore *r, struct target *t, const struct content_origin *o,
		      const struct change_side *was)
{
	int e;

	if (S_ISREG(t->now.mode) && t->now.ino == was->ino && t->now.nlink > 1)
		return replace_in_place(r, t, o);
	e = replace_by_copy(r, t, o);
	if (e != -EPERM)
		return e;
	/* The file is another user's: a copy would have our owner, the inode in the slot has the
	 * right one. */
	if (o->slots >= 0)
		return link_slot(r, t, o);
	return S_ISREG(t->now.mode) && t->now.ino == was->ino ? replace_in_place(r, t, o) : e;
}

/* Restores a pipe, socket or device: it has no content that a shared inode could change. */
static int bring_special(struct restore *r, struct target *t, const struct content_origin *o,
			 const struct change_side *was)
{
	int e;

	if (o->slots >= 0)
		e = link_slot(r, t, o);
	else if ((e = target_clear(r, t)) == 0)
		e = op_mknod(r->s, &t->at, was->mode, 0, NULL);
	if (e == 0)
		e = object_stat(t->at.dirfd, t->at.name, &t->now);
	return e < 0 ? e : target_set_attrs(r, t, (struct span){o->meta.data, o->meta.len});
}

static int bring_dir(struct restore *r, struct target *t)
{
	int e = S_ISDIR(t->now.mode) ? 0 : target_clear(r, t);

	if (e < 0 || S_ISDIR(t->now.mode))
		return e;
	return op_mkdir(r->s, &t->at, 0700, NULL);
}

static int bring(struct restore *r, struct target *t, const struct content_origin *o,
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
	return S_ISLNK(was->mode) ? replace_by_symlink(r, t, o) : bring_special(r, t, o, was);
}

/* Restores a guarded name. An inode to which a process may still write is not used: a new file gets
 * the bytes from before the step. */
static int bring_copy(struct restore *r, size_t i, struct target *t)
{
	const struct content_origin *here = &r->pieces[i].here;
	AUTO_CONTENT_ORIGIN struct content_origin o = CONTENT_ORIGIN_NONE;
	struct err ignored = {0};
	int e;

	if (here->present && here->fd < 0 && S_ISREG(t->now.mode) &&
	    !guarded_is_held(r->j, t->at.dirfd, t->at.name, &t->now))
		return target_set_attrs(r, t, (struct span){here->meta.data, here->meta.len});
	e = content_origin_find(r->j, r->id, &r->list[i], false, &o, &ignored);
	return e < 0 ? e : replace_by_copy(r, t, &o);
}

static int bring_bytes(struct restore *r, size_t i, struct target *t)
{
	const struct change *c = &r->list[i];
	AUTO_CONTENT_ORIGIN struct content_origin o = CONTENT_ORIGIN_NONE;
	struct content_origin *here = &r->pieces[i].here;
	struct err ignored = {0};
	int e;

	if (S_ISREG(c->before.mode) && root_guards(r->j, c->root, r->pieces[i].was, S_IFREG))
		return bring_copy(r, i, t);
	if (here->present && here->fd < 0 && /* the bytes are at their place */
	    (t->now.mode & S_IFMT) == (c->before.mode & S_IFMT))
		return target_set_attrs(r, t, (struct span){here->meta.data, here->meta.len});
	if (here->present && S_ISREG(t->now.mode) &&
	    replace_has_bytes(t, here)) /* and were moved back */
		return target_set_attrs(r, t, (struct span){here->meta.data, here->meta.len});
	if (here->present)
		return bring(r, t, here, &c->before);
	e = content_origin_find(r->j, r->id, c, false, &o, &ignored);
	return e < 0 ? e : bring(r, t, &o, &c->before);
}

int restore_object(struct restore *r, size_t i)
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

int restore_attrs(struct restore *r, size_t i)
{
	const struct buf *meta = &r->pieces[i].here.meta;
	AUTO_TARGET struct target t = TARGET_NONE;
	int e = target_find(r, r->list[i].root, r->pieces[i].was, &t);

	if (e < 0 || !S_ISDIR(t.now.mode))
		return e;
	return op_set_attrs(r->s, &t.at, (struct span){meta->data, meta->len});
}

int restore_owner_mode(struct restore *r, size_t i)
{
	const struct change *c = &r->list[i];
	const struct change_side *was = &c->before, *made = &c->after;
	AUTO_TARGET struct target t = TARGET_NONE;
	int e = target_find(r, c->root, c->path, &t);

	if (e == 0 && !has_mode_of(&t.now, made))
		e = -RESTORE_EDITED;
	if (e == 0 && (was->uid != made->uid || was->gid != made->gid))
		e = op_chown(r->s, &t.at, was->uid, was->gid, NULL);
	return e < 0 ? e : op_chmod(r->s, &t.at, was->mode & 07777, NULL);
}

/* Sets the times, unless the directory is another user's. */
static int set_times(struct restore *r, struct target *t, const struct timespec times[2])
{
	int e = op_utimens(r->s, &t->at, times, NULL);

	return e == -EPERM && t->now.uid != geteuid() ? 0 : e;
}

/* Restores a directory's metadata, but keeps the times that it has: refilling it has changed
 * them. */
static int parent_attrs(struct restore *r, const struct parent *p)
{
	AUTO_TARGET struct target t = TARGET_NONE;
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {0}};
	int e = target_find(r, p->root, p->path, &t);

	if (e < 0 || !S_ISDIR(t.now.mode)) /* the directory was removed again */
		return e == -ENOENT || e == -ENOTDIR ? 0 : e;
	times[1].tv_sec = t.now.mtime_ns / 1000000000;
	times[1].tv_nsec = t.now.mtime_ns % 1000000000;
	e = op_set_attrs(r->s, &t.at, (struct span){p->meta.data, p->meta.len});
	return e < 0 ? e : set_times(r, &t, times);
}

/* Works from the bottom up: the mode of a directory may lock those below it. */
int restore_parents(struct restore *r)
{
	int e = 0;

	for (size_t i = r->n_parents; e == 0 && i-- > 0;)
		e = parent_attrs(r, &r->parents[i]);
	return e;
}

/* Returns whether the directory has this inode number, or was recreated in its place. The step may
 * have created another directory of that name. */
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

int restore_times(struct restore *r, int root, const char *path, const struct rec *rec)
{
	AUTO_TARGET struct target t = TARGET_NONE;
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {0}};
	struct codec_reader g = {.p = rec->meta.data, .end = rec->meta.data + rec->meta.len};
	int e = target_find(r, root, path, &t);

	times[1].tv_sec = (time_t)codec_get_u64(&g);
	times[1].tv_nsec = codec_get_u32(&g);
	if (e < 0 || !S_ISDIR(t.now.mode) || g.bad)
		return e == -ENOENT || e == -ENOTDIR ? 0 : e;
	if (!stands_for(r, &t, rec->ino))
		return 0;
	return set_times(r, &t, times);
}
