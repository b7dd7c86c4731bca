/* mirror_priv - what mirror.c, mirror_net.c and mirror_undo.c share. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/api/mirror.h"

struct mirror {
	struct link link;
	struct model model;
	struct buf out;
	char *folder, *refusal;
	int broken;	       /* what reading failed with before there was a loop to tell it to */
	uint64_t last_request; /* of an undo, plan or not */
	uint64_t row;	       /* the number of the newest row that it was told */
	struct undo_plan *coming; /* the plan that is being told, or NULL */
};

/* Members of the newest line; text: "" where it is not there. */
int64_t mirror_number(const struct mirror *m, const char *name);
uint64_t mirror_id_of(const struct mirror *m, const char *name);
bool mirror_truth(const struct mirror *m, const char *name);
char *mirror_text(const struct mirror *m, const char *name);
/* Which of the words it is; 0: none of them. */
int mirror_word(const struct mirror *m, const char *name, const char *const *words, size_t n);
/* What waits in out. 0, or -EPIPE. */
int mirror_send(struct mirror *m);
/* The newest line, if it is about an undo. */
void mirror_undo_apply(struct mirror *m, const char *type);
/* The newest line, if it is about an edit from outside or the agent's end. */
void mirror_edits_apply(struct mirror *m, const char *type);
/* The newest line, if it is about a connection. */
void mirror_net_apply(struct mirror *m, const char *type);
/* The session is gone: what it was doing is not known any more. */
void mirror_undo_lost(struct mirror *m);
