/* git_store - hides a store that lies in the working folder from git. */
/* SPDX-License-Identifier: MIT */
#pragma once

struct journal;

/*
 * Protects a store in the folder from `git clean -fdx`, and keeps `git status` inside from trying
 * to open it, if the folder is in a work tree whose .git is a directory. Best effort: errors go to
 * the log. Call it before the agent runs. For a linked worktree or a submodule, whose .git is a
 * file: journal_hide_store().
 */
void git_store_hide(const struct journal *j);
