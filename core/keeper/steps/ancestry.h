/* ancestry - finds the command of a process, the name of the command, and the agent. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct keeper;
struct proc;

void steps_join(struct keeper *k, struct proc *p); /* a process was first seen */
void steps_leave(struct keeper *k, struct proc *p);
int64_t steps_exec(struct keeper *k, struct proc *p, const char *argv, size_t len);
