/* agent_keys - which keys of the human's ssh-agent show inside, and for which hosts (ssh.agent). */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/net/host.h"

/*
 * A line is "KEY HOST...". KEY is a fingerprint as `ssh-add -l` shows it, or the key's comment,
 * with
 * * and ? as in a shell (fnmatch(3)). HOST is a name, NAME:PORT, or the word `unbound`: then it
 * also signs what is no login to a known server (ssh-keygen -Y, git commit -S, clients before
 * OpenSSH 8.9).
 */
struct agent_keys;

int agent_keys_parse(struct agent_keys **ret, const char *const *lines, struct err *err) MUST_USE;
void agent_keys_free(struct agent_keys *k); /* NULL is a no-op */

struct agent_key { /* one that the ssh-agent has */
	const char *fingerprint, *comment;
};
bool agent_keys_offers(const struct agent_keys *k, const struct agent_key *key);
bool agent_keys_unbound(const struct agent_keys *k, const struct agent_key *key);
/* The hosts of all lines about this key, from 0 on; port 22 where none is named. NULL: no more. */
const struct net_target *agent_keys_host(const struct agent_keys *k, const struct agent_key *key,
					 size_t at);

/* Does `ssh-keygen -F` say that this is a key of the host it was asked for? Never of one that is
 * revoked. */
bool known_host_has(struct span said, struct span key);
#define KNOWN_HOST_NAME (NET_TARGET_TEXT + 16)
/* The name that known_hosts has for it: "host", "[host]:2222". */
void known_host_name(const struct net_target *t, char out[KNOWN_HOST_NAME]);
