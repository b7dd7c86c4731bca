/* agent_keys - selects keys of the user's ssh-agent for use inside, by host (ssh.agent). */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/net/host.h"

/*
 * A line is "KEY HOST...". KEY is a fingerprint as `ssh-add -l` shows it, or the key's comment,
 * with the wildcards of fnmatch(3), asterisk and question mark. HOST is a name, NAME:PORT, or the
 * word `unbound`: then the key also signs data other than a login to a known server (ssh-keygen -Y,
 * git commit -S, clients before OpenSSH 8.9).
 */
struct agent_keys;

int agent_keys_parse(struct agent_keys **ret, const char *const *lines, struct err *err) MUST_USE;
void agent_keys_free(struct agent_keys *k); /* NULL is a no-op */

struct agent_key { /* a key in the ssh-agent */
	const char *fingerprint, *comment;
};
bool agent_keys_offers(const struct agent_keys *k, const struct agent_key *key);
bool agent_keys_unbound(const struct agent_keys *k, const struct agent_key *key);
/* Returns a host of the lines for this key, at = 0, 1, ...; port 22 if none is given; NULL: there
 * are no more. */
const struct net_target *agent_keys_host(const struct agent_keys *k, const struct agent_key *key,
					 size_t at);

/* Returns whether the output of `ssh-keygen -F` lists this key for the host, and not as revoked. */
bool agent_keys_host_has(struct span said, struct span key);
#define KNOWN_HOST_NAME (NET_TARGET_TEXT + 16)
/* Formats a host's name as in known_hosts: "host", "[host]:2222". */
void agent_keys_host_name(const struct net_target *t, char out[KNOWN_HOST_NAME]);
