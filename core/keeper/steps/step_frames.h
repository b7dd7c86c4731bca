/* step_frames - tells cordon that a step begins, has ended, or that a command changed nothing. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct command;
struct keeper;

struct step_end {
	int64_t id;
	size_t paths;
	bool kept, elsewhere, granted;
	const char *why, *name;
};
void step_frames_begin(struct keeper *k, struct command *c);
void step_frames_end(struct keeper *k, const struct command *c, const struct step_end *e);
/* Tells how a command that changed nothing has ended: a test, a search. */
void step_frames_ran(struct keeper *k, const struct command *c);
