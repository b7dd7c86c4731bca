/* spec - the options of one session's keeper, given at its start. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/journal.h"
#include "core/keeper/approvals/guard_report.h"
#include "core/session/backend.h"

struct config;
struct config_spec;
struct ignored;
struct keeper;
struct redact;

struct keeper_spec {
	int sock;		    /* to cordon; the caller closes its copy afterwards */
	const char *const *folders; /* NULL-terminated, absolute, clean, resolved */
	/* Git directories of the folders that lie outside of them. Undo of the first folder covers
	 * changes there. Like folders; or NULL. */
	const char *const *repositories;
	const char *state_dir; /* $XDG_STATE_HOME/cordon */
	struct journal_options journal;
	const struct config *config;	  /* the configuration that the policy comes from */
	const struct config_spec *source; /* read again when its files change; NULL: never */
	struct policy *policy;		  /* owned by the keeper process after fork */
	int log_fd;    /* of log_open(), kept; 0: none. Every other descriptor is closed */
	bool headless; /* no user answers: a question is a denial */
	bool one_step; /* --steps one, the default of headless runs */
	struct guard_limits guard;
	uint32_t ask_timeout_s, ask_again_s; /* approval.timeout, approval.remember */
	bool undo_home;			     /* a rollback changes granted places, too, unasked */
	bool asks_lists;		     /* reading.list = ask */
	bool warn_only;	       /* external edits are reported, but no barrier to a rollback */
	struct redact *redact; /* of commands that become known; or NULL */
	const struct ignored *ignored; /* whose changes from outside are no edits; or NULL */
	bool lock;		       /* and opening for writing is refused to others (lock.h) */
	const struct backend *backend; /* NULL: no sandbox, serves undo requests only */
	struct spawn_spec *spawn;      /* NULL without backend */
	int broker;		       /* broker_socket(); 0 or less: none */
	/* Without backend: confine this process (folders and store stay writable). May be NULL. */
	int (*confine)(struct keeper *k, struct err *err);
};
