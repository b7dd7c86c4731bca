/* network_gate - the proxy of a session on a Mac: starts its process, identifies its clients. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/launch/network_gate.h"

#include <unistd.h>

#include "backends/macos/helper/helper.h"

struct network_gate {
	struct proxy_host host;
	const struct mac_os *os;
	const char *helper;
	const struct human *human;
	char *session;
	struct keeper *k;
	pid_t root; /* 0: not known yet */
	struct proxy_door *proxy;
};

static int start(void *data, const struct proxy_spec *spec, pid_t *ret)
{
	const struct network_gate *g = data;
	const struct helper_spec helper = {.program = g->helper,
					   .role = HELPER_PROXY,
					   .fds = {spec->sock, spec->listener},
					   .with_env = true};
	const struct order order = {.human = *g->human, .word = (char *)(uintptr_t)spec->secret};
	struct err err = {0};
	int fd, r = helper_start(&helper, ret, &fd, &err);

	if (r < 0) {
		keeper_warn(g->k, "hosts cannot be reached: %s", err.text);
		return r;
	}
	r = order_send(fd, &order);
	(void)close(fd);
	return r;
}

static int caller(void *data, uint16_t from, uint16_t to)
{
	const struct network_gate *g = data;

	return g->os->owner_of_port(g->os->data, g->session, g->root, from, to);
}

static void done(void *data)
{
	struct network_gate *g = data;

	free(g->session);
	free(g);
}

int network_gate_new(struct network_gate **ret, const struct network_gate_spec *spec,
		     struct keeper *k, struct err *err)
{
	struct network_gate *g = xcalloc(1, sizeof(*g));
	int r;

	g->host = (struct proxy_host){.data = g, .start = start, .caller = caller, .done = done};
	g->os = spec->os;
	g->helper = spec->helper;
	g->session = xstrdup(spec->session);
	g->human = spec->human;
	g->k = k;
	r = proxy_door_new(&g->proxy, k, &g->host, err);
	if (r < 0)
		return r; /* the caller frees g */
	*ret = g;
	return 0;
}

uint16_t network_gate_port(const struct network_gate *g)
{
	return proxy_door_port(g->proxy);
}

const char *const *network_gate_env(const struct network_gate *g)
{
	return proxy_door_env(g->proxy);
}

int network_gate_serve(struct network_gate *g, pid_t root, struct err *err)
{
	int r = keeper_add_door(g->k, proxy_door_of(g->proxy));

	if (r < 0)
		return err_set(err, r, "add the proxy to the keeper's doors");
	g->root = root;
	return 0;
}

void network_gate_free(struct network_gate *g)
{
	if (g)
		proxy_door_free(g->proxy);
}
