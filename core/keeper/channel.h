/* channel - the socket to cordon: frames out (wire.h), bytes in, words for the human. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/keeper/wire.h"

#define OUT_URGENT (64u << 10) /* bytes that are not worth waiting with */
#define OUT_MAX	   (16u << 20) /* cordon does not read: the agent waits from here on */

struct keeper;

/* A frame is built in k->out; it leaves within FLUSH_US of the loop, or at the end of this turn. */
void keeper_urgent(struct keeper *k);
void keeper_flush(struct keeper *k); /* what the socket takes now */
void keeper_drain(struct keeper *k); /* all of it, waiting for cordon */
int keeper_recv(struct keeper *k);   /* into k->in; -EPIPE: cordon is gone */
