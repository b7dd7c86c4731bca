/* note - messages between the broker and the keeper, all of one size. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/net/host.h"
#include "core/policy/answer.h"

#define BROKER_TEXT 2048

enum broker_what {
	/* broker to keeper */
	BROKER_WANT = 1, /* id, kind, target, text: the key: request to use it there */
	BROKER_GONE,	 /* id: no client waits for the answer */
	BROKER_USED,	 /* kind, target, text: the key was used */
	BROKER_NONE,	 /* kind, target, text: it was not used, and why */
	BROKER_SECRET,	 /* id, text: no recording may show this text */
	/* keeper to broker */
	BROKER_ANSWER, /* id, allow */
	BROKER_KEPT,   /* id: cordon has noted that secret */
};

/* A value of `kind` that is not a rule's: the connection was judged, the secret need not be. */
#define BROKER_USE_SECRET UINT32_MAX

struct broker_note {
	uint32_t what;
	uint32_t kind; /* RULE_CREDENTIALS, RULE_SIGN; BROKER_USE_SECRET */
	uint64_t id;   /* of a client; the broker counts them from 1 */
	uint32_t allow;
	char target[NET_TARGET_TEXT];
	char text[BROKER_TEXT]; /* NUL-terminated, like target */
};
