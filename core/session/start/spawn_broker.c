/* spawn_broker - tells git and ssh inside about the broker. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/broker/broker.h"
#include "core/session/start/env.h"
#include "core/session/start/spawn.h"

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

static void set(struct spawn_plan *p, char *setting)
{
	p->env = env_set(p->env, (const char *const[]){setting, NULL}, NULL);
	free(setting);
}

/* Sets git's helper. An empty helper removes the ones before it, which would look for a store that
 * does not exist inside, or make one. */
static void tell_git(struct spawn_plan *p, const char *path)
{
	AUTO_FREE char *helper = xasprintf("cache --socket '%s'", path);

	p->env = env_add_git(p->env, "credential.helper", "");
	p->env = env_add_git(p->env, "credential.helper", helper);
}

void spawn_broker_env(struct spawn_plan *p, const struct broker *b)
{
	if (broker_git(b))
		tell_git(p, broker_git(b));
	if (broker_ssh(b))
		set(p, xasprintf("SSH_AUTH_SOCK=%s", broker_ssh(b)));
	p->spec.env = (const char *const *)p->env;
}
