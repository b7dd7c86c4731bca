/* hook_steps - what an agent's hook says: a prompt, an edit of its own begins and ends. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/steps/hook_steps.h"

#include <string.h>

#include "core/base/log.h"
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
		k->spoke = true; /* it may be an answer to the agent: the hook will tell */
	else
		steps_turn(k, "");
}

int hook_turn(struct keeper *k, const char *prompt)
{
	struct err err = {0};

	k->hook_tells = true;
	if (k->spoke) {
		steps_turn(k, prompt);
	} else if (!k->turn_prompt.len) {
		buf_str(&k->turn_prompt, prompt);
		if (k->marked && journal_name_turn(k->journal, prompt, &err) < 0)
			log_warn("keeper", "%s", err.text);
	}
	return is_free(k) ? steps_split(k, NULL) : 0;
}

int hook_before_edit(struct keeper *k)
{
	return is_free(k) ? steps_split(k, NULL) : 0;
}

int hook_after_edit(struct keeper *k, const char *what, struct buf *words)
{
	struct command *c = is_free(k) ? k->ambient : NULL;
	int64_t id;
	int r;

	if (!c || !c->step || !c->inside || c->guard.asked || c->guard.doomed || !*what)
		return 0;
	buf_clear(&c->label);
	buf_str(&c->label, what);
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
