/* events - reports what happened inside to cordon, for the audit log and the activity list. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "core/keeper/caller.h"

struct keeper;

/* cordon hears of a change. keeper_deny() and the like: service.h. */
void event_touch(struct keeper *k, const struct caller *c, const char *path, const char *path2);
/* One of the human's keys was used for it, at that host: it changes nothing. */
void event_used(struct keeper *k, const struct caller *c, const char *host, const char *key);
void events_tallies(struct keeper *k, bool now); /* tell cordon, once a second or now */
void events_done(struct keeper *k);
