/* net_effect - the net effect of several steps on each path. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/history.h"
#include "core/journal/util/path_set.h"

struct net_effect {
	bool exists_before, exists_after;
	bool seen;
	char *renamed_from;
};

struct net_effects {
	struct path_set keys; /* number i: that of list[i] */
	struct net_effect *list;
	size_t cap;
};

/* Adds a change; steps are added newest first. */
void net_effects_add(struct net_effects *f, const struct change *c);
const struct net_effect *net_effects_find(const struct net_effects *f,
					  const char *key); /* or NULL */
void net_effects_done(struct net_effects *f);
