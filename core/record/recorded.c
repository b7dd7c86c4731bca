/* recorded - lists the recorded sessions, with command and first prompt. */
/* SPDX-License-Identifier: MIT */
#include "core/record/recorded.h"

#include <string.h>

#include "core/record/recording.h"
#include "core/record/ring.h"

/* Returns the prompt in a turn's mark, "turn 3: fix the greeting", or "turn 3" without one. */
const char *recorded_prompt(const struct mark *m)
{
	const char *colon = m->kind == MARK_TURN ? strstr(m->words, ": ") : NULL;

	return colon ? colon + 2 : "";
}

static char *copy(const char *text)
{
	return xstrdup(text ? text : "");
}

static struct recorded read_one(const struct recording *rec)
{
	const struct cast_header *h = recording_header(rec);
	const char *prompt = "";
	size_t n, turns = 0;
	const struct mark *m = recording_marks(rec, &n);

	for (size_t i = 0; i < n; i++) {
		turns += m[i].kind == MARK_TURN;
		if (!*prompt)
			prompt = recorded_prompt(&m[i]);
	}
	return (struct recorded){.session = copy(h->session),
				 .folder = copy(h->folder),
				 .command = copy(h->command),
				 .prompt = copy(prompt),
				 .began_s = h->timestamp,
				 .length_us = recording_duration(rec),
				 .turns = turns};
}

void recorded_read(struct recorded_list *ret, const char *state_dir)
{
	struct recording *rec;
	int fd = -1;

	*ret = (struct recorded_list){0};
	for (size_t back = 0; ring_newest(state_dir, back, &fd, NULL) == 0; back++) {
		if (recording_open(&rec, fd, NULL) < 0)
			continue;
		ret->list = xrealloc(ret->list, (ret->n + 1) * sizeof(*ret->list));
		ret->list[ret->n++] = read_one(rec);
		recording_free(rec);
	}
}

void recorded_done(struct recorded_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->list[i].session);
		free(l->list[i].folder);
		free(l->list[i].command);
		free(l->list[i].prompt);
	}
	free(l->list);
	*l = (struct recorded_list){0};
}
