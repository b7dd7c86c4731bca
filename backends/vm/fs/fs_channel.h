/* fs_channel - the fs server's questions to the keeper, each with a callback for its answer. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/vm/fs/fs_note.h"

struct fs_channel;

/* result is 0 or a negative errno. The callee owns fd, which may be -1. Called in the server's
 * loop, never from fs_ask(). */
typedef void (*fs_done)(void *data, int result, int fd);

struct fs_channel *fs_channel_new(int sock); /* takes sock */
void fs_channel_free(struct fs_channel *c);  /* calls no callback; NULL is a no-op */
/* Returns a message to be filled in, zeroed but for data. Valid until fs_ask(). */
struct fs_note *fs_note_begin(struct fs_channel *c);
/* Attaches a descriptor to the message; borrowed until fs_ask(). */
void fs_note_attach(struct fs_channel *c, int fd);
/* Sends the message. Returns the question's id; 0: the message is too long, done is not called. */
uint64_t fs_ask(struct fs_channel *c, const struct fs_note_parts *p, fs_done done, void *data);
/* Cancels a question: done is not called. A change that the keeper has made already stays. */
void fs_ask_cancel(struct fs_channel *c, uint64_t id);
short fs_channel_events(const struct fs_channel *c);	    /* for poll(2) */
bool fs_channel_serve(struct fs_channel *c, short revents); /* false: the keeper has ended */
