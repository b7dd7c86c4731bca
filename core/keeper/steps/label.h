/* label - names a command by its arguments. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/* Replaces omitted arguments. It has no final NUL, unlike complete arguments. */
#define LABEL_REST "..."

/* Changes a label that looks like one of the user's (shells.h): "you: make" becomes "\you: make",
 * which a shell reads the same. */
void label_unmark(struct buf *label);
bool label_is_shell(const char *word); /* as argv[0] */
/* Appends the label of a command. If arguments are missing it ends with " ...". */
void label_command(struct buf *out, const char *argv, size_t len);
/* Extracts the command that an agent has its shell evaluate after a set-up: "make" of `sh -c "shopt
 * ... && eval 'make' && pwd ..."`. Returns false for other commands. */
bool label_evaluated(struct buf *out, const char *argv, size_t len);
/* Returns whether the text is cut, or only prepares a command: then a later exec of the same
 * process names the command. */
bool label_is_set_up(const char *argv, size_t len);
bool label_is_text(const char *argv, size_t len); /* a shell with -c TEXT */
/* Returns whether the label is complete, so that its reader knows the whole command. False if an
 * argument is "...". */
bool label_is_whole(const char *label);
/* Returns whether the command only starts another program (npx claude, sh -c claude), which is the
 * agent. */
bool label_wraps(const char *argv, size_t len);
/* Returns the same, but false for a shell that runs any text. */
bool label_is_wrapper(const char *argv, size_t len);
/* Returns the name of an agent: label_program(), or the script that an interpreter runs.
 * Borrowed. */
const char *label_agent(const char *argv, size_t len);
/* Returns whether a program of this name is an interpreter of scripts, other than a shell. */
bool label_is_interpreter(const char *name);
