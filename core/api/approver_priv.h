/* approver_priv - messages between cordon and the helper process that runs its commands. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/api/approver.h"

enum order_what {
	ORDER_ASK,    /* run approval.command; the descriptor that comes along is its input */
	ORDER_NOTIFY, /* the same with approval.notify; an outcome follows only after a failure */
	ORDER_CANCEL, /* stop the command: the request was answered */
};

/* One packet, in each direction. */
struct order {
	uint64_t id;
	uint64_t what;
};

enum approver_fault {
	APPROVER_NONE,
	APPROVER_NOT_STARTED, /* text says why */
	APPROVER_FAILED,      /* a signal ended it, or the shell did not find the program */
	APPROVER_LATE,	      /* it did not end in time */
};

struct outcome {
	uint64_t id;
	uint32_t what, fault;
	int32_t status; /* exit status; -1: a signal ended it, or it was late */
	uint32_t len;
	char text[APPROVER_TEXT]; /* the beginning of its output */
};

struct helper_spec {
	int sock;
	const char *command, *notify; /* NULL: not set */
	uint32_t timeout_s;
};

/* Runs the helper process. Never returns; exits when the socket is closed. */
NORETURN void helper_main(const struct helper_spec *spec);
