/* network_gate - the proxy of a session on a Mac: its profile, and who asks it. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/launch/network_gate.h"

#include <errno.h>
#include <string.h>

#include "core/base/log.h"

struct network_gate {
	struct proxy_host host;
	const struct mac_os *os;
	const struct human *human;
	char *session;
	struct keeper *k;
	pid_t root; /* 0: not known yet */
	struct proxy_door *proxy;
};

/*
 * It is forked and confined before it takes the first connection, and runs no other program: its
 * own code is mapped already. What is left are connections, of TCP alone, the one socket that it
 * listens at, which the keeper has bound, and looking names up: the resolver's socket, a few mach
 * services, those of Apple's own profiles for programs with a network, and files that libinfo
 * reads.
 */
const char network_gate_profile[] =
	"(version 1)\n"
	"(deny default)\n"
	"(allow sysctl-read)\n"
	"(allow ipc-posix-shm-read* (ipc-posix-name \"apple.shm.notification_center\"))\n"
	"(allow process-info* (target self))\n"
	"(allow file-read-metadata\n"
	" (literal \"/\") (literal \"/etc\") (literal \"/var\") (literal \"/private\")\n"
	" (literal \"/private/etc\") (literal \"/private/var\") (literal \"/private/var/run\"))\n"
	"(allow file-read*\n"
	" (literal \"/dev/null\") (literal \"/dev/random\") (literal \"/dev/urandom\")\n"
	" (literal \"/private/etc/hosts\") (literal \"/private/etc/resolv.conf\")\n"
	" (literal \"/private/var/run/resolv.conf\") (literal \"/private/etc/services\")\n"
	" (literal \"/private/etc/protocols\") (literal \"/private/etc/localtime\")\n"
	" (subpath \"/private/var/db/timezone\") (subpath \"/usr/share/zoneinfo\"))\n"
	"(allow file-read* file-map-executable\n"
	" (subpath \"/usr/lib\") (subpath \"/System/Library\"))\n"
	"(allow network-outbound (remote tcp \"*:*\"))\n"
	"(allow network-inbound (local tcp \"localhost:*\"))\n"
	"(allow network-outbound (remote unix-socket (path-literal "
	"\"/private/var/run/mDNSResponder\")))\n"
	"(allow mach-lookup\n"
	" (global-name \"com.apple.SystemConfiguration.DNSConfiguration\")\n"
	" (global-name \"com.apple.SystemConfiguration.configd\")\n"
	" (global-name \"com.apple.dnssd.service\")\n"
	" (global-name \"com.apple.system.notification_center\")\n"
	" (global-name \"com.apple.system.opendirectoryd.libinfo\"))\n";

static int confine(void *data)
{
	const struct network_gate *g = data;
	char why[200] = "";
	int r = human_become(g->human);

	if (r < 0) {
		log_warn("net", "the proxy stays root: %s", strerror(-r));
		return r;
	}
	r = g->os->deny_attach(g->os->data);
	if (r < 0 && r != -EINVAL) /* -EINVAL: it is denied already */
		log_warn("net", "debuggers are not kept away from the proxy");
	r = g->os->apply(g->os->data, network_gate_profile, NULL, why, sizeof(why));
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
	free(g);
}

int network_gate_new(struct network_gate **ret, const struct mac_os *os, const char *session,
		     const struct human *human, struct keeper *k, struct err *err)
{
	struct network_gate *g = xcalloc(1, sizeof(*g));
	int r;

	g->host =
		(struct proxy_host){.data = g, .confine = confine, .caller = caller, .done = done};
	g->os = os;
	g->session = xstrdup(session);
	g->human = human;
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
