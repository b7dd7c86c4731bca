/* blame - `cordon blame`: the step, prompt and agent that wrote each line of a file. */
/* SPDX-License-Identifier: MIT */
#include "core/diff/blame.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "tui/commands/commands.h"
#include "tui/commands/flags.h"
#include "tui/commands/here.h"
#include "tui/commands/show.h"

struct blame_options {
	bool json;
};

static const struct flag flags[] = {
	{"--json", NULL, offsetof(struct blame_options, json),
	 "one JSON object a line: line, by (before, step, outside), step, unsure, began, "
	 "command, turn, prompt, agent, text"},
};

static const struct usage usage = {
	"blame [--json] FILE[:LINE]",
	"Show the step that wrote each line of a file, with its prompt or command. Other lines "
	"are "
	"marked \"you\", edited outside cordon or in a step of yours, or \"before\", older than "
	"cordon's history.\n"
	"With a line number: all about that line. Renames are followed.",
	flags,
	ARRAY_LEN(flags),
};

/* The history of the folder, as the source of explanations. */
struct past {
	struct step_info *list; /* newest first */
	size_t n;
	struct turn_mark *marks; /* oldest first */
	size_t n_marks;
};

/* A line's step, turn and session; or NULL. */
struct source {
	const struct step_info *step;
	const struct turn_mark *turn;
	const char *prompt, *agent;
};

static void past_done(struct past *p)
{
	step_info_free(p->list, p->n);
	turn_marks_free(p->marks, p->n_marks);
}

static int past_load(struct past *p, struct journal *j, struct err *err)
{
	int r = journal_list(j, false, &p->list, &p->n, err);

	return r < 0 ? r : journal_turns(j, &p->marks, &p->n_marks, err);
}

/* Returns the agent of the turn's session. */
static const char *agent_of(const struct past *p, const struct turn_mark *turn)
{
	for (const struct turn_mark *t = turn; t && t >= p->marks; t--)
		if (t->session)
			return t->agent;
	return NULL;
}

/* Returns whether the user made the step, whatever prompt the agent worked on then. */
static bool is_users(const struct step_info *s)
{
	return step_is_yours(s->command) || step_is_restore(s->kind, s->command);
}

static struct source source_of(const struct past *p, const struct blame_line *l)
{
	struct source s = {0};

	for (size_t i = 0; l->by == BLAME_STEP && i < p->n && !s.step; i++)
		if (p->list[i].id == l->step)
			s.step = &p->list[i];
	if (!s.step || is_users(s.step))
		return s;
	s.turn = turn_mark_of(p->marks, p->n_marks, l->step);
	s.prompt = s.turn ? s.turn->words : NULL;
	s.agent = agent_of(p, s.turn);
	return s;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void add_time(struct buf *b, const char *name, bool known, int64_t us)
{
	char when[32];

	if (known)
		clock_iso(when, us);
	json_member(b, name, known ? when : NULL);
}

static void print_json(const struct past *p, const struct blame_line *l, size_t number)
{
	static const char *const by[] = {
		[BLAME_BEFORE] = "before", [BLAME_STEP] = "step", [BLAME_OUTSIDE] = "outside"};
	const struct source s = source_of(p, l);
	AUTO_BUF struct buf b = BUF_INIT;

	buf_fmt(&b, "{\"line\":%zu,\"by\":\"%s\",\"step\":", number, by[l->by]);
	if (l->step)
		buf_fmt(&b, "%" PRId64, l->step);
	else
		buf_str(&b, "null");
	buf_fmt(&b, ",\"unsure\":%s", l->unsure ? "true" : "false");
	add_time(&b, "began", s.step, s.step ? s.step->began_us : 0);
	json_member(&b, "command", s.step ? s.step->command : NULL);
	add_time(&b, "turn", s.turn, s.turn ? s.turn->us : 0);
	json_member(&b, "prompt", s.prompt);
	json_member(&b, "agent", s.agent);
	buf_str(&b, ",\"text\":");
	json_quote(&b, l->text.data, l->text.len);
	printf("%s}\n", b.data);
}

/* ---- text ------------------------------------------------------------------------------------ */

/* Writes "12", "12?" (or you), "you 12" (in a step), "you", "before", "before 3", or "-" (no step,
 * and nothing else is known). */
static void name_writer(char *out, size_t size, const struct blame_line *l,
			const struct step_info *step)
{
	if (step && is_users(step))
		snprintf(out, size, "you %" PRId64, l->step);
	else if (l->by == BLAME_STEP)
		snprintf(out, size, "%" PRId64 "%s", l->step, l->unsure ? "?" : "");
	else if (l->by == BLAME_OUTSIDE)
		snprintf(out, size, "you");
	else if (!l->unsure)
		snprintf(out, size, "before");
	else if (l->step)
		snprintf(out, size, "before %" PRId64, l->step);
	else
		snprintf(out, size, "-");
}

/* Returns the prompt, else the step's command. */
static const char *words_of(const struct source *s)
{
	return s->prompt ? s->prompt : s->step && s->step->command ? s->step->command : "";
}

static void print_row(const struct past *p, const struct blame_line *l, size_t number, int columns)
{
	const struct source s = source_of(p, l);
	const char *words = words_of(&s);
	AUTO_BUF struct buf escaped = BUF_INIT;
	AUTO_BUF struct buf shown = BUF_INIT;
	int width = columns >= 120 ? 36 : 20;
	char who[32], when[32] = "";

	name_writer(who, sizeof(who), l, s.step);
	if (s.step)
		show_time(when, sizeof(when), s.step->began_us);
	text_escape(&escaped, words, strlen(words));
	text_fit_end(&shown, escaped.data, width);
	printf("%s%-8s  %-12s  %s%*s%s  %5zu  ",
	       style_on(l->by == BLAME_STEP ? STYLE_NONE : STYLE_DIM), who, when, shown.data,
	       MAX(0, width - text_width(shown.data)), "", style_off(), number);
	show_file_line(l->text.data, l->text.len);
	putchar('\n');
}

static void print_labelled(const char *label, const char *text)
{
	printf("%-9s", label);
	show_text(text, strlen(text));
	putchar('\n');
}

static void print_reason(const struct blame_line *l)
{
	if (l->by == BLAME_OUTSIDE)
		printf("you      edited it outside cordon after step %" PRId64 "\n", l->step);
	else if (l->by == BLAME_BEFORE && !l->unsure)
		printf("before   older than cordon's history of this folder\n");
	else if (l->by == BLAME_BEFORE && l->step)
		printf("before   older than step %" PRId64
		       ", the first that changed the file: no step that is kept wrote it\n",
		       l->step);
	else if (l->by == BLAME_BEFORE)
		printf("-        no step that is kept changed the file\n");
}

static void print_details(const struct past *p, const struct blame_line *l, size_t number)
{
	const struct source s = source_of(p, l);
	char when[32];

	printf("%-9zu", number);
	show_file_line(l->text.data, l->text.len);
	putchar('\n');
	print_reason(l);
	if (s.step && is_users(s.step))
		printf("you      made this step\n");
	if (l->by != BLAME_STEP)
		return;
	show_time(when, sizeof(when), s.step ? s.step->began_us : 0);
	printf("step     %" PRId64 "%s%s%s\n", l->step, s.step ? ", " : " has not ended",
	       s.step ? when : "",
	       l->unsure ? "; perhaps you: the file as that step left it is not kept" : "");
	if (s.step && s.step->command && *s.step->command)
		print_labelled("command", s.step->command);
	if (s.prompt)
		print_labelled("prompt", s.prompt);
	if (s.agent)
		print_labelled("agent", s.agent);
}

/* ---- command --------------------------------------------------------------------------------- */

static int print_blame(const struct past *p, const struct blame *b, size_t line, bool json,
		       struct err *err)
{
	const int columns = show_columns();

	if (line > b->n)
		return err_say(err, -EINVAL, "there is no line %zu: the file has %zu", line, b->n);
	for (size_t i = line ? line - 1 : 0; i < (line ? line : b->n); i++)
		if (json)
			print_json(p, &b->lines[i], i + 1);
		else if (line)
			print_details(p, &b->lines[i], i + 1);
		else
			print_row(p, &b->lines[i], i + 1, columns);
	return 0;
}

static int run(const struct here *p, const char *path, size_t line, bool json, struct err *err)
{
	struct journal *j = NULL;
	struct past past = {0};
	struct blame b = {0};
	int r = here_open(p, "no line is from an agent", &j, err);

	if (r == 0)
		r = past_load(&past, j, err);
	if (r == 0)
		r = blame_file(j, path, past.list, past.n, &b, err);
	if (r == 0)
		r = print_blame(&past, &b, line, json, err);
	blame_done(&b);
	past_done(&past);
	journal_close(j);
	return r;
}

/* Cuts ":42" off, unless a file has the whole name. Returns 42, or 0. */
static size_t take_line(char *name)
{
	char *colon = strrchr(name, ':');
	size_t line;

	if (!colon || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")] ||
	    faccessat(AT_FDCWD, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	line = strtoul(colon + 1, NULL, 10);
	if (line)
		*colon = '\0';
	return line;
}

int cmd_blame(int argc, char **argv, struct err *err)
{
	AUTO_HERE struct here p = {0};
	AUTO_FREE char *name = NULL;
	struct blame_options o = {0};
	struct strings args = {0}, paths = {0};
	size_t line = 0;
	int r = flags_parse(&usage, argc, argv, &o, &args, err);

	if (r == 0 && args.n != 1)
		r = err_say(err, -EINVAL, "blame: takes one file: cordon blame src/main.c:42");
	if (r == 0) {
		name = xstrdup(args.list[0]);
		line = take_line(name);
		args.list[0] = name;
		r = here_find(&p, err);
	}
	if (r == 0)
		r = here_paths(&p, &args, 0, &paths, err);
	strings_done(&args);
	if (r == 0)
		r = finish(run(&p, paths.list[0], line, o.json, err) < 0 ? CMD_REFUSED : 0, err);
	else
		r = r < 0 ? CMD_FAILED : 0;
	here_paths_done(&paths);
	return r;
}
