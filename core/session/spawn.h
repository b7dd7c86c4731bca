/* spawn - from what the human asked for to what the backend is told. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/session.h"

struct policy;

/*
 * Owns every string and list that `spec` borrows, and the policy.
 * Life: spawn_plan_new() -> keeper_fork() -> spawn_plan_free() in cordon; the keeper keeps its
 * copy.
 */
struct spawn_plan {
	struct spawn_spec spec;
	struct policy *policy;
	char **env;
	char *cache;	      /* on the host; NULL: none */
	char *own;	      /* words about the agent's own settings for this folder, or NULL */
	char *tools;	      /* as spec.tools */
	char *resolv;	      /* as spec.resolv */
	char *ca;	      /* as spec.ca */
	int window;	      /* the lock of spec.window; 0: none */
	const char **sockets; /* the human's and the broker's */
	char **hidden;
	size_t n_hidden;
	char **notes; /* what the human is to be told of at the start */
	size_t n_notes;
};

int spawn_plan_new(struct spawn_plan **ret, const struct session_spec *spec, const char *session,
		   struct err *err) MUST_USE;
void spawn_plan_free(struct spawn_plan *p);
/* For spawn_plan_new(), when all else is filled in. */
void spawn_sockets(struct spawn_plan *p);
/* Before and after the policy is made: the broker's sockets, and what tells git and ssh of them. */
void spawn_broker_sockets(struct spawn_plan *p, const struct session_spec *spec);
void spawn_broker_env(struct spawn_plan *p, const struct broker *b);
/* When all else is filled in. */
void spawn_secrets(struct spawn_plan *p, const struct session_spec *spec);
/* Would the agent reach more of the host by these than what they are? -EINVAL. */
struct vm_settings spawn_vm(const struct config *c); /* vm.*; strings are c's */
int spawn_check_stdio(const int stdio[3], bool network, struct err *err) MUST_USE;
