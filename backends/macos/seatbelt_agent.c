/* seatbelt_agent - prepares the agent under Seatbelt: its profile, environment and user. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/seatbelt_priv.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/macos/xpc/config.h"
#include "core/base/io.h"
#include "core/config/config.h"

/* Returns further readable paths of the profile: read-only folders and tools. Heap, borrowed
 * strings. */
static const char **read_only_of(const struct sandbox *sb, const struct spawn_spec *spec)
{
	size_t n = 0;
	const char **list;

	while (spec->read_only && spec->read_only[n])
		n++;
	list = xcalloc(n + 3, sizeof(*list));
	for (size_t i = 0; i < n; i++)
		list[i] = spec->read_only[i];
	if (spec->tools)
		list[n++] = spec->tools;
	list[n] = rewrite_library(sb->rewrite);
	return list;
}

static int make_profile(struct profile *ret, const struct sandbox *sb,
			const struct spawn_spec *spec, const char *own, struct err *err)
{
	AUTO_FREE const char **read_only = read_only_of(sb, spec);
	const char *const temp[] = {spec->cache, NULL};
	const uint16_t proxies[] = {sb->gate ? network_gate_port(sb->gate) : 0, 0};
	const struct config *config = keeper_config(sb->keeper);
	struct xpc_config xpc = {0};
	struct mach_services services;
	char tty[128] = "";
	int r = config ? xpc_config_load(&xpc, config, err) : 0;
	struct profile_spec p = {
		.policy = keeper_policy(sb->keeper),
		.os = sb->host->os,
		.home = spec->home,
		.folders = spec->folders,
		.read_only = read_only,
		.temp = temp,
		.own = own,
		.dynamic = spec->dynamic,
		.gate = sb->is_client,
		.network = spec->allow_network ? PROFILE_NETWORK_OPEN
			   : sb->gate	       ? PROFILE_NETWORK_PROXY
					       : PROFILE_NETWORK_NONE,
		.proxies = proxies,
		.session = spec->session,
		.listen_base = spec->window.on ? spec->window.base : 0,
		.listen_count = spec->window.on ? spec->window.count : 0,
	};

	if (spec->tty && ttyname_r(spec->stdio[0], tty, sizeof(tty)) == 0)
		p.tty = tty;
	services = xpc_config_services(&xpc);
	p.services = config ? &services : NULL;
	r = r < 0 ? r : profile_build(ret, &p, err);
	xpc_config_done(&xpc);
	return r;
}

/* Returns the environment with the host's path of the cache. Without namespaces there is no other.
 * Heap. */
static char **env_of(const struct spawn_spec *spec)
{
	size_t n = 0;
	char **env;

	while (spec->env[n])
		n++;
	env = xcalloc(n + 1, sizeof(*env));
	for (size_t i = 0; i < n; i++) {
		const char *at = spec->cache ? strstr(spec->env[i], CACHE_INSIDE) : NULL;

		env[i] = at ? xasprintf("%.*s%s%s", (int)(at - spec->env[i]), spec->env[i],
					spec->cache, at + strlen(CACHE_INSIDE))
			    : xstrdup(spec->env[i]);
	}
	return env;
}

/* Returns the settings for the network and for another user. Heap, borrowed strings. */
static const char **own_env_of(const struct sandbox *sb)
{
	static const char *const none[] = {NULL};
	const char *const *lists[] = {sb->gate ? network_gate_env(sb->gate) : none,
				      rewrite_env(sb->rewrite), (const char *const *)sb->settings};
	const char **all = NULL;
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		for (const char *const *at = lists[i]; *at; at++) {
			all = xrealloc(all, (n + 2) * sizeof(*all));
			all[n++] = *at;
			all[n] = NULL;
		}
	return all;
}

static void set_env(struct sandbox *sb, char *setting)
{
	size_t n = 0;

	while (sb->settings[n])
		n++;
	sb->settings[n] = setting;
}

/* Moves clang's compiled modules into the session's cache. Their usual place, the user's cache
 * below /var/folders, is closed, because programs outside would load the agent's files from
 * there. */
static void move_caches(struct sandbox *sb, const struct spawn_spec *spec)
{
	if (spec->cache)
		set_env(sb, xasprintf("CLANG_MODULE_CACHE_PATH=%s/clang-modules", spec->cache));
}

int seatbelt_find_human(struct sandbox *sb, const struct spawn_spec *spec, struct err *err)
{
	const struct config *config = keeper_config(sb->keeper);
	const struct human_spec about = {.euid = geteuid(),
					 .sudo_uid = getenv("SUDO_UID"),
					 .home = spec->home,
					 .as_root =
						 config && config_bool(config, "sandbox.as-root")};
	int r;

	move_caches(sb, spec);
	if (!sb->host->find_human)
		return 0;
	r = sb->host->find_human(&sb->human, &about, err);
	if (r < 0 || !sb->human.known)
		return r;
	set_env(sb, xasprintf("USER=%s", sb->human.name));
	set_env(sb, xasprintf("LOGNAME=%s", sb->human.name));
	r = spec->cache ? human_give(&sb->human, spec->cache) : 0;
	if (r < 0)
		return err_set(err, r, "give '%s' to %s", spec->cache, sb->human.name);
	return 0;
}

/* Returns the path of sandbox-exec; NULL: the helper enters the profile. */
static const char *sandbox_exec_of(const struct sandbox *sb)
{
	const struct config *config = keeper_config(sb->keeper);
	bool by_program = config && str_eq(config_str(config, "sandbox.seatbelt"), "sandbox-exec");

	return by_program ? sb->host->sandbox_exec : NULL;
}

/* Lets the queue allow the helper's own calls until it executes the agent, because the keeper waits
 * for the helper meanwhile. */
static void on_forked(void *data, pid_t pid)
{
	struct sandbox *sb = data;
	const struct es_system *es = sb->host->endpoint;

	if (!sb->is_client)
		return;
	sb->agent = es->id_of(es->data, pid);
	es_queue_let_start(sb->queue, sb->agent);
	es_queue_add(sb->queue, sb->agent);
}

size_t seatbelt_end_known(void *data)
{
	const struct sandbox *sb = data;

	return sb->registry ? es_queue_shut(sb->registry) : 0;
}

int seatbelt_start_agent(struct sandbox *sb, const struct spawn_spec *spec, const char *own,
			 int *ret_status, struct err *err)
{
	AUTO_PROFILE struct profile profile = {.sbpl = SBPL_INIT};
	AUTO_FREE const char **own_env = own_env_of(sb);
	char **env = env_of(spec);
	struct mac_launch_spec l = {
		.os = sb->host->os,
		.profile = &profile,
		.helper = sb->host->helper,
		.sandbox_exec = sandbox_exec_of(sb),
		.dir = own,
		.session = spec->session,
		.argv = spec->argv,
		.env = (const char *const *)env,
		.cwd = spec->cwd,
		.stdio = {spec->stdio[0], spec->stdio[1], spec->stdio[2]},
		.tty = spec->tty,
		.limits = spec->limits,
		.own_env = own_env,
		.human = &sb->human,
		.forked = on_forked,
		.known = seatbelt_end_known,
		.data = sb,
	};
	int r = make_profile(&profile, sb, spec, own, err);

	if (r == 0)
		r = mac_launch(&sb->launch, &l, ret_status, err);
	else
		(void)!io_remove_tree(AT_FDCWD, own);
	if (r == 0 && profile.skipped)
		keeper_note(sb->keeper,
			    "%zu allow rules cannot be said in a profile: they allow nothing",
			    profile.skipped);
	util_free_list(&env);
	return r;
}
