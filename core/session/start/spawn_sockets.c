/* spawn_sockets - tells the agent and the user of sockets of the host that rules open. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/policy/policy.h"
#include "core/policy/builtin/sockets.h"
#include "core/session/start/env.h"
#include "core/session/start/spawn.h"

static bool is_open(const struct spawn_plan *p, const char *path)
{
	const char *reason;

	return policy_check_read(p->policy, RULE_UNIX, path, &reason) == POLICY_ALLOW;
}

/* Adds a note for an open socket that gives away more than it seems. */
static void note(void *data, const char *path, const char *words)
{
	struct spawn_plan *p = data;

	if (is_open(p, path))
		util_list_push(&p->notes, &p->n_notes,
			       xasprintf("a rule gives away %s (%s)", words, path));
}

/* Passes on a variable if the socket that it names is open, with the name that it has inside. */
static void tell(struct spawn_plan *p, const char *variable)
{
	const char *value = getenv(variable);
	AUTO_FREE char *named = sockets_named(variable, value);
	AUTO_FREE char *real = named ? realpath(named, NULL) : NULL;
	AUTO_FREE char *setting = NULL;

	if (!real || !is_open(p, real))
		return;
	setting = sockets_setting(variable, value, real);
	p->env = env_set(p->env, (const char *const[]){setting, NULL}, NULL);
	/* A client of the X server needs its cookie. */
	if (str_eq(variable, "DISPLAY") && getenv("XAUTHORITY")) {
		AUTO_FREE char *cookie = xasprintf("XAUTHORITY=%s", getenv("XAUTHORITY"));

		p->env = env_set(p->env, (const char *const[]){cookie, NULL}, NULL);
	}
}

void spawn_sockets(struct spawn_plan *p)
{
	const char *const *list;

	if (!policy_opens_sockets(p->policy))
		return;
	if (policy_sockets(p->policy, &list))
		p->spec.sockets = list;
	for (size_t i = 0; sockets_variables[i]; i++)
		tell(p, sockets_variables[i]);
	p->spec.env = (const char *const *)p->env;
	sockets_each(note, p);
}
