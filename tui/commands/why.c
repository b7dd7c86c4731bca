/* why - `cordon why`: the decision about a path, and the rule that makes it. */
/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/json.h"
#include "core/base/path.h"
#include "core/net/host.h"
#include "core/policy/rules/rules.h"
#include "core/policy/builtin/tool_homes.h"
#include "core/session/backend.h"
#include "core/session/start/own_settings.h"
#include "tui/commands/show.h"
#include "tui/commands/here.h"
#include "tui/commands/flags.h"
#include "tui/commands/alone.h"
#include "tui/commands/commands.h"
#include "tui/commands/standing.h"

struct why_options {
	const char *profile, *mode, *ro, *overlay, *hide;
	bool json;
};

static const struct flag flags[] = {
	{"--profile", "NAME", offsetof(struct why_options, profile),
	 "the rules of this profile; with -- COMMAND the profile that it would get; default: the "
	 "profile of the command that cordon would run here"},
	{"--mode", "MODE", offsetof(struct why_options, mode), "as cordon run --mode"},
	{"--ro", "DIR", offsetof(struct why_options, ro), "as cordon run --ro"},
	{"--overlay", "DIR", offsetof(struct why_options, overlay), "as cordon run --overlay"},
	{"--hide", "PATH", offsetof(struct why_options, hide), "as cordon run --hide"},
	{"--json", NULL, offsetof(struct why_options, json),
	 "one JSON object: kind, target, verdict, reason, origin, rule, losers (with lost: why)"},
};

static const struct usage usage = {
	"why read|write|exec|unix|connect|bind|credentials|sign TARGET [--profile NAME] [--mode "
	"MODE] [--ro DIR] "
	"[--overlay DIR] [--hide PATH] [--json] [-- COMMAND...]",
	"Say what cordon would do if the agent did this, which rule decides, and why other "
	"matching rules do not. ask: the call waits for your answer, and --headless denies it.",
	flags,
	ARRAY_LEN(flags),
};

/* Resolves links as far as the path exists; the rest is text. */
static char *resolve(const char *given, const char *home)
{
	AUTO_FREE char *expanded = path_expand_home(given, home);
	AUTO_FREE char *cwd = getcwd(NULL, 0);
	AUTO_FREE char *joined = path_join(cwd ? cwd : "/", expanded);
	AUTO_FREE char *clean = path_clean(joined);
	AUTO_FREE char *head = xstrdup(clean);

	for (;;) {
		char *slash = strrchr(head, '/');
		char *real = realpath(*head ? head : "/", NULL);

		if (real) {
			const char *rest = path_below(clean, *head ? head : "/");
			char *whole = *rest ? path_join(real, rest) : xstrdup(real);

			free(real);
			return whole;
		}
		if (!slash)
			return take_ptr(&clean);
		*slash = '\0';
	}
}

/* Returns whether the sandbox has a private place there: writable, and gone at its end. */
static bool is_private(const char *path)
{
	static const char *const list[] = {"/tmp", "/var/tmp", "/run", "/dev/shm", NULL};

	return path_is_in(path, list);
}

static bool has_rule(struct policy *p, const char *path)
{
	AUTO_FREE struct policy_finding *list = NULL;
	size_t n = policy_explain(p, RULE_UNIX, path, &list);
	bool found = false;

	for (size_t i = 0; i < n; i++)
		found = found || list[i].rule;
	return found;
}

static bool lies_in(const struct strings *list, const char *path)
{
	for (size_t i = 0; i < list->n; i++)
		if (path_is_beneath(path, list->list[i]))
			return true;
	return false;
}

/* Decides for whole directories that are writable or read-only, whatever rules say about
 * writing. */
static bool is_shown(const struct standing *s, const char *kind, const char *path,
		     struct policy_finding *ret)
{
	const bool overlay = lies_in(&s->overlays, path);
	const char *secret = NULL;

	if (!str_eq(kind, "write") || lies_in(&s->folders, path) ||
	    (!overlay && !lies_in(&s->read_only, path)))
		return false;
	if (access(path, F_OK) < 0 ||
	    policy_check_read(s->policy, RULE_READ, path, &secret) == POLICY_ALLOW)
		secret = NULL;
	*ret = (struct policy_finding){
		.verdict = overlay && !secret ? "allow" : "deny",
		.words = secret	   ? secret
			 : overlay ? "it lies in an overlay: the change is kept apart, and the "
				     "directory stays as it is"
				   : "it lies in a folder that is read-only",
		.origin = config_origin(s->config, overlay ? "sandbox.overlay" : "sandbox.ro")};
	return true;
}

/* Returns whether a run gives the tools layers of their directories. */
static bool has_layers(const struct config *c)
{
	const char *name = config_str(c, "sandbox.backend");
	const struct backend *b = backend_find(name ? name : "native", NULL);

	return b && b->homes;
}

/* Decides for a tool's home: written files stay with the folder, unless a rule is about it. Where
 * rules would ask about reading, the agent sees the folder's own directory. */
static bool is_tools(const struct standing *s, const char *home, const char *kind, const char *path,
		     struct policy_finding *ret)
{
	const bool write = str_eq(kind, "write"), exec = str_eq(kind, "exec");
	struct tool_home *list = NULL;
	size_t n = (write || exec || str_eq(kind, "read")) && !lies_in(&s->folders, path) &&
				   has_layers(s->config)
			   ? tool_homes_read(s->config, home, &list)
			   : 0;
	enum policy_verdict reads;
	const char *why;
	bool found = false;

	for (size_t i = 0; i < n; i++)
		found = found || (path_is_beneath(path, list[i].path) &&
				  !policy_writes_at(s->policy, list[i].path));
	tool_homes_free(list, n);
	reads = policy_check_read(s->policy, exec ? RULE_EXEC : RULE_READ, path, &why);
	if (!found || reads == POLICY_HIDE || (!write && reads != POLICY_ASK))
		return false;
	*ret = (struct policy_finding){
		.verdict = "allow",
		.words = write ? "a tool keeps its files there: the change stays with this folder, "
				 "and yours do not change"
			       : "a tool keeps its files there: the agent sees those of this "
				 "folder, "
				 "not yours",
		.origin = "sandbox.tool-home"};
	return true;
}

/* Decides without rules. Returns false if rules decide. */
static bool special(const struct standing *s, const char *kind, const char *path,
		    struct policy_finding *ret)
{
	const struct config *c = s->config;
	const char *mode = config_str(c, "network.mode");

	if (str_eq(kind, "connect") || str_eq(kind, "bind")) {
		bool open = str_eq(mode, "open");

		if (str_eq(mode, "ask") && str_eq(kind, "connect"))
			return false;
		ret->verdict = open || str_eq(kind, "bind") ? "allow" : "deny";
		ret->words =
			open ? "the sandbox shares the whole network of the host"
			: str_eq(kind, "bind")
				? "the sandbox has a network of its own to listen in"
				: "the sandbox has a network of its own, without any route out";
		ret->origin = config_origin(c, "network.mode");
		return true;
	}
	if (is_shown(s, kind, path, ret))
		return true;
	if (!is_private(path) || lies_in(&s->folders, path) || lies_in(&s->read_only, path) ||
	    lies_in(&s->overlays, path))
		return false;
	/* A socket with a rule is shown there. */
	if (str_eq(kind, "unix") && has_rule(s->policy, path))
		return false;
	ret->verdict = str_eq(kind, "write") ? "allow" : "hide";
	ret->words = str_eq(kind, "write")
			     ? "the sandbox has a place of its own there, which is gone when it "
			       "ends"
			     : "the sandbox has a place of its own there";
	ret->origin = "built in";
	return true;
}

static void json_finding(struct buf *b, const struct policy_finding *f)
{
	buf_fmt(b, "\"verdict\":\"%s\"", f->verdict);
	json_member(b, "reason", f->words);
	json_member(b, "origin", f->origin);
	if (f->rule)
		json_member(b, "rule", f->rule);
	if (f->lost)
		json_member(b, "lost", f->lost);
}

static void print_json(const char *kind, const char *target, const struct policy_finding *f,
		       size_t n)
{
	AUTO_BUF struct buf b = BUF_INIT;

	buf_fmt(&b, "{\"kind\":\"%s\"", kind);
	json_member(&b, "target", target);
	buf_ch(&b, ',');
	json_finding(&b, f);
	buf_str(&b, ",\"losers\":[");
	for (size_t i = 1; i < n; i++) {
		buf_str(&b, i > 1 ? ",{" : "{");
		json_finding(&b, &f[i]);
		buf_ch(&b, '}');
	}
	printf("%s]}\n", b.data);
}

static void show(const char *text)
{
	show_text(text ? text : "", text ? strlen(text) : 0);
}

static void print_plain(const char *kind, const char *target, const struct policy_finding *f,
			size_t n)
{
	printf("%s%s%s  %s ", style_on(STYLE_BOLD), f->verdict, style_off(), kind);
	show(target);
	printf("\n  because ");
	show(f->words);
	printf(" (");
	show(f->origin);
	printf(")\n");
	for (size_t i = 1; i < n; i++) {
		printf("%s  not %s: ", style_on(STYLE_DIM), f[i].verdict);
		show(f[i].rule ? f[i].rule : f[i].words);
		printf(" (");
		show(f[i].origin);
		printf("): ");
		show(f[i].lost);
		printf("%s\n", style_off());
	}
}

static int kind_of(const char *word)
{
	for (int i = 0; i < RULE_KINDS; i++)
		if (str_eq(rule_kind_words[i], word))
			return i;
	return -1;
}

/* Reads a target in its normal form. */
static int read_target(const char *given, char **ret, struct err *err)
{
	char text[NET_TARGET_TEXT];
	struct net_target t;
	const char *words;

	if (!net_target_parse(&t, given, &words))
		return err_say(err, -EINVAL, "why '%s': %s", given, words);
	net_target_format(&t, text);
	*ret = xstrdup(text);
	return 0;
}

/* Reports that the tool has its own settings in this folder, and need not write the path. */
static void tell_own(const struct config *c, const char *path)
{
	AUTO_FREE char *dir = own_settings_dir(c);
	const char *const *list = NULL;
	size_t n = config_list(c, "sandbox.settings", &list);

	for (size_t i = 0; dir && i < n; i++)
		if (path_is_beneath(path, list[i])) {
			printf("  %s has settings of its own in this folder, and saves there "
			       "(%s)\n",
			       config_profile(c), config_origin(c, "sandbox.own-settings"));
			return;
		}
}

/* Says that nothing is asked about a path that does not exist. */
static void tell_missing(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0 && errno == ENOENT)
		printf("  nothing is there now: the program gets 'no such file', without a "
		       "question\n");
}

/* Options of the command as settings. */
struct settings {
	const char *list[5];
	size_t n;
	char *owned[4];
};

static void settings_done(struct settings *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->owned[i]);
}

static void add_setting(struct settings *s, const char *key, char *value)
{
	if (!value)
		return;
	s->owned[s->n] = xasprintf("%s=%s", key, value);
	s->list[s->n] = s->owned[s->n];
	s->n++;
	free(value);
}

static void add_settings(struct settings *s, const struct why_options *o, const char *home)
{
	add_setting(s, "sandbox.mode", xstrdup(o->mode));
	add_setting(s, "sandbox.ro", o->ro ? resolve(o->ro, home) : NULL);
	add_setting(s, "sandbox.overlay", o->overlay ? resolve(o->overlay, home) : NULL);
	add_setting(s, "sandbox.hide", o->hide ? resolve(o->hide, home) : NULL);
}

static int why(const struct here *at, const struct strings *args, const struct why_options *o,
	       struct err *err)
{
	CLEANUP(settings_done) struct settings settings = {0};
	AUTO_FREE char *usual = NULL, *its_profile = NULL;
	struct standing_run run = {.profile = o->profile,
				   .command = args->n > 2 ? args->list[2] : NULL,
				   .settings = settings.list};
	AUTO_STANDING struct standing s = {0};
	AUTO_FREE struct policy_finding *list = NULL;
	AUTO_FREE char *path = NULL;
	const char *kind = args->list[0];
	struct policy_finding one = {0};
	size_t n = 1;
	int r;

	if (kind_of(kind) < 0)
		return err_say(err, -EINVAL, "why '%s': not one of" RULE_KIND_LIST, kind);
	add_settings(&settings, o, at->home);
	if (!run.profile && !run.command) {
		alone_command(at->state_dir, at->folder, &usual, &its_profile);
		run.profile = its_profile;
		run.command = usual;
	}
	r = standing_load(&s, at, &run, err);
	if (r < 0)
		return r;
	if (str_eq(kind, "write"))
		standing_learn(&s);
	if (kind_of(kind) >= RULE_PLACES)
		r = read_target(args->list[1], &path, err);
	else
		path = resolve(args->list[1], at->home);
	if (r < 0)
		return r;
	if (!special(&s, kind, path, &one) && !is_tools(&s, at->home, kind, path, &one))
		n = policy_explain(s.policy, (enum rule_kind)kind_of(kind), path, &list);
	assert(list || n == 1);
	(o->json ? print_json : print_plain)(kind, path, list ? list : &one, n);
	if (!o->json && str_eq(kind, "write"))
		tell_own(s.config, path);
	else if (!o->json && kind_of(kind) < RULE_UNIX && str_eq(list ? list->verdict : "", "ask"))
		tell_missing(path);
	return 0;
}

int cmd_why(int argc, char **argv, struct err *err)
{
	AUTO_HERE struct here p = {0};
	struct why_options o = {0};
	AUTO_STRINGS struct strings args = {.most = 2};
	int r = flags_parse(&usage, argc, argv, &o, &args, err);

	if (r == 0 && (args.n < 2 || !args.list)) {
		err_say(err, -EINVAL, "why: needs a kind and a target: usage: cordon %s",
			usage.synopsis);
		r = -EINVAL;
	}
	if (r == 0)
		r = here_find(&p, err);
	if (r == 0)
		r = why(&p, &args, &o, err);
	if (r < 0)
		return CMD_FAILED;
	return finish(0, err);
}
