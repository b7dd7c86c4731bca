/* shells - programs of the user beside the agent: start, end, processes and steps. */
/* SPDX-License-Identifier: MIT */
#pragma once

struct keeper;
struct wire_in;

/*
 * A shell, or a command, that the user starts in the agent's sandbox (`cordon exec`). Rules,
 * questions and safeguards hold for it as for the agent. Its changes belong to the user: their
 * steps begin with YOURS_MARK, which labels of the agent's never do (label_unmark()), so that an
 * undo of the agent's work asks first. No group or fold of the agent includes them.
 *
 * Its processes: the backend reports the first one; the others descend from that, or, once their
 * parents have ended, are in its process session, which no other process can enter.
 *
 * Life: shells_start() -> WIRE_SHELL_ENDED. Freed with the last process and the last command.
 */
void shells_start(struct keeper *k, struct wire_in *in);  /* WIRE_SHELL */
void shells_signal(struct keeper *k, struct wire_in *in); /* WIRE_SHELL_SIGNAL */
