/* folder - the one way to change a working folder: policy, then the journal, then the change. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/folders/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/keeper/folders/brought.h"
#include "core/keeper/folders/folder_priv.h"
#include "core/keeper/folders/saves.h"
#include "core/keeper/approvals/safeguard.h"
#include "core/keeper/procs.h"
#include "core/keeper/events.h"
#include "core/keeper/folders/unconfined.h"
#include "core/keeper/loop.h"
#include "core/keeper/state.h"
#include "core/keeper/steps/command.h"
#include "core/keeper/steps/owner.h"
#include "core/keeper/steps/steps.h"
#include "core/keeper/watch/watch.h"
#include "core/os/file.h"

/*
 * Every public operation here has the same three parts: judge the change of a name (judge), let the
 * journal capture and perform it (run), report a first touch to cordon. The keeper is one thread
 * and the agent has no other way to change the folder. So between judge and run only programs
 * outside can change it, or writes to a descriptor that was open before.
 */

static int perform(void *arg)
{
	struct op *o = arg;
	struct step *s = o->step;
	bool *t = &o->touched;

	switch (o->kind) {
	case OP_OPEN:
		return op_open(s, o->at, o->flags, o->mode, t);
	case OP_TMPFILE:
		return op_tmpfile(s, o->at, o->flags, o->mode);
	case OP_MKDIR:
		return op_mkdir(s, o->at, o->mode, t);
	case OP_MKNOD:
		return op_mknod(s, o->at, o->mode, o->dev, t);
	case OP_SYMLINK:
		return op_symlink(s, o->text, o->at, t);
	case OP_LINK:
		return op_link(s, o->at, o->to, t);
	case OP_UNLINK:
		return op_unlink(s, o->at, t);
	case OP_RMDIR:
		return op_rmdir(s, o->at, t);
	case OP_RENAME:
		return op_rename(s, o->at, o->to, (unsigned)o->flags, t);
	case OP_BIND:
		return op_bind(s, o->sock, o->at, o->base, o->text, t);
	case OP_TRUNCATE:
		return op_truncate(s, o->at, o->size, t);
	case OP_CHMOD:
		return op_chmod(s, o->at, o->mode, t);
	case OP_CHOWN:
		return op_chown(s, o->at, o->uid, o->gid, t);
	case OP_UTIMENS:
		return op_utimens(s, o->at, o->times, t);
	case OP_SETXATTR:
		return op_setxattr(s, o->at, o->text, o->value, o->value_size, o->flags, t);
	case OP_REMOVEXATTR:
		return op_removexattr(s, o->at, o->text, t);
	case OP_FORESEE_OPEN:
		return op_foresee_open(s, o->at, o->flags, t);
	case OP_FORESEE_MAKE:
		return op_foresee_make(s, o->at, o->dir, t);
	case OP_FORESEE_REMOVE:
		return op_foresee_remove(s, o->at, t);
	case OP_FORESEE_RENAME:
		return op_foresee_rename(s, o->at, o->to, t);
	case OP_FORESEE_META:
		return op_foresee_meta(s, o->at, t);
	}
	return -ENOSYS;
}

/* ---- running --------------------------------------------------------------------------------- */

/* Returns whether the operation leaves an object at the name. */
static bool makes_name(const struct op *o)
{
	return o->makes || o->kind == OP_RENAME || o->kind == OP_LINK || o->kind == OP_SYMLINK;
}

static bool is_exchange(const struct op *o)
{
	return o->kind == OP_RENAME && o->flags & RENAME_EXCHANGE;
}

void folder_note_answered(struct folder *f, const struct at *at, const char *path)
{
	saves_answered(f, at, path);
	brought_placed(f, at, path);
}

/* from: the other name of a rename or link, NULL if it has none. */
static void note_placed(struct folder *f, const struct caller *c, const struct op *o,
			const char *path, const char *from)
{
	saves_made(f, o->to ? o->to : o->at, path);
	if (!c->granted)
		return;
	folder_note_answered(f, o->to ? o->to : o->at, path);
	if (from && is_exchange(o))
		folder_note_answered(f, o->at, from);
	else if (from && o->kind == OP_LINK)
		brought_placed(f, o->at, from);
}

/* Adds the directory of the name, or the object of a descriptor; also the object, if it is a
 * directory or has other names. Returns true for a directory that is about to be moved. */
static bool add_changing(const struct at *at, bool moves, struct inode_id *list, size_t *n)
{
	struct stat st;

	if (fstat(at->dirfd, &st) == 0)
		list[(*n)++] = (struct inode_id){st.st_dev, st.st_ino};
	if (!*at->name || fstatat(at->dirfd, at->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	if (S_ISDIR(st.st_mode) || st.st_nlink > 1)
		list[(*n)++] = (struct inode_id){st.st_dev, st.st_ino};
	return moves && S_ISDIR(st.st_mode);
}

/* Outside the working folders a door may show attributes that it remembers (the read gate). */
static void tell_changing(struct keeper *k, const struct op *o)
{
	struct inode_id list[4];
	bool moves = o->kind == OP_RENAME, moved;
	size_t n = 0;

	moved = add_changing(o->at, moves, list, &n);
	if (o->to)
		moved |= add_changing(o->to, moves, list, &n);
	doors_changing(k, list, n, moved);
}

int folder_run(struct folder *f, const struct caller *c, struct op *o, const char *path,
	       const char *path2)
{
	struct keeper *k = f->keeper;
	struct guarded g = {.k = k, .c = c, .makes = makes_name(o)};
	uint64_t moves = folder_dir_moves(f);
	int r = steps_get(f, c->proc, path, &o->step);

	g.path = o->kind == OP_RENAME || o->kind == OP_FORESEE_RENAME ? path2 : path;
	if (r == 0)
		r = safeguard_enter(&g, o->step);
	if (r < 0)
		return r;
	if (o->makes)
		keeper_umask(k, caller_umask(c));
	watch_busy(k);
	if (o->kind == OP_OPEN || o->kind == OP_TRUNCATE || makes_name(o))
		watch_before(k);
	if (f->granted)
		tell_changing(k, o);
	r = f->granted ? folder_run_outside(k, perform, o) : perform(o);
	if (r == 0 &&
	    (o->kind == OP_MKDIR || (o->kind == OP_RENAME && folder_dir_moves(f) != moves))) {
		if (is_exchange(o))
			watch_made(k, f, o->at->dirfd, path);
		else
			watch_made(k, f, (o->to ? o->to : o->at)->dirfd, g.path);
	}
	if (r >= 0 && (o->kind == OP_OPEN || makes_name(o)))
		note_placed(f, c, o, g.path, o->kind == OP_LINK ? path2 : path);
	if (o->touched) {
		watch_touched(k, f, path);
		if (path2)
			watch_touched(k, f, path2);
		event_touch(k, c, path, path2);
	}
	keeper_news(k);
	return safeguard_leave(&g, o->step, r);
}

/* ---- what an answer is about ------------------------------------------------------------------
 */

static void look(struct folder *f, const struct op *o, const char *path, const char *to,
		 struct asked *ret)
{
	*ret = (struct asked){0};
	if (o->kind == OP_SYMLINK)
		brought_look_target(f, o->text, o->at, path, &ret->to);
	else
		brought_look(f, o->at, to, &ret->to);
	if (is_exchange(o))
		brought_look(f, o->to, path, &ret->back);
}

struct caller folder_answered(struct folder *f, const struct caller *c, const struct op *o,
			      const char *path, const char *to)
{
	struct caller own = *c;
	struct asked now;

	if (!c->granted || !c->asked)
		return own;
	look(f, o, path, to, &now);
	own.stale = !brought_is_same(&c->asked->to, &now.to) ||
		    !brought_is_same(&c->asked->back, &now.back);
	own.granted = !own.stale;
	c->asked->stale = own.stale;
	return own;
}

int folder_note_asked(struct folder *f, const struct caller *c, const struct op *o,
		      const char *path, const char *to, int r)
{
	if (r != -FOLDER_HELD || !c->asked)
		return r;
	look(f, o, path, to, c->asked);
	c->asked->stale = c->stale;
	return r;
}

/* ---- one name -------------------------------------------------------------------------------- */

int folder_simple(struct folder *f, const struct caller *c, enum policy_act act, struct op *o,
		  bool creates, bool must_be_new)
{
	struct buf *path = &f->keeper->path;
	struct wish w = {.f = f,
			 .c = c,
			 .act = act,
			 .at = o->at,
			 .creates = creates,
			 .must_be_new = must_be_new};
	int r;

	judge_path(path, f, o->at);
	if (o->kind == OP_OPEN && creates && saves_is_free(f, o->at, path->data))
		o->flags |= O_EXCL;
	w.path = path->data;
	w.may_draft = o->kind == OP_OPEN && (o->flags & O_ACCMODE) != O_RDONLY;
	w.truncates = o->kind == OP_OPEN && (o->flags & O_TRUNC);
	w.target = o->kind == OP_SYMLINK ? o->text : NULL;
	r = judge(&w);
	if (r == JUDGE_DRAFT) {
		r = f->keeper->hooks->draft_open(&w, o->flags, o->mode);
		if (r != -EOPNOTSUPP)
			return r;
		judge_path(path, f, o->at);
		w.path = path->data;
		w.may_draft = false;
		r = judge(&w);
	}
	if (r == 0 && (act == POLICY_WRITE || act == POLICY_META))
		r = judge_alias(&w);
	return r < 0 ? r : folder_run(f, c, o, path->data, NULL);
}

int folder_open(struct folder *f, const struct caller *c, const struct at *at, int flags,
		mode_t mode)
{
	struct op o = {
		.kind = OP_OPEN, .at = at, .flags = flags, .mode = mode, .makes = flags & O_CREAT};

	return folder_simple(f, c, POLICY_WRITE, &o, flags & O_CREAT,
			     (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL));
}

/* Creates an unnamed file. The policy is asked when it gets a name. */
int folder_tmpfile(struct folder *f, const struct caller *c, const struct at *dir, int flags,
		   mode_t mode)
{
	struct op o = {.kind = OP_TMPFILE, .at = dir, .flags = flags, .mode = mode, .makes = true};
	struct buf *path = &f->keeper->path;

	judge_path(path, f, dir);
	if (f->keeper->frozen)
		return -EIO;
	if (judge_in_store(f, path->data))
		return -EACCES;
	return folder_run(f, c, &o, path->data, NULL);
}

int folder_mkdir(struct folder *f, const struct caller *c, const struct at *at, mode_t mode)
{
	struct op o = {.kind = OP_MKDIR, .at = at, .mode = mode, .makes = true};

	return folder_simple(f, c, POLICY_MKDIR, &o, true, true);
}

int folder_mknod(struct folder *f, const struct caller *c, const struct at *at, mode_t mode,
		 dev_t dev)
{
	struct op o = {.kind = OP_MKNOD, .at = at, .mode = mode, .dev = dev, .makes = true};
	struct buf *path = &f->keeper->path;
	int r;

	judge_path(path, f, at);
	r = judge_pipe(f, c, mode, path->data);
	return r < 0 ? r : folder_simple(f, c, POLICY_WRITE, &o, true, true);
}

int folder_symlink(struct folder *f, const struct caller *c, const char *target,
		   const struct at *at)
{
	struct op o = {.kind = OP_SYMLINK, .at = at, .text = target};
	struct buf *path = &f->keeper->path;
	struct caller own;
	int r;

	judge_path(path, f, at);
	own = folder_answered(f, c, &o, path->data, NULL);
	r = folder_simple(f, &own, POLICY_SYMLINK, &o, true, true);
	return folder_note_asked(f, &own, &o, path->data, NULL, r);
}

int folder_bind(struct folder *f, const struct caller *c, int sock, const struct at *at, int base,
		const char *text)
{
	struct op o = {
		.kind = OP_BIND, .at = at, .sock = sock, .base = base, .text = text, .makes = true};

	return folder_simple(f, c, POLICY_WRITE, &o, true, true);
}

int folder_unlink(struct folder *f, const struct caller *c, const struct at *at)
{
	struct op o = {.kind = OP_UNLINK, .at = at};

	return folder_simple(f, c, POLICY_REMOVE, &o, false, false);
}

int folder_rmdir(struct folder *f, const struct caller *c, const struct at *at)
{
	struct op o = {.kind = OP_RMDIR, .at = at};

	return folder_simple(f, c, POLICY_REMOVE, &o, false, false);
}

int folder_truncate(struct folder *f, const struct caller *c, const struct at *at, off_t size)
{
	struct op o = {.kind = OP_TRUNCATE, .at = at, .size = size};

	return folder_simple(f, c, POLICY_WRITE, &o, false, false);
}

int folder_chmod(struct folder *f, const struct caller *c, const struct at *at, mode_t mode)
{
	struct op o = {.kind = OP_CHMOD, .at = at, .mode = mode};

	return folder_simple(f, c, POLICY_META, &o, false, false);
}

int folder_chown(struct folder *f, const struct caller *c, const struct at *at, uid_t uid,
		 gid_t gid)
{
	struct op o = {.kind = OP_CHOWN, .at = at, .uid = uid, .gid = gid};

	return folder_simple(f, c, POLICY_META, &o, false, false);
}

int folder_utimens(struct folder *f, const struct caller *c, const struct at *at,
		   const struct timespec times[2])
{
	struct op o = {.kind = OP_UTIMENS, .at = at, .times = times};

	return folder_simple(f, c, POLICY_META, &o, false, false);
}

int folder_setxattr(struct folder *f, const struct caller *c, const struct at *at, const char *name,
		    const void *value, size_t size, int flags)
{
	struct op o = {.kind = OP_SETXATTR,
		       .at = at,
		       .text = name,
		       .value = value,
		       .value_size = size,
		       .flags = flags};

	return folder_simple(f, c, POLICY_META, &o, false, false);
}

int folder_removexattr(struct folder *f, const struct caller *c, const struct at *at,
		       const char *name)
{
	struct op o = {.kind = OP_REMOVEXATTR, .at = at, .text = name};

	return folder_simple(f, c, POLICY_META, &o, false, false);
}

/* ---- two names ------------------------------------------------------------------------------- */

int folder_judge_link(struct wish *w, const struct at *from, const char *old, const struct at *to,
		      const char *new)
{
	bool named = *from->name || (from->leaf && *from->leaf);
	int r = 0;

	if (named) {
		w->act = POLICY_LINK_FROM;
		w->at = from;
		w->path = old;
		w->other = new;
		r = judge(w);
		if (r == 0)
			r = judge_alias(w);
	}
	w->act = POLICY_WRITE;
	w->at = to;
	w->path = new;
	w->other = named ? old : NULL;
	w->from = from;
	w->creates = w->must_be_new = true;
	return r < 0 ? r : judge(w);
}

int folder_link(struct folder *f, const struct caller *c, const struct at *from,
		const struct at *to)
{
	struct op o = {.kind = OP_LINK, .at = from, .to = to};
	struct buf *old = &f->keeper->path, *new = &f->keeper->path2;
	bool named = *from->name || (from->leaf && *from->leaf);
	struct caller own;
	struct wish w = {.f = f, .c = &own};
	struct stat st;
	int r;

	judge_path(old, f, from);
	judge_path(new, f, to);
	own = folder_answered(f, c, &o, old->data, new->data);
	r = fstatat(from->dirfd, from->name, &st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) < 0
		    ? 0
		    : judge_pipe(f, &own, st.st_mode, new->data);
	if (r == 0)
		r = folder_judge_link(&w, from, old->data, to, new->data);
	if (r == 0)
		r = folder_run(f, &own, &o, new->data, named ? old->data : NULL);
	return folder_note_asked(f, &own, &o, old->data, new->data, r);
}

int folder_rename(struct folder *f, const struct caller *c, const struct at *from,
		  const struct at *to, unsigned flags)
{
	struct op o = {.kind = OP_RENAME, .at = from, .to = to, .flags = (int)flags};
	struct buf *old = &f->keeper->path, *new = &f->keeper->path2;
	struct caller own;
	int r;

	judge_path(old, f, from);
	judge_path(new, f, to);
	own = folder_answered(f, c, &o, old->data, new->data);
	if (!(flags & RENAME_EXCHANGE) && saves_is_free(f, to, new->data))
		o.flags |= RENAME_NOREPLACE;
	r = judge_move(f, &own, from, old->data, to, new->data, flags & RENAME_NOREPLACE);
	if (r == 0 && (flags & RENAME_EXCHANGE))
		r = judge_move(f, &own, to, new->data, from, old->data, false);
	if (r == 0)
		r = folder_run(f, &own, &o, old->data, new->data);
	return folder_note_asked(f, &own, &o, old->data, new->data, r);
}

/* ---- descriptors ----------------------------------------------------------------------------- */

bool folder_has_inode(struct folder *f, const struct caller *c, const struct object *o)
{
	const struct command *command = steps_command(f->keeper, c->proc);
	struct step *s = steps_open(f->keeper, c->proc);

	if (command && (command->guard.asked || command->guard.doomed))
		return false;
	s = s ? step_part(s, f->journal) : NULL;
	return s && !f->keeper->frozen && step_has_inode(s, o);
}
