/* log_turns - `cordon log --turns`: one row for each prompt of the user. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/log_turns.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "tui/commands/commands.h"
#include "tui/commands/show.h"

struct turn {
	const struct turn_mark *mark; /* NULL: steps without one */
	const struct step_info *list; /* its steps, newest first */
	size_t n, steps, files;	      /* steps, files: of the folder */
};

static const char *title(const struct turn_mark *t)
{
	return !t ? "" : t->words ? t->words : t->session ? t->agent : "";
}

static void print_json(const struct turn *t)
{
	AUTO_BUF struct buf b = BUF_INIT;
	char began[32];

	clock_iso(began, t->mark ? t->mark->us : t->list[t->n - 1].began_us);
	buf_fmt(&b, "{\"began\":\"%s\"", began);
	json_member(&b, "prompt", t->mark ? t->mark->words : NULL);
	buf_fmt(&b, ",\"files\":%zu,\"steps\":[", t->files);
	for (size_t i = t->n; i-- > 0;)
		buf_fmt(&b, "%" PRId64 "%s", t->list[i].id, i ? "," : "");
	printf("%s]}\n", b.data);
}

static void print_row(const struct turn *t, int columns)
{
	AUTO_BUF struct buf words = BUF_INIT;
	AUTO_BUF struct buf shown = BUF_INIT;
	char when[32], newest[24];

	show_time(when, sizeof(when), t->mark ? t->mark->us : t->list[t->n - 1].began_us);
	text_escape(&words, title(t->mark), strlen(title(t->mark)));
	if (columns)
		text_fit_end(&shown, words.data, MAX(20, columns - 42));
	else
		buf_str(&shown, words.data);
	snprintf(newest, sizeof(newest), "%" PRId64, t->list[0].id);
	printf("%-12s  %6s  %5zu  %5zu  %s\n", when, newest, t->steps, t->files, shown.data);
}

static size_t files_of(const struct step_info *s)
{
	return s->created + s->modified + s->deleted + s->renamed;
}

static bool is_note(const struct step_info *s)
{
	return step_is_note(s->kind, s->elsewhere, files_of(s), s->command);
}

int log_turns(struct journal *j, bool json, struct err *err)
{
	struct turn_mark *marks = NULL;
	struct step_info *list = NULL;
	size_t n = 0, n_marks = 0;
	int columns = show_columns();
	int r = journal_turns(j, &marks, &n_marks, err);

	if (r == 0)
		r = journal_list(j, false, &list, &n, err);
	if (r == 0 && n && !json)
		printf("%s%-12s  %6s  %5s  %5s  %s%s\n", style_on(STYLE_BOLD), "BEGAN", "NEWEST",
		       "STEPS", "FILES", "PROMPT", style_off());
	for (size_t i = 0; r == 0 && i < n;) {
		struct turn t = {.list = &list[i],
				 .mark = turn_mark_of(marks, n_marks, list[i].id)};

		for (; i < n && turn_mark_of(marks, n_marks, list[i].id) == t.mark; i++, t.n++) {
			if (list[i].elsewhere || is_note(&list[i]))
				continue;
			t.steps++;
			t.files += files_of(&list[i]);
		}
		if (json)
			print_json(&t);
		else if (t.steps)
			print_row(&t, columns);
	}
	step_info_free(list, n);
	turn_marks_free(marks, n_marks);
	return r;
}
