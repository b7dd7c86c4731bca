/* guest_word - messages between keeper and monitor about a running guest. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One message on a SOCK_SEQPACKET pair of its own. The monitor forwards the guest's messages
 * unchecked, so the keeper trusts none of their bytes.
 */
enum guest_word_kind {
	/* From the keeper: */
	WORD_WHO = 1, /* find the process of thread pid */
	WORD_KILL,    /* send signal `status` to process pid; SIGKILL: to its descendants, too */
	WORD_ROLLED_BACK, /* an undo has changed the folders: step number */
	WORD_HOLD,	  /* stop the machine */
	WORD_GO_ON,	  /* let it run */
	WORD_ANSWER,	  /* to WORD_STEP: number, text */
	/* From the monitor: */
	WORD_AGENT,   /* the program runs as process pid */
	WORD_PROCESS, /* a process: pid, parent, group, age, execed, text */
	WORD_IS,      /* thread pid belongs to process `parent`; 0: it has ended */
	WORD_EXEC,    /* process pid has executed a program: text */
	WORD_LEFT,    /* process pid has ended; status as a shell's $? */
	WORD_STEP,    /* process pid asks about its step: number, text (core/keeper/service.h) */
	WORD_FULL,    /* before the program starts: the guest's image is full */
	WORD_STANDS,  /* QEMU reports that the machine is stopped (status 1) or runs (0) */
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

/* Fills in text, and cuts it if it is too long. Returns the message's length. */
size_t guest_word_pack(struct guest_word *w, const char *exe, size_t exe_len, const char *argv,
		       size_t argv_len);
/* Returns false if the lengths in a message of len bytes do not fit. */
bool guest_word_fits(const struct guest_word *w, size_t len);
