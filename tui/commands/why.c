/* why - `cordon why`: what would happen to a path, and which rule says so. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/base/json.h"
#include "core/base/path.h"
#include "core/config/config.h"
#include "core/policy/policy.h"
#include "tui/commands/commands.h"
#include "tui/commands/reading.h"

struct why_options {
	bool json;
};

static const struct flag flags[] = {
	{"--json", NULL, offsetof(struct why_options, json),
	 "one JSON object: kind, target, verdict, "
	 "reason, origin"},
};

static const struct usage usage = {
	"why read|write|exec|connect TARGET [--json]",
	"Say what cordon would do if the agent did this, and why. ask means that the console holds "
	"the\n"
	"call and asks; --headless refuses it.",
	flags,
	ARRAY_LEN(flags),
};

struct answer {
	const char *verdict, *reason;
	const char *origin; /* "built in", "FILE:LINE" */
};

/* Links resolved as far as the path exists; the rest as text. */
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

/* sandbox.hide in a file, or the built-in list? */
static const char *hide_origin(const struct config *c, const char *path)
{
	const char *const *list;
	size_t n = config_list(c, "sandbox.hide", &list);

	for (size_t i = 0; i < n; i++)
		if (path_is_beneath(path, list[i]))
			return config_origin(c, "sandbox.hide");
	return "built in";
}

static bool is_hidden(const struct policy *p, const char *path)
{
	const char *const *list;
	size_t n = policy_hidden(p, &list);

	for (size_t i = 0; i < n; i++)
		if (path_is_beneath(path, list[i]))
			return true;
	return false;
}

/* Places that the sandbox has of its own: writable, and gone when it ends. */
static bool is_private(const char *path)
{
	static const char *const list[] = {"/tmp", "/var/tmp", "/run", "/dev/shm"};

	for (size_t i = 0; i < ARRAY_LEN(list); i++)
		if (path_is_beneath(path, list[i]))
			return true;
	return false;
}

static struct answer why_read(const struct policy *p, const struct config *c, const struct here *at,
			      const char *path)
{
	if (is_hidden(p, path))
		return (struct answer){"hide", "it does not exist inside the sandbox",
				       hide_origin(c, path)};
	if (path_is_beneath(path, at->folder))
		return policy_name_is_secret(p, path_base(path))
			       ? (struct answer){"hide", "its name says that it holds secrets",
						 "built in"}
			       : (struct answer){"allow", "it lies in the working folder",
						 "built in"};
	if (is_private(path))
		return (struct answer){"hide", "the sandbox has a place of its own there",
				       "built in"};
	return (struct answer){"allow", "what is not hidden can be read", "built in"};
}

static struct answer why_write(const struct policy *p, const struct config *c,
			       const struct here *at, const char *path)
{
	static const char *const words[] = {
		[POLICY_ALLOW] = "allow", [POLICY_VET] = "ask",	  [POLICY_ASK] = "ask",
		[POLICY_DENY] = "deny",	  [POLICY_HIDE] = "hide",
	};
	const char *reason = NULL;
	enum policy_verdict v;

	if (path_is_beneath(path, at->folder)) {
		v = policy_check(p, POLICY_WRITE, path, &reason);
		if (v == POLICY_VET)
			reason = "git obeys it; only settings that cannot run anything pass "
				 "without a question";
		if (!reason)
			reason = "it lies in the working folder: journaled, can be undone";
	} else if (is_private(path)) {
		return (struct answer){"allow",
				       "the sandbox has a place of its own there, which "
				       "is gone when it ends",
				       "built in"};
	} else {
		v = policy_check_outside(p, path, &reason);
	}
	return (struct answer){words[v], reason,
			       v == POLICY_HIDE ? hide_origin(c, path) : "built in"};
}

static struct answer why_connect(const struct config *c)
{
	bool on = config_bool(c, "sandbox.network");

	return (struct answer){on ? "allow" : "deny",
			       on ? "the sandbox shares the whole network of the host"
				  : "the sandbox has a network of its own, without any route out",
			       config_origin(c, "sandbox.network")};
}

static void print_answer(const char *kind, const char *target, const struct answer *a, bool json)
{
	AUTO_BUF struct buf b = BUF_INIT;

	if (json) {
		buf_fmt(&b, "{\"kind\":\"%s\",\"target\":", kind);
		json_quote(&b, target, strlen(target));
		buf_fmt(&b, ",\"verdict\":\"%s\",\"reason\":", a->verdict);
		json_quote(&b, a->reason, strlen(a->reason));
		buf_str(&b, ",\"origin\":");
		json_quote(&b, a->origin, strlen(a->origin));
		printf("%s}\n", b.data);
		return;
	}
	printf("%s%s%s  %s ", style_on(STYLE_BOLD), a->verdict, style_off(), kind);
	show_text(target, strlen(target));
	printf("\n  because %s (", a->reason);
	show_text(a->origin, strlen(a->origin));
	printf(")\n");
}

static int why(const struct here *p, const char *kind, const char *target, bool json,
	       struct err *err)
{
	const struct config_spec spec = {
		.home = p->home, .config_home = getenv("XDG_CONFIG_HOME"), .folder = p->folder};
	AUTO_FREE char *path = NULL;
	struct policy *policy = NULL;
	struct config *config = NULL;
	struct answer a = {"", "", ""};
	int r = config_load(&config, &spec, err);

	if (r == 0)
		r = policy_new(&policy, config, p->home, err);
	if (r < 0) {
		config_free(config);
		return r;
	}
	path = str_eq(kind, "connect") ? xstrdup(target) : resolve(target, p->home);
	if (str_eq(kind, "read") || str_eq(kind, "exec"))
		a = why_read(policy, config, p, path);
	else if (str_eq(kind, "write"))
		a = why_write(policy, config, p, path);
	else if (str_eq(kind, "connect"))
		a = why_connect(config);
	else
		r = err_say(err, -EINVAL, "why '%s': not one of read, write, exec, connect", kind);
	if (r == 0)
		print_answer(kind, path, &a, json);
	policy_free(policy);
	config_free(config);
	return r;
}

int cmd_why(int argc, char **argv, struct err *err)
{
	AUTO_HERE struct here p = {0};
	struct why_options o = {0};
	struct strings args = {0};
	int r = reading_parse(&usage, argc, argv, &o, &args, err);

	if (r == 0 && (args.n != 2 || !args.list)) {
		err_say(err, -EINVAL, "why: needs a kind and a target: usage: cordon %s",
			usage.synopsis);
		r = -EINVAL;
	}
	if (r == 0)
		r = here_find(&p, err);
	if (r == 0)
		r = why(&p, args.list[0], args.list[1], o.json, err);
	strings_done(&args);
	if (r < 0)
		return CMD_FAILED;
	return finish(0, err);
}
