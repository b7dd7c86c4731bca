/* encoder - turns the queued events of a recording into the lines of a block. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/record/block.h"
#include "core/record/redact.h"

/* One event on its way from the main loop to the thread, followed by len bytes. */
struct item {
	int64_t t_us, id;
	uint32_t len;
	char code;    /* CAST_*, or ITEM_KEY */
	uint8_t kind; /* of a mark */
	bool row;     /* the event is a row of activity */
};
#define ITEM_KEY 'K' /* the terminal at this point: ends the block */

void item_add(struct buf *queue, const struct item *head, const char *bytes);

/*
 * Threads: only the recorder's.
 * Output that cannot be written yet - a word that may become a secret, the first bytes of a
 * character - waits for the next block.
 */
struct encoder {
	const struct redact *redact;
	struct buf text, own, key; /* of the current block */
	struct block block;
	struct buf out;	   /* output bytes that are redacted together */
	struct buf pieces; /* struct piece: offset of the bytes, and the events between them */
	struct buf words;  /* of the markers and sizes between */
	struct buf typed;  /* keystrokes of one line */
	struct buf events; /* cordon's own, one on each line */
	int64_t typed_us, held_us, own_us;
	int64_t last_us; /* time of the newest line: times only grow */
	bool any;
};

void encoder_init(struct encoder *e, const struct redact *redact);
void encoder_done(struct encoder *e);
/* Takes items from *at on, up to one that ends a block. Returns whether a block is complete. */
bool encoder_feed(struct encoder *e, const struct buf *queue, size_t *at);
/* Releases output that was held back for too long, or all of it at the end. */
void encoder_flush(struct encoder *e, int64_t now_us, bool end);
bool encoder_has_block(const struct encoder *e);
bool encoder_holds(const struct encoder *e); /* output is held back: flush it in a while */
void encoder_finish(struct encoder *e);	     /* call it before the block is written */
/* Begins a new block, after one is written. */
void encoder_next(struct encoder *e);
