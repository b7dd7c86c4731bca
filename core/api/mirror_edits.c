/* mirror_edits - edits from outside, and the agent's end, of a session that runs elsewhere. */
/* SPDX-License-Identifier: MIT */
#include "core/api/mirror_priv.h"
#include "core/api/peer_edits.h"

static void on_edit(struct model *to, const struct mirror *m)
{
	if (to->n_edits >= EDITS_TOLD)
		return;
	to->edits = xrealloc(to->edits, (to->n_edits + 1) * sizeof(*to->edits));
	to->edits[to->n_edits++] = (struct barrier){
		.first_us = mirror_number(m, "first_us"),
		.last_us = mirror_number(m, "last_us"),
		.count = (size_t)mirror_id_of(m, "count"),
		.after = mirror_number(m, "after"),
	};
}

static void on_path(struct model *to, const struct mirror *m)
{
	struct barrier *b = to->n_edits ? &to->edits[to->n_edits - 1] : NULL;

	if (!b || b->n_paths >= b->count)
		return;
	b->paths = xrealloc(b->paths, (b->n_paths + 1) * sizeof(*b->paths));
	b->paths[b->n_paths++] = xstrdup(mirror_text(m, "path"));
}

void mirror_edits_apply(struct mirror *m, const char *type)
{
	struct model *to = &m->model;

	if (str_eq(type, "event.edits")) {
		model_set_edits(to, NULL, 0);
	} else if (str_eq(type, "event.edit")) {
		on_edit(to, m);
	} else if (str_eq(type, "event.edit_path")) {
		on_path(to, m);
	} else if (str_eq(type, "event.exited")) {
		to->exited = true;
		to->wait_status = (int)mirror_number(m, "wait_status");
	} else {
		return;
	}
	to->version++;
}
