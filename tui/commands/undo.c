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
#include "tui/commands/commands.h"
#include "tui/commands/headless.h"
#include "tui/commands/options.h"
#include "tui/commands/reading.h"
#include "tui/commands/undo_plan.h"

#define NAMED_MAX 40 /* paths that stop an undo, or went by force */

struct undo_options {
	enum undo_kind kind;
	size_t n;
	int64_t step;	/* --step, 0: none */
	int64_t to;	/* --to, 0: none: n is worked out from it */
	int64_t oldest; /* with --to: the last one that goes */
	unsigned flags; /* UNDO_* */
	bool dry_run, help;
	struct strings given; /* after -- */
	struct strings paths; /* the same, relative to the folder */
};

/* The answer to a failure that cordon itself had before anything ran. */
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

/* ---- options ------------------------------------------------------------------------------------
 */

static int parse_number(const char *s, long long min, long long *ret, struct err *err)
{
	char *end;

	errno = 0;
	*ret = strtoll(s, &end, 10);
	if (errno || end == s || *end || *ret < min)
		return err_say(err, -EINVAL, "'%s': not a step count or step id: give a number", s);
	return 0;
}

static int check(struct undo_options *o, struct err *err)
{
	if (o->to && (o->step || o->n))
		return err_say(err, -EINVAL, "--to: says how far already: leave N and --step out");
	if (!o->n)
		o->n = 1;
	if ((o->flags & UNDO_FORCE) && (o->flags & UNDO_KEEP_MINE))
		return err_say(err, -EINVAL,
			       "--force and --keep-mine: one goes over what you changed, the other "
			       "leaves it: give one of them");
	if (o->step && (o->flags & ~(unsigned)UNDO_FORCE))
		return err_say(
			err, -EINVAL,
			"--step: --keep-mine and --merge are for whole steps: leave the path "
			"out, or use --force");
	if (o->step && !o->given.n)
		return err_say(err, -EINVAL,
			       "--step: no path given: cordon undo --step ID -- PATH...");
	return 0;
}

static int parse(struct undo_options *o, int argc, char **argv, struct err *err)
{
	long long v;

	for (int i = 0; i < argc; i++) {
		int r = 0;

		if (str_eq(argv[i], "--dry-run")) {
			o->dry_run = true;
		} else if (str_eq(argv[i], "--force")) {
			o->flags |= UNDO_FORCE;
		} else if (str_eq(argv[i], "--keep-mine")) {
			o->flags |= UNDO_KEEP_MINE;
		} else if (str_eq(argv[i], "--merge")) {
			o->flags |= UNDO_MERGE;
		} else if (str_eq(argv[i], "--help") || str_eq(argv[i], "-h")) {
			o->help = true;
		} else if (str_eq(argv[i], "--step") && i + 1 < argc && o->kind == UNDO_BACK) {
			r = parse_number(argv[++i], INT64_MIN, &v, err);
			o->step = v;
		} else if (str_eq(argv[i], "--to") && i + 1 < argc && o->kind == UNDO_BACK) {
			r = parse_number(argv[++i], INT64_MIN, &v, err);
			o->to = v;
		} else if (str_eq(argv[i], "--") && o->step) {
			while (++i < argc)
				strings_add(&o->given, argv[i]);
		} else if (argv[i][0] != '-' && o->kind == UNDO_BACK) {
			r = parse_number(argv[i], 1, &v, err);
			o->n = (size_t)v;
		} else if (i + 1 == argc &&
			   (str_eq(argv[i], "--step") || str_eq(argv[i], "--to")) &&
			   o->kind == UNDO_BACK) {
			r = err_say(err, -EINVAL, "option '%s': needs a value: %s %s", argv[i],
				    argv[i], argv[i][2] == 's' ? "ID" : "STEP");
		} else if (argv[i][0] != '-') {
			r = err_say(err, -EINVAL,
				    "'%s': redo takes no number: it brings back what the last undo "
				    "took away",
				    argv[i]);
		} else {
			r = err_say(err, -EINVAL,
				    "unknown option '%s': cordon %s --help lists what there is",
				    argv[i], o->kind == UNDO_BACK ? "undo" : "redo");
		}
		if (r < 0)
			return r;
	}
	return check(o, err);
}

static void help(enum undo_kind kind)
{
	if (kind == UNDO_REDO) {
		printf("usage: cordon redo [--dry-run] [--keep-mine | --force] [--merge]\n\n"
		       "Bring back what the last undo took away.\n\n");
	} else {
		printf("usage: cordon undo [N | --to STEP] [--dry-run] [--keep-mine | --force] "
		       "[--merge]\n"
		       "       cordon undo --step ID [--dry-run] [--force] -- PATH...\n\n"
		       "Roll the newest N steps (default 1) back, or all that are newer than STEP, "
		       "or "
		       "only\nthese paths of one step.\n\n");
	}
	printf("  --dry-run   only say what would change; what was interrupted before is put right "
	       "first\n"
	       "  --keep-mine leave paths out that somebody else changed since\n"
	       "  --merge     merge both sides' changes of such text files; with --dry-run, show "
	       "the\n"
	       "              result. Where both changed the same lines nothing is done, unless\n"
	       "              --keep-mine (it stays) or --force (conflict markers)\n"
	       "  --force     go over such paths; what is replaced is kept for redo\n");
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

/* Pump until fn says so; false when the keeper went away first. */
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
				 : "the keeper ended: the next start puts the folder right");
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

static void say_done(const struct undo_plan *p)
{
	size_t kept = 0, n;

	for (size_t i = 0; i < p->n_entries; i++)
		kept += p->entries[i].fate == FATE_KEPT;
	n = p->n_paths - kept;
	printf("%s step%s", p->kind == UNDO_REDO ? "redone:" : "undone:", p->n_ids == 1 ? "" : "s");
	for (size_t i = 0; i < p->n_ids; i++)
		printf(" %lld", (long long)p->ids[i]);
	printf(", %zu path%s", n, n == 1 ? "" : "s");
	if (kept)
		printf("; %zu left as %s", kept, kept == 1 ? "it is" : "they are");
	putchar('\n');
}

/* Of --dry-run, and of --to, whose steps were counted before the history was ours. */
static int plan_steps(struct session *s, const struct undo_run *u, const struct undo_options *o,
		      struct err *err)
{
	uint64_t request = session_plan(s, o->kind, o->n, o->flags);
	const struct undo_plan *plan;

	if (!pump(s, u, plan_or_refusal, request))
		return gone(u, err);
	if (!plan_is_here(s, request))
		return err_say(err, -ENODATA, "%s", session_model(s)->plan_refused);
	plan = session_model(s)->plan;
	if (o->oldest && (plan->n_ids == 0 || plan->ids[plan->n_ids - 1] != o->oldest))
		return err_say(err, -ESTALE, "the history has grown meanwhile: look again");
	if (!o->dry_run)
		return 0;
	print_plan(plan, SIZE_MAX);
	return session_journal(s) ? print_merges(session_journal(s), plan, err) : 0;
}

static int undo_steps(struct session *s, const struct undo_run *u, const struct undo_options *o,
		      struct err *err)
{
	const struct undo_plan *plan;
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
	r = run_job(s, u, request, err);
	if (r == 0 && plan)
		say_done(plan);
	return r;
}

static int restore_paths(struct session *s, const struct undo_run *u, const struct undo_options *o,
			 struct err *err)
{
	uint64_t request = session_restore_plan(s, o->step, o->paths.list, o->flags);
	const struct undo_plan *plan;
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
	r = run_job(s, u, session_restore(s, o->step, o->paths.list, o->flags), err);
	if (r == 0)
		printf("restored: as before step %lld, %zu path%s\n", (long long)o->step,
		       plan->n_paths, plan->n_paths == 1 ? "" : "s");
	return r;
}

/* How many steps are newer than --to's. */
static int count_newer(struct undo_options *o, const char *folder, const char *state_dir,
		       struct err *err)
{
	const struct journal_spec spec = {
		.folder = folder, .state_dir = state_dir, .read_only = true};
	struct step_info *list = NULL;
	struct journal *j = NULL;
	size_t n = 0;
	int r = journal_open(&j, &spec, NULL, err);

	if (r == 0)
		r = journal_list(j, false, &list, &n, err);
	for (o->n = 0; r == 0 && o->n < n && list[o->n].id != o->to; o->n++)
		o->oldest = list[o->n].id;
	if (r == 0 && o->n == n)
		r = err_say(err, -ENOENT,
			    "there is no step %lld to go back to: `cordon log` lists them",
			    (long long)o->to);
	else if (r == 0 && o->n == 0)
		r = err_say(err, -ENOENT, "step %lld is the newest: there is nothing to undo",
			    (long long)o->to);
	step_info_free(list, n);
	journal_close(j);
	return r;
}

static int undo_in(const struct undo_options *o, const struct session_spec *spec, struct err *err)
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
	r = o->step ? restore_paths(s, &u, o, err) : undo_steps(s, &u, o, err);
	session_close(s);
	free(u.failed);
	return r;
}

/* ---- commands -----------------------------------------------------------------------------------
 */

static int undo_or_redo(enum undo_kind kind, int argc, char **argv, struct err *err)
{
	struct undo_options o = {.kind = kind};
	AUTO_FREE char *home = NULL, *state_dir = NULL, *folder = NULL;
	struct config *config = NULL;
	int r = parse(&o, argc, argv, err);

	if (r < 0 || o.help) {
		strings_done(&o.given);
		if (r == 0)
			help(kind);
		return r < 0 ? CMD_FAILED : 0;
	}
	r = folders_home(&home, err);
	if (r == 0) {
		state_dir = folders_state_dir(home);
		r = folders_of_cwd(&folder, state_dir, err);
	}
	if (r == 0)
		r = here_moved(folder, state_dir, 0, err); /* before an empty history is made */
	if (r == 0)
		here_places(&(struct here){.folder = folder}, &o.given, &o.paths);
	if (r == 0 && o.to)
		r = count_newer(&o, folder, state_dir, err);
	if (r == 0)
		r = config_load(&config,
				&(struct config_spec){.home = home,
						      .config_home = getenv("XDG_CONFIG_HOME")},
				err);
	if (r == 0)
		r = undo_in(&o,
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
	config_free(config);
	strings_done(&o.given);
	here_paths_done(&o.paths);
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
