/* channel - the socket to cordon: sends frames (wire.h), receives bytes. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/keeper/wire.h"

#define OUT_URGENT (64u << 10) /* with this many bytes, frames are sent at once */
#define OUT_MAX	   (16u << 20) /* cordon does not read: then the agent waits */

struct keeper;

/* Sends the frames in k->out at the end of this turn; others are sent within FLUSH_US. */
void keeper_urgent(struct keeper *k);
void keeper_flush(struct keeper *k);		     /* sends as much as the socket accepts now */
void keeper_drain(struct keeper *k);		     /* sends all, waiting for cordon */
void keeper_drop_handed(struct keeper *k, size_t n); /* closes the first n of k->handed */
int keeper_recv(struct keeper *k);		     /* into k->in; -EPIPE: cordon is gone */
