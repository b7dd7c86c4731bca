/* policy - `cordon policy`: lists rules, trusts project files, checks a file. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "core/base/json.h"
#include "core/diff/diff.h"
#include "core/policy/rules/rules.h"
#include "tui/commands/show.h"
#include "tui/commands/here.h"
#include "tui/commands/flags.h"
#include "tui/commands/commands.h"
#include "tui/commands/standing.h"

#define HASH_LEAST 12	/* least digits of a hash that identify a content */
#define SCREENFUL  1000 /* bytes: a longer text may scroll away */

struct policy_options {
	const char *profile, *hash;
	bool json;
};

static const struct flag flags[] = {
	{"--profile", "NAME", offsetof(struct policy_options, profile),
	 "list: with this profile, as cordon run --profile; with -- COMMAND the one that it would "
	 "pick"},
	{"--hash", "HEX", offsetof(struct policy_options, hash),
	 "trust: without a question, if the content has this hash (cordon policy list shows it)"},
	{"--json", NULL, offsetof(struct policy_options, json),
	 "list: one JSON object a line: level, verdict, kinds, pattern, name, origin, until, "
	 "expired, reason, untrusted"},
};

static const struct usage usage = {
	"policy list [--profile NAME] [--json] [-- COMMAND...] | trust [--hash HEX] [FOLDER] | "
	"forget [FOLDER] "
	"| check FILE",
	"list    the rules in effect here, nearest level first, without built-in\n        "
	"protection: cordon why TARGET says what decides\ntrust   let the .cordon.conf of a "
	"folder, with its content now, loosen things\nforget  end that trust\ncheck   try a "
	"settings file or profile: syntax, patterns, and its match and\n        not-match lines "
	"against its own rules alone",
	flags,
	ARRAY_LEN(flags),
};

/* ---- list ------------------------------------------------------------------------------------ */

static void format_kinds(struct buf *b, unsigned kinds, const char *quote)
{
	const char *sep = "";

	for (size_t i = 0; i < RULE_KINDS; i++) {
		if (!(kinds >> i & 1))
			continue;
		buf_fmt(b, "%s%s%s%s", sep, quote, rule_kind_words[i], quote);
		sep = ",";
	}
}

static void format_time(char *out, size_t size, int64_t t)
{
	time_t when = (time_t)t;
	struct tm tm;

	localtime_r(&when, &tm);
	strftime(out, size, "%Y-%m-%d %H:%M", &tm);
}

static void list_json(const struct rule *rule, bool expired, bool untrusted)
{
	AUTO_BUF struct buf b = BUF_INIT;
	AUTO_BUF struct buf origin = BUF_INIT;

	buf_fmt(&origin, rule->line ? "%s:%d" : "%s", rule->of->file, rule->line);
	buf_fmt(&b, "{\"level\":\"%s\",\"verdict\":\"%s\",\"kinds\":[",
		rule_level_words[rule->of->level], rule_verdict_words[rule->verdict]);
	format_kinds(&b, rule->kinds, "\"");
	buf_ch(&b, ']');
	json_member(&b, "pattern", rule->pattern);
	json_member(&b, "name", rule->of->name);
	json_member(&b, "origin", origin.data);
	if (rule->of->until)
		buf_fmt(&b, ",\"until\":%lld", (long long)rule->of->until);
	if (rule->of->reason)
		json_member(&b, "reason", rule->of->reason);
	printf("%s,\"expired\":%s,\"untrusted\":%s}\n", b.data, expired ? "true" : "false",
	       untrusted ? "true" : "false");
}

static enum style style_of(enum rule_verdict v)
{
	return v == RULE_ALLOW ? STYLE_GREEN : v == RULE_ASK ? STYLE_YELLOW : STYLE_RED;
}

static void list_row(const struct rule *rule, bool expired, bool untrusted)
{
	AUTO_BUF struct buf kinds = BUF_INIT;
	char until[32];

	format_kinds(&kinds, rule->kinds, "");
	printf("%s%-8s%s%s%-6s%s%-11s ", style_on(expired ? STYLE_DIM : STYLE_NONE),
	       rule_level_words[rule->of->level], expired ? "" : style_off(),
	       style_on(expired ? STYLE_NONE : style_of(rule->verdict)),
	       rule_verdict_words[rule->verdict], expired ? "" : style_off(), kinds.data);
	show_text(rule->pattern, strlen(rule->pattern));
	printf("  (");
	show_text(rule->of->name, strlen(rule->of->name));
	printf(", ");
	show_text(rule->of->file, strlen(rule->of->file));
	if (rule->line)
		printf(":%d", rule->line);
	if (rule->of->until) {
		format_time(until, sizeof(until), rule->of->until);
		printf("; %s %s", expired ? "expired" : "until", until);
	}
	printf("%s)%s\n", untrusted ? "; not trusted" : "", style_off());
}

static size_t list_level(const struct rules *r, enum rule_level level, bool untrusted, bool json)
{
	int64_t now = (int64_t)time(NULL);
	size_t n = 0;

	for (uint32_t i = 0; i < rules_count(r); i++) {
		const struct rule *rule = rules_at(r, i);
		bool expired;

		if (!rule || !rule->of->name || rule->of->level != level)
			continue;
		expired = rule->of->until && rule->of->until <= now;
		(json ? list_json : list_row)(rule, expired, untrusted);
		n++;
	}
	return n;
}

static const char *trust_words(enum config_trust t)
{
	switch (t) {
	case TRUST_NO_FILE:
		break;
	case TRUST_UNKNOWN:
		return "not trusted: it can only make things stricter (cordon policy trust)";
	case TRUST_CHANGED:
		return "changed since you trusted it: it can only make things stricter until you "
		       "read it and say cordon policy trust again";
	case TRUST_GIVEN:
		return "trusted as it is";
	}
	return NULL;
}

static int list_rules(const struct here *at, const struct standing_run *run, bool json,
		      struct err *err)
{
	AUTO_STANDING struct standing s = {0};
	CLEANUP(trust_look_done) struct trust_look l = {0};
	const struct rules *trusted, *untrusted;
	const char *words;
	size_t n = 0;
	int r = standing_load(&s, at, run, err);

	if (r < 0)
		return r;
	policy_rules(s.policy, &trusted, &untrusted);
	for (int level = LEVEL_SESSION; level > LEVEL_BUILTIN; level--) {
		n += list_level(trusted, (enum rule_level)level, false, json);
		n += list_level(untrusted, (enum rule_level)level, true, json);
	}
	if (json)
		return 0;
	if (!n)
		printf("no rules: only cordon's own protection is in effect\n");
	words = trust_words(config_project(s.config));
	if (words && config_trust_look(&l, at->state_dir, at->folder, NULL) == 0)
		printf(".cordon.conf (%.16s): %s\n", l.hash, words);
	return 0;
}

/* ---- trust ----------------------------------------------------------------------------------- */

static int take_folder(struct here *at, const char *given, struct err *err)
{
	char *real = given ? realpath(given, NULL) : NULL;

	if (given && !real)
		return err_set(err, -errno, "folder '%s'", given);
	if (real) {
		free(at->folder);
		at->folder = real;
	}
	return 0;
}

static void show_content(const char *text)
{
	for (const char *line = text; *line;) {
		size_t indent = strspn(line, "\t"), n = strcspn(line, "\n");

		printf("  %.*s", (int)indent, line);
		show_text(line + indent, n - indent);
		putchar('\n');
		line += n + (line[n] == '\n');
	}
}

static bool show_line(void *data, enum diff_line_kind kind, const char *text, size_t len, int old,
		      int now)
{
	(void)data, (void)old, (void)now;
	if (kind != DIFF_ADD && kind != DIFF_DEL)
		return true;
	printf("  %s%c ", style_on(kind == DIFF_ADD ? STYLE_GREEN : STYLE_RED),
	       kind == DIFF_ADD ? '+' : '-');
	show_text(text, len);
	printf("%s\n", style_off());
	return true;
}

static void show_difference(const char *before, const char *text)
{
	const struct span old = {before, strlen(before)}, now = {text, strlen(text)};

	if (str_eq(before, text)) {
		printf("nothing has changed since you trusted it last\n");
		return;
	}
	printf("changed since you trusted it last:\n");
	(void)!diff_texts(".cordon.conf", old, now, show_line, NULL, NULL);
}

/* Returns whether this line, if it continues no other, is empty or only makes things stricter. */
static bool only_tightens(const char *line, size_t len)
{
	static const char *const words[] = {"deny", "ask", "hide", "reason", "match", "not-match"};

	if (len == 0 || *line == '#' || *line == ';')
		return true;
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		size_t n = strlen(words[i]);

		if (len > n && strncasecmp(line, words[i], n) == 0 && strchr(" \t=", line[n]))
			return true;
	}
	return false;
}

/* Prints each line that may loosen something, with its number. */
static void show_loosening(const char *text)
{
	bool goes_on = false;
	size_t number = 0, shown = 0;

	for (const char *line = text; *line;) {
		size_t n = strcspn(line, "\n"), blank = strspn(line, " \t\r");
		size_t len = n > blank ? n - blank : 0;

		number++;
		if (goes_on || !only_tightens(line + blank, len)) {
			printf("  %zu: ", number);
			show_text(line + blank, len);
			putchar('\n');
			shown++;
		}
		goes_on = n && line[n - 1] == '\\';
		line += n + (line[n] == '\n');
	}
	if (!shown)
		printf("  nothing: it only makes things stricter\n");
}

static int confirm_trust(const struct trust_look *l, const char *hash, struct err *err)
{
	char line[16] = "";

	if (hash)
		return strlen(hash) >= HASH_LEAST && str_starts(l->hash, hash)
			       ? 0
			       : err_say(err, -EAGAIN,
					 "policy trust: .cordon.conf has the hash %.16s: it is not "
					 "the content that you read",
					 l->hash);
	if (!isatty(STDIN_FILENO))
		return err_say(err, -EPERM,
			       "policy trust: no terminal to ask at: read .cordon.conf, then say "
			       "cordon policy trust --hash %.16s",
			       l->hash);
	printf("Trust it? [y/N] ");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin) || (*line != 'y' && *line != 'Y'))
		return err_say(err, -ECANCELED, "policy trust: not confirmed: nothing was changed");
	return 0;
}

/* Shows the loosening lines first, and again after a text that may have scrolled them away. */
static void show_look(const struct here *at, const struct trust_look *l)
{
	show_text(at->folder, strlen(at->folder));
	printf("/.cordon.conf (%.16s) would loosen:\n", l->hash);
	show_loosening(l->text);
	if (l->before)
		show_difference(l->before, l->text);
	printf("its content:\n");
	show_content(l->text);
	if (strlen(l->text) > SCREENFUL) {
		printf("so it would loosen:\n");
		show_loosening(l->text);
	}
}

static int trust(const struct here *at, const char *hash, struct err *err)
{
	AUTO_STANDING struct standing s = {0};
	CLEANUP(trust_look_done) struct trust_look l = {0};
	int r = config_trust_look(&l, at->state_dir, at->folder, err), taken;

	if (r < 0)
		return r;
	show_look(at, &l);
	r = confirm_trust(&l, hash, err);
	if (r == 0)
		r = config_trust_give(at->state_dir, at->folder, &l, err);
	if (r < 0)
		return r;
	r = standing_load(&s, at, &(struct standing_run){0}, err);
	if (r == 0 && config_project(s.config) != TRUST_GIVEN)
		r = err_say(err, -EAGAIN, "%s/.cordon.conf: it has just changed: read it again",
			    at->folder);
	if (r < 0) {
		taken = config_trust_take(at->state_dir, at->folder, NULL);
		return taken < 0 ? taken : r;
	}
	printf("trusted: ");
	show_text(at->folder, strlen(at->folder));
	printf("/.cordon.conf, with this content only\n");
	return 0;
}

static int forget(const struct here *at, struct err *err)
{
	int r = config_trust_take(at->state_dir, at->folder, err);

	if (r < 0)
		return r;
	printf("%s: ", r ? "no longer trusted" : "was not trusted");
	show_text(at->folder, strlen(at->folder));
	printf("/.cordon.conf\n");
	return 0;
}

/* ---- check ----------------------------------------------------------------------------------- */

static void print_error(void *data, const char *file, int line, const char *words)
{
	bool *failed = data;

	*failed = true;
	show_text(file, strlen(file));
	if (line)
		printf(":%d", line);
	printf(": ");
	show_text(words, strlen(words));
	putchar('\n');
}

/* Checks a file alone, without other settings: it must be valid by itself. */
static int check(const struct here *at, const char *file, struct err *err)
{
	const bool is_profile = str_ends(file, ".profile");
	AUTO_FREE char *path = xasprintf("%s%s", strchr(file, '/') ? "" : "./", file);
	const struct config_spec spec = {.home = at->home,
					 .config_home = "/dev/null",
					 .org_file = "/dev/null/none",
					 .profile = is_profile ? path : NULL,
					 .file = is_profile ? NULL : file};
	const char *const folders[] = {at->folder, NULL};
	const struct rules_scope scope = {.home = at->home, .folders = folders};
	struct rules *rules = rules_new(), *none = rules_new();
	struct config *config = NULL;
	bool failed = false;
	int r = config_load(&config, &spec, err);

	if (r == 0) {
		rules_load(rules, none, config, &scope, print_error, &failed);
		rules_test(rules, config, &scope, print_error, &failed);
		r = failed ? err_say(err, -EBADMSG, "%s: is not right: correct the lines above",
				     file)
			   : 0;
	}
	if (r == 0) {
		size_t tests = 0;

		for (size_t i = 0; i < config_rules(config); i++)
			tests += str_ends(config_rule(config, i).key, "match");
		printf("%zu rule%s, %zu test%s: all is right\n", rules_count(rules),
		       rules_count(rules) == 1 ? "" : "s", tests, tests == 1 ? "" : "s");
	}
	rules_free(rules);
	rules_free(none);
	config_free(config);
	return r;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int check_words(const struct strings *w, struct err *err)
{
	const char *verb = w->n ? w->list[0] : "";
	bool list = str_eq(verb, "list");
	size_t least = 1 + str_eq(verb, "check"), most = list ? SIZE_MAX : 2;

	if (list && w->ahead > 1)
		return err_say(err, -EINVAL,
			       "policy list: unexpected argument '%s': put -- before a command",
			       w->list[1]);
	if ((list || str_eq(verb, "check") || str_eq(verb, "trust") || str_eq(verb, "forget")) &&
	    w->n >= least && w->n <= most)
		return 0;
	return err_say(err, -EINVAL, "policy: usage: cordon %s", usage.synopsis);
}

static int run(struct here *at, const struct strings *w, const struct policy_options *o,
	       struct err *err)
{
	const char *verb = w->list[0], *what = w->n > 1 ? w->list[1] : NULL;
	int r;

	if (str_eq(verb, "list"))
		return list_rules(at,
				  &(struct standing_run){.profile = o->profile, .command = what},
				  o->json, err);
	if (str_eq(verb, "check") && what)
		return check(at, what, err);
	r = take_folder(at, what, err);
	if (r < 0)
		return r;
	return str_eq(verb, "trust") ? trust(at, o->hash, err) : forget(at, err);
}

int cmd_policy(int argc, char **argv, struct err *err)
{
	AUTO_HERE struct here at = {0};
	struct policy_options o = {0};
	AUTO_STRINGS struct strings words = {0};
	int r = flags_parse(&usage, argc, argv, &o, &words, err);

	if (r == 0)
		r = check_words(&words, err);
	if (r == 0)
		r = here_find(&at, err);
	if (r)
		return r < 0 ? CMD_FAILED : 0;
	r = run(&at, &words, &o, err);
	return finish(r < 0 ? CMD_REFUSED : 0, err);
}
