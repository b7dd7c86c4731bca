/* fs_process - the fs server's process: confines itself and serves until somebody is gone. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/vm/fs/fs_tree.h"

struct fs_process {
	const struct policy *policy; /* from the fork on its own */
	const char *const *hidden;
	const struct fs_page *page;
	const struct fs_share *shares;
	const struct fs_key *stores; /* of the shares: the undo stores */
	size_t n;
	const int *socks; /* to QEMU, one for each share */
	int sock;	  /* to the keeper */
};
NORETURN void fs_process_run(const struct fs_process *p);

/* fs_filter.c: the last of its confinement; no_new_privs is set. */
int fs_filter(struct err *err) MUST_USE;
