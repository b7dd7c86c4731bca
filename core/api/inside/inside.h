/* inside - the runner: the program in the sandbox that runs commands of front ends. */
/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * It is the session's agent: each command is its child, between a "run" and a "ran" of the keeper's
 * step protocol, so the changes of one command are one step. Files are read and written by children
 * of its own, through the same system calls as all processes inside: rules, questions, safeguards
 * and undo hold for them as for a command.
 *
 * Standard input comes from cordon and standard output goes there (wire.h): one socket, or pipes
 * where the runner is in a virtual machine. At the end of input it kills all its children.
 * Returns the exit status.
 */
int inside_main(void);
