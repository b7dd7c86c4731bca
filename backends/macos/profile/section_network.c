/* section_network - the network and unix sockets in a profile. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/profile/profile_priv.h"

/*
 * Allows one port of the loopback device, which is all that a proxy needs. Common examples are too
 * wide: (remote ip "localhost:*") opens every server of the user, databases and debuggers among
 * them, and (local udp "*:*") lets datagrams go anywhere. Seatbelt knows no addresses but "*" and
 * "localhost".
 */
static void allow_port(struct build *b, const char *operations, const char *end, uint16_t port)
{
	buf_fmt(&b->s->text, "(allow %s (%s tcp \"localhost:%u\"))\n", operations, end,
		(unsigned)port);
}

static void allow_proxies(struct build *b)
{
	for (const uint16_t *p = b->spec->proxies; p && *p; p++)
		allow_port(b, "network-outbound", "remote", *p);
}

/* Allows servers at the session's ports. */
static void allow_window(struct build *b)
{
	const unsigned end = (unsigned)b->spec->listen_base + b->spec->listen_count;

	for (unsigned port = b->spec->listen_base; port && port < end && port <= UINT16_MAX;
	     port++) {
		allow_port(b, "network-bind network-inbound", "local", (uint16_t)port);
		allow_port(b, "network-outbound", "remote", (uint16_t)port);
	}
}

/* Allows services for host names and certificates, which send packets for any caller. */
static void allow_network_services(struct build *b)
{
	sbpl_allow(b->s, "mach-lookup");
	sbpl_filter(b->s, "global-name", "com.apple.SystemConfiguration.DNSConfiguration");
	sbpl_filter(b->s, "global-name", "com.apple.dnssd.service");
	sbpl_filter(b->s, "global-name", "com.apple.trustd.agent");
	sbpl_end(b->s);
}

/* Allows the network, without (allow network*), which would include the host's unix sockets. The
 * resolver's socket is allowed here alone: without a network it would carry data out. */
static void allow_all(struct build *b)
{
	sbpl_allow_all(b->s, "system-socket");
	buf_str(&b->s->text, "(allow network-outbound (remote ip \"*:*\"))\n");
	/* With a window, programs listen there only. Datagrams may use any local port. */
	buf_fmt(&b->s->text, "(allow network-bind network-inbound (local %s \"*:*\"))\n",
		b->spec->listen_base ? "udp" : "ip");
	sbpl_allow(b->s, "network-outbound");
	sbpl_open(b->s, "remote unix-socket");
	sbpl_filter(b->s, "path-literal", "/private/var/run/mDNSResponder");
	sbpl_close(b->s);
	sbpl_end(b->s);
	allow_network_services(b);
}

void section_network(struct build *b)
{
	switch (b->spec->network) {
	case PROFILE_NETWORK_NONE:
		sbpl_comment(b->s, "Network: none");
		break;
	case PROFILE_NETWORK_PROXY:
		sbpl_comment(b->s, "Network: the proxies' ports on the loopback device");
		break;
	case PROFILE_NETWORK_OPEN:
		sbpl_comment(b->s, "Network: open");
		break;
	}
	sbpl_deny(b->s, "network*");
	sbpl_end(b->s);
	if (b->spec->network == PROFILE_NETWORK_PROXY)
		allow_proxies(b);
	if (b->spec->network == PROFILE_NETWORK_OPEN)
		allow_all(b);
	allow_window(b);
}

/* ---- unix sockets ---------------------------------------------------------------------------- */

static void allow_own(struct build *b, const char *operations, const char *end)
{
	sbpl_allow(b->s, operations);
	buf_fmt(&b->s->text, " (%s unix-socket", end);
	sbpl_subpath(b->s, b->own);
	sbpl_close(b->s);
	sbpl_end(b->s);
}

/* Allows the session's own sockets, and the host's sockets that a rule names. */
void section_sockets(struct build *b)
{
	const char *const *list, *why;
	size_t n = policy_sockets(b->policy, &list);

	sbpl_comment(b->s, "Unix sockets: those that a rule names, and the session's own");
	if (b->own) {
		allow_own(b, "network-bind network-inbound", "local");
		allow_own(b, "network-outbound", "remote");
	}
	for (size_t i = 0; i < n; i++) {
		if (policy_check_read(b->policy, RULE_UNIX, list[i], &why) != POLICY_ALLOW)
			continue;
		sbpl_allow(b->s, "network-outbound");
		sbpl_open(b->s, "remote unix-socket");
		sbpl_filter(b->s, "path-literal", list[i]);
		sbpl_close(b->s);
		sbpl_end(b->s);
	}
}
