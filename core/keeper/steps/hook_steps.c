/* hook_steps - what an agent's hook says: a turn has a name, an edit of its own begins and ends. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/steps/hook_steps.h"

#include <string.h>

#include "core/keeper/state.h"
#include "core/keeper/steps/command.h"
#include "core/keeper/steps/label.h"
#include "core/keeper/steps/steps.h"

#define PROMPT_SHOWN 60 /* bytes of it, in a name */

static bool is_free(const struct keeper *k)
{
	return !k->whole && !k->group && !k->fold && !k->frozen;
}

int hook_turn(struct keeper *k, const char *prompt)
{
	k->turn_number++;
	buf_clear(&k->turn_prompt);
	buf_str(&k->turn_prompt, prompt);
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
	if (k->turn_number)
		buf_fmt(&c->label, "turn %u: %.*s: ", k->turn_number,
			(int)MIN(k->turn_prompt.len, (size_t)PROMPT_SHOWN), k->turn_prompt.data);
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
