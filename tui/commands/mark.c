/* mark - `cordon mark`: restore points, by name. */
/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "core/journal/journal.h"
#include "core/journal/mark.h"
#include "tui/commands/commands.h"
#include "tui/commands/flags.h"
#include "tui/commands/here.h"
#include "tui/commands/show.h"

struct mark_options {
	const char *remove;
	bool json;
};

static const struct flag flags[] = {
	{"--remove", "NAME", offsetof(struct mark_options, remove),
	 "remove that restore point: its steps may be pruned again"},
	{"--json", NULL, offsetof(struct mark_options, json),
	 "one JSON object a line: name, after (a step), time_us, steps"},
};

static const struct usage usage = {
	"mark [NAME | --remove NAME | --json]",
	"Name this moment of the folder's history: `cordon undo --to-mark NAME` goes back to it, "
	"`cordon diff --since-mark NAME` shows what has changed. The steps since then are not "
	"pruned before it is removed. Without a NAME: list the restore points. Works while a "
	"session runs.",
	flags,
	ARRAY_LEN(flags),
};

static void print_json(const struct mark *m, size_t steps)
{
	cJSON *o = cJSON_CreateObject();
	char *text;

	cJSON_AddStringToObject(o, "name", m->name);
	cJSON_AddNumberToObject(o, "after", (double)m->after);
	cJSON_AddNumberToObject(o, "time_us", (double)m->us);
	cJSON_AddNumberToObject(o, "steps", (double)steps);
	text = json_print(o);
	puts(text ? text : "");
	free(text);
	cJSON_Delete(o);
}

static void print_text(const struct mark *m, size_t steps)
{
	char when[32];

	show_time(when, sizeof(when), m->us);
	printf("%s%-12s%s  ", style_on(STYLE_DIM), when, style_off());
	show_text(m->name, strlen(m->name));
	printf("  %zu step%s since\n", steps, steps == 1 ? "" : "s");
}

static int list_marks(struct journal *j, bool json, struct err *err)
{
	struct mark *marks = NULL;
	AUTO_FREE int64_t *list = NULL;
	size_t n = 0, n_steps = 0;
	int r = journal_marks(j, &marks, &n, err);

	if (r == 0)
		r = journal_ids(j, false, &list, &n_steps, err);
	for (size_t i = 0; r == 0 && i < n; i++) {
		size_t steps = 0;

		while (steps < n_steps && llabs(list[steps]) > marks[i].after)
			steps++;
		if (json)
			print_json(&marks[i], steps);
		else
			print_text(&marks[i], steps);
	}
	if (r == 0 && !n && !json)
		printf("There is no restore point: cordon mark NAME makes one.\n");
	marks_free(marks, n);
	return r;
}

static int run(const struct here *p, const struct mark_options *o, const struct strings *args,
	       struct err *err)
{
	struct journal *j = NULL;
	int r = here_open(p, "nothing to go back to", &j, err);

	if (r < 0)
		return r;
	if (o->remove)
		r = journal_unmark(j, o->remove, err);
	else if (args->n)
		r = journal_mark(j, args->list[0], err);
	else
		r = list_marks(j, o->json, err);
	journal_close(j);
	return r;
}

int cmd_mark(int argc, char **argv, struct err *err)
{
	AUTO_HERE struct here p = {0};
	struct mark_options o = {0};
	struct strings args = {0};
	int r = flags_parse(&usage, argc, argv, &o, &args, err);

	if (r == 0 && (args.n > 1 || (args.n && o.remove)))
		r = err_say(err, -EINVAL, "mark: one NAME, please; with blanks in it, in quotes");
	if (r == 0)
		r = here_find(&p, err);
	if (r == 0)
		r = run(&p, &o, &args, err) < 0 ? CMD_REFUSED : 0;
	else
		r = r < 0 ? CMD_FAILED : 0;
	strings_done(&args);
	return finish(r, err);
}
