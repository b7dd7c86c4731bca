/* network_gate - the proxy of a session on a Mac: its profile, and who asks it. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/launch/network_gate.h"

#include <errno.h>

#include "core/base/log.h"

struct network_gate {
	struct proxy_host host;
	const struct mac_os *os;
	char *session, *home;
	struct keeper *k;
	pid_t root; /* 0: not known yet */
	struct proxy_door *proxy;
};

/* Looking names up: the system's resolver behind a socket and a few mach services, those of Apple's
 * own profiles for programs with a network. */
const char network_gate_profile[] =
	"(version 1)\n"
	"(allow default)\n"
	"(deny file-write*)\n"
	"(deny file-read-data (subpath (param \"HOME\")))\n"
	"(deny process-exec*)\n"
	"(deny process-fork)\n"
	"(deny signal (target others))\n"
	"(deny network-bind)\n"
	"(deny network-outbound (remote unix-socket))\n"
	"(allow network-outbound (remote unix-socket (path-literal "
	"\"/private/var/run/mDNSResponder\")))\n"
	"(deny mach-lookup)\n"
	"(allow mach-lookup\n"
	" (global-name \"com.apple.SystemConfiguration.DNSConfiguration\")\n"
	" (global-name \"com.apple.SystemConfiguration.configd\")\n"
	" (global-name \"com.apple.dnssd.service\")\n"
	" (global-name \"com.apple.system.notification_center\")\n"
	" (global-name \"com.apple.system.opendirectoryd.libinfo\"))\n";

static int confine(void *data)
{
	const struct network_gate *g = data;
	const char *const params[] = {"HOME", g->home, NULL};
	char why[200] = "";
	int r = g->os->deny_attach(g->os->data);

	if (r < 0 && r != -EINVAL) /* -EINVAL: it is denied already */
		log_warn("net", "debuggers are not kept away from the proxy");
	r = g->os->apply(g->os->data, network_gate_profile, params, why, sizeof(why));
	if (r < 0)
		log_warn("net", "the proxy's profile: %s", why);
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
	free(g->home);
	free(g);
}

int network_gate_new(struct network_gate **ret, const struct mac_os *os, const char *session,
		     const char *home, struct keeper *k, struct err *err)
{
	struct network_gate *g = xcalloc(1, sizeof(*g));
	int r;

	g->host =
		(struct proxy_host){.data = g, .confine = confine, .caller = caller, .done = done};
	g->os = os;
	g->session = xstrdup(session);
	g->home = xstrdup(home);
	g->k = k;
	r = proxy_door_new(&g->proxy, k, &g->host, err);
	if (r < 0)
		return r; /* and done() */
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
