/* config_priv - between the files of core/config. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/config/config.h"

#define CONFIG_MAX_BYTES  (256u << 10)
#define CONFIG_MAX_VALUES 1024 /* of one key, all levels together */

/* Where a value comes from: "FILE:LINE" or "--set". */
struct config_source {
	enum config_level level;
	const char *origin;
	const char *base; /* directory that relative paths start from, or NULL: refused */
};

/* One key and its value (NULL: the key stood alone), checked and kept. */
int config_set(struct config *c, const struct config_source *src, const char *key,
	       const char *value, struct err *err) MUST_USE;

/* A whole file, or nothing when there is none; libgit2 reads it. */
int config_read_file(struct config *c, enum config_level level, const char *path,
		     const struct config_spec *spec, struct err *err) MUST_USE;

/* The 1-based line of the nth (from 0) appearance of "section.name"; 0 when not found. */
int config_find_line(const char *text, const char *key, size_t nth);

/* value is NULL when the key stood alone. */
typedef int (*config_on_setting)(void *data, const char *key, const char *value, int line);

/* Every setting of a text without NUL bytes; -ENOTSUP, and no call, when the text needs libgit2. */
int config_read_plain(const char *text, config_on_setting on, void *data) MUST_USE;
/* The same through libgit2, whatever the text. name is for messages. */
int config_read_git(const char *text, size_t len, const char *name, config_on_setting on,
		    void *data, struct err *err) MUST_USE;
