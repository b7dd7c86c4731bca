/* upkeep - background work on the store, in one pass, in this thread. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/history/background.h"
#include "core/journal/journal.h"
#include "core/journal/store/store.h"
#include "tests/model/model.h"

int upkeep(struct journal *j, const struct act *a, size_t *ret_gone)
{
	struct journal_prune prune = {.steps = a->x};
	int r = 0;

	if (a->kind == ACT_TIDY)
		background_once(j);
	else
		r = journal_prune(j, &prune);
	*ret_gone = prune.n;
	return r;
}

int verify_all(struct journal *j, void (*say)(void *data, const char *words), void *data,
	       struct err *err)
{
	struct journal_sound sound;
	struct journal *k = j;
	int r;

	do
		r = journal_verify(k, say, data, &sound, err);
	while (r == 0 && (k = k->sibling) != j);
	return r;
}
