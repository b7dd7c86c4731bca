/* scene - a console over a model made by hand, with verbs that are only recorded. */
/* SPDX-License-Identifier: MIT */
#include "tests/screen/scene.h"
#include "tests/support/check.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>

#include "core/base/io.h"
#include "core/session/answers/answers.h"

static void on_output(void *data, const void *bytes, size_t len)
{
	buf_add(&((struct scene *)data)->to_agent, bytes, len);
}

static const struct term_events term_events = {.output = on_output};

static int verb_answer(void *data, uint64_t ask, const struct answer *a, struct err *err)
{
	struct scene *s = data;

	(void)err;
	buf_fmt(&s->said, "%s %llu %s %s", a->allow ? "allow" : "deny", (unsigned long long)ask,
		answers_scope_name(a->scope), answers_extent_name(a->extent));
	if (a->up)
		buf_fmt(&s->said, " %u", a->up);
	buf_fmt(&s->said, "%s\n", a->until ? " for a time" : "");
	model_remove_ask(&s->model, ask);
	ui_changed(s->ui);
	return 0;
}

static void verb_revoke(void *data, uint64_t rule)
{
	buf_fmt(&((struct scene *)data)->said, "revoke %llu\n", (unsigned long long)rule);
}

static int verb_forget(void *data, size_t i, struct err *err)
{
	struct scene *s = data;

	(void)err;
	buf_fmt(&s->said, "forget %s\n", s->model.lasting[i].name);
	s->model.lasting[i].removed = true;
	return 0;
}

static void verb_disconnect(void *data, uint64_t id, bool forbid)
{
	struct scene *s = data;

	buf_fmt(&s->said, "%s %d\n", forbid ? "forbid" : "close", (int)id);
}

static uint64_t verb_plan(void *data, enum undo_kind kind, size_t n, unsigned flags)
{
	struct scene *s = data;

	buf_fmt(&s->said, "plan %d %zu%s%s\n", kind, n, flags & UNDO_KEEP_MINE ? " keep" : "",
		flags & UNDO_MERGE ? " merge" : "");
	free(s->model.plan_refused);
	s->model.plan_refused = NULL;
	return ++s->requests;
}

static uint64_t verb_undo(void *data, enum undo_kind kind, size_t n, unsigned flags)
{
	struct scene *s = data;

	buf_fmt(&s->said, "undo %d %zu%s%s%s\n", kind, n, flags & UNDO_FORCE ? " force" : "",
		flags & UNDO_KEEP_MINE ? " keep" : "", flags & UNDO_MERGE ? " merge" : "");
	s->model.job =
		(struct job){.request = ++s->requests, .active = true, .total = 500, .done = 200};
	return s->requests;
}

static uint64_t verb_restore(void *data, bool plan, int64_t step, const char *path, unsigned flags)
{
	struct scene *s = data;

	buf_fmt(&s->said, "restore%s %lld %s%s\n", plan ? " plan" : "", (long long)step, path,
		flags & UNDO_FORCE ? " force" : "");
	if (!plan)
		s->model.job = (struct job){.kind = UNDO_PATHS,
					    .request = s->requests + 1,
					    .active = true,
					    .total = 500};
	return ++s->requests;
}

static uint64_t verb_restore_hunk(void *data, int64_t step, const char *path, unsigned hunk)
{
	struct scene *s = data;

	buf_fmt(&s->said, "restore hunk %u of %lld %s\n", hunk, (long long)step, path);
	return 0;
}

static int verb_edit(void *data, const char *path, int line, struct err *err)
{
	(void)err;
	buf_fmt(&((struct scene *)data)->said, "edit %s %d\n", path, line);
	return 0;
}

static int verb_theme(void *data, const char *name, bool keep, struct err *err)
{
	struct scene *s = data;

	if (name && str_eq(name, "broken"))
		return err_say(err, -EINVAL, "broken.theme:1: no theme");
	buf_fmt(&s->said, "%s %s\n", keep ? "keep" : "look at", name ? name : "the old one");
	return 0;
}

static const char *verb_theme_name(void *data)
{
	(void)data;
	return "dark";
}

static void verb_themes(void *data, struct buf *names)
{
	(void)data;
	buf_str(names, "default\ndark\nbroken\ne\033[2Jvil\n");
}

static void say(struct scene *s, const char *word)
{
	buf_fmt(&s->said, "%s\n", word);
}

static void verb_cancel(void *data)
{
	((struct scene *)data)->model.job.cancelled = true;
	say(data, "cancel");
}

static void verb_turn(void *data)
{
	buf_str(&((struct scene *)data)->said, "line\n");
}

static void verb_stop(void *data)
{
	say(data, "stop");
}

static void verb_detach(void *data)
{
	say(data, "detach");
}

static void verb_leave(void *data)
{
	say(data, "leave");
}

static void verb_restart(void *data)
{
	say(data, "restart");
}

static void verb_suspend(void *data)
{
	say(data, "suspend");
}

static void verb_redraw(void *data)
{
	say(data, "redraw");
}

static void verb_bell(void *data)
{
	say(data, "bell");
}

static int verb_open(void *data, const char *url, struct err *err)
{
	(void)err;
	buf_fmt(&((struct scene *)data)->said, "open %s\n", url);
	return 0;
}

static int verb_copy(void *data, const char *text, size_t len, struct err *err)
{
	(void)err;
	buf_fmt(&((struct scene *)data)->said, "copy '%.*s'\n", (int)len, text);
	return 0;
}

static void verb_submit(void *data, void (*work)(void *job), void (*done)(void *job), void *job)
{
	(void)data;
	work(job);
	done(job);
}

static const struct ui_verbs verbs = {
	.answer = verb_answer,
	.revoke = verb_revoke,
	.forget = verb_forget,
	.disconnect = verb_disconnect,
	.plan = verb_plan,
	.undo = verb_undo,
	.restore = verb_restore,
	.restore_hunk = verb_restore_hunk,
	.edit = verb_edit,
	.theme = verb_theme,
	.themes = verb_themes,
	.theme_name = verb_theme_name,
	.stop = verb_stop,
	.turn = verb_turn,
	.cancel = verb_cancel,
	.leave = verb_leave,
	.detach = verb_detach,
	.restart = verb_restart,
	.suspend = verb_suspend,
	.redraw = verb_redraw,
	.bell = verb_bell,
	.copy = verb_copy,
	.open = verb_open,
	.alert = verb_bell,
	.submit = verb_submit,
};

void scene_init(struct scene *s, int w, int h, enum depth depth)
{
	struct err err = {0};
	struct rect pane;

	*s = (struct scene){.to_agent = BUF_INIT, .said = BUF_INIT, .now_us = 3600 * 1000000LL};
	setenv("TZ", "UTC", 1);
	tzset();
	model_init(&s->model);
	s->model.began_us = s->now_us - 192 * 1000000LL;
	s->model.folder = "/home/u/project";
	s->model.persists = true;
	s->model.home = xstrdup("/home/u");
	if (keymap_load(&s->keymap, "default", NULL, &err) < 0 ||
	    theme_load(&s->theme, "default", NULL, depth, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	surface_init(&s->surface, w, h);
	s->surface.roles = s->theme.roles;
	s->term = term_new(24, 80, &term_events, s);
	s->ui = ui_new(&(struct ui_spec){.model = &s->model,
					 .keymap = s->keymap,
					 .term = s->term,
					 .verbs = &verbs,
					 .data = s,
					 .folder = "/home/u/project",
					 .state_dir = "/home/u/.local/state/cordon"});
	pane = ui_resize(s->ui, w, h);
	term_resize(s->term, MAX(pane.h, TERM_MIN), MAX(pane.w, TERM_MIN));
}

void scene_done(struct scene *s)
{
	ui_free(s->ui);
	term_free(s->term);
	surface_done(&s->surface);
	keymap_free(s->keymap);
	model_done(&s->model);
	buf_done(&s->to_agent);
	buf_done(&s->said);
}

static void add_step(struct scene *s, int64_t id, const char *command, size_t paths, int status)
{
	struct step_row *st = model_add_step(&s->model, id, id < 0 ? STEP_AMBIENT : STEP_COMMAND,
					     command, (id < 0 ? 20 : id) * 1000000);

	st->running = false;
	st->paths = paths;
	st->exit_status = status;
}

void scene_fill(struct scene *s)
{
	static const char screen[] = "\033[32mu@host\033[m:\033[34m~/project\033[m$ make -j2\r\n"
				     "cc -c src/main.c\r\ncc -c \346\227\245\346\234\254.c\r\n$ ";
	struct model *m = &s->model;

	snprintf(m->backend, sizeof(m->backend), "native");
	snprintf(m->tier, sizeof(m->tier), "full");
	m->started = true;
	m->cpu_percent = 42;
	m->memory = 57 << 20;
	m->command = xstrdup("claude");
	add_step(s, 1, "git init", 14, 0);
	add_step(s, 2, "sed -i s/foo/bar/ src/main.c src/util.c src/other.c include/main.h", 4, 0);
	add_step(s, -1, "", 2, 0);
	add_step(s, 3, "npm test", 1, 1);
	add_step(s, 4, "rm -rf build\033[2J\342\200\256", 120, 0);
	add_step(s, 5, "make -j2", 9, 0);
	model_step(m, 1)->created = 14; /* otherwise it counts as the agent's own */
	model_step(m, 3)->incomplete = true;
	model_step(m, 5)->running = true;
	model_add_row(m, ROW_EXEC, 2, 11, 0, "exec", "sed -i s/foo/bar/ src/main.c",
		      "/usr/bin/sed");
	model_add_row(m, ROW_TOUCH, 2, 11, 0, "write", "/home/u/project/src/main.c", NULL);
	model_add_row(m, ROW_TOUCH, 2, 11, 0, "rename", "/home/u/project/src/a.tmp",
		      "/home/u/project/src/a.c");
	model_add_row(m, ROW_DENY, 3, 12, -13, "write", "/etc/hosts", "outside every folder");
	model_add_row(m, ROW_ASK, 4, 13, 0, "write", "/home/u/project/.git/hooks/pre-commit",
		      "git runs it on the host");
	model_add_row(m, ROW_DECISION, 4, 13, 0, "write", "/home/u/project/.git/hooks/pre-commit",
		      "allow writing ~/project/.git/hooks/pre-commit once");
	model_add_row(m, ROW_TOUCH, 4, 13, 0, "unlink", "/home/u/project/e\033]0;x\007vil\n", NULL);
	model_add_row(m, ROW_NOTE, 0, 0, 0, "note", "recovered step 3: 14 paths put back", NULL);
	for (size_t i = 0; i < m->row_count; i++)
		m->rows[i].wall_us = (int64_t)i * 1000000;
	term_feed(s->term, screen, sizeof(screen) - 1);
	ui_changed(s->ui);
}

void scene_ask(struct scene *s, uint64_t id, const char *path)
{
	char p[256], op[] = "write", program[] = "/usr/bin/vim.basic",
		     command[] = "vim .git/hooks/pre-commit",
		     reason[] = "git runs this file on the host later";

	snprintf(p, sizeof(p), "%s", path);
	model_add_ask(&s->model, &(struct ask){.id = id,
					       .step = 5,
					       .pid = 4711,
					       .since_us = s->now_us - 7000000,
					       .kind = RULE_WRITE,
					       .has_step = true,
					       .op = op,
					       .path = p,
					       .program = program,
					       .command = command,
					       .reason = reason});
	ui_changed(s->ui);
}

void scene_read(struct scene *s, uint64_t id, const char *path)
{
	char p[256], op[] = "read", program[] = "/usr/bin/grep", command[] = "grep -r diary notes",
		     reason[] = "no rule grants it", label[] = "sh -c 'grep -r diary notes'";

	snprintf(p, sizeof(p), "%s", path);
	model_add_ask(&s->model, &(struct ask){.id = id,
					       .pid = 4712,
					       .since_us = s->now_us - 7000000,
					       .kind = RULE_READ,
					       .has_step = true,
					       .op = op,
					       .path = p,
					       .program = program,
					       .command = command,
					       .label = label,
					       .reason = reason});
	ui_changed(s->ui);
}

void scene_host(struct scene *s, uint64_t id)
{
	char path[] = "registry.npmjs.org:443", op[] = "connect", program[] = "/usr/bin/node",
	     command[] = "npm install", reason[] = "no rule covers this host",
	     label[] = "npm install";

	model_add_ask(&s->model, &(struct ask){.id = id,
					       .pid = 4712,
					       .since_us = s->now_us - 7000000,
					       .kind = RULE_CONNECT,
					       .has_step = true,
					       .op = op,
					       .path = path,
					       .program = program,
					       .command = command,
					       .label = label,
					       .reason = reason});
	ui_changed(s->ui);
}

void scene_connections(struct scene *s)
{
	static const struct {
		const char *program, *target, *addr, *why;
		uint64_t sent, received;
		int64_t ended_us;
	} list[] = {
		{"node", "registry.npmjs.org:443", "104.16.2.34", "your answer", 5120, 40 << 20, 0},
		{"evil\033[2J", "[2001:db8::1]:22", "2001:db8::1",
		 "rule 'lab' (config:3) says allow", 0, 99, 61000000},
		{"claude", "api.anthropic.com:443", "160.79.104.10",
		 "rule 'claude' (claude:23) says allow", 1 << 20, 3000, 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		struct connection c = {.id = i + 1,
				       .pid = 4700 + (int)i,
				       .target = (char *)(uintptr_t)list[i].target,
				       .addr = (char *)(uintptr_t)list[i].addr,
				       .why = (char *)(uintptr_t)list[i].why,
				       .sent = list[i].sent,
				       .received = list[i].received,
				       .began_us = s->now_us - 90000000,
				       .ended_us = list[i].ended_us ? s->now_us - 29000000 : 0};

		snprintf(c.program, sizeof(c.program), "%s", list[i].program);
		model_add_connection(&s->model, &c);
	}
	ui_changed(s->ui);
}

void scene_given(struct scene *s)
{
	char object[] = "/home/u/notes/a", dir[] = "/home/u/lib/",
	     words[] = "allow reading what lies in ~/notes, for this session",
	     no[] = "deny reading everything in ~/lib\033 and below, for this step";

	model_add_given(&s->model, &(struct given){.ask = 3,
						   .rule = 41,
						   .answer = {.allow = true,
							      .scope = SCOPE_SESSION,
							      .extent = EXTENT_DIR},
						   .object = object,
						   .words = words,
						   .wall_us = 1000000});
	model_add_given(&s->model,
			&(struct given){.ask = 4,
					.rule = 42,
					.answer = {.scope = SCOPE_STEP, .extent = EXTENT_TREE},
					.object = dir,
					.words = no,
					.wall_us = 2000000});
	s->model.lasting = xcalloc(2, sizeof(*s->model.lasting));
	s->model.n_lasting = 2;
	s->model.lasting[0] = (struct lasting){.allow = true,
					       .words = xstrdup("allow read,exec ~/tools/**"),
					       .file = xstrdup("/home/u/.config/cordon/config"),
					       .line = 12,
					       .name = xstrdup("answer of 2026-01-02T03:04:05Z"),
					       .by_us = true};
	s->model.lasting[1] = (struct lasting){.words = xstrdup("deny read ~/private\033[2J/**"),
					       .file = xstrdup("/etc/cordon/config"),
					       .line = 3,
					       .name = xstrdup("private")};
	ui_changed(s->ui);
}

void scene_held(struct scene *s, uint64_t id, enum loss what)
{
	char command[] = "rm -rf many\033[2J", a[] = "/home/u/project/many/a",
	     b[] = "/home/u/project/many/b\342\200\256x", c[] = "/home/u/project/many/c",
	     op[] = "unlinkat", open_op[] = "openat";
	struct guard_report r = {.ask = id,
				 .step = 5,
				 .pid = 4711,
				 .what = what,
				 .by_line = what != LOSS_REPLACE,
				 .ends = what == LOSS_REPLACE ? GUARD_ENDS_STRAYS
							      : GUARD_ENDS_COMMAND,
				 .count = 49,
				 .held = 2,
				 .command = command,
				 .n_was = 2,
				 .n_would = 2};

	r.was[0] = a;
	r.was[1] = b;
	r.would[0] = c;
	r.would[1] = a;
	r.ops[0] = op;
	r.ops[1] = open_op;
	model_set_held(&s->model, &r);
	s->model.asks[s->model.n_asks - 1].since_us = s->now_us - 7000000;
	ui_changed(s->ui);
}

void scene_plan(struct scene *s, bool conflict)
{
	static const char *const paths[] = {"src/main.c", "build", "src/new.c", "src/old.c",
					    "README.md"};
	struct undo_plan *p = xcalloc(1, sizeof(*p));

	p->n_ids = 2;
	p->ids = xcalloc(2, sizeof(*p->ids));
	p->ids[0] = 4;
	p->ids[1] = 3;
	p->n_entries = p->n_paths = ARRAY_LEN(paths);
	p->entries = xcalloc(p->n_entries, sizeof(*p->entries));
	for (size_t i = 0; i < p->n_entries; i++) {
		p->entries[i].path = xstrdup(paths[i]);
		p->entries[i].what = "MADRM"[i];
	}
	p->entries[3].other = xstrdup("src/older.c");
	p->entries[4].conflict = conflict;
	p->n_conflicts = p->n_stops = conflict;
	undo_plan_free(s->model.plan);
	s->model.plan = p;
	s->model.plan_request = s->requests;
	ui_changed(s->ui);
}

void scene_refuse_plan(struct scene *s, int why, const char *words)
{
	free(s->model.plan_refused);
	s->model.plan_refused = xstrdup(words);
	s->model.plan_refused_by = why;
	ui_changed(s->ui);
}

void scene_theme(struct scene *s, const char *name, enum depth depth)
{
	struct err err = {0};

	if (theme_load(&s->theme, name, NULL, depth, &err) < 0)
		fail_msg("%s", err.text);
}

void scene_keys(struct scene *s, const char *keys)
{
	AUTO_FREE char *copy = xstrdup(keys);
	char *save = NULL;

	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		struct keys one;
		struct event ev = {.type = EVENT_KEY};

		if (keys_parse(&one, w, NULL) < 0)
			abort();
		ev.key = one.key[0];
		s->now_us += 1000;
		ui_event(s->ui, &ev, s->now_us);
	}
}

void scene_draw(struct scene *s)
{
	ui_draw(s->ui, &s->surface, s->now_us);
}

void scene_wait(struct scene *s, int64_t ms)
{
	scene_draw(s); /* text must have been on the screen before it counts as read */
	s->now_us += ms * 1000;
	scene_draw(s);
}

bool scene_shows(struct scene *s, const char *words)
{
	AUTO_BUF struct buf b = BUF_INIT;

	scene_draw(s);
	surface_dump(&s->surface, &b);
	return strstr(b.data, words) != NULL;
}

void scene_golden(struct scene *s, const char *name, enum depth depth)
{
	AUTO_BUF struct buf got = BUF_INIT;
	AUTO_FREE char *want = NULL;
	static const char *const depths[] = {"mono", "16", "256", "true"};
	AUTO_FREE char *path = xasprintf("tests/golden/%s-%dx%d-%s.screen", name, s->surface.w,
					 s->surface.h, depths[depth]);
	size_t len = 0;

	scene_draw(s);
	surface_dump(&s->surface, &got);
	if (io_read_file(AT_FDCWD, path, 1 << 20, &want, &len) == 0 && len == got.len &&
	    memcmp(want, got.data, len) == 0)
		return;
	if (getenv("UPDATE") && *getenv("UPDATE") == '1') {
		assert_int_equal(io_write_file(AT_FDCWD, path, 0644, got.data, got.len, false), 0);
		return;
	}
	fail_msg("%s differs (UPDATE=1 writes it anew):\n%s", path, got.data);
}

int scene_set_up(void **state)
{
	struct scene *s = xmalloc(sizeof(*s));

	scene_init(s, 120, 40, DEPTH_256);
	scene_fill(s);
	buf_clear(&s->said);
	*state = s;
	return 0;
}

int scene_tear_down(void **state)
{
	scene_done(*state);
	free(*state);
	return 0;
}
