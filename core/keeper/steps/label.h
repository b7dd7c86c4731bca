/* label - what to call a command, from its arguments. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/* In place of the arguments that are left out, without a NUL, which ends each that is whole. */
#define LABEL_REST "..."

/* Of one that lacks something, " ..." at its end says so. */
void label_command(struct buf *out, const char *argv, size_t len);
/* The command that an agent has its shell evaluate after setting it up: "make" of `sh -c "shopt ...
 * && eval 'make' && pwd ..."`. False: it is none of that kind. */
bool label_evaluated(struct buf *out, const char *argv, size_t len);
/* A text that is cut, or that only sets up: an exec of the same process names the command. */
bool label_is_set_up(const char *argv, size_t len);
bool label_is_text(const char *argv, size_t len); /* a shell with -c TEXT */
/* Nothing is left out of it: who has read it knows what runs. A word "..." of its own: false. */
bool label_is_whole(const char *label);
/* Only starts another program (npx claude, sh -c claude): that one is the agent. */
bool label_wraps(const char *argv, size_t len);
/* The same, but for a shell that runs any text. */
bool label_is_wrapper(const char *argv, size_t len);
const char *label_program(const char *argv, size_t len); /* last component of argv[0], borrowed */
/* What to call an agent: as label_program(), or the script that an interpreter runs. Borrowed. */
const char *label_agent(const char *argv, size_t len);
/* Is a program of this name one that runs scripts? Shells are not meant. */
bool label_is_interpreter(const char *name);
