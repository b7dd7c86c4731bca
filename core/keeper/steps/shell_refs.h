/* shell_refs - whose process it is: the agent's, or of a program of the human's beside it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct command;
struct keeper;
struct proc;

/* A program of the human's beside the agent (shells.h). Freed with the last process and the last
 * command of it. */
struct shell {
	struct shell *next;
	struct keeper *keeper;
	uint64_t id;
	int pid;	    /* 0: it has ended */
	bool runs_commands; /* a shell at its prompt: each child is a command, as the agent's are */
	size_t refs;	    /* processes, commands, and one until it has ended */
	struct command *ambient; /* its own changes */
};

/* Returns the shell that the process belongs to, or NULL. */
struct shell *shell_of(struct keeper *k, const struct proc *p);
struct shell *shell_ref(struct shell *sh);
void shell_unref(struct shell **sh); /* NULL in it is a no-op */
