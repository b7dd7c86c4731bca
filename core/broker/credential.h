/* credential - messages of git's credential helpers: lines of NAME=VALUE (git-credential(1)). */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/net/host.h"

#define CREDENTIAL_MAX 8192 /* bytes of a request */

/* What git asks for. */
struct credential {
	struct net_target target; /* port 0: none was named */
	char path[1024];	  /* "": git does not tell */
	char username[256];	  /* "": any */
};

/* 1: it asks for this; 0: it says something (store, erase), which nobody hears; -EINVAL: *why it
 * gets nothing. Only https is served: anything else would show the token to the network. */
int credential_read(struct credential *ret, struct span text, const char **why) MUST_USE;
/* The question for `git credential fill`. */
void credential_question(const struct credential *c, struct buf *out);
/* What that has answered, as git inside gets it: name and password, nothing else. -ENOENT: there is
 * none. *password points into answer. */
int credential_answer(struct span answer, struct buf *out, struct span *name, struct span *password)
	MUST_USE;
