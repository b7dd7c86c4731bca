/* roster - lists this user's sessions that run or ended within a day. */
/* SPDX-License-Identifier: MIT */
#include "core/api/socket/roster.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "core/api/socket/link.h"
#include "core/base/clock.h"
#include "core/base/hash.h"
#include "core/base/path.h"
#include "core/diff/diff.h"
#include "core/os/file.h"
#include "core/record/recorded.h"
#include "core/record/recording.h"
#include "core/record/ring.h"
#include "core/session/branch.h"
#include "core/session/folders.h"

#define ENDED_MAX 32 /* recordings that are read, newest first */

static void row_done(struct roster_row *r)
{
	free(r->session);
	free(r->folder);
	free(r->command);
	free(r->prompt);
	free(r->why);
	free(r->agent);
	free(r->ask.op);
	free(r->ask.kind);
	free(r->ask.path);
	free(r->ask.program);
	free(r->ask.command);
	free(r->ask.reason);
}

void roster_done(struct roster *r)
{
	for (size_t i = 0; i < r->n; i++)
		row_done(&r->rows[i]);
	free(r->rows);
	*r = (struct roster){0};
}

static char *state_dir(void)
{
	return folders_state_dir(getenv("HOME") ? getenv("HOME") : "/");
}

static struct roster_row *add_row(struct roster *r, const char *session, const char *state)
{
	struct roster_row *row;
	const char *tag;

	r->rows = xrealloc(r->rows, (r->n + 1) * sizeof(*r->rows));
	row = &r->rows[r->n++];
	*row = (struct roster_row){.session = xstrdup(session), .state = state};
	tag = strrchr(row->session, '-');
	row->tag = tag ? tag + 1 : row->session;
	return row;
}

/* Returns "claude" for "/opt/bin/claude --continue". */
static char *agent_of(const char *command)
{
	AUTO_FREE char *program = xstrndup(command, strcspn(command, " "));

	return xstrdup(path_base(program));
}

static void set_place(struct roster_row *row, const char *folder, const char *command)
{
	struct branch branch = {.read_us = 0};

	row->folder = xstrdup(folder);
	row->command = xstrdup(command);
	row->agent = agent_of(command);
	if (*folder)
		memcpy(row->branch, branch_of(&branch, folder, clock_mono_us()),
		       sizeof(row->branch));
}

/* ---- running sessions ------------------------------------------------------------------------ */

static const char *state_of(const char *word)
{
	static const char *const states[] = {"asks", "working", "idle", "ended"};

	for (size_t i = 0; i < ARRAY_LEN(states); i++)
		if (str_eq(word, states[i]))
			return states[i];
	return "hung";
}

/* Takes the request that came with the greeting. */
static void take_ask(struct roster_ask *a, struct link *l)
{
	struct span line;
	struct err err = {0};

	if (!l->pending || !memchr(l->in.data + l->used, '\n', l->in.len - l->used) ||
	    link_next(l, &line, &err) < 0 || !str_eq(link_field(l, "type"), "event.fs_request"))
		return;
	a->id = strtoull(link_field(l, "id"), NULL, 10);
	a->op = xstrdup(link_text(l, "op"));
	a->kind = xstrdup(link_text(l, "kind"));
	a->path = xstrdup(link_text(l, "path"));
	a->program = xstrdup(link_text(l, "program"));
	a->command = xstrdup(link_text(l, "command"));
	a->reason = xstrdup(link_text(l, "reason"));
	a->is_dir = str_eq(link_field(l, "directory"), "true");
	a->secret = str_eq(link_field(l, "secret"), "true");
	a->waited_us = strtoll(link_field(l, "waited_us"), NULL, 10);
}

static void take_running(struct roster *r, struct link *l)
{
	struct roster_row *row = add_row(r, l->session, state_of(link_field(l, "state")));

	set_place(row, link_text(l, "folder"), link_text(l, "command"));
	row->prompt = xstrdup(link_text(l, "prompt"));
	row->pid = (int)strtol(link_field(l, "pid"), NULL, 10);
	row->since_us = strtoll(link_field(l, "since_us"), NULL, 10);
	row->pending = l->pending;
	take_ask(&row->ask, l);
}

/* ---- ended and hung sessions, by their recordings -------------------------------------------- */

/* Returns the newest prompt. */
static char *last_prompt(const struct recording *rec)
{
	size_t n;
	const struct mark *m = recording_marks(rec, &n);

	while (n > 0 && !*recorded_prompt(&m[n - 1]))
		n--;
	return xstrdup(n ? recorded_prompt(&m[n - 1]) : "");
}

static void take_recording(struct roster_row *row, const struct recording *rec)
{
	const struct cast_header *h = recording_header(rec);

	set_place(row, h->folder ? h->folder : "", h->command ? h->command : "");
	row->prompt = last_prompt(rec);
	row->since_us = h->timestamp * 1000000;
}

static void take_hung(struct roster *r, const struct link *l)
{
	struct roster_row *row = add_row(r, l->session, "hung");
	AUTO_FREE char *state = state_dir();
	struct recording *rec = NULL;
	const char *why;
	int fd = -1;

	if (ring_find(state, l->session, &fd, NULL) == 0 && recording_open(&rec, fd, NULL) == 0)
		take_recording(row, rec);
	else
		set_place(row, "", "");
	if (!row->prompt)
		row->prompt = xstrdup("");
	why = strstr(l->why, ": "); /* skip the session's name */
	row->why = xstrdup(why ? why + 2 : l->why);
	recording_free(rec);
}

static bool is_listed(const struct roster *r, const char *session)
{
	for (size_t i = 0; i < r->n; i++)
		if (str_eq(r->rows[i].session, session))
			return true;
	return false;
}

static void take_ended(struct roster *r, int fd)
{
	struct recording *rec = NULL;
	struct stat st;
	int64_t until;

	if (fstat(fd, &st) < 0 || recording_open(&rec, fd, NULL) < 0)
		return;
	until = OS_MTIME(&st).tv_sec * (int64_t)1000000;
	if (clock_wall_us() - until < ROSTER_DAY_US && recording_header(rec)->session &&
	    !is_listed(r, recording_header(rec)->session)) {
		struct roster_row *row = add_row(r, recording_header(rec)->session, "ended");

		take_recording(row, rec);
		row->until_us = until;
	}
	recording_free(rec);
}

static void add_ended(struct roster *r)
{
	AUTO_FREE char *state = state_dir();
	int fd = -1;

	for (size_t i = 0; i < ENDED_MAX && ring_newest(state, i, &fd, NULL) == 0; i++)
		take_ended(r, fd);
}

/* ---- all ------------------------------------------------------------------------------------- */

static int rank(const struct roster_row *r)
{
	static const char *const order[] = {"asks", "working", "idle", "hung", "ended"};
	int i = 0;

	while (i + 1 < (int)ARRAY_LEN(order) && !str_eq(r->state, order[i]))
		i++;
	return i;
}

static int by_state_and_age(const void *a, const void *b)
{
	const struct roster_row *x = a, *y = b;

	if (rank(x) != rank(y))
		return rank(x) - rank(y);
	if (x->since_us != y->since_us)
		return x->since_us < y->since_us ? 1 : -1;
	return strcmp(y->session, x->session);
}

int roster_read(struct roster *ret, bool ended, struct err *err)
{
	CLEANUP(links_done) struct links all = {0};
	int r = links_open(&all, NULL, ROSTER_WAIT_MS, err);

	*ret = (struct roster){0};
	if (r < 0)
		return r;
	for (size_t i = 0; i < all.n; i++) {
		if (!all.list[i].error)
			take_running(ret, &all.list[i]);
		else if (all.list[i].error == -EAGAIN)
			take_hung(ret, &all.list[i]);
	}
	if (ended)
		add_ended(ret);
	if (ret->n)
		qsort(ret->rows, ret->n, sizeof(*ret->rows), by_state_and_age);
	return 0;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static bool count_line(void *data, enum diff_line_kind kind, const char *text, size_t len,
		       int old_line, int new_line)
{
	struct roster_row *row = data;

	(void)text, (void)len, (void)old_line, (void)new_line;
	row->added += kind == DIFF_ADD;
	row->deleted += kind == DIFF_DEL;
	return true;
}

/* Returns whether the path is in the folder. Absolute paths are outside, like the agent's notes. */
static bool is_project_file(void *data, const char *old_path, const char *new_path)
{
	const struct roster_row *row = data;
	const char *path = new_path ? new_path : old_path;

	return !diff_is_gits_own(path) && (*path != '/' || path_is_beneath(path, row->folder));
}

/* Adds the step to a hash that is another one when its lines are. */
static uint64_t hash_step(uint64_t so_far, const struct step_info *s)
{
	const uint64_t facts[] = {(uint64_t)s->id, s->created, s->modified, s->deleted, s->renamed};

	return XXH64(facts, sizeof(facts), so_far);
}

/* Finds the session's oldest and newest step in effect. Returns a hash of all these steps; 0: it
 * has none. */
static uint64_t find_steps(struct journal *j, const struct roster_row *row, int64_t *ret_from,
			   int64_t *ret_to)
{
	int64_t until = row->until_us ? row->until_us + 1000000 : INT64_MAX; /* in whole seconds */
	AUTO_FREE int64_t *ids = NULL;
	bool before = false;
	uint64_t hash = 0;
	struct err err = {0};
	size_t n = 0;

	*ret_from = *ret_to = 0;
	if (journal_ids(j, false, &ids, &n, &err) < 0)
		return 0;
	for (size_t i = 0; i < n && !before; i++) { /* newest first */
		struct step_info s = {0};

		if (journal_info(j, ids[i], &s, &err) < 0)
			continue;				   /* pruned or undone meanwhile */
		before = s.began_us && s.began_us < row->since_us; /* 0: damaged */
		if (s.began_us >= row->since_us && s.began_us <= until) {
			*ret_from = s.id;
			if (!*ret_to)
				*ret_to = s.id;
			hash = hash_step(hash, &s);
		}
		step_info_done(&s);
	}
	return *ret_to ? MAX(hash, 1) : 0;
}

static void count(struct roster_row *row, struct journal *j)
{
	struct err err = {0};
	int64_t from = 0, to = 0;
	uint64_t steps = find_steps(j, row, &from, &to);

	if (row->counted && row->steps == steps)
		return;
	row->added = row->deleted = 0;
	row->counted = !steps ||
		       diff_range_paths(j, from, to, is_project_file, count_line, row, &err) == 0;
	if (!row->counted)
		row->added = row->deleted = 0;
	row->first = from;
	row->last = to;
	row->steps = steps;
}

void roster_count(struct roster_row *row)
{
	AUTO_FREE char *state = state_dir();
	const char *const folders[] = {row->folder, NULL};
	struct journal *j = NULL;
	struct err err = {0};

	if (*row->folder && journal_open_all(&j, folders, state, &err) == 0)
		count(row, j);
	else
		row->counted = false;
	journal_close_all(j);
}
