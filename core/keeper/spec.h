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
	/* Git directories of the folders that are outside of them. Undo of the first folder covers
	 * changes there. Like folders; or NULL. */
	const char *const *repositories;
	const char *state_dir; /* $XDG_STATE_HOME/cordon */
	struct journal_options journal;
	const struct config *config;	  /* the configuration from which the policy was made */
	const struct config_spec *source; /* read again when its files change; NULL: never */
	struct policy *policy;		  /* owned by the keeper process after fork */
	int log_fd;    /* of log_open(), kept; 0: none. Other descriptors are closed */
	bool headless; /* no user answers: a question becomes a denial */
	bool one_step; /* --steps one, the default of headless runs */
	struct guard_limits guard;
	uint32_t ask_timeout_s, ask_again_s; /* approval.timeout, approval.remember */
	bool undo_home;		       /* a rollback changes granted places without a question */
	bool asks_lists;	       /* reading.list = ask */
	bool warn_only;		       /* external edits are reported, and stop no rollback */
	struct redact *redact;	       /* for commands; or NULL */
	const struct ignored *ignored; /* external changes of these are no edits; or NULL */
	bool lock;		       /* other users' opens for writing are refused (lock.h) */
	const struct backend *backend; /* NULL: no sandbox, serves undo requests only */
	struct spawn_spec *spawn;      /* NULL without backend */
	int broker;		       /* broker_socket(); 0 or less: none */
	/* Without backend: confines this process (folders and store stay writable). May be NULL. */
	int (*confine)(struct keeper *k, struct err *err);
};
