/* ancestry - which command a process belongs to, what the command is called, who the agent is. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct keeper;
struct proc;

void steps_join(struct keeper *k, struct proc *p); /* a process was first seen */
void steps_leave(struct keeper *k, struct proc *p);
int64_t steps_exec(struct keeper *k, struct proc *p, const char *argv, size_t len);
