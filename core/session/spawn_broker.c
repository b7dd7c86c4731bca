/* spawn_broker - what git and ssh inside are told of the broker. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/broker/broker.h"
#include "core/session/env.h"
#include "core/session/spawn.h"

void spawn_broker_sockets(struct spawn_plan *p, const struct session_spec *spec)
{
	const char *const own[] = {broker_git(spec->broker), broker_ssh(spec->broker)};
	size_t n = 0;

	while (spec->sockets && spec->sockets[n])
		n++;
	p->sockets = xcalloc(n + 3, sizeof(*p->sockets));
	for (size_t i = 0; i < n; i++)
		p->sockets[i] = spec->sockets[i];
	for (size_t i = 0; i < 2; i++)
		if (own[i])
			p->sockets[n++] = own[i];
}

static const char *value_of(char *const *env, const char *name)
{
	size_t len = strlen(name);

	for (; env && *env; env++)
		if (strncmp(*env, name, len) == 0 && (*env)[len] == '=')
			return *env + len + 1;
	return NULL;
}

static void set(struct spawn_plan *p, char *setting)
{
	p->env = env_set(p->env, (const char *const[]){setting, NULL}, NULL);
	free(setting);
}

/* Behind what the human gives git that way, which counts more than any file. An empty helper takes
 * away those before it: they would look for a store that is not there, or make one. */
static void tell_git(struct spawn_plan *p, const char *path)
{
	const char *given = value_of(p->env, "GIT_CONFIG_COUNT");
	unsigned long n = given ? strtoul(given, NULL, 10) : 0;

	n = n > 1000 ? 0 : n;
	set(p, xasprintf("GIT_CONFIG_KEY_%lu=credential.helper", n));
	set(p, xasprintf("GIT_CONFIG_VALUE_%lu=", n));
	set(p, xasprintf("GIT_CONFIG_KEY_%lu=credential.helper", n + 1));
	set(p, xasprintf("GIT_CONFIG_VALUE_%lu=cache --socket '%s'", n + 1, path));
	set(p, xasprintf("GIT_CONFIG_COUNT=%lu", n + 2));
}

void spawn_broker_env(struct spawn_plan *p, const struct broker *b)
{
	if (broker_git(b))
		tell_git(p, broker_git(b));
	if (broker_ssh(b))
		set(p, xasprintf("SSH_AUTH_SOCK=%s", broker_ssh(b)));
	p->spec.env = (const char *const *)p->env;
}
