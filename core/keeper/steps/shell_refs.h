/* shell_refs - finds out whether a process is the agent's or of a program of the user's beside
 * it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct command;
struct keeper;
struct proc;

/* A program of the user's beside the agent (shells.h). Freed when its last process and its last
 * command are gone. */
struct shell {
	struct shell *next;
	struct keeper *keeper;
	uint64_t id;
	int pid;	    /* 0: it has ended */
	bool runs_commands; /* a shell at its prompt: each child is a command, as for the agent */
	size_t refs;	    /* processes, commands, and one reference until it has ended */
	struct command *ambient; /* its own changes */
};

/* Returns the shell that the process belongs to, or NULL. */
struct shell *shell_of(struct keeper *k, const struct proc *p);
struct shell *shell_ref(struct shell *sh);
void shell_unref(struct shell **sh); /* no-op if *sh is NULL */
