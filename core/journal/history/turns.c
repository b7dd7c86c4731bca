/* turns - where sessions and turns begin in the history: after which step, when, which agent. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/journal/store/store.h"
#include "core/journal/turns.h"

/*
 * The file "turns" of the store has one line each, oldest first: "turn AFTER US" or "session AFTER
 * US AGENT", "batch" for a session without turns; a line "words PROMPT" belongs to the line above.
 * AFTER is the number of the newest step that had begun: steps with a greater number are of this
 * turn or a later one. The file is replaced as a whole (rename). It is a convenience: if it is
 * missing or damaged, the history has no turns.
 */

#define TURNS_FILE "turns"
#define TURNS_MAX  512
#define LINE_LEN   160
#define WORDS_MAX  120 /* bytes of a prompt */

void turn_marks_free(struct turn_mark *list, size_t n)
{
	for (size_t i = 0; list && i < n; i++) {
		free(list[i].agent);
		free(list[i].words);
	}
	free(list);
}

static bool parse_line(const char *line, struct turn_mark *t)
{
	char agent[LINE_LEN] = "";

	*t = (struct turn_mark){0};
	t->batch = strncmp(line, "batch ", 6) == 0;
	if (sscanf(line,
		   t->batch ? "batch %" SCNd64 " %" SCNd64 " %159[^\n]"
			    : "session %" SCNd64 " %" SCNd64 " %159[^\n]",
		   &t->after, &t->us, agent) >= 2) {
		t->session = true;
		t->agent = xstrdup(agent);
		return true;
	}
	return sscanf(line, "turn %" SCNd64 " %" SCNd64, &t->after, &t->us) == 2;
}

static int load(struct journal *j, struct turn_mark **ret, size_t *ret_n)
{
	AUTO_FREE char *text = NULL;
	char *save = NULL, *line;
	size_t n = 0;
	int r = io_read_file(j->store, TURNS_FILE, (size_t)TURNS_MAX * LINE_LEN * 3, &text, NULL);

	*ret = NULL;
	*ret_n = 0;
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	*ret = xcalloc(TURNS_MAX + 1, sizeof(**ret));
	for (line = strtok_r(text, "\n", &save); line && n < TURNS_MAX;
	     line = strtok_r(NULL, "\n", &save)) {
		if (!str_starts(line, "words "))
			n += parse_line(line, &(*ret)[n]);
		else if (n && !(*ret)[n - 1].words)
			(*ret)[n - 1].words = xstrdup(line + strlen("words "));
	}
	*ret_n = n;
	return 0;
}

static int save(struct journal *j, const struct turn_mark *list, size_t n)
{
	AUTO_BUF struct buf out = BUF_INIT;

	for (size_t i = n > TURNS_MAX / 2 ? n - TURNS_MAX / 2 : 0; i < n; i++) {
		const struct turn_mark *t = &list[i];

		buf_fmt(&out, "%s %" PRId64 " %" PRId64,
			t->batch     ? "batch"
			: t->session ? "session"
				     : "turn",
			t->after, t->us);
		if (t->session)
			buf_fmt(&out, " %.100s", t->agent);
		buf_ch(&out, '\n');
		if (t->words)
			buf_fmt(&out, "words %s\n", t->words);
	}
	return io_write_file(j->store, TURNS_FILE, 0600, out.data, out.len, false);
}

/* Returns a copy of at most max bytes: whole characters, control characters as '?'; heap. */
static char *one_line(const char *name, size_t max)
{
	size_t len = strlen(name), cut = MIN(len, max);
	char *copy;

	while (cut < len && cut && ((unsigned char)name[cut] & 0xc0) == 0x80)
		cut--;
	copy = xstrndup(name, cut);
	for (char *p = copy; *p; p++)
		if ((unsigned char)*p < ' ')
			*p = '?';
	return copy;
}

static char *words_of(const char *prompt)
{
	return prompt && *prompt ? one_line(prompt, WORDS_MAX) : NULL;
}

static int save_list(struct journal *j, struct turn_mark *list, size_t n, struct err *err)
{
	int r = save(j, list, n);

	turn_marks_free(list, n);
	return r < 0 ? err_set(err, r, "write into the history of '%s'", j->folder) : 0;
}

int journal_add_turn(struct journal *j, const char *agent, bool batch, const char *words,
		     struct err *err)
{
	struct turn_mark new = {.session = agent != NULL, .batch = batch, .us = clock_wall_us()};
	struct turn_mark *list, *last;
	size_t n;
	int r = load(j, &list, &n);

	if (r < 0) /* damaged: begins a new list */
		n = 0;
	new.after = (int64_t)j->state->next_id - 1;
	last = n ? &list[n - 1] : NULL;
	/* No step has begun after the mark: the mark stays, with the words of the newer prompt. */
	if (last && last->after >= new.after && !new.session) {
		free(last->words);
		last->words = words_of(words);
		return save_list(j, list, n, err);
	}
	if (!list)
		list = xcalloc(1, sizeof(*list));
	if (last && last->after >= new.after) {
		free(take_ptr(&list[--n].agent));
		free(take_ptr(&list[n].words));
	}
	new.agent = agent ? one_line(agent, LINE_LEN) : NULL;
	new.words = words_of(words);
	list[n++] = new; /* there is room for one more than are read */
	return save_list(j, list, n, err);
}

int journal_name_turn(struct journal *j, const char *words, struct err *err)
{
	struct turn_mark *list;
	size_t n;
	int r = load(j, &list, &n);

	if (r < 0)
		return err_set(err, r, "read the history of '%s'", j->folder);
	if (!n || list[n - 1].words) {
		turn_marks_free(list, n);
		return 0;
	}
	list[n - 1].words = words_of(words);
	return save_list(j, list, n, err);
}

int journal_turns(struct journal *j, struct turn_mark **ret, size_t *ret_n, struct err *err)
{
	int r = load(j, ret, ret_n);

	return r < 0 ? err_set(err, r, "read the history of '%s'", j->folder) : 0;
}

const struct turn_mark *turn_mark_of(const struct turn_mark *list, size_t n, int64_t step)
{
	size_t from = 0, upto = n;

	while (from < upto) {
		size_t mid = from + (upto - from) / 2;

		if (list[mid].after < llabs(step))
			from = mid + 1;
		else
			upto = mid;
	}
	return from ? &list[from - 1] : NULL;
}
