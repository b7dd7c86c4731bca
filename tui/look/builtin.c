/* builtin - the shipped themes and keymaps, compiled in from themes and keymaps. */
/* SPDX-License-Identifier: MIT */
#include "tui/look/builtin.h"

#include "core/base/util.h"

const char *builtin_find(const char *name)
{
	for (const struct builtin_file *f = builtin_files; f->name; f++) {
		if (str_eq(f->name, name))
			return f->text;
	}
	return NULL;
}
