/* profile_priv - the sections of a profile, one function each. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/profile/profile.h"
#include "core/policy/listed.h"

/* What the sections share. */
struct build {
	struct sbpl *s;
	const struct profile_spec *spec;
	const struct policy *policy;
	char **folders, **read_only, **temp, **system; /* canonical; temp with the own one */
	char *own;				       /* the same, or NULL */
	struct buf roots; /* regular expression of what may be written: "(/a|/b)" */
	struct policy_line *lines, *untrusted;
	size_t n_lines, n_untrusted;
	size_t skipped;
};

/* Writing, in every form; and reading what is in a file. */
#define OPS_WRITE   "file-write* file-link"
#define OPS_CONTENT "file-read-data file-read-xattr"
/* To put an object in place, or to change what is in it. */
#define OPS_PLACE "file-write-create file-write-data file-link"

/* ---- process.c ---- */
void section_base(struct build *b);
void section_process(struct build *b);
void section_pty(struct build *b);
void section_mark(struct build *b);

/* ---- reads.c ---- */
void section_reads(struct build *b);

/* ---- lines.c: rules, and built-in lists that rules may loosen, the nearer the later ---- */
void section_read_lines(struct build *b);
void section_write_lines(struct build *b);
/* The organisation's word, an untrusted project's; what is not read is not written either. */
void section_last_lines(struct build *b);
/* What a rule names, and the policy, asked for just that path, allows. */
void section_exact(struct build *b);

/* ---- writes.c ---- */
void section_writes(struct build *b);
void section_ways(struct build *b); /* renames of directories above what is closed */
void find_roots(struct build *b);   /* b->roots */

/* ---- dangerous.c: names that are protected or secret in the folders ---- */
void section_secrets(struct build *b);
void section_dangerous(struct build *b);
void section_hidden(struct build *b);

/* ---- network.c ---- */
void section_network(struct build *b);
void section_sockets(struct build *b);

/* (subpath ...) of each; an empty list is none. */
void put_subpaths(struct build *b, char *const *list);
