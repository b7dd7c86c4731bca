/* setup_priv - the manifest of the installed files; shared by setup.c and remove.c. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

struct manifest_file {
	char *path, *backup; /* backup: NULL if there was no file */
	uint64_t hash;	     /* of the written bytes */
	bool hook;	     /* settings of an agent with our hook in them */
};

struct manifest {
	struct manifest_file *files;
	size_t n_files;
	char **dirs; /* directories made for them, the outermost first */
	size_t n_dirs;
};
#define AUTO_MANIFEST CLEANUP(manifest_done)

uint64_t manifest_hash(const char *text, size_t len);
/* Loads the manifest. Returns 0, with an empty manifest if there is none, or -EBADMSG: damaged. */
int manifest_load(struct manifest *ret, const char *state_dir, struct err *err) MUST_USE;
int manifest_save(const struct manifest *m, const char *state_dir, struct err *err) MUST_USE;
/* Adds a copy, which replaces the entry of the same path. */
void manifest_add_file(struct manifest *m, const struct manifest_file *f);
void manifest_add_dir(struct manifest *m, const char *path);
void manifest_done(struct manifest *m);
