/* peer_undo - undo over a session's socket: what a client asks for, and what it is told. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/session.h"

/*
 *   client -> session   cmd.plan {request, kind, n, flags, step, path}
 *   session -> client   event.plan_path ..., event.plan_edit ..., then event.plan {request, ...},
 *                       which is the plan, or says why there is none
 *   client -> session   cmd.undo {request, plan, flags}: what that plan is about, held to it
 *   session -> client   event.job {request, done, total, ...}, the last with active false
 *   client -> session   cmd.cancel, cmd.stop (the commands that run)
 *
 * Life:    peer_undo_open() with the peer -> peer_undo_obey() for each line, peer_undo_changed()
 *          whenever the model has changed -> peer_undo_close(). Main loop only.
 * Bounds:  a plan is told up to PLAN_BYTES: its first paths, conflicts before all. The numbers are
 *          whole.
 */
#define PLAN_BYTES (256u << 10)

struct peer_undo;

/* send takes whole lines; it may close this. */
struct peer_undo *peer_undo_open(struct session *s, void (*send)(void *peer, const struct buf *out),
				 void *peer) MUST_USE;
void peer_undo_close(struct peer_undo *u); /* NULL is a no-op */
/* false: the line is no command of these. Else out has the reply. */
bool peer_undo_obey(struct peer_undo *u, const char *line, size_t len, struct buf *out);
void peer_undo_changed(struct peer_undo *u, struct buf *out);

/* ---- the words, for both ends -----------------------------------------------------------------
 */

#define UNDO_KIND_NAMES                                                                            \
	{                                                                                          \
		[UNDO_BACK] = "undo", [UNDO_REDO] = "redo", [UNDO_PATHS] = "restore"               \
	}
/* Of the flags, bit by bit. */
#define UNDO_FLAG_NAMES                                                                            \
	{                                                                                          \
		"force", "keep_mine", "merge", "cross", "all_places"                               \
	}
#define UNDO_FATE_NAMES                                                                            \
	{                                                                                          \
		[FATE_STOPS] = "stops", [FATE_FORCED] = "forced", [FATE_KEPT] = "kept",            \
		[FATE_MERGED] = "merged", [FATE_MARKED] = "marked",                                \
	}
/* Why a path stops a plan, as enum wire_conflict. */
#define UNDO_STOP_NAMES                                                                            \
	{                                                                                          \
		"", "since", "beside", "linked", "lost"                                            \
	}
