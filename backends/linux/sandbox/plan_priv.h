/* plan_priv - what the halves of the plan share. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/sandbox/plan.h"

/* ---- plan.c ---- */
struct plan_op *plan_add(struct plan *p, enum plan_what what, const char *path, const char *source);
void plan_push(char ***list, size_t *n, size_t *cap, const char *s);
/* Private inside, whatever the host has there. */
bool plan_is_private(const char *path);
bool plan_is_in(const char *const *list, const char *path);

/* ---- plan_gates.c: gated trees, and what is granted beneath them ---- */
int plan_find_gates(struct plan *p, const struct spawn_spec *spec, struct err *err);
bool plan_is_gate(const struct plan *p, const char *path);
/* READ_FUSE: what stands beneath a gate needs a mount of its own. */
bool plan_is_covered(const struct plan *p, const char *path);
void plan_gates(struct plan *p);
/* Trees that are granted, each bound where no other mount shows it. */
void plan_grants(struct plan *p, const struct spawn_spec *spec);

/* ---- plan_sockets.c: sockets of the host that a rule speaks of ---- */
/* private: those in directories that the sandbox has of its own. */
void plan_sockets(struct plan *p, const struct spawn_spec *spec, bool private);
/* The way to one shows: its hidden directories are there, though nothing else of them is. */
void plan_socket_ways(struct plan *p, const struct spawn_spec *spec);

/* ---- plan_trees.c: READ_TRAP: the same as rules of Landlock ---- */
void plan_trees(struct plan *p, const struct spawn_spec *spec);

/* ---- plan_hidden.c: hidden paths, and the directories that are rebuilt without them ---- */
int plan_find_hidden(struct plan *p, const struct spawn_spec *spec, struct err *err);
int plan_cover(struct plan *p, struct err *err);
