/* watch_filled - protected names that a program outside has filled. */
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

/*
 * What a program of the host renames to a protected name, or links there, may be a file that those
 * inside had before: most programs save by way of a temporary file, and some of a name that anybody
 * can foresee. saves.h keeps those inside away from files of the host's under such names. Here it
 * is looked at the other way round, whatever the name was: does what has come to a protected name
 * belong to somebody inside as well, by a descriptor, a mapping, another name? Then a copy takes
 * its place (core/journal/step/renew_guarded.c).
 *
 * What was written to it before that stands in the copy, so the human is asked to look.
 */

void filled_note(struct filled *in, const char *path, bool is_dir)
{
	const struct folder *f = in->edits->folder;
	const struct keeper *k = f->keeper;
	AUTO_FREE char *whole = NULL;
	const char *reason;

	if (!k->policy || names_has(&in->paths, 0, path))
		return;
	whole = path_join(f->path, path);
	/* A lock of git's in a worktree's directory, say: those inside may make it themselves, and
	 * it may well be theirs. */
	if (!is_dir && policy_check(k->policy, POLICY_WRITE, whole, &reason) == POLICY_ALLOW)
		return;
	if (policy_guards(k->policy, whole, is_dir ? S_IFDIR : S_IFREG))
		names_add(&in->paths, 0, path);
}

static bool is_theirs(void *data, const char *path, const struct obj *o)
{
	const struct folder *f = ((const struct filled *)data)->edits->folder;
	AUTO_FREE char *whole = path_join(f->path, path);

	return saves_is_answered(f->keeper, whole, o);
}

/* Who writes by one of the others is asked as by this one. */
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
			    "a program outside has put a file at '%s' that those inside may still "
			    "write to: look at it (%s)",
			    shown.data, err.text);
	else if (r > 0)
		keeper_warn(k,
			    "a program outside has put a file at '%s' that those inside had open, "
			    "or had another name for: it is a new file now, with what it held a "
			    "moment ago; look at it before it is used",
			    shown.data);
}

void filled_settle(struct keeper *k, struct filled *in)
{
	struct names paths = in->paths;

	in->paths = (struct names){0};
	/* Frozen, nothing at all is changed. */
	for (size_t i = 0; !k->frozen && i < names_count(&paths); i++) {
		const char *path;

		key_root(names_key(&paths, i), &path);
		renew(k, in, path);
	}
	names_done(&paths);
}
