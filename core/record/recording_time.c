/* recording_time - turns a time as users write it into a position in a recording. */
/* SPDX-License-Identifier: MIT */
#include "core/record/recording_time.h"

#include <string.h>

#include "core/audit/reader.h"
#include "core/record/applier.h"

#define DIGITS_MAX 15 /* of a number: sums cannot overflow */

int64_t recording_seconds(const char *s)
{
	int64_t us = 0, unit = 1000000;
	size_t n = strspn(s, "0123456789");

	if (n == 0 || n > DIGITS_MAX - 3)
		return -1;
	for (size_t i = 0; i < n; i++)
		us = us * 10 + (s[i] - '0');
	us *= unit;
	s += n;
	if (!*s)
		return us;
	if (*s++ != '.' || !*s)
		return -1;
	for (; *s >= '0' && *s <= '9'; s++)
		us += (*s - '0') * (unit /= 10);
	return *s ? -1 : us;
}

int64_t recording_wall(const char *text)
{
	return *text == '@' ? recording_seconds(text + 1) : -1;
}

/* Returns the wall time of the event that a row reports; -1: it reports no event. */
static int64_t wall_of(struct audit_record *record, const struct moment *e)
{
	const char *wall;
	int64_t us = 0;

	if (audit_record_parse(record, e->data.data, e->data.len) < 0)
		return -1;
	wall = audit_record_get(record, "wall", NULL);
	if (!wall || !*wall || strlen(wall) > DIGITS_MAX + 3)
		return -1;
	for (; *wall >= '0' && *wall <= '9'; wall++)
		us = us * 10 + (*wall - '0');
	return *wall ? -1 : us;
}

/* Searches only up to the first row at wall_us or later: the clock may have been set back then. */
int64_t recording_at_wall(struct recording *rec, int64_t wall_us, bool *ret_reached)
{
	struct batch b = BATCH_INIT;
	struct audit_record record;
	int64_t found = -1;

	*ret_reached = false;
	audit_record_init(&record);
	for (size_t i = 0; !*ret_reached && i < recording_blocks(rec); i++) {
		if (!recording_block(rec, i)->rows)
			continue;
		recording_batch(rec, i, true, &b);
		for (size_t k = 0; k < b.n && !*ret_reached; k++) {
			int64_t at = applier_is_row(&b.list[k]) ? wall_of(&record, &b.list[k]) : -1;

			if (at >= 0 && at <= wall_us)
				found = b.list[k].t_us;
			*ret_reached = at >= wall_us;
		}
	}
	audit_record_done(&record);
	batch_done(&b);
	if (found < 0 && recording_header(rec)->timestamp)
		found = MAX(wall_us - recording_header(rec)->timestamp * 1000000, (int64_t)0);
	return found;
}

int64_t recording_time(struct recording *rec, const char *s)
{
	int64_t all_us = recording_duration(rec), t = 0, part = 0;
	size_t digits = 0;
	bool reached;

	if (*s == '@') {
		t = recording_wall(s);
		return t < 0 ? -1 : recording_at_wall(rec, t, &reached);
	}
	for (; *s; s++) {
		if (*s >= '0' && *s <= '9' && part < 1000000) {
			part = part * 10 + (*s - '0');
			digits++;
		} else if (*s == ':' && digits && t < 1000000) {
			t = (t + part) * 60;
			part = 0;
		} else if (*s == '%' && !s[1] && digits) {
			return all_us / 100 * MIN(part, (int64_t)100);
		} else {
			return -1;
		}
	}
	return digits ? (t + part) * 1000000 : -1;
}

int64_t recording_idle(const struct recording *rec)
{
	const struct cast_header *h = recording_header(rec);

	return h->idle_limit_s > 0 ? (int64_t)(h->idle_limit_s * 1e6) : RECORDING_IDLE_US;
}

int64_t recording_next(struct recording *rec, int64_t at_us)
{
	size_t n = recording_blocks(rec);
	struct batch b = BATCH_INIT;
	int64_t found = -1;

	for (size_t i = n ? recording_block_at(rec, at_us) : 0; found < 0 && i < n; i++) {
		recording_batch(rec, i, false, &b);
		for (size_t k = 0; found < 0 && k < b.n; k++) {
			const struct moment *e = &b.list[k];

			if (e->t_us > at_us &&
			    !(e->code == CAST_OWN && apply_is_measure(e->data.data, e->data.len)))
				found = e->t_us;
		}
	}
	batch_done(&b);
	return found;
}
