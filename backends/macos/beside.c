/* beside - files that are installed with this program. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/beside.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/path.h"
#include "core/base/util.h"
#include "core/os/file.h"

char *mac_beside(const char *given, const char *name, const char *dir)
{
	AUTO_FREE char *self = given ? NULL : os_self_copy();
	AUTO_FREE char *there = NULL, *installed = NULL;
	char *found;

	if (given)
		return realpath(given, NULL);
	if (!self)
		return NULL;
	*strrchr(self, '/') = '\0';
	there = path_join(self, name);
	found = realpath(there, NULL);
	if (found)
		return found;
	installed = xasprintf("%s/%s/%s", self, dir, name);
	return realpath(installed, NULL);
}
