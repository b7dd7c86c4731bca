/* secrets - network.secret: keys that the agent uses by a placeholder and never sees. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

#define SECRETS_MAX 32 /* bits of a uint32_t */

/* "NAME, HOST, HEADER, COMMAND": NAME is a variable inside, which holds the placeholder; where it
 * stands in HEADER of a request to HOST:443 it becomes what COMMAND says outside. */
struct secret {
	char *name, *host, *header, *command; /* host: folded */
	char placeholder[48];		      /* random, of this session */
};

struct secrets {
	struct secret list[SECRETS_MAX];
	size_t n;
};

/* *ret is NULL where there are no lines. -EINVAL: what is wrong with one. */
int secrets_parse(struct secrets **ret, const char *const *lines, struct err *err) MUST_USE;
void secrets_free(struct secrets *s); /* NULL is a no-op */

/* What the TLS process and the broker say to each other over a stream: the one asks with the number
 * of a secret, a byte; the other answers with this and len bytes. */
struct secret_answer {
	uint8_t secret, had; /* had: the bytes are the secret, else words */
	uint16_t len;
};
#define SECRET_ANSWER_MAX 2048 /* bytes behind it, fewer */
