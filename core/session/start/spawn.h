/* spawn - turns the options of a session into the specification for the backend. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/start/homes.h"
#include "core/session/session.h"

struct policy;

/*
 * Owns every string and list in `spec`, and the policy.
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
	int window;	      /* lock of spec.window; 0: none */
	const char **sockets; /* the user's and the broker's */
	char **hidden;
	size_t n_hidden;
	/* Those of tools, and of --overlay. */
	struct homes homes;
	const char **overlays;
	struct overlay_place *places;
	char **notes; /* notes for the user at the start */
	size_t n_notes;
};

int spawn_plan_new(struct spawn_plan **ret, const struct session_spec *spec, const char *session,
		   struct err *err) MUST_USE;
void spawn_plan_free(struct spawn_plan *p);
/* setup.c: describes the sandbox, one line for each subject: folders, places, hidden paths, limits,
 * rules, variables. */
void spawn_tell_setup(const struct spawn_plan *p, const struct session_spec *spec, struct buf *out);
/* Call these around all code that adds to the policy. The end returns -ETIME if the search for
 * secrets has left out directories: their files could be read. With sandbox.search-seconds = 0 a
 * note says so instead. */
void spawn_begin_search(struct spawn_plan *p, const struct session_spec *spec, const char *seen);
int spawn_end_search(struct spawn_plan *p, const struct session_spec *spec, struct err *err)
	MUST_USE;
/* Fills the lists of hidden, covered, gated and granted paths from the policy. */
void spawn_hide(struct spawn_plan *p, const struct session_spec *spec);
/* Reserves ports where the host's network is shared and connections are judged; with --network open
 * only if a setting about them is set. Then adds the variables that name them. */
int spawn_window(struct spawn_plan *p, const struct session_spec *spec, struct err *err) MUST_USE;
void spawn_window_env(struct spawn_plan *p);
/* For spawn_plan_new(), when all else is filled in. */
void spawn_sockets(struct spawn_plan *p);
/* Adds the broker's sockets before the policy is made. spawn_broker_env() adds the variables for
 * git and ssh after it. */
void spawn_broker_sockets(struct spawn_plan *p, const struct session_spec *spec);
void spawn_broker_env(struct spawn_plan *p, const struct broker *b);
/* Adds the secrets, when all else is filled in. */
void spawn_secrets(struct spawn_plan *p, const struct session_spec *spec);
/* Returns only the settings that a host may not support, for struct backend's check(). c owns
 * strings and lists. */
struct spawn_spec spawn_wanted(const struct config *c);
/* Returns -EINVAL if one of the descriptors would let the agent reach more of the host. */
int spawn_check_stdio(const int stdio[3], bool network, struct err *err) MUST_USE;
