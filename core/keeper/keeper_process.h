/* keeper_process - the signals and descriptors that the keeper's process inherits. */
/* SPDX-License-Identifier: MIT */
#pragma once

struct keeper_spec;

/*
 * Drops the handlers, which belong to cordon. Ignored signals stay ignored (nohup), except those
 * that cordon ignores for itself. Signals that would end or stop the keeper are caught: a keeper
 * that dies loses the open step.
 */
void keeper_process_signals(void);
/* Closes every descriptor but those of the spec. 0 to 2 become /dev/null unless they are the
 * agent's. */
void keeper_process_close(const struct keeper_spec *spec);
/* Closes the agent's descriptors, which the agent has copies of: the keeper's would keep its
 * terminal or pipe open after it. null becomes 0 to 2. */
void keeper_process_drop_stdio(const struct keeper_spec *spec, int null);
/* Raises the limit of open files: the keeper has a pidfd for each process inside and a descriptor
 * for each directory. */
void keeper_process_raise_files(void);
