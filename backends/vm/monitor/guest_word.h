/* guest_word - what the keeper and the monitor say to each other about a running guest. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One message on a SOCK_SEQPACKET pair of its own. The monitor passes on what the guest says, so
 * the keeper trusts none of its bytes.
 */
enum guest_word_kind {
	/* From the keeper: */
	WORD_WHO = 1,	  /* which process is the thread pid? */
	WORD_KILL,	  /* signal status to the process pid; SIGKILL to all below it, too */
	WORD_ROLLED_BACK, /* the folders have changed: step number */
	WORD_HOLD,	  /* the machine stands still */
	WORD_GO_ON,
	WORD_ANSWER, /* number, text: to WORD_STEP */
	/* From the monitor: */
	WORD_AGENT,   /* the program is the process pid */
	WORD_PROCESS, /* pid, parent, group, age, execed, text */
	WORD_IS,      /* the thread pid is of the process parent; 0: it is gone */
	WORD_EXEC,    /* pid, text */
	WORD_LEFT,    /* pid, status as a shell's $? */
	WORD_STEP,   /* the process pid asks about its step: number, text (core/keeper/service.h) */
	WORD_FULL,   /* its image is, before the program starts */
	WORD_STANDS, /* QEMU says: status 1 it stands still, 0 it runs */
};

#define WORD_TEXT (256 + 4096)

struct guest_word {
	int32_t kind;
	int32_t pid, parent, group, status;
	int32_t execed;
	int64_t number;		    /* age in microseconds; a step */
	uint32_t exe_len, argv_len; /* in text, exe first, without NUL */
	char text[WORD_TEXT];
};
#define WORD_HEAD offsetof(struct guest_word, text)

/* Cuts what is too long. Returns the message's length. */
size_t guest_word_pack(struct guest_word *w, const char *exe, size_t exe_len, const char *argv,
		       size_t argv_len);
/* False: lengths that do not fit. */
bool guest_word_fits(const struct guest_word *w, size_t len);
