/* net_effect - the net effect of several steps on each path. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/history.h"
#include "core/journal/util/path_set.h"

struct net_effect {
	struct change_side before, after;
	bool seen;
	bool tangled; /* concurrent steps or hard links: the effect may be incomplete */
	char *renamed_from;
};

struct net_effects {
	struct path_set keys; /* number i: that of list[i] */
	struct net_effect *list;
	size_t cap;
};

/* Adds a change; steps are added newest first. tangled, old_tangled: a concurrent step touched its
 * path or its old path. */
void net_effects_tangle(struct net_effects *f); /* marks all entries as tangled */
void net_effects_add(struct net_effects *f, const struct change *c, bool tangled, bool old_tangled);
const struct net_effect *net_effects_find(const struct net_effects *f,
					  const char *key); /* or NULL */
void net_effects_done(struct net_effects *f);
