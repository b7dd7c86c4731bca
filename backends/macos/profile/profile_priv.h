/* profile_priv - the sections of a profile, one function each. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/profile/profile.h"
#include "core/policy/listed.h"

/* State that the sections share. */
struct build {
	struct sbpl *s;
	const struct profile_spec *spec;
	const struct policy *policy;
	char **folders, **read_only, **temp, **system; /* canonical; temp includes own */
	char *own;				       /* canonical, or NULL */
	struct buf roots; /* regular expression of writable trees: "(/a|/b)" */
	struct policy_line *lines, *untrusted;
	size_t n_lines, n_untrusted;
	size_t skipped;
};

/* All forms of writing; reading a file's content. */
#define OPS_WRITE   "file-write* file-link"
#define OPS_CONTENT "file-read-data file-read-xattr"
/* Making an object, or changing its content. */
#define OPS_PLACE "file-write-create file-write-data file-link"

/* ---- section_process.c ---- */
void section_base(struct build *b);
void section_process(struct build *b);
void section_pty(struct build *b);
void section_mark(struct build *b);

/* ---- section_reads.c ---- */
void section_reads(struct build *b);

/* ---- section_lines.c: rules, and built-in lists that they may loosen; nearer ones later ---- */
void section_read_lines(struct build *b);
void section_write_lines(struct build *b);
/* Rules of the organisation and of an untrusted project; denies writing where reading is denied. */
void section_last_lines(struct build *b);
/* Allows each path that a rule names exactly and that policy.h allows. */
void section_exact(struct build *b);

/* ---- section_writes.c ---- */
void section_writes(struct build *b);
void section_ways(struct build *b); /* denies renames of directories above closed places */
void find_roots(struct build *b);   /* fills b->roots */

/* ---- section_dangerous.c: names that are protected or secret in the folders ---- */
void section_secrets(struct build *b);
void section_dangerous(struct build *b);
void section_hidden(struct build *b);

/* ---- section_network.c ---- */
void section_network(struct build *b);
void section_sockets(struct build *b);

/* Appends (subpath ...) for each path of the list. */
void put_subpaths(struct build *b, char *const *list);
