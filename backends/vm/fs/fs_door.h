/* fs_door - the keeper's door for the guest: requests of the fs server, answered or parked. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/types.h>

#include "backends/vm/fs/fs_note.h"
#include "core/keeper/door.h"

struct fs_door;

/*
 * Life: fs_door_new() -> door_ops.close(). One thread, the keeper's. A request that the keeper
 * holds is kept here as a copy and performed when the user has answered.
 */
struct fs_door_spec {
	struct keeper *k;
	int sock;		/* taken */
	struct fs_page *page;	/* taken */
	struct folder **folder; /* by share; NULL: the share is read-only; copied */
	size_t n;
};
/* Finds processes of the guest. */
struct fs_callers {
	/* Returns 0, -EAGAIN (fs_server_known() will say when to ask again), or another negative
	 * errno. */
	int (*find)(void *data, int tid, struct caller *ret);
	void (*tick)(void *data); /* called at the time of keeper_wake_at() */
	/* Called after a step was undone or redone. */
	void (*rolled_back)(void *data, int64_t step);
};
/* The door fills this in; the server's handle reads it. Each holds one reference. */
struct fs_shared {
	unsigned refs;
	pid_t caller;			  /* 0: every request is refused */
	const struct fs_callers *callers; /* NULL: `caller` represents every process of the guest */
	void *data;			  /* for the callbacks */
	struct fs_door *door;		  /* NULL: closed */
	size_t held;
};
struct door *fs_door_new(const struct fs_door_spec *spec, struct fs_shared *shared) MUST_USE;
void fs_shared_unref(struct fs_shared *s);
/* Continues the requests whose thread find() did not know. */
void fs_door_known(struct fs_door *d, int tid);
struct fs_page *fs_page_new(struct err *err) MUST_USE; /* NULL: err says why */
void fs_page_free(struct fs_page *page);	       /* NULL is a no-op */
