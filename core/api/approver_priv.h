/* approver_priv - between cordon and the helper that runs its commands. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/api/approver.h"

enum order_what {
	ORDER_ASK,    /* run approval.command; the descriptor that comes along is its input */
	ORDER_NOTIFY, /* the same with approval.notify, without an outcome */
	ORDER_CANCEL, /* nobody waits for it any more */
};

/* One packet each way. */
struct order {
	uint64_t id;
	uint32_t what;
};

struct outcome {
	uint64_t id;
	int32_t status; /* exit status; -1: it did not end by itself, or not in time */
	uint32_t len;
	char text[APPROVER_TEXT]; /* the beginning of what it wrote */
};

struct helper_spec {
	int sock;
	const char *command, *notify; /* NULL: not set */
	uint32_t timeout_s;
};

/* The helper's own process: until the socket is closed. */
NORETURN void helper_main(const struct helper_spec *spec);
