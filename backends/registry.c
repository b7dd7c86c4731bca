/* registry - the backends of this build, best first. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "core/base/buf.h"
#ifdef __APPLE__
#include "backends/macos/seatbelt.h"
#else
#include "backends/bwrap/bwrap.h"
#include "backends/landlock/landlock.h"
#include "backends/linux/native.h"
#include "backends/vm/vm.h"
#endif

const struct backend *const backends[] = {
#ifdef __APPLE__
	&backend_seatbelt,
#else
	&backend_native,
	&backend_bwrap,
	&backend_landlock,
	&backend_vm,
#endif
	NULL,
};

const struct backend *backend_find(const char *name, struct err *err)
{
	AUTO_BUF struct buf known = BUF_INIT;

	for (size_t i = 0; backends[i]; i++) {
		if (str_eq(backends[i]->name, name))
			return backends[i];
		buf_fmt(&known, "%s%s", i ? ", " : "", backends[i]->name);
	}
	err_say(err, -EINVAL, "backend '%s': there is none of that name: this build has: %s", name,
		known.data);
	return NULL;
}
