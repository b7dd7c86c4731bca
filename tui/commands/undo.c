/* undo - `cordon undo` and `cordon redo`: a keeper without a sandbox does the work. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "core/base/text.h"
#include "core/config/config.h"
#include "core/session/folders.h"
#include "core/session/session.h"
#include "tui/commands/saved_redo.h"
#include "tui/commands/commands.h"
#include "tui/commands/headless.h"
#include "tui/commands/here.h"
#include "tui/commands/show.h"
#include "tui/commands/undo_options.h"
#include "tui/commands/undo_plan.h"

#define NAMED_MAX 40 /* listed paths that stop an undo, or were overwritten by force */

/* A failure of cordon's own, reported by on_failed(). */
struct undo_run {
	char *failed;
	int status;
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int sig)
{
	(void)sig;
	interrupted = 1;
}

static void on_failed(void *data, int status, const char *words)
{
	struct undo_run *u = data;

	u->status = status;
	free(u->failed);
	u->failed = xstrdup(words);
}

/* ---- talking to the keeper ----------------------------------------------------------------------
 */

static bool plan_is_here(struct session *s, uint64_t request)
{
	const struct model *m = session_model(s);

	return m->plan && m->plan_request == request;
}

static bool job_is_done(struct session *s, uint64_t request)
{
	const struct job *job = &session_model(s)->job;

	return job->request == request && !job->active;
}

/* Pumps the session until fn returns true. Returns false if the keeper ended first. */
static bool pump(struct session *s, const struct undo_run *u,
		 bool (*fn)(struct session *s, uint64_t request), uint64_t request)
{
	while (!fn(s, request)) {
		struct pollfd p = {.fd = session_fd(s), .events = POLLIN};

		if (interrupted) {
			interrupted = 0;
			session_cancel(s);
		}
		if (session_wants_write(s))
			p.events |= POLLOUT;
		if (poll(&p, 1, -1) < 0 && errno != EINTR)
			return false;
		if (p.revents && session_ready(s, p.revents & (POLLIN | POLLHUP | POLLERR),
					       p.revents & POLLOUT) < 0)
			return fn(s, request);
		if (u->failed)
			return false;
	}
	return true;
}

static int job_result(struct session *s, struct err *err)
{
	const struct job *job = &session_model(s)->job;

	return job->result < 0 ? err_say(err, job->result, "%s", job->words) : 0;
}

static int gone(const struct undo_run *u, struct err *err)
{
	return err_say(err, -EPIPE, "%s",
		       u->failed ? u->failed
				 : "the keeper ended: the next start repairs the folder");
}

static int run_job(struct session *s, const struct undo_run *u, uint64_t request, struct err *err)
{
	return pump(s, u, job_is_done, request) ? job_result(s, err) : gone(u, err);
}

static bool plan_or_refusal(struct session *s, uint64_t request)
{
	return plan_is_here(s, request) || session_model(s)->plan_refused;
}

static bool plan_or_end(struct session *s, uint64_t request)
{
	return plan_is_here(s, request) || job_is_done(s, request);
}

/* Names the first repository made by the steps that stays, because the user has used it. */
static void say_repository(const struct undo_plan *p)
{
	for (size_t i = 0; i < p->n_entries; i++) {
		const struct undo_entry *e = &p->entries[i];
		const char *at = e->fate == FATE_KEPT && e->what == 'D' && !e->conflict
					 ? strstr(e->path, ".git/")
					 : NULL;

		if (!at || (at > e->path && at[-1] != '/'))
			continue;
		fputs("; the repository '", stdout);
		show_text(e->path, (size_t)(at - e->path) + strlen(".git"));
		fputs("' stays, as you have used it", stdout);
		return;
	}
}

/* Prints "undone: steps 6 5"; without notes, unless their files were undone, too. */
static void say_steps(const struct model *m, const struct undo_plan *p)
{
	AUTO_FREE int64_t *ids = xcalloc(p->n_ids + 1, sizeof(*ids));
	size_t n = p->n_ids;

	for (size_t i = 0; i < n; i++)
		ids[i] = p->ids[i];
	if (!(p->flags & UNDO_ALL_PLACES))
		n = model_drop_notes(m, ids, n);
	printf("%s step%s", p->kind == UNDO_REDO ? "redone:" : "undone:", n == 1 ? "" : "s");
	for (size_t i = 0; i < n; i++)
		printf(" %lld", (long long)ids[i]);
}

static void say_done(const struct model *m, const struct undo_plan *p)
{
	size_t kept = 0, elsewhere = 0, n;

	for (size_t i = 0; i < p->n_entries; i++) {
		kept += p->entries[i].fate == FATE_KEPT;
		elsewhere += undo_entry_elsewhere(p, &p->entries[i]);
	}
	n = p->n_paths - kept;
	say_steps(m, p);
	printf(", %zu path%s", n, n == 1 ? "" : "s");
	if (kept)
		printf("; %zu left as %s", kept, kept == 1 ? "it is" : "they are");
	if (elsewhere)
		printf(" (%zu outside the folder)", elsewhere);
	say_repository(p);
	putchar('\n');
	if (elsewhere && p->n_ids == 1)
		printf("To undo what lies outside, too: cordon redo, then cordon undo "
		       "--all-places\n");
}

/* Returns -ESTALE if a step was added after the steps were counted. */
static int check_oldest(const struct undo_options *o, const struct undo_plan *plan, struct err *err)
{
	if (!o->oldest || (plan->n_ids && plan->ids[plan->n_ids - 1] == o->oldest))
		return 0;
	return err_say(err, -ESTALE, "the history has grown meanwhile: look again");
}

/* Checks the plan for --to, whose steps were counted before the history was locked; prints it for
 * --dry-run. */
static int plan_steps(struct session *s, const struct undo_run *u, const struct undo_options *o,
		      struct err *err)
{
	uint64_t request = session_plan(s, o->kind, o->n, o->flags);
	const struct undo_plan *plan;
	int r;

	if (!pump(s, u, plan_or_refusal, request))
		return gone(u, err);
	if (!plan_is_here(s, request))
		return err_say(err, -ENODATA, "%s", session_model(s)->plan_refused);
	plan = session_model(s)->plan;
	r = check_oldest(o, plan, err);
	if (r < 0 || !o->dry_run)
		return r;
	print_plan(plan, SIZE_MAX);
	return session_journal(s) ? print_merges(session_journal(s), plan, err) : 0;
}

/* Returns whether paths without saved content are the only obstacle. */
static bool is_only_lost(const struct undo_plan *p)
{
	size_t lost = 0;

	for (size_t i = 0; i < p->n_entries; i++)
		lost += p->entries[i].fate == FATE_STOPS && p->entries[i].lost;
	return lost && lost == p->n_stops && !p->n_barriers;
}

/* Offers a user at a terminal to restore the rest. Edited paths stay. */
static bool wants_rest(const struct undo_plan *p)
{
	char line[16] = "";

	if (!p || !is_only_lost(p) || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return false;
	printf("%zu path%s not kept; bring back the rest? (y/n) ", p->n_stops,
	       p->n_stops == 1 ? " was" : "s were");
	fflush(stdout);
	return fgets(line, sizeof(line), stdin) && str_eq(line, "y\n");
}

static int undo_steps(struct session *s, const struct undo_run *u, const struct undo_options *o,
		      struct err *err)
{
	const struct undo_plan *plan;
	struct err why = {0};
	uint64_t request;
	int r = o->dry_run || o->oldest ? plan_steps(s, u, o, err) : 0;

	if (r < 0 || o->dry_run)
		return r;
	request = session_undo(s, o->kind, o->n, o->flags);
	if (!o->oldest && !pump(s, u, plan_or_end, request))
		return gone(u, err);
	plan = session_model(s)->plan;
	if (plan && (plan->n_conflicts || undo_plan_stops(plan)))
		print_plan(plan, NAMED_MAX);
	r = run_job(s, u, request, &why);
	if (r == -ESTALE && wants_rest(plan)) {
		why = (struct err){0};
		request = session_undo(s, o->kind, o->n, o->flags | UNDO_KEEP_MINE);
		r = pump(s, u, plan_or_end, request) ? run_job(s, u, request, &why) : gone(u, &why);
		plan = session_model(s)->plan;
	}
	if (r == 0 && plan)
		say_done(session_model(s), plan);
	else if (r < 0 && err)
		*err = why;
	return r;
}

static int restore_paths(struct session *s, const struct undo_run *u, const struct undo_options *o,
			 const struct strings *paths, struct err *err)
{
	uint64_t request = session_restore_plan(s, o->step, paths->list, o->flags);
	const struct undo_plan *plan;
	const struct step_row *made;
	int r;

	if (request && !pump(s, u, plan_or_refusal, request))
		return gone(u, err);
	if (!request)
		return err_say(err, -E2BIG, "too many paths at once: name their directories");
	if (!plan_is_here(s, request))
		return err_say(err, -ENODATA, "%s", session_model(s)->plan_refused);
	plan = session_model(s)->plan;
	if (o->dry_run || plan->n_conflicts)
		print_plan(plan, o->dry_run ? SIZE_MAX : NAMED_MAX);
	if (o->dry_run)
		return 0;
	r = run_job(s, u, session_restore(s, o->step, paths->list, o->flags), err);
	if (r < 0)
		return r;
	made = model_newest_restore(session_model(s));
	printf("restored: as before step %lld, %zu path%s", (long long)o->step, plan->n_paths,
	       plan->n_paths == 1 ? "" : "s");
	if (made)
		printf(", by step %lld", (long long)made->id);
	putchar('\n');
	return 0;
}

static int undo_in(const struct undo_options *o, const struct strings *paths,
		   const struct session_spec *spec, struct err *err)
{
	static const struct session_listener on = {.failed = on_failed,
						   .stopped = headless_stopped};
	struct undo_run u = {0};
	struct session *s = NULL;
	int r;

	r = session_start(&s, spec, &on, &u, err);
	if (r < 0)
		return r;
	signal(SIGINT, on_interrupt);
	r = o->how == UNDO_STEP ? restore_paths(s, &u, o, paths, err) : undo_steps(s, &u, o, err);
	session_close(s);
	free(u.failed);
	return r;
}

/* Shows the plan without the keeper, because a session has the folder; running commands have no
 * step yet. */
static int look_only(const struct undo_options *o, const struct strings *paths,
		     const struct session_spec *spec, struct err *err)
{
	unsigned cross = str_eq(config_str(spec->config, "undo.external"), "warn") ? UNDO_CROSS : 0;
	struct undo_plan *plan = NULL;
	struct journal *j = NULL;
	int r = journal_open(&j,
			     &(struct journal_spec){.folder = spec->folders[0],
						    .state_dir = spec->state_dir,
						    .read_only = true},
			     NULL, err);

	if (r == 0 && o->how == UNDO_STEP)
		r = journal_restore_plan(j, o->step, paths->list, o->flags, &plan, err);
	else if (r == 0)
		r = journal_plan(j, o->kind, o->n, o->flags | cross, &plan, err);
	if (r == 0 && o->how != UNDO_STEP)
		r = check_oldest(o, plan, err);
	if (r == 0) {
		print_plan(plan, SIZE_MAX);
		if (o->how != UNDO_STEP)
			r = print_merges(j, plan, err);
	}
	undo_plan_free(plan);
	journal_close(j);
	return r;
}

/* ---- commands -----------------------------------------------------------------------------------
 */

static int perform(const struct undo_options *o, const struct strings *paths,
		   const struct session_spec *spec, struct err *err)
{
	struct err why = {0};
	int r = undo_in(o, paths, spec, &why);

	if (r == -EBUSY && o->dry_run)
		return look_only(o, paths, spec, err);
	if (r < 0)
		*err = why;
	return r;
}

/* Returns the given paths, or all paths of the step. */
static void find_paths(const struct undo_options *o, const char *folder, struct strings *paths)
{
	here_places(&(struct here){.folder = (char *)(uintptr_t)folder}, &o->given, paths);
	if (o->how == UNDO_STEP && !o->given.n)
		strings_add(paths, xstrdup(""));
}

/* Refuses where nothing was recorded: a session would first search the folder for files to protect.
 * Leaves other errors to the session. */
static int check_history(const struct undo_options *o, const char *folder, const char *state_dir,
			 struct err *err)
{
	const struct journal_spec spec = {
		.folder = folder, .state_dir = state_dir, .read_only = true};
	struct journal *j = NULL;
	struct err ignored = {0};
	int r = journal_open(&j, &spec, NULL, &ignored);
	bool none = r == -ENOENT || (r == 0 && journal_is_empty(j));

	journal_close(j);
	return none ? err_say(err, -ENOENT, "%s has no steps: there is nothing to %s", folder,
			      o->kind == UNDO_REDO ? "redo" : "undo")
		    : 0;
}

static int run(struct undo_options *o, const char *home, struct err *err)
{
	AUTO_FREE char *state_dir = folders_state_dir(home), *folder = NULL;
	struct config *config = NULL;
	struct strings paths = {0};
	int r = folders_of_cwd(&folder, state_dir, err);

	if (r == 0)
		r = here_moved(folder, state_dir, 0, err); /* before an empty history is made */
	if (r == 0)
		r = check_history(o, folder, state_dir, err);
	if (r == 0)
		r = config_load(&config,
				&(struct config_spec){.home = home,
						      .config_home = getenv("XDG_CONFIG_HOME")},
				err);
	if (r == 0 && config_bool(config, "undo.home"))
		o->flags |= UNDO_ALL_PLACES;
	if (r == 0)
		r = undo_options_find(o, folder, state_dir, err);
	if (r == 0) {
		find_paths(o, folder, &paths);
		r = perform(o, &paths,
			    &(struct session_spec){
				    .config = config,
				    .folders = (const char *const[]){folder, NULL},
				    .cwd = folder,
				    .home = home,
				    .state_dir = state_dir,
				    .stdio = {-1, -1, -1},
				    .headless = true,
			    },
			    err);
	}
	config_free(config);
	here_paths_done(&paths);
	return r;
}

static int undo_or_redo(enum undo_kind kind, int argc, char **argv, struct err *err)
{
	struct undo_options o = {.kind = kind};
	AUTO_FREE char *home = NULL;
	int r = undo_options_parse(&o, argc, argv, err);

	if (r == 0 && o.help)
		undo_options_help(kind);
	else if (r == 0 && o.saved)
		r = saved_redo_bring(o.saved, &o.given, err);
	else if (r == 0 && (r = folders_home(&home, err)) == 0)
		r = run(&o, home, err);
	strings_done(&o.given);
	if (r == -EINVAL)
		return CMD_FAILED;
	return r < 0 ? CMD_REFUSED : 0;
}

int cmd_undo(int argc, char **argv, struct err *err)
{
	return undo_or_redo(UNDO_BACK, argc, argv, err);
}

int cmd_redo(int argc, char **argv, struct err *err)
{
	return undo_or_redo(UNDO_REDO, argc, argv, err);
}
