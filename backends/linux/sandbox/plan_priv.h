/* plan_priv - functions that the files of the plan share. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/sandbox/plan.h"

/* ---- plan.c ---- */
struct plan_op *plan_add(struct plan *p, enum plan_what what, const char *path, const char *source);
void plan_push(char ***list, size_t *n, size_t *cap, const char *s);
/* Returns whether the sandbox has a private directory at this path. */
bool plan_is_private(const char *path);

/* ---- plan_gates.c: gated trees, and granted trees beneath them ---- */
int plan_find_gates(struct plan *p, const struct spawn_spec *spec, struct err *err);
bool plan_is_gate(const struct plan *p, const char *path);
/* READ_FUSE: returns whether the path is beneath a gate, and so needs a mount of its own. */
bool plan_is_covered(const struct plan *p, const char *path);
void plan_gates(struct plan *p);
/* Binds each granted tree that no other mount shows. */
void plan_grants(struct plan *p, const struct spawn_spec *spec);

/* ---- plan_sockets.c: sockets of the host that a rule names ---- */
/* Shows the sockets. private: only those in private directories of the sandbox; else the others. */
void plan_sockets(struct plan *p, const struct spawn_spec *spec, bool private);
/* Removes the probes of hidden directories above a socket: they exist, but have only the socket. */
void plan_socket_ways(struct plan *p, const struct spawn_spec *spec);

/* ---- plan_trees.c: READ_TRAP: the same as Landlock rules ---- */
void plan_trees(struct plan *p, const struct spawn_spec *spec);

/* ---- plan_hidden.c: hidden paths, and the directories that are rebuilt without them ---- */
int plan_find_hidden(struct plan *p, const struct spawn_spec *spec, struct err *err);
int plan_cover(struct plan *p, struct err *err);
