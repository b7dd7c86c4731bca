/* peer_edits - tells a client of the socket of edits from outside, and of the agent's end. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/model.h"

/*
 *   session -> client   event.edits: the list begins anew, newest first; event.edit {after, ...},
 *                       event.edit_path {path} of the edit before; event.exited {wait_status}
 *
 * Life:    zeroed with the peer -> peer_edits_tell() whenever the model has changed. Owns nothing.
 *          Main loop only.
 * Bounds:  the list is told whole, when it has changed: EDITS_TOLD edits of 20 paths each.
 */
#define EDITS_TOLD 50

struct peer_edits {
	size_t n; /* what was told: how many, and what would change with them */
	uint64_t sum;
	bool ended;
};

/* About room bytes at most. false: there was none, so there is more to tell. */
bool peer_edits_tell(struct peer_edits *p, const struct model *m, size_t room, struct buf *out);
