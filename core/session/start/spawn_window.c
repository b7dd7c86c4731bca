/* spawn_window - reserves the window of ports for servers of the agent on the host's loopback. */
/* SPDX-License-Identifier: MIT */
#include "core/session/start/spawn.h"

#include <errno.h>
#include <string.h>

#include "core/config/config.h"
#include "core/session/start/env.h"

static enum window_strategy strategy_of(const struct config *c)
{
	const char *name = config_str(c, "network.strategy");

	if (str_eq(name, "rewire-device"))
		return WINDOW_DEVICE;
	return str_eq(name, "rewire-port") ? WINDOW_PORT : WINDOW_FAIL;
}

static int read_window(struct net_window *w, const struct config *c, struct err *err)
{
	int64_t base = config_int(c, "network.listening-base-port");
	int64_t count = config_int(c, "network.listening-port-count");
	const char *device = config_str(c, "network.listening-loopback");
	const struct net_addr usual = net_addr_v4(0x7f000001);

	if (base < 0 || base > UINT16_MAX || count < 1 || count > UINT16_MAX)
		return err_say(err, -EINVAL,
			       "listening ports: %lld ports from %lld on do not fit: choose a "
			       "range up to 65535",
			       (long long)count, (long long)base);
	*w = (struct net_window){.on = true,
				 .strategy = strategy_of(c),
				 .base = (uint16_t)base,
				 .count = (uint16_t)count,
				 .device = usual};
	if (!device || !*device)
		return 0;
	if (!net_addr_parse(&w->device, device, strlen(device)) ||
	    net_addr_class(&w->device) != NET_LOOPBACK)
		return err_say(err, -EINVAL,
			       "listening address '%s': not one of the loopback device, like "
			       "127.0.0.2",
			       device);
	w->own_device = !net_addr_eq(&w->device, &usual);
	return 0;
}

int spawn_window(struct spawn_plan *p, const struct session_spec *spec, struct err *err)
{
	static const char *const keys[] = {"network.strategy", "network.listening-base-port",
					   "network.listening-port-count",
					   "network.listening-loopback"};
	bool told = false;
	int r;

	for (size_t i = 0; spec->config && i < ARRAY_LEN(keys); i++)
		told |= config_is_set(spec->config, keys[i]);
	if (!spec->backend ||
	    !(spec->allow_network ? told : spec->ask_network && spec->backend->shares_network))
		return 0;
	r = read_window(&p->spec.window, spec->config, err);
	return r < 0 ? r : window_reserve(&p->spec.window, spec->state_dir, &p->window, err);
}

void spawn_window_env(struct spawn_plan *p)
{
	const struct net_window *w = &p->spec.window;
	char device[NET_ADDR_TEXT], settings[3][96];
	const char *const list[] = {settings[0], settings[1], settings[2], NULL};

	if (!w->on)
		return;
	net_addr_format(&w->device, device);
	snprintf(settings[0], sizeof(settings[0]), "LISTENING_BASE_PORT=%u", w->base);
	snprintf(settings[1], sizeof(settings[1]), "LISTENING_PORT_COUNT=%u", w->count);
	snprintf(settings[2], sizeof(settings[2]), "LISTENING_LOOPBACK_DEVICE=%s", device);
	p->env = env_set(p->env, list, NULL);
	p->spec.env = (const char *const *)p->env;
}
