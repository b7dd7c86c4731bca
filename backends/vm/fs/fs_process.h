/* fs_process - the fs server's process: confines itself, serves until QEMU or the keeper ends. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/vm/fs/fs_tree.h"

struct fs_process {
	const struct policy *policy; /* the process's copy, of the moment of the fork */
	const char *const *hidden;
	const struct fs_page *page;
	const struct fs_share *shares;
	const struct fs_key *stores; /* the undo store in each share */
	size_t n;
	const int *socks; /* to QEMU, one for each share */
	int sock;	  /* to the keeper */
};
NORETURN void fs_process_run(const struct fs_process *p);

/* fs_filter.c: installs the process's system call filter. no_new_privs must be set. */
int fs_filter(struct err *err) MUST_USE;
