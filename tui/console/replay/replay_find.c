/* replay_find - search in a recording: screens and rows of activity. */
/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <string.h>

#include "core/base/clock.h"
#include "tui/console/replay/replay_priv.h"

#define CHECK_US 150000 /* interval of checks of the screen, in the recording's time */
#define TURN_US	 12000	/* longest search in one turn of the loop */

void find_done(struct find *f)
{
	spot_done(&f->spot);
	buf_done(&f->screen);
}

/* Searches in its own terminal, always forwards: the previous hit is the last one before the
 * position. */
void replay_find(struct replay *r, const char *needle, bool next)
{
	struct find *f = &r->find;

	if (needle)
		snprintf(f->needle, sizeof(f->needle), "%s", needle);
	f->told = FIND_NONE;
	f->active = *f->needle != '\0';
	f->next = next;
	f->from_us = r->at_us;
	f->checked_us = -CHECK_US;
	f->last_hit_us = -1;
	f->was_there = f->unseen = false;
	f->spot.rec = r->rec;
	if (!f->active)
		return;
	r->playing = false;
	spot_open(&f->spot, next ? r->at_us : 0);
}

/* Ignores case unless the needle has a capital. */
static bool contains(const char *text, const char *needle)
{
	for (const char *p = needle; *p; p++)
		if (isupper((unsigned char)*p))
			return strstr(text, needle) != NULL;
	return strcasestr(text, needle) != NULL;
}

/* Returns whether the needle is on the screen, and was not at the last check. */
static bool shows(struct find *f)
{
	bool was = f->was_there;

	buf_clear(&f->screen);
	term_text(f->spot.term, &f->screen);
	f->was_there = contains(f->screen.data, f->needle);
	return f->was_there && !was;
}

/* Returns whether the text of a row of activity has the needle: "text" or "more", which end the
 * event. */
static bool tells(const struct find *f, const struct moment *e)
{
	const char *text = strstr(e->data.data, ",\"text\":");

	return e->code == CAST_OWN && text && contains(text + 8, f->needle);
}

/* Handles a hit. Returns true if the search is over. */
static bool hit(struct replay *r, int64_t t_us)
{
	struct find *f = &r->find;

	if (f->next && t_us <= f->from_us)
		return false;
	if (!f->next && t_us >= f->from_us)
		return true;
	f->last_hit_us = t_us;
	return f->next;
}

/* Searches one event. Returns true if the search is over. */
static bool look(struct replay *r, const struct moment *e)
{
	struct find *f = &r->find;
	const struct moment *after;
	int64_t t = e->t_us;
	bool told = tells(f, e);

	f->unseen = f->unseen || e->code == CAST_OUTPUT;
	spot_take(&f->spot);
	after = spot_peek(&f->spot);
	if (told && hit(r, t))
		return true;
	/* Output that is followed by events at once is checked together with them. */
	if (!f->unseen || (after && after->t_us - t < CHECK_US && t - f->checked_us < CHECK_US))
		return false;
	f->unseen = false;
	f->checked_us = t;
	return shows(f) && hit(r, t);
}

bool find_tick(struct replay *r, int64_t now_us)
{
	struct find *f = &r->find;
	int64_t until = clock_mono_us() + TURN_US;
	const struct moment *e;
	bool over = false;

	if (!f->active)
		return false;
	while (!over && clock_mono_us() < until) {
		e = spot_peek(&f->spot);
		over = !e || (!f->next && e->t_us >= f->from_us) || look(r, e);
	}
	if (!over)
		return true;
	f->active = false;
	f->told = f->last_hit_us >= 0 ? FIND_HIT : FIND_NO_HIT;
	if (f->last_hit_us >= 0)
		replay_seek(r, f->last_hit_us, now_us);
	return true;
}

enum replay_found replay_finding(struct replay *r, int64_t *ret_us)
{
	struct find *f = &r->find;
	enum replay_found told = f->told;
	const struct moment *e = f->active ? spot_peek(&f->spot) : NULL;

	*ret_us = e ? e->t_us : r->at_us;
	f->told = FIND_NONE;
	return f->active ? FIND_SEARCHING : told;
}
