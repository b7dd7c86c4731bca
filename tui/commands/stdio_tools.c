/* stdio_tools - decides on actions that an agent asks its editor for: by rules, then a question. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/stdio_tools.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/path.h"
#include "core/config/config.h"
#include "core/policy/policy.h"

struct waiting {
	uint64_t ask, id;    /* the session's number, and acp's */
	char *given, *shown; /* the agent's path, and its resolved form; NULL: a command */
};

struct stdio_tools {
	const struct session_spec *spec;
	struct policy *policy;
	struct waiting list[ACP_HELD];
	size_t n;
};

int stdio_tools_new(struct stdio_tools **ret, const struct session_spec *spec, struct err *err)
{
	const struct policy_spec about = {
		.config = spec->config,
		.home = spec->home,
		.folders = spec->folders,
		.read_only = spec->read_only,
		.hidden = spec->hidden,
		.path = getenv("PATH"),
		.dynamic = spec->dynamic,
	};
	struct stdio_tools *t = xcalloc(1, sizeof(*t));
	int r = policy_new(&t->policy, &about, err);

	t->spec = spec;
	if (r < 0) {
		free(t);
		return r;
	}
	for (size_t i = 0; spec->folders[i]; i++)
		policy_learn(t->policy, spec->folders[i]);
	*ret = t;
	return 0;
}

static void forget(struct stdio_tools *t, size_t i)
{
	free(t->list[i].given);
	free(t->list[i].shown);
	t->list[i] = t->list[--t->n];
}

void stdio_tools_free(struct stdio_tools *t)
{
	if (!t)
		return;
	while (t->n)
		forget(t, t->n - 1);
	policy_free(t->policy);
	free(t);
}

/* Resolves links as far as the path exists. Heap. */
static char *resolve(const char *path)
{
	AUTO_FREE char *clean = path_clean(path);
	AUTO_FREE char *head = xstrdup(clean);

	for (;;) {
		AUTO_FREE char *real = realpath(*head ? head : "/", NULL);
		char *slash = strrchr(head, '/');

		if (real)
			return clean[strlen(head)] ? path_join(real, clean + strlen(head) + 1)
						   : take_ptr(&real);
		if (!slash)
			return take_ptr(&clean);
		*slash = '\0';
	}
}

/* Reads the rules again, as the keeper does when their files change. Wrong ones leave the rules as
 * they were: the keeper reports them. */
static void read_rules(struct stdio_tools *t)
{
	struct config *c = NULL;
	struct err err = {0};

	if (t->spec->source && config_load(&c, t->spec->source, &err) == 0 &&
	    policy_reload(t->policy, c, &err) == 0)
		policy_forget_old(t->policy);
	config_free(c);
}

/* Returns whether rules forbid the action, for any program. */
static bool is_forbidden(const struct stdio_tools *t, enum acp_act act, const char *path)
{
	const char *reason = NULL;
	enum policy_verdict v;

	if (act == ACP_READ)
		v = policy_check_read(t->policy, RULE_READ, path, &reason);
	else if (path_is_in(path, t->spec->folders))
		v = policy_check(t->policy, POLICY_WRITE, path, &reason);
	else
		v = policy_check_outside(t->policy, POLICY_WRITE, path, &reason);
	return v == POLICY_DENY || v == POLICY_HIDE;
}

enum acp_verdict stdio_tools_ask(struct stdio_tools *t, struct session *s, uint64_t id,
				 enum acp_act act, const char *what)
{
	static const struct own_ask kinds[] = {
		[ACP_READ] = {.kind = RULE_READ,
			      .op = "read",
			      .reason = "the agent's editor would read it, outside the sandbox"},
		[ACP_WRITE] = {.kind = RULE_WRITE,
			       .op = "write",
			       .reason = "the agent's editor would write it, outside the sandbox: "
					 "undo does not cover that"},
		[ACP_RUN] = {.kind = RULE_EXEC,
			     .op = "exec",
			     .whole = true,
			     .reason = "the agent's editor would run it, outside the sandbox: it "
				       "may do all that you may, and undo does not cover it"},
	};
	AUTO_FREE char *leads = act == ACP_RUN ? NULL : resolve(what);
	struct own_ask ask = kinds[act];
	int known;

	read_rules(t);
	if (leads && is_forbidden(t, act, leads))
		return ACP_DENY;
	ask.path = leads ? leads : what;
	ask.via = leads && !str_eq(leads, what) ? what : "";
	ask.timeout_s = (uint32_t)config_int(t->spec->config, "approval.timeout");
	known = session_recall(s, ask.kind, ask.path);
	if (known >= 0 || t->n == ACP_HELD)
		return known > 0 ? ACP_ALLOW : ACP_DENY;
	t->list[t->n] = (struct waiting){.id = id, .ask = session_ask(s, &ask)};
	if (!t->list[t->n].ask)
		return ACP_DENY;
	if (leads)
		t->list[t->n].given = xstrdup(what);
	t->list[t->n++].shown = take_ptr(&leads);
	return ACP_HOLD;
}

void stdio_tools_withdraw(struct stdio_tools *t, struct session *s, uint64_t id)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->list[i].id != id)
			continue;
		session_withdraw(s, t->list[i].ask);
		forget(t, i);
		return;
	}
}

uint64_t stdio_tools_answered(struct stdio_tools *t, uint64_t ask, bool *allow,
			      const char **ret_why)
{
	for (size_t i = 0; i < t->n; i++) {
		struct waiting *w = &t->list[i];
		AUTO_FREE char *leads = NULL;
		uint64_t id = w->id;

		if (w->ask != ask)
			continue;
		leads = w->given ? resolve(w->given) : NULL;
		*ret_why = "the answer was no";
		if (*allow && leads && !str_eq(leads, w->shown)) {
			*allow = false;
			*ret_why = "the path led elsewhere when it was asked about";
		}
		forget(t, i);
		return id;
	}
	return 0;
}
