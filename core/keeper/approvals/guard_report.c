/* guard_report - limits of the safeguards, and the report of a step that is held. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/approvals/guard_report.h"

#include <string.h>

/* The report must fit a frame. Long paths are cut, because they are only displayed. */
#define TEXT_MAX 8192

static const struct {
	const char *setting, *verb;
} words[LOSS_KINDS] = {
	[LOSS_DELETE] = {"safeguard.deletes", "delete"},
	[LOSS_OVERWRITE] = {"safeguard.overwrites", "overwrite"},
	[LOSS_REPLACE] = {"safeguard.renames-over", "replace"},
	[LOSS_BEYOND] = {"safeguard.beyond", "lose"},
};

const char *guard_setting(enum loss what)
{
	return words[what].setting;
}

const char *guard_verb(enum loss what)
{
	return words[what].verb;
}

static void put_text(struct buf *out, const char *s)
{
	wire_str(out, s, MIN(strlen(s), (size_t)TEXT_MAX));
}

void guard_report_put(struct buf *out, const struct guard_report *r)
{
	wire_u64(out, r->ask);
	wire_i64(out, r->step);
	wire_i64(out, r->pid);
	wire_u8(out, (uint8_t)r->what);
	wire_u8(out, (uint8_t)r->ends);
	wire_u8(out, r->by_line);
	wire_u8(out, r->partial);
	wire_u64(out, r->count);
	wire_u64(out, r->held);
	wire_u32(out, r->timeout_s);
	put_text(out, r->command);
	wire_u8(out, (uint8_t)r->n_was);
	for (size_t i = 0; i < r->n_was; i++)
		put_text(out, r->was[i]);
	wire_u8(out, (uint8_t)r->n_would);
	for (size_t i = 0; i < r->n_would; i++) {
		put_text(out, r->ops[i]);
		put_text(out, r->would[i]);
	}
}

struct guard_report *guard_report_get(struct wire_in *in)
{
	struct guard_report *r = xcalloc(1, sizeof(*r));
	size_t n;

	r->ask = wire_get_u64(in);
	r->step = wire_get_i64(in);
	r->pid = wire_get_i64(in);
	r->what = (enum loss)wire_get_u8(in);
	r->ends = (enum guard_ends)wire_get_u8(in);
	r->by_line = wire_get_u8(in) != 0;
	r->partial = wire_get_u8(in) != 0;
	r->count = wire_get_u64(in);
	r->held = wire_get_u64(in);
	r->timeout_s = wire_get_u32(in);
	r->command = wire_get_cstr(in);
	n = wire_get_u8(in);
	while (r->n_was < MIN(n, (size_t)GUARD_SAMPLES))
		r->was[r->n_was++] = wire_get_cstr(in);
	in->bad |= n > GUARD_SAMPLES;
	n = wire_get_u8(in);
	for (; r->n_would < MIN(n, (size_t)GUARD_SAMPLES); r->n_would++) {
		r->ops[r->n_would] = wire_get_cstr(in);
		r->would[r->n_would] = wire_get_cstr(in);
	}
	in->bad |= n > GUARD_SAMPLES || r->what >= LOSS_KINDS || r->ends > GUARD_ENDS_STRAYS;
	return r;
}

struct guard_report *guard_report_copy(const struct guard_report *from)
{
	struct guard_report *r = xmalloc(sizeof(*r));

	*r = *from;
	r->command = xstrdup(from->command);
	for (size_t i = 0; i < from->n_was; i++)
		r->was[i] = xstrdup(from->was[i]);
	for (size_t i = 0; i < from->n_would; i++) {
		r->ops[i] = xstrdup(from->ops[i]);
		r->would[i] = xstrdup(from->would[i]);
	}
	return r;
}

void guard_report_free(struct guard_report *r)
{
	if (!r)
		return;
	free(r->command);
	for (size_t i = 0; i < r->n_was; i++)
		free(r->was[i]);
	for (size_t i = 0; i < r->n_would; i++) {
		free(r->ops[i]);
		free(r->would[i]);
	}
	free(r);
}
