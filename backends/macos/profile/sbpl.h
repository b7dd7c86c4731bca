/* sbpl - writes the Sandbox Profile Language: rules, filters, strings of any bytes. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/*
 * A path with a byte that is not printable ASCII becomes a parameter, not part of the text:
 * nothing parses it. So no file name of the agent's can end a string or begin a rule. In regular
 * expressions such bytes are \xHH.
 *
 * Life:    `struct sbpl s = SBPL_INIT;` ... sbpl_done().
 * Threads: one owner.
 */
struct sbpl {
	struct buf text;
	char **params; /* key, value, key, value; NULL at its end; heap */
	size_t n_params;
};
#define SBPL_INIT                                                                                  \
	{                                                                                          \
		.text = BUF_INIT, .params = NULL, .n_params = 0                                    \
	}

void sbpl_done(struct sbpl *s);

/* Writes "; words", for a reader. words never come from the agent. */
void sbpl_comment(struct sbpl *s, const char *words);
/* Write "(allow OPERATIONS", "(deny OPERATIONS". Filters follow; one of them must match. */
void sbpl_allow(struct sbpl *s, const char *operations);
void sbpl_deny(struct sbpl *s, const char *operations);
void sbpl_end(struct sbpl *s); /* ")" of either */
/* "(allow OPERATIONS)" */
void sbpl_allow_all(struct sbpl *s, const char *operations);

/* Writes "(require-all", "(require-any" or "(require-not". Filters follow. */
void sbpl_open(struct sbpl *s, const char *what);
void sbpl_close(struct sbpl *s);

/* (subpath "/a"): /a and its content; (literal "/a"): only /a. */
void sbpl_subpath(struct sbpl *s, const char *path);
void sbpl_literal(struct sbpl *s, const char *path);
void sbpl_regex(struct sbpl *s, const char *regex);
/* (NAME "text") of any other filter, and (NAME word). */
void sbpl_filter(struct sbpl *s, const char *name, const char *text);
void sbpl_word(struct sbpl *s, const char *name, const char *word);
