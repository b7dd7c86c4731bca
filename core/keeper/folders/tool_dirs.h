/* tool_dirs - makes directories of tools that the host does not have, at the agent's mkdir. */
/* SPDX-License-Identifier: MIT */
#pragma once

struct keeper;

/*
 * ~/.gradle is absent on the host. At the agent's mkdir("~/.gradle") the keeper makes an empty
 * directory among its points, which the read gate shows at ~/.gradle because nothing of the host is
 * there, and has the mounter bind the folder's own directory over it. The host's home folder does
 * not change. From the next session on the plan binds it.
 *
 * The agent cannot write to the points. Which directories there may be is known at the start: the
 * agent's Landlock domain has a rule for each.
 */

/* Makes the directory at path, absolute and clean. Returns 1, 0 if it is no directory of a tool, or
 * negative errno. */
int tool_dir_make(struct keeper *k, const char *path);
