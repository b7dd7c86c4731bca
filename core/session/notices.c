/* notices - tells the agent, once, what the user did to its work. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/path.h"
#include "core/base/text.h"
#include "core/diff/diff.h"
#include "core/journal/util/path_set.h"
#include "core/keeper/steps/hook_steps.h"
#include "core/session/session_priv.h"

/*
 * The keeper holds a copy of the lines, as the agent's hook asks the keeper and does not wait for
 * this process. Both count lines: the keeper's reply has the number that it gave away. A line that
 * the user pastes just when the hook fetches it is told twice; none is lost.
 */
#define FILES_NAMED 10
#define COMMAND_MAX 120 /* bytes of a step's command */
#define ROOM_LEFT   160 /* bytes for the words that more has happened */

static const char more[] = "More happened than fits here: read files again before you edit them.";

static void add(struct session *s, const char *line)
{
	struct model *m = &s->model;
	char *text = m->notices ? xasprintf("%s\n%s", m->notices, line) : xstrdup(line);

	free(m->notices);
	m->notices = text;
	m->n_notices++;
	m->noticed++;
	m->version++;
	client_notice(s->client, line);
}

void session_notice(struct session *s, const char *words)
{
	const struct model *m = &s->model;
	size_t len = m->notices ? strlen(m->notices) : 0;
	AUTO_BUF struct buf line = BUF_INIT;

	text_escape(&line, words, strlen(words));
	if (!s->client || m->exited)
		return;
	if (len + line.len + ROOM_LEFT < HOOK_NOTICES)
		add(s, line.data);
	else if (!m->notices || !strstr(m->notices, more))
		add(s, more);
}

bool session_notice_lines(struct session *s, const char *text)
{
	const struct model *m = &s->model;
	size_t len = m->notices ? strlen(m->notices) : 0;
	AUTO_FREE char *copy = xstrdup(text);
	char *save = NULL;

	if (!s->client || m->exited || len + strlen(text) + ROOM_LEFT >= HOOK_NOTICES)
		return false;
	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		add(s, line);
	return true;
}

static void drop(struct session *s, size_t n)
{
	struct model *m = &s->model;
	char *rest = m->notices;

	for (size_t i = 0; rest && i < n; i++) {
		rest = strchr(rest, '\n');
		rest += rest != NULL;
	}
	rest = rest ? xstrdup(rest) : NULL;
	free(m->notices);
	m->notices = rest;
	m->n_notices -= MIN(n, m->n_notices);
	m->version++;
}

char *session_take_notices(struct session *s)
{
	char *text = s->model.notices ? xstrdup(s->model.notices) : NULL;

	if (text && s->client)
		client_notice(s->client, "");
	drop(s, s->model.n_notices);
	return text;
}

void session_on_noticed(struct session *s, const struct client_event *ev)
{
	s->model.hook_listens = true;
	drop(s, ev->total);
}

/* ---- notices of an undo ---------------------------------------------------------------------- */

struct files {
	struct buf names;
	struct path_set all;
};

static void add_file(struct files *f, const struct change *c)
{
	AUTO_FREE char *name = c->base ? path_join(c->base, c->path) : xstrdup(c->path);

	if (diff_is_gits_own(c->path) || !path_set_add_key(&f->all, name))
		return;
	if (path_set_count(&f->all) <= FILES_NAMED)
		buf_fmt(&f->names, "%s%.200s", f->names.len ? ", " : "", name);
}

static void add_step(struct session *s, struct files *f, int64_t id)
{
	struct journal *j = session_journal(s);
	struct change *list = NULL;
	struct err err = {0};
	size_t n = 0;

	if (!j || journal_changes(j, id, &list, &n, &err) < 0)
		return;
	for (size_t i = 0; i < n; i++)
		if (!S_ISDIR(list[i].after.exists ? list[i].after.mode : list[i].before.mode))
			add_file(f, &list[i]);
	change_free(list, n);
}

void session_notice_undo(struct session *s, const char *verb, const int64_t *of, size_t n)
{
	struct files f = {.names = BUF_INIT};
	const struct step_row *step = n == 1 ? model_step(&s->model, of[0]) : NULL;
	AUTO_BUF struct buf words = BUF_INIT;

	if (n == 0 || s->job_of_client)
		return;
	for (size_t i = 0; i < n; i++)
		add_step(s, &f, of[i]);
	buf_fmt(&words, "The user %s ", verb);
	if (step)
		buf_fmt(&words, "step %lld '%.*s'", (long long)step->id, COMMAND_MAX,
			step->command ? step->command : "");
	else
		buf_fmt(&words, "%zu of your steps", n);
	if (f.names.len)
		buf_fmt(&words, ". Read again before you edit: %s", f.names.data);
	if (path_set_count(&f.all) > FILES_NAMED)
		buf_fmt(&words, " and %zu more", path_set_count(&f.all) - FILES_NAMED);
	session_notice(s, words.data);
	path_set_done(&f.all);
	buf_done(&f.names);
}
