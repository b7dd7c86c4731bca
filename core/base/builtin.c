/* builtin - the shipped themes, keymaps and profiles: the files, compiled in. */
/* SPDX-License-Identifier: MIT */
#include "core/base/builtin.h"

#include "core/base/util.h"

const char *builtin_find(const char *name)
{
	for (const struct builtin_file *f = builtin_files; f->name; f++) {
		if (str_eq(f->name, name))
			return f->text;
	}
	return NULL;
}
