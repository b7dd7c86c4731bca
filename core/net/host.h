/* host - host names, targets (host and port) and the patterns of rules for them. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/net/addr.h"

#define NET_NAME_MAX	253 /* bytes of a folded name */
#define NET_TARGET_TEXT (NET_NAME_MAX + 20)

/*
 * One host has one text: lower case, no dot at the end, IDN in its ASCII form; text that
 * inet_aton(3) reads is an address. Refused: empty or long labels, characters that no host name has
 * (NUL, CR, LF, percent, blanks, colons).
 */
struct net_host {
	bool is_addr;
	struct net_addr addr;	     /* valid if is_addr */
	char name[NET_NAME_MAX + 1]; /* valid if not is_addr */
};

/* The target of a connection. */
struct net_target {
	struct net_host host;
	uint16_t port; /* 0: not known yet */
};

/* Parses a host. *why (may be NULL): the error, in words. */
bool net_host_parse(struct net_host *ret, const char *text, size_t len, const char **why);
void net_host_from_addr(struct net_host *ret, const struct net_addr *a);
/* Parses "HOST[:PORT]", with IPv6 in brackets if there is a port. */
bool net_target_parse(struct net_target *ret, const char *text, const char **why);
void net_target_format(const struct net_target *t, char out[NET_TARGET_TEXT]);

/*
 * HOST[:PORTS]. HOST is a name, *.DOMAIN (its sub-domains at any depth, not itself), an address,
 * ADDRESS/BITS, or *. IPv6 is in brackets where ports follow. PORTS is a port, FROM-TO, or *.
 */
enum net_pattern_kind {
	NET_ANY,
	NET_DOMAIN,
	NET_NAME,
	NET_ADDRS, /* one address, or all with one prefix */
};

struct net_pattern {
	enum net_pattern_kind kind;
	char name[NET_NAME_MAX + 1]; /* NET_NAME, NET_DOMAIN (without the *.) */
	struct net_addr addr;	     /* NET_ADDRS */
	unsigned bits;		     /* of 128 */
	uint16_t from, to;	     /* ports */
};

bool net_pattern_parse(struct net_pattern *ret, const char *text, const char **why);
/* Returns whether the target matches; port 0 matches any port. */
bool net_pattern_matches(const struct net_pattern *p, const struct net_target *t);
/* Returns how near the pattern is: nearer ones have larger numbers, by host, then by ports. */
unsigned net_pattern_depth(const struct net_pattern *p);
unsigned
net_pattern_ports(const struct net_pattern *p); /* 65536 - number of ports: more is nearer */

/* ---- idn.c, suffix.c: libidn2 and libpsl, opened when first needed --------------------------- */

/* Makes later calls behave as without the libraries, for a process that may not open files. */
void net_libraries_off(void);
/* Returns the ASCII form of a name with other characters. False: there is none, or no libidn2. */
bool net_idn_to_ascii(const char *text, char out[NET_NAME_MAX + 1]);
/* Gets the registered domain of a name: "npmjs.org" for registry.npmjs.org. Returns false if the
 * name is a public suffix itself (co.uk, github.io), or there is no list. Points into name. */
bool net_registered_domain(const char *name, const char **ret);
