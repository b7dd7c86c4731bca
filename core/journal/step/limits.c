/* limits - limits of an open step: bytes that it may copy and hold while it is protected. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/step/limits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/journal/journal.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/step/step.h"
#include "core/journal/step/unkept.h"
#include "core/journal/steps.h"
#include "core/journal/store/news.h"
#include "core/journal/store/store.h"

#define SESSION_SIZE 2 /* a store may have this many times journal.size during a session */

/* Returns whether there is no room. Objects moved into the store are not copied, so only the
 * store's size limits them. */
static bool is_short(const struct step *s, uint64_t bytes)
{
	uint64_t limit = s->j->options.size;
	uint64_t own = s->held + (s->made ? undo_log_tail(&s->side.log) : 0) + bytes;

	return limit &&
	       (own > limit || (s->j->lasting && s->j->holds + own > SESSION_SIZE * limit));
}

/* Returns the limit for copied bytes; 0: no limit. */
static uint64_t step_limit(const struct journal *j)
{
	const struct journal_options *o = &j->options;

	/* A larger step would leave no room for any other in the store. */
	if (o->step_size && o->size)
		return MIN(o->step_size, o->size);
	return o->step_size ? o->step_size : o->size;
}

void step_unprotect(struct step *s, const char *op, const char *path, uint64_t bytes)
{
	const struct journal_options *o = &s->j->options;
	bool all = is_short(s, bytes);
	AUTO_BUF struct buf shown = BUF_INIT;
	AUTO_FREE char *why = NULL, *before = NULL;
	char size[32];

	if (s->bare)
		return;
	s->bare = xstrdup(unkept_path(s) ? unkept_path(s) : path);
	text_escape(&shown, path, strlen(path));
	text_size(size, sizeof(size), all ? o->size : step_limit(s->j));
	if (o->off)
		why = xasprintf("not recorded, as journal.undo is false (from %s '%s')", op,
				shown.data);
	else
		why = xasprintf("unprotected from here: %s '%s': journal.%s (%s) is reached", op,
				shown.data, all ? "size" : "step-size", size);
	step_mark_incomplete(s, why);
	if (!o->off || !s->j->reported_off) {
		/* The place that shows news may have one line only, so this comes before the
		 * earlier warning. */
		before = take_ptr(&s->j->news);
		journal_say(s->j, "step %" PRId64 ": %s", s->id, why);
		if (before)
			journal_say(s->j, "%s", before);
	}
	s->j->reported_off = o->off;
}

bool step_has_room(const struct step *s, uint64_t bytes, bool copied)
{
	uint64_t limit = step_limit(s->j);

	if (s->bare || s->j->options.off)
		return false;
	if (s->raised)
		return true;
	return !(copied && limit && s->copied + bytes > limit) && !is_short(s, bytes);
}

void step_holds_more(struct step *s, uint64_t bytes, bool copied)
{
	uint64_t limit = step_limit(s->j);
	char size[32];

	s->held += bytes;
	s->copied += copied ? bytes : 0;
	if (!limit || s->warned || s->raised || s->copied < limit / 10 * 8)
		return;
	s->warned = true;
	text_size(size, sizeof(size), limit);
	journal_say(s->j,
		    "step %" PRId64 " has used 80 %% of %s (journal.step-size): beyond it, changes "
		    "cannot be undone",
		    s->id, size);
}

int step_go_beyond(struct step *s, uint64_t bytes, bool copied)
{
	int r = 0;

	if (!s->bare && !s->j->options.off && s->on_loss)
		r = s->on_loss(s->on_loss_data, LOSS_BEYOND, bytes);
	return r < 0 ? r : step_has_room(s, bytes, copied);
}

int step_protects(struct step *s, const char *op, const char *path, uint64_t bytes, bool copied)
{
	int r = step_has_room(s, bytes, copied) ? 1 : step_go_beyond(s, bytes, copied);

	if (r == 0)
		step_unprotect(s, op, path, bytes);
	if (r > 0)
		step_holds_more(s, bytes, copied);
	return r;
}

void step_raise(struct step *s)
{
	struct step *p = s;

	do
		p->raised = true;
	while ((p = p->part) != s);
}

void step_settle(struct step *s)
{
	struct step *p = s;

	do {
		uint64_t bytes;

		if (unkept_changed(p, &bytes))
			step_unprotect(p, "write", unkept_path(p), bytes);
	} while ((p = p->part) != s);
}
