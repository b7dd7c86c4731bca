/* ini - parses git-config syntax without git: for themes and keymaps, which every start reads. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/* Supports `[section]`, `[section "sub"]`, `name = value`, quotes, \-escapes, comments and
 * continued lines. A name without a value has the value "". Includes are not supported. At most
 * INI_MAX bytes. */
#define INI_MAX (256u << 10)

struct ini_line {
	const char *file; /* for messages */
	int line;
	const char *section; /* lower case */
	const char *sub;     /* "" when there is none */
	const char *name;    /* lower case */
	const char *value;
};

/* Returns 0 or a negative errno with err set; ini_error() puts FILE:LINE before the message. */
typedef int (*ini_on_line)(void *data, const struct ini_line *line, struct err *err);

int ini_parse(const char *file, const char *text, size_t len, ini_on_line on, void *data,
	      struct err *err) MUST_USE;
int ini_error(struct err *err, const struct ini_line *line, const char *fmt, ...) PRINTF_LIKE(3, 4);
