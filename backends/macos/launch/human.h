/* human - the user that the agent runs as when cordon runs as root. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/types.h>

#include "core/base/err.h"

/*
 * A client of Endpoint Security must be root, so cordon is started with sudo. The agent does not
 * run as root: before exec its process becomes the user who called sudo, for good, and so does the
 * proxy's process. SUDO_UID names that user. No program inside can have set it, because cordon
 * starts before any of them.
 *
 * Life: human_find() -> human_done(). Threads: become() and give() any; the rest one owner.
 */
#define HUMAN_GROUPS 16 /* macOS's limit for a process; further groups are left out */

struct human {
	bool known; /* false: no change of user, as cordon is not root or the agent is to be root */
	uid_t uid;
	gid_t gid;
	gid_t groups[HUMAN_GROUPS];
	int n_groups;
	char *name;
};

struct human_spec {
	uid_t euid;	      /* of this process */
	const char *sudo_uid; /* or NULL */
	const char *home;     /* the session's home, which the policy protects */
	bool as_root;	      /* sandbox.as-root: without a known user the agent runs as root */
};

/* Finds the user. -EPERM: sudo named no user, or a user with another home; err says which. */
int human_find(struct human *ret, const struct human_spec *spec, struct err *err) MUST_USE;
void human_done(struct human *h);

/* Changes this process to the user, for good. Returns 0 or negative errno. No heap, no look-ups:
 * for use between fork and exec. */
int human_become(const struct human *h) MUST_USE;
/* Gives the user a directory that root has made for the agent, and its entries. No-op if the user
 * owns the directory. -EPERM: another user could have made entries in it. */
int human_give(const struct human *h, const char *path) MUST_USE;
