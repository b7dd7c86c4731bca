/* rewrite - redirects loopback connections to the session's own address or ports, on a Mac. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/launch/rewrite.h"

#include <errno.h>
#include <string.h>

#include "backends/interpose/port_server.h"
#include "backends/macos/beside.h"
#include "core/keeper/flows.h"
#include "core/keeper/service.h"

#define MAX_INSIDE 4096

struct rewrite {
	const struct mac_os *os;
	struct keeper *k;
	char *session, *library, *insert;
	pid_t root; /* 0: not known yet */
	struct port_server *ports;
	const char *env[PORT_SERVER_SETTINGS + 2];
};

/* Returns whether the process is inside: any process of this user may ask on the socket, but the
 * keeper reports only the session's. */
static bool is_inside(const struct rewrite *w, pid_t pid)
{
	AUTO_FREE pid_t *inside = xcalloc(MAX_INSIDE, sizeof(*inside));
	size_t n = w->os->list_inside(w->os->data, w->session, w->root, inside, MAX_INSIDE);

	for (size_t i = 0; i < n; i++)
		if (inside[i] == pid)
			return true;
	return false;
}

static void on_given(void *data, pid_t pid, uint16_t named, uint16_t to)
{
	const struct rewrite *w = data;
	struct caller c;
	char was[32], is[32];

	if (pid <= 0 || !is_inside(w, pid) || keeper_caller(w->k, pid, &c) < 0)
		return;
	snprintf(was, sizeof(was), "localhost:%u", named);
	snprintf(is, sizeof(is), "localhost:%u", to);
	flow_rewritten(w->k, &c, "bind", was, is);
}

int rewrite_start(struct rewrite **ret, const struct mac_os *os, const char *library,
		  const struct spawn_spec *spec, const char *own, struct keeper *k, struct err *err)
{
	struct port_server_spec ports = {.k = k,
					 .dir = own,
					 .base = spec->window.base,
					 .count = spec->window.count,
					 .given = on_given};
	struct rewrite *w;
	size_t n = 0;
	int r = 0;

	*ret = NULL;
	if (!spec->window.on || spec->window.strategy == WINDOW_FAIL)
		return 0;
	w = xcalloc(1, sizeof(*w));
	w->os = os;
	w->k = k;
	w->session = xstrdup(spec->session);
	w->library = mac_beside(library, "interpose.dylib", "../lib/cordon");
	ports.data = w;
	if (!w->library)
		r = err_say(err, -ENOENT,
			    "there is no interpose.dylib beside this program: leave "
			    "--network-strategy out, or install cordon anew");
	if (r == 0 && spec->window.strategy == WINDOW_PORT)
		r = port_server_start(&w->ports, &ports, err);
	if (r < 0) {
		rewrite_stop(w);
		return r;
	}
	w->insert = xasprintf("DYLD_INSERT_LIBRARIES=%s", w->library);
	w->env[n++] = w->insert;
	for (size_t i = 0; w->ports && i < PORT_SERVER_SETTINGS; i++)
		w->env[n++] = port_server_env(w->ports)[i];
	*ret = w;
	return 0;
}

void rewrite_root(struct rewrite *w, pid_t root)
{
	if (w)
		w->root = root;
}

const char *const *rewrite_env(const struct rewrite *w)
{
	static const char *const none[] = {NULL};

	return w ? w->env : none;
}

const char *rewrite_library(const struct rewrite *w)
{
	return w ? w->library : NULL;
}

void rewrite_stop(struct rewrite *w)
{
	if (!w)
		return;
	port_server_stop(w->ports);
	free(w->session);
	free(w->library);
	free(w->insert);
	free(w);
}
