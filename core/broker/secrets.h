/* secrets - network.secret: keys that the agent uses through a placeholder and never sees. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

#define SECRETS_MAX 32 /* they are bits of a uint32_t */

/* A line "NAME, HOST, HEADER, COMMAND". NAME is a variable inside with the placeholder. In HEADER
 * of a request to HOST:443, the placeholder is replaced by the output of COMMAND, which runs
 * outside. */
struct secret {
	char *name, *host, *header, *command; /* host: folded */
	char placeholder[48];		      /* random for each session */
};

struct secrets {
	struct secret list[SECRETS_MAX];
	size_t n;
};

/* Parses the lines. *ret is NULL if there are none. Returns -EINVAL, and words, for a bad line. */
int secrets_parse(struct secrets **ret, const char *const *lines, struct err *err) MUST_USE;
void secrets_free(struct secrets *s); /* NULL is a no-op */

/* Messages between the TLS process and the broker, over a stream: a request is the number of a
 * secret, one byte; an answer is this head and len bytes. */
struct secret_answer {
	uint8_t secret, had; /* had: the bytes are the secret; else they are an error */
	uint16_t len;
};
#define SECRET_ANSWER_MAX 2048 /* limit of the bytes after the head */
