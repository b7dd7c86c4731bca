/* broker - uses the human's keys for the agent, outside the sandbox: git's and the ssh-agent's. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/*
 * Theory of operation
 *
 *   cordon
 *     +- broker   two sockets that show inside; as the human, outside of every sandbox
 *     +- keeper   judges each use, by host: rules, answers, a question (core/keeper/brokered.c)
 *
 * git inside is told by its environment to ask `git credential-cache`, git's own client, which
 * speaks to the first socket. The broker then asks the human's git (`git credential fill`), in /
 * and with the human's settings alone, and what that says goes inside: a token passes through git
 * there, and whoever reads the memory of that git has it. Nothing is kept for it, and what git
 * inside would store or erase is ignored.
 *
 * ssh inside finds the second socket in SSH_AUTH_SOCK. It speaks the protocol of the ssh-agent
 * (draft-miller-ssh-agent) and knows two requests: which keys are there, answered with those that
 * settings name; and to sign. A signature is for a host: ssh says which host key it has met
 * (session-bind@openssh.com), the human's ssh-agent checks that claim, and known_hosts tells whose
 * key that is. The keys themselves never leave the human's agent.
 *
 * The TLS process (backends/linux/net/tls.h) asks by a socket of its own for the secrets that it
 * puts into requests: their commands run here, once.
 *
 * The keeper knows no process by these sockets: a use is asked about as the agent's.
 *
 * Life:    broker_start() before the keeper is forked and before any thread -> broker_close().
 * Death:   the broker ends when the keeper does, and takes its sockets away; a use that waits is
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
	const char *agent;	       /* the human's ssh-agent; NULL: none runs */
	const char *home;	       /* whose known_hosts counts */
	const char *const *folders;    /* where the agent writes: nothing from there is run */
};

/* *ret is NULL where none is set; every function takes that. -EINVAL: a line of ssh.agent. */
int broker_start(struct broker **ret, const struct broker_spec *spec, struct err *err) MUST_USE;
int broker_socket(const struct broker *b); /* the keeper's end; the broker's until broker_close() */
/* Paths of its sockets; NULL: that one is not served. */
const char *broker_git(const struct broker *b);
const char *broker_ssh(const struct broker *b);
/* To ask it for secrets (secrets.h), the TLS process's; -1: there are none. */
int broker_secrets(const struct broker *b);
/* The keeper has its own copies of the sockets. */
void broker_handed_over(struct broker *b);
void broker_close(struct broker *b);
