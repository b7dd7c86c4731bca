/* hook_steps - handles events of an agent's hook: prompts, and begin and end of edits. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/steps/hook_steps.h"

#include <errno.h>
#include <string.h>

#include "core/base/log.h"
#include "core/diff/reviewed.h"
#include "core/keeper/service.h"
#include "core/keeper/state.h"
#include "core/keeper/steps/command.h"
#include "core/keeper/steps/label.h"
#include "core/keeper/steps/steps.h"

static bool is_free(const struct keeper *k)
{
	return !k->whole && !k->group && !k->fold && !k->frozen;
}

void hook_spoke(struct keeper *k)
{
	if (k->hook_tells && !k->spoke)
		k->spoke = true; /* perhaps an answer to the agent: wait for the hook */
	else
		steps_turn(k, "");
}

int hook_asks(struct keeper *k)
{
	keeper_tell_asks(k, true);
	return 0;
}

/* Notes that the agent continues: the user has answered. */
static void goes_on(struct keeper *k)
{
	if (k->agent_asks)
		keeper_tell_asks(k, false);
	if (k->agent_rests)
		keeper_tell_rests(k, false);
}

/* A question may be reported after its answer; none is left when the turn has ended. */
int hook_rests(struct keeper *k)
{
	if (k->agent_asks)
		keeper_tell_asks(k, false);
	keeper_tell_rests(k, true);
	return 0;
}

int hook_turn(struct keeper *k, const char *prompt)
{
	struct err err = {0};

	goes_on(k);
	k->hook_tells = true;
	if (k->spoke) {
		steps_turn(k, prompt);
	} else if (!k->turn_prompt.len) {
		buf_str(&k->turn_prompt, prompt);
		if (k->marked && journal_name_turn(k->journal, prompt, &err) < 0)
			log_warn("keeper", "%s", err.text);
		keeper_tell_turn(k, false, prompt);
	}
	return is_free(k) ? steps_split(k, NULL) : 0;
}

void hook_notice(struct keeper *k, struct span line)
{
	if (!line.len) {
		buf_clear(&k->notices);
		k->n_notices = 0;
	} else if (k->notices.len + line.len < HOOK_NOTICES) {
		buf_fmt(&k->notices, "%s", k->notices.len ? "\n" : "");
		buf_add(&k->notices, line.data, line.len);
		k->n_notices++;
	}
}

int hook_notices(struct keeper *k, struct buf *words)
{
	if (!k->n_notices)
		return 0;
	buf_add(words, k->notices.data, k->notices.len);
	keeper_tell_noticed(k, k->n_notices);
	hook_notice(k, (struct span){"", 0});
	return 0;
}

int hook_point(struct keeper *k, const char *name, struct buf *words, struct err *err)
{
	struct reviewed v;
	const struct point *p;

	reviewed_load(&v, k->journal);
	p = reviewed_handle(&v, name, err);
	if (p) {
		keeper_tell_point(k, name);
		buf_fmt(words, "%u.%u is done", p->round, p->number);
	}
	reviewed_done(&v);
	return p ? 0 : -ENOENT;
}

int hook_before_edit(struct keeper *k)
{
	goes_on(k);
	return is_free(k) ? steps_split(k, NULL) : 0;
}

int hook_after_edit(struct keeper *k, const char *what, struct buf *words)
{
	struct command *c = is_free(k) ? k->ambient : NULL;
	int64_t id;
	int r;

	goes_on(k);
	if (!c || !c->step || !c->inside || c->guard.asked || c->guard.doomed || !*what)
		return 0;
	buf_clear(&c->label);
	buf_str(&c->label, what);
	label_unmark(&c->label);
	if (c->label.len > LABEL_MAX)
		buf_truncate(&c->label, LABEL_MAX);
	c->by_paths = false;
	c->named = true;
	id = step_id(c->step);
	r = steps_close(k, c);
	if (r > 0)
		buf_fmt(words, "step %lld", (long long)id);
	return MIN(r, 0);
}
