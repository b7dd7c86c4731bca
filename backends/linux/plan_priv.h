/* plan_priv - what the halves of the plan share. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/plan.h"

/* ---- plan.c ---- */
struct plan_op *plan_add(struct plan *p, enum plan_what what, const char *path, const char *source);
void plan_push(char ***list, size_t *n, size_t *cap, const char *s);
/* Private inside, whatever the host has there. */
bool plan_is_private(const char *path);
bool plan_is_in(const char *const *list, const char *path);

/* ---- plan_hidden.c: hidden paths, and the directories that are rebuilt without them ---- */
int plan_find_hidden(struct plan *p, const struct spawn_spec *spec, struct err *err);
bool plan_is_hidden(const struct plan *p, const char *path); /* itself or an ancestor */
int plan_cover(struct plan *p, struct err *err);
