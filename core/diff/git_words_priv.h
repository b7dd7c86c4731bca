/* git_words_priv - types shared by the files that describe changes in a git directory. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/diff/git_words.h"

#define SHORT_HEX 7

struct reflog_line {
	char was[SHORT_HEX + 1], is[SHORT_HEX + 1]; /* "" if the line is not one of git */
	const char *message;			    /* len bytes of the log */
	size_t len;
};

/* ---- git_words_index.c ---- */
#define INDEX_NAMES 3

struct index_change {
	size_t n;		  /* paths whose entries differ */
	size_t gone;		  /* number of these without an entry */
	char *names[INDEX_NAMES]; /* the first of them as written in the index; heap */
	unsigned char object[32]; /* of the first one with an entry */
	size_t hash;		  /* length in bytes; 0: there is none */
};

/* Compares two indexes; NULL: an empty one. Returns whether both can be read. */
bool index_compare(struct index_change *ret, const char *before, size_t before_len,
		   const char *after, size_t after_len);
void index_change_done(struct index_change *x);
