/* keeper_start - starts the keeper of a session, with the plan of its sandbox. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/log.h"
#include "core/broker/broker.h"
#include "core/broker/secrets.h"
#include "core/config/config.h"
#include "core/keeper/keeper.h"
#include "core/keeper/watch/ignored.h"
#include "core/net/upstream.h"
#include "core/os/process.h"
#include "core/os/socket.h"
#include "core/session/session_priv.h"
#include "core/session/start/repository.h"
#include "core/session/start/signing.h"
#include "core/session/start/spawn.h"

static struct journal_options journal_options(const struct config *c)
{
	if (!c)
		return (struct journal_options){0};
	return (struct journal_options){
		.off = !config_bool(c, "journal.undo"),
		.size = (uint64_t)config_int(c, "journal.size"),
		.step_size = (uint64_t)config_int(c, "journal.step-size"),
		.steps = (size_t)config_int(c, "journal.steps"),
	};
}

static uint32_t seconds(const struct config *c, const char *key)
{
	return (uint32_t)MIN(config_int(c, key), (int64_t)UINT32_MAX);
}

/*
 * Returns the limits of the safeguards. A headless run has only those that the settings name: `make
 * clean` and `npm ci` must run unattended, and can be undone.
 */
static struct guard_limits limits_of(const struct session_spec *spec)
{
	struct guard_limits l = {
		.overwrite_bytes = (uint64_t)config_int(spec->config, "safeguard.overwrite-bytes"),
		.timeout_s = seconds(spec->config, "safeguard.timeout"),
	};

	for (enum loss i = 0; i < LOSS_KINDS; i++) {
		const char *key = guard_setting(i);

		if (i == LOSS_BEYOND)
			l.most[i] =
				!spec->headless || str_eq(config_str(spec->config, key), "deny");
		else if (!spec->headless || config_is_set(spec->config, key))
			l.most[i] = (uint64_t)config_int(spec->config, key);
	}
	return l;
}

/* Makes the pipe whose end stops the sandbox. The plan gets the end that the keeper passes on; its
 * number is none of the agent's. */
static int make_lifeline(struct session *s, struct spawn_plan *plan, struct err *err)
{
	int fds[2], ends[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_set(err, -errno, "make a pipe");
	for (int i = 0; i < 2; i++) {
		ends[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 3);
		close(fds[i]);
	}
	plan->spec.lifeline = MAX(ends[0], 0);
	s->lifeline = MAX(ends[1], 0);
	return ends[0] < 0 || ends[1] < 0 ? err_say(err, -EMFILE, "too many open files") : 0;
}

/* Loads the names that the watch ignores. A session without an agent does not watch the folder. */
static int load_ignored(struct ignored **ret, const struct session_spec *spec, struct err *err)
{
	AUTO_FREE char *text = NULL;
	int r = spec->backend ? config_ignored_edits(&text, spec->source, err) : 0;

	if (r == 0 && text && (r = ignored_new(ret, text, err)) < 0)
		err_wrap(err, r, "edits.ignore");
	return r;
}

/* Starts the broker: before the agent, which could look into this process until os_stay_private().
 */
static int start_broker(struct session *s, struct session_spec *spec, struct err *err)
{
	const char *const *keys = NULL;
	int r;

	if (!spec->backend || !spec->config)
		return 0;
	config_list(spec->config, "ssh.agent", &keys);
	r = session_read_secrets(s, spec, err);
	if (r < 0)
		return r;
	r = broker_start(&s->broker,
			 &(struct broker_spec){
				 .credentials = config_bool(spec->config, "git.credentials"),
				 .secrets = spec->secrets,
				 .keys = keys,
				 .agent = getenv("SSH_AUTH_SOCK"),
				 .home = spec->home,
			 },
			 err);
	spec->broker = s->broker;
	return r;
}

static void tell_slow(void *data)
{
	session_tell_note(data, "the folder is large: the agent starts when all of it has been "
				"searched for .env files and for other names of protected files");
}

/* Returns the working folders, then the repositories that belong to them. Heap; the strings are not
 * copied. */
static const char **with_repositories(const char *const *folders, const struct repositories *repos)
{
	size_t n = util_list_len(folders);
	const char **all = xcalloc(n + repos->n_common + 1, sizeof(*all));

	for (size_t i = 0; i < n; i++)
		all[i] = folders[i];
	for (size_t i = 0; i < repos->n_common; i++)
		all[n + i] = repos->common[i];
	return all;
}

static void find_repositories(struct repositories *ret, const struct session_spec *spec)
{
	const char *const *const others[] = {spec->read_only, spec->overlays, spec->hidden};
	const struct policy_spec about = {.config = spec->config,
					  .home = spec->home,
					  .folders = spec->folders,
					  .hidden = spec->hidden,
					  .dynamic = spec->dynamic};

	repositories_find(ret, &about, others, ARRAY_LEN(others));
}

static void tell_denied(struct session *s, const struct repositories *repos)
{
	for (size_t i = 0; i < repos->n_denied; i++) {
		AUTO_FREE char *words = xasprintf(
			"the repository %s of a worktree is not taken in, as a rule denies reading "
			"it: git does not work inside",
			repos->denied[i]);

		session_tell_note(s, words);
	}
}

/* Finds the proxies of the user's network, for all processes that are forked later. */
static void find_upstreams(struct session *s, const struct session_spec *spec)
{
	AUTO_BUF struct buf notes = BUF_INIT;
	char *rest, *line;

	if (!spec->backend || !spec->ask_network)
		return;
	upstream_load(&notes);
	rest = notes.data;
	while ((line = strsep(&rest, "\n")) && *line)
		session_tell_note(s, line);
}

/* Reports the setup with --verbose: as rows in a console, else on standard error. */
static void tell_setup(struct session *s, const struct session_spec *spec,
		       const struct spawn_plan *plan)
{
	AUTO_BUF struct buf lines = BUF_INIT;
	char *rest, *line;

	if (!spec->backend || !spec->verbose)
		return;
	spawn_tell_setup(plan, spec, &lines);
	rest = lines.data;
	while ((line = strsep(&rest, "\n")) && *line) {
		if (!spec->headless && spec->tty)
			model_add_row(&s->model, ROW_NOTE, 0, 0, 0, "note", line, NULL);
		else
			session_tell_note(s, line);
	}
}

/* Says how commits can be signed, as git does not tell why it cannot. */
static void tell_signing(struct session *s, const struct session_spec *spec)
{
	static const char gpg[] =
		"git signs commits here with gpg (commit.gpgsign), whose keys are not inside, so "
		"commits fail: --set git.signing=off leaves them unsigned; to sign them later: git "
		"rebase --exec 'git commit --amend --no-edit -S' COMMIT";
	static const char ssh[] =
		"git signs commits here with an SSH key (gpg.format), which is not inside, so "
		"commits fail: --ssh-agent KEY asks for each signature, --set git.signing=off "
		"leaves "
		"them unsigned";
	const char *const *keys = NULL;
	enum signing how;

	if (!spec->backend || !spec->home || str_eq(config_str(spec->config, "git.signing"), "off"))
		return;
	how = signing_of(s->folder, spec->home);
	if (how == SIGNING_GPG)
		session_tell_note(s, gpg);
	else if (how == SIGNING_SSH && !config_list(spec->config, "ssh.agent", &keys))
		session_tell_note(s, ssh);
}

/* Shows the notes of the plan, and the lasting rules. */
static void tell_plan(struct session *s, const struct session_spec *spec,
		      const struct spawn_plan *plan)
{
	tell_setup(s, spec, plan);
	for (size_t i = 0; i < plan->n_notes; i++)
		session_tell_note(s, plan->notes[i]);
	if (plan->own)
		model_add_row(&s->model, ROW_NOTE, 0, 0, 0, "note", plan->own, NULL);
	if (plan->policy)
		session_list_lasting(s, plan->policy);
}

/* Returns the keeper's spec from the settings and the session. */
static struct keeper_spec keeper_spec_of(const struct session *s, const struct session_spec *spec)
{
	const struct config *c = spec->config;

	return (struct keeper_spec){
		.repositories = (const char *const *)spec->repositories->common,
		.state_dir = spec->state_dir,
		.journal = journal_options(c),
		.config = c,
		.source = spec->source,
		.log_fd = log_descriptor(),
		.headless = spec->headless && !spec->answered,
		.one_step = spec->one_step,
		.guard = limits_of(spec),
		.ask_timeout_s = seconds(c, "approval.timeout"),
		.ask_again_s = seconds(c, "approval.remember"),
		.undo_home = config_bool(c, "undo.home"),
		.redact = s->redact,
		.asks_lists = str_eq(config_str(c, "reading.list"), "ask"),
		.warn_only = str_eq(config_str(c, "undo.external"), "warn"),
		.lock = str_eq(config_str(c, "undo.external"), "lock"),
		.backend = spec->backend,
		.broker = broker_socket(s->broker),
	};
}

/* Forks the keeper. On success the session has its client, and the plan's locks. */
static int fork_keeper(struct session *s, struct keeper_spec *k, struct spawn_plan *plan,
		       struct err *err)
{
	int pair[2], r;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_set(err, -errno, "socket to the keeper");
	r = k->backend ? make_lifeline(s, plan, err) : 0;
	k->sock = pair[1];
	k->policy = plan->policy;
	k->spawn = k->backend ? &plan->spec : NULL;
	if (r == 0)
		r = keeper_fork(k, &s->keeper, err);
	close(pair[1]);
	if (plan->spec.lifeline > 0)
		close(plan->spec.lifeline);
	if (r < 0) {
		close(pair[0]);
		return r;
	}
	s->window = plan->window;
	plan->window = 0;
	s->homes_lock = plan->homes.lock;
	plan->homes.lock = 0;
	/* The agent may have the same user: it must not look into this process or its terminal. */
	os_stay_private();
	io_set_nonblock(pair[0], true);
	s->client = client_new(pair[0], session_on_event, s);
	return 0;
}

int session_start_keeper(struct session *s, const struct session_spec *given, struct err *err)
{
	CLEANUP(repositories_done) struct repositories repos;
	AUTO_FREE const char **folders = NULL;
	struct session_spec spec = *given;
	struct spawn_plan *plan = NULL;
	struct ignored *ignored = NULL;
	struct keeper_spec k;
	int r;

	find_repositories(&repos, given);
	spec.folders = folders = with_repositories(given->folders, &repos);
	spec.repositories = &repos;
	spec.slow = tell_slow;
	spec.slow_data = s;
	find_upstreams(s, &spec);
	tell_signing(s, &spec);
	tell_denied(s, &repos);
	r = load_ignored(&ignored, &spec, err);
	if (r == 0)
		r = start_broker(s, &spec, err);
	if (r == 0)
		r = spawn_plan_new(&plan, &spec, s->model.session, err);
	if (r == 0) {
		tell_plan(s, &spec, plan);
		k = keeper_spec_of(s, &spec);
		k.folders = given->folders;
		k.ignored = ignored;
		r = fork_keeper(s, &k, plan, err);
	}
	broker_handed_over(s->broker);
	spawn_plan_free(plan);
	ignored_free(ignored);
	return r;
}
