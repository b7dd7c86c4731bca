/* incomplete - notes changes of a step that were not captured. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/log.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/step/incomplete.h"
#include "core/journal/step/step.h"
#include "core/journal/steps.h"

#define WHY_MAX 1024 /* of all reasons together; the first ones stay */

bool incomplete_join(char **why, const char *words)
{
	char *joined;

	if (*why && (strstr(*why, words) || strlen(*why) + strlen(words) + 2 > WHY_MAX))
		return false;
	joined = *why ? xasprintf("%s; %s", *why, words) : xstrndup(words, WHY_MAX);
	free(*why);
	*why = joined;
	return true;
}

void step_mark_incomplete(struct step *s, const char *why)
{
	struct rec rec = {.type = REC_MARK, .path = ""};
	int r;

	if (!incomplete_join(&s->why, why))
		return;
	/* The log has it too, in case a crash ends the step. */
	rec.meta = (struct span){.data = why, .len = strlen(why)};
	r = step_make(s);
	if (r == 0)
		r = capture_push(&s->side, &rec);
	if (r < 0)
		log_warn("journal", "the mark of a step is only in memory: %s", strerror(-r));
}

const char *step_why(const struct step *s)
{
	const struct step *p = s;

	while (!p->why && p->part != s)
		p = p->part;
	return p->why ? p->why : "";
}
