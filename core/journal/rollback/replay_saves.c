/* replay_saves - skips temporary files by which programs outside save a protected file. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/text.h"
#include "core/journal/fs/object.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/replay.h"
#include "core/journal/store/news.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"

#define TICK_US 20000 /* a file's time is at most this far behind the clock */

/*
 * Theory of operation. A program outside has created config.lock and is about to rename it. If the
 * rollback moved that file away and put a file of the step at its name, the rename would give the
 * protected name a file that a process inside created. So a record that would change or move such a
 * file is skipped, as for a user's edit (REC_ASIDE), and so are older records at that name as long
 * as the file exists. The check is made right before each change, not only when the rollback
 * begins. A free name is taken by a call that replaces nothing: then the program outside finds it
 * taken.
 */

static char *whole_path(struct journal *j, int root, const char *path)
{
	const char *base = root_path(j, root);

	return base ? xasprintf("%s/%s", str_eq(base, "/") ? "" : base, path) : NULL;
}

static void say_left(struct journal *j, const char *path)
{
	AUTO_BUF struct buf shown = BUF_INIT;

	text_escape(&shown, path, strlen(path));
	if (j->news && strstr(j->news, shown.data))
		return;
	j->urgent = true;
	journal_say(j,
		    "'%s' is left as it is, because a program outside uses it to save a file; look "
		    "at it, redo has the version that was to be restored",
		    shown.data);
}

bool replay_saves_have(struct journal *j, int root, const char *path, const struct object *o)
{
	AUTO_FREE char *whole = NULL;

	if (!j->saves || !S_ISREG(o->mode))
		return false;
	/* The file is older than the session, so it is no save in progress. */
	if (o->btime_ns && o->btime_ns / 1000 + TICK_US < (int64_t)j->session_us)
		return false;
	whole = whole_path(j, root, path);
	return whole && j->saves->is_theirs(j->guards_data, whole, o);
}

int replay_mind_saves(const struct record_replay *p, int root, const char *path,
		      const struct object *o)
{
	if (!replay_saves_have(p->j, root, path, o))
		return 0;
	say_left(p->j, path);
	return -REPLAY_LEFT;
}

void replay_placed(const struct record_replay *p, const struct spot *at)
{
	AUTO_FREE char *whole = NULL;
	struct object o;

	if (!p->j->saves || object_stat(at->fd, at->name, &o) < 0 || !S_ISREG(o.mode))
		return;
	whole = whole_path(p->j, p->r->root, p->r->path);
	if (whole)
		p->j->saves->placed(p->j->guards_data, whole, &o);
}
