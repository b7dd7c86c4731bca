/* credential - messages of git's credential helpers: lines of NAME=VALUE (git-credential(1)). */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/net/host.h"

#define CREDENTIAL_MAX 8192 /* most bytes of a request */

/* A request of git. */
struct credential {
	struct net_target target; /* port 0: git gave none */
	char path[1024];	  /* "": not given by git */
	char username[256];	  /* "": any */
};

/* Parses a message of git. Returns 1: it requests *ret; 0: another message (store, erase), which is
 * ignored; -EINVAL: it is refused, and *why says why. Only https is served: other protocols would
 * show the token to the network. */
int credential_read(struct credential *ret, struct span text, const char **why) MUST_USE;
/* Appends the input for `git credential fill`. */
void credential_question(const struct credential *c, struct buf *out);
/* Converts the answer of `git credential fill` for git inside: only name and password. Returns
 * -ENOENT if it has none. *password points into answer. */
int credential_answer(struct span answer, struct buf *out, struct span *name, struct span *password)
	MUST_USE;
