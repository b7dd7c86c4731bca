/* undo_requests - serves requests of cordon for an undo, redo or restore: plans, progress,
 * results. */
/* SPDX-License-Identifier: MIT */
#pragma once

struct keeper;
struct wire_in;

/* Each reads the request from the frame, or sets in->bad, and sends its result in a frame. */
void undo_serve_plan(struct keeper *k, struct wire_in *in);    /* WIRE_PLAN_REQ */
void undo_serve_undo(struct keeper *k, struct wire_in *in);    /* WIRE_UNDO_REQ */
void undo_serve_restore(struct keeper *k, struct wire_in *in); /* WIRE_RESTORE_REQ */
