/* broker - uses git credentials and ssh keys of the user for the agent, outside the sandbox. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/*
 * Theory of operation
 *
 *   cordon
 *     +- broker   two sockets that are visible inside; as the user, outside of every sandbox
 *     +- keeper   judges each use, by host: rules, answers, a question (core/keeper/brokered.c)
 *
 * The environment makes git inside use `git credential-cache`, git's own client, which connects to
 * the first socket. The broker then asks the user's git (`git credential fill`), in / and with the
 * user's settings alone, and passes the answer inside: git there has the token in its memory, where
 * other processes inside can read it. The broker stores nothing, and ignores requests of git inside
 * to store or erase.
 *
 * ssh inside finds the second socket in SSH_AUTH_SOCK. It speaks the protocol of the ssh-agent
 * (draft-miller-ssh-agent) and knows two requests: to list keys, answered with the keys that
 * settings name; and to sign. A signature is for a host: ssh sends the host key of the server
 * (session-bind@openssh.com), the user's ssh-agent checks that claim, and known_hosts has the host
 * of that key. The keys themselves never leave the user's ssh-agent.
 *
 * The TLS process (backends/linux/net/tls.h) has a third socket, to request the secrets that it
 * puts into requests: their commands run here, once.
 *
 * The keeper does not know which process uses these sockets: it treats each use as the agent's.
 *
 * Life:    broker_start() before the keeper is forked and before any thread -> broker_close().
 * Death:   the broker ends when the keeper does, and removes its sockets; a waiting use is
 *          refused. It is not started again.
 * Bounds:  64 clients, 16 programs of the host at a time; 8 KiB a request of git's, 256 KiB one to
 *          the ssh-agent.
 */
struct broker;
struct secrets;

struct broker_spec {
	bool credentials;	       /* git.credentials */
	const struct secrets *secrets; /* network.secret; NULL: none */
	const char *const *keys;       /* ssh.agent: "KEY HOST..."; NULL: none */
	const char *agent;	       /* socket of the user's ssh-agent; NULL: none */
	const char *home;	       /* home with the known_hosts that is used */
};

/* Starts the broker. *ret is NULL if no setting needs it; every function accepts that. Returns
 * -EINVAL for a bad line of ssh.agent. */
int broker_start(struct broker **ret, const struct broker_spec *spec, struct err *err) MUST_USE;
int broker_socket(const struct broker *b); /* the keeper's end; the broker's until broker_close() */
/* Returns the path of a socket; NULL: not served. */
const char *broker_git(const struct broker *b);
const char *broker_ssh(const struct broker *b);
/* Returns the socket on which the TLS process asks for secrets (secrets.h); -1: there are none. */
int broker_secrets(const struct broker *b);
/* Closes the sockets that the keeper has duplicated. */
void broker_handed_over(struct broker *b);
void broker_close(struct broker *b);
