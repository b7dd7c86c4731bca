/* replay_saves - leaves files alone by way of which somebody outside is saving a protected one. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/text.h"
#include "core/journal/fs/object.h"
#include "core/journal/rollback/replay.h"
#include "core/journal/store/store.h"

#define TICK_US 20000 /* so far a file's time may be behind the clock, and more */

/*
 * Theory of operation. Somebody outside has made config.lock and is about to rename it. Were that
 * one put away, and a file of the step's put at its name, the rename would give the protected name
 * what those inside have made. So whatever a record does to a name where such a file lies, it does
 * not do: it is left out, as for a human's edit (REC_ASIDE), and with it is what older records
 * would have done at that name for as long as the file is there. The question is asked right
 * before each change, not only when the rollback begins. A name that is free is taken by a call
 * that replaces nothing, and then whoever saves finds it taken.
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
		    "'%s' is left as it is: a program outside is saving by way of it; look at it, "
		    "redo has what was to come there",
		    shown.data);
}

bool saves_have(struct journal *j, int root, const char *path, const struct obj *o)
{
	AUTO_FREE char *whole = NULL;

	if (!j->saves || !S_ISREG(o->mode))
		return false;
	/* It was there before any of those inside began. */
	if (o->btime_ns && o->btime_ns / 1000 + TICK_US < (int64_t)j->session_us)
		return false;
	whole = whole_path(j, root, path);
	return whole && j->saves->is_theirs(j->guards_data, whole, o);
}

int pop_mind_saves(const struct pop *p, int root, const char *path, const struct obj *o)
{
	if (!saves_have(p->j, root, path, o))
		return 0;
	say_left(p->j, path);
	return -POP_LEFT;
}

void pop_placed(const struct pop *p, const struct spot *at)
{
	AUTO_FREE char *whole = NULL;
	struct obj o;

	if (!p->j->saves || obj_stat(at->fd, at->name, &o) < 0 || !S_ISREG(o.mode))
		return;
	whole = whole_path(p->j, p->r->root, p->r->path);
	if (whole)
		p->j->saves->placed(p->j->guards_data, whole, &o);
}
