/* foreseen - changes of a folder that the kernel performs after cordon allows them. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "core/keeper/folders/brought.h"
#include "core/keeper/folders/folder.h"
#include "core/keeper/folders/folder_priv.h"
#include "core/keeper/folders/saves.h"
#include "core/keeper/state.h"
#include "core/keeper/steps/steps.h"
#include "core/os/file.h"

/* After the user's permission, notes that the object that takes the name is allowed. */
static int foreseen(struct folder *f, const struct caller *c, const struct at *at, int r)
{
	struct buf *path = &f->keeper->path;
	struct stat st;

	if (r < 0 || !c->granted)
		return r;
	judge_path(path, f, at);
	if (fstatat(at->dirfd, at->name, &st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) == 0)
		folder_note_answered(f, at, path->data);
	saves_foreseen(f->keeper, path->data);
	return r;
}

int folder_foresee_open(struct folder *f, const struct caller *c, const struct at *at, int flags)
{
	struct op o = {.kind = OP_FORESEE_OPEN, .at = at, .flags = flags};

	return foreseen(f, c, at, folder_simple(f, c, POLICY_WRITE, &o, flags & O_CREAT, false));
}

int folder_foresee_make(struct folder *f, const struct caller *c, const struct at *at, bool dir)
{
	struct op o = {.kind = OP_FORESEE_MAKE, .at = at, .dir = dir};

	return foreseen(f, c, at,
			folder_simple(f, c, dir ? POLICY_MKDIR : POLICY_WRITE, &o, true, true));
}

int folder_foresee_symlink(struct folder *f, const struct caller *c, const struct at *at)
{
	struct op o = {.kind = OP_FORESEE_MAKE, .at = at};

	return foreseen(f, c, at, folder_simple(f, c, POLICY_SYMLINK, &o, true, true));
}

int folder_foresee_link(struct folder *f, const struct caller *c, const struct at *from,
			const struct at *to)
{
	struct op link = {.kind = OP_LINK, .at = from, .to = to};
	struct op o = {.kind = OP_FORESEE_MAKE, .at = to};
	struct buf *old = &f->keeper->path, *new = &f->keeper->path2;
	struct caller own;
	struct wish w = {.f = f, .c = &own};
	int r;

	judge_path(old, f, from);
	judge_path(new, f, to);
	own = folder_answered(f, c, &link, old->data, new->data);
	r = folder_judge_link(&w, from, old->data, to, new->data);
	if (r == 0)
		r = foreseen(f, &own, to, folder_run(f, &own, &o, new->data, old->data));
	return folder_note_asked(f, &own, &link, old->data, new->data, r);
}

int folder_foresee_remove(struct folder *f, const struct caller *c, const struct at *at)
{
	struct op o = {.kind = OP_FORESEE_REMOVE, .at = at};

	return folder_simple(f, c, POLICY_REMOVE, &o, false, false);
}

int folder_foresee_replace(struct folder *f, const struct caller *c, const struct at *at)
{
	struct op o = {.kind = OP_FORESEE_REMOVE, .at = at};

	return foreseen(f, c, at, folder_simple(f, c, POLICY_WRITE, &o, true, false));
}

static bool is_there(const struct at *at)
{
	struct stat st;

	return fstatat(at->dirfd, at->name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

int folder_foresee_rename(struct folder *f, const struct caller *c, const struct at *from,
			  const struct at *to)
{
	struct op o = {.kind = OP_FORESEE_RENAME, .at = from, .to = to};
	struct buf *old = &f->keeper->path, *new = &f->keeper->path2;
	struct caller own;
	int r;

	judge_path(old, f, from);
	judge_path(new, f, to);
	own = folder_answered(f, c, &o, old->data, new->data);
	r = judge_move(f, &own, from, old->data, to, new->data, false);
	if (r == 0 && is_there(to))
		r = judge_move(f, &own, to, new->data, from, old->data, false);
	if (r == 0)
		r = foreseen(f, &own, to, folder_run(f, &own, &o, old->data, new->data));
	return folder_note_asked(f, &own, &o, old->data, new->data, r);
}

int folder_foresee_meta(struct folder *f, const struct caller *c, const struct at *at)
{
	struct op o = {.kind = OP_FORESEE_META, .at = at};

	return folder_simple(f, c, POLICY_META, &o, false, false);
}

/* Returns the caller's open step. It is open, because the foreseen change has begun it. */
static struct step *step_of(struct folder *f, const struct caller *c)
{
	struct step *s = steps_open(f->keeper, c->proc);

	return s ? step_part(s, f->journal) : NULL;
}

void folder_note_made(struct folder *f, const struct caller *c, const struct at *at)
{
	struct step *s = step_of(f, c);
	struct buf *path = &f->keeper->path;

	if (!s)
		return;
	op_note_made(s, at);
	judge_path(path, f, at);
	saves_made(f, at, path->data);
	if (saves_arrived(f, at, path->data))
		brought_placed(f, at, path->data);
}

void folder_note_moved(struct folder *f, const struct caller *c, const struct at *from,
		       const struct at *to)
{
	struct step *s = step_of(f, c);
	struct buf *path = &f->keeper->path;
	int r;

	if (!s)
		return;
	r = op_note_moved(s, from, to);
	if (r < 0 && r != -ENOENT)
		keeper_warn(f->keeper,
			    "a rename could not be recorded (%s): undo of this step may "
			    "leave things where they are",
			    strerror(-r));
	judge_path(path, f, to);
	saves_made(f, to, path->data);
	if (saves_arrived(f, to, path->data))
		brought_placed(f, to, path->data);
}
