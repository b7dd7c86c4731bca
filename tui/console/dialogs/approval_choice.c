/* approval_choice - scope, extent and time of an answer: independent choices. */
/* SPDX-License-Identifier: MIT */
#include "core/base/clock.h"
#include "core/session/answers/answers.h"
#include "tui/console/dialogs/approval.h"

static const struct {
	const char *name;
	int64_t seconds;
} times[CHOICE_TIMES] = {{"no end", 0}, {"10 min", 600}, {"1 hour", 3600}, {"1 day", 86400}};

const char *choice_time_name(size_t time)
{
	return times[time].name;
}

bool choice_possible(const struct choice *c, const struct model *m, const struct ask *ask)
{
	struct answer a = choice_answer(c, true);

	return answers_refusal(m, ask, &a) == NULL;
}

struct choice choice_first(const struct ask *ask)
{
	bool bundle = ask->bundle && *ask->bundle;

	return bundle ? (struct choice){.scope = SCOPE_SESSION, .extent = EXTENT_BUNDLE}
		      : (struct choice){0};
}

/* The scope "everybody on this machine" is not offered. */
bool choice_next_scope(struct choice *c, const struct model *m, const struct ask *ask)
{
	enum answer_scope was = c->scope;

	do
		c->scope = c->scope >= SCOPE_USER ? SCOPE_ONCE : c->scope + 1;
	while (c->scope != was && !choice_possible(c, m, ask));
	return c->scope != was;
}

/* Each further directory up is a value of its own. */
bool choice_next_extent(struct choice *c, const struct model *m, const struct ask *ask)
{
	const struct choice was = *c;

	do {
		c->up = c->extent == EXTENT_TREE && c->up < ask->up ? c->up + 1 : 0;
		if (!c->up)
			c->extent = c->extent == EXTENT_BUNDLE ? EXTENT_EXACT : c->extent + 1;
	} while ((c->extent != was.extent || c->up != was.up) && !choice_possible(c, m, ask));
	return c->extent != was.extent || c->up != was.up;
}

bool choice_next_time(struct choice *c, const struct model *m, const struct ask *ask)
{
	size_t was = c->time;

	do
		c->time = (c->time + 1) % CHOICE_TIMES;
	while (c->time != was && !choice_possible(c, m, ask));
	return c->time != was;
}

struct answer choice_answer(const struct choice *c, bool allow)
{
	int64_t seconds = times[c->time].seconds;

	return (struct answer){.allow = allow,
			       .scope = c->scope,
			       .extent = c->extent,
			       .up = c->up,
			       .until = seconds ? clock_expiry_s() + seconds : 0};
}
