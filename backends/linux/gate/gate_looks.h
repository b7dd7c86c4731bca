/* gate_looks - reports the first look of each program at each hidden place. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/gate/gate_priv.h"
#include "core/keeper/keeper.h"

/* Most looks at hidden places that a session reports. */
#define LOOKS_MAX 200

struct gate_looks {
	char *list[LOOKS_MAX]; /* "PROGRAM PLACE" */
	size_t n;
};

/* The look does not wait for the keeper: of a program that has ended since, only the number is
 * known. */
void gate_looks_note(struct gate_looks *l, struct keeper *k, struct door *door,
		     const struct gate_note *note);
void gate_looks_done(struct gate_looks *l);
