/* human - whom the agent runs as, where cordon runs as root. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/types.h>

#include "core/base/err.h"

/*
 * A client of Endpoint Security is root's, and so cordon is started with sudo. The agent is not
 * root's: between fork and exec it becomes the human who typed that, for good, and so does the
 * proxy's process. Who it is sudo says (SUDO_UID), which no program inside has set: cordon is
 * started before there is any.
 *
 * Life: human_find() -> human_done(). Threads: become() and give() any; the rest one owner.
 */
#define HUMAN_GROUPS 16 /* as many as macOS knows of a process; others are left out */

struct human {
	bool known; /* else there is nothing to become: cordon is no root, or the agent shall be */
	uid_t uid;
	gid_t gid;
	gid_t groups[HUMAN_GROUPS];
	int n_groups;
	char *name;
};

struct human_spec {
	uid_t euid;	      /* of this process */
	const char *sudo_uid; /* or NULL */
	const char *home;     /* of the session: what the policy keeps is there */
	bool as_root;	      /* sandbox.as-root: with nobody known the agent is root's */
};

/* -EPERM and words: nobody is known, or is at home elsewhere. */
int human_find(struct human *ret, const struct human_spec *spec, struct err *err) MUST_USE;
void human_done(struct human *h);

/* This process is theirs from now on and can never be root's again; negative errno. No heap, no
 * look-ups: between fork and exec. */
int human_become(const struct human *h) MUST_USE;
/* A directory that root has made for the agent, and what is right in it: theirs. It is left alone
 * if it is so already. -EPERM: others could have put something into it. */
int human_give(const struct human *h, const char *path) MUST_USE;
