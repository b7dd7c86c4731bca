/* watch_filled - files that an external program has moved or linked to protected names. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/watch/watch_filled.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/path.h"
#include "core/base/text.h"
#include "core/journal/fs/object.h"
#include "core/journal/journal.h"
#include "core/keeper/folders/folders.h"
#include "core/keeper/folders/saves.h"
#include "core/keeper/state.h"
#include "core/keeper/watch/watch_edits.h"

/* An external program may rename or link to a protected name a file that processes inside had
 * before: most programs save by a temporary file, some with a predictable name. saves.h keeps
 * processes inside from files of the host with such names. This file checks the other direction,
 * for every name: whether a process inside still has the file, by a descriptor, a mapping or
 * another hard link. If so, a copy replaces it (core/journal/step/renew_guarded.c).
 *
 * Earlier writes to the file are in the copy, so the user is asked to check it. */

void filled_note(struct filled *in, const char *path, bool is_dir)
{
	const struct folder *f = in->edits->folder;
	const struct keeper *k = f->keeper;
	AUTO_FREE char *whole = NULL;
	const char *reason;

	if (!k->policy || path_set_has(&in->paths, 0, path))
		return;
	whole = path_join(f->path, path);
	/* A file that processes inside may create themselves, such as git's lock in a worktree, is
	 * probably theirs. */
	if (!is_dir && policy_check(k->policy, POLICY_WRITE, whole, &reason) == POLICY_ALLOW)
		return;
	if (policy_guards(k->policy, whole, is_dir ? S_IFDIR : S_IFREG))
		path_set_add(&in->paths, 0, path);
}

static bool is_theirs(void *data, const char *path, const struct object *o)
{
	const struct folder *f = ((const struct filled *)data)->edits->folder;
	AUTO_FREE char *whole = path_join(f->path, path);

	return saves_is_answered(f->keeper, whole, o);
}

/* Notes the file's other hard links: a write by one of them is judged like a write by this name. */
static void remember(void *data, const char *path, int dirfd, const char *name)
{
	const struct folder *f = ((const struct filled *)data)->edits->folder;
	AUTO_FREE char *whole = path_join(f->path, path);
	struct stat st;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		alias_learn(f->keeper, whole, &st);
}

static void before(void *data)
{
	const struct filled *in = data;

	edits_settle(in->edits->folder->keeper, in->edits);
}

static void renew(struct keeper *k, struct filled *in, const char *path)
{
	const struct journal_filled by = {
		.is_theirs = is_theirs, .remember = remember, .before = before, .data = in};
	AUTO_BUF struct buf shown = BUF_INIT;
	struct err err = {0};
	int r;

	keeper_umask(k, 077);
	r = journal_renew_guarded(in->edits->folder->journal, path, &by, &err);
	text_escape(&shown, path, strlen(path));
	if (r < 0)
		keeper_warn(k,
			    "a program outside has put a file at '%s' that programs inside may "
			    "still write to: check its content (%s)",
			    shown.data, err.text);
	else if (r > 0)
		keeper_warn(k,
			    "a program outside has put a file at '%s' that programs inside had "
			    "open, or know by another name: cordon replaced it by a copy; check "
			    "its content before you use it",
			    shown.data);
}

void filled_settle(struct keeper *k, struct filled *in)
{
	struct path_set paths = in->paths;

	in->paths = (struct path_set){0};
	/* If the keeper is frozen, nothing is changed. */
	for (size_t i = 0; !k->frozen && i < path_set_count(&paths); i++) {
		const char *path;

		path_key_root(path_set_key(&paths, i), &path);
		renew(k, in, path);
	}
	path_set_done(&paths);
}
