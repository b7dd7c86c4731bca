/* peer_edits - tells a client of the socket of edits from outside, and of the agent's end. */
/* SPDX-License-Identifier: MIT */
#include "core/api/peer_edits.h"

#include <inttypes.h>

#include "core/api/api_priv.h"

#define PATHS_TOLD 20 /* of one edit: the list shows five, the view of it these */

static uint64_t sum_of(const struct model *m)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < m->n_edits; i++)
		sum += m->edits[i].count + (uint64_t)m->edits[i].last_us;
	return sum;
}

static bool tell_edits(struct peer_edits *p, const struct model *m, size_t room, struct buf *out)
{
	uint64_t sum = sum_of(m);
	size_t before = out->len;

	if (p->n == m->n_edits && p->sum == sum)
		return true;
	if (room == 0)
		return false;
	p->n = m->n_edits;
	p->sum = sum;
	message_edits(out);
	for (size_t i = 0; i < m->n_edits && i < EDITS_TOLD; i++) {
		const struct barrier *b = &m->edits[i];

		if (out->len - before >= room) /* the oldest are left out */
			break;
		message_edit(out, b);
		for (size_t k = 0; k < MIN(b->n_paths, (size_t)PATHS_TOLD); k++)
			message_edit_path(out, b->paths[k]);
	}
	return true;
}

bool peer_edits_tell(struct peer_edits *p, const struct model *m, size_t room, struct buf *out)
{
	bool all = tell_edits(p, m, room, out);

	if (m->exited && !p->ended)
		message_exited(out, m->wait_status);
	p->ended = m->exited;
	return all;
}
