/* version - `cordon --version`: version, commit, libraries, what is built in. */
/* SPDX-License-Identifier: MIT */
#define FUSE_USE_VERSION 31

#include "tui/commands/version.h"

#include <cjson/cJSON.h>
#include <fuse_lowlevel.h>
#include <git2/version.h>
#include <gnu/libc-version.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <utf8proc.h>
#include <vterm.h>
#include <xxhash.h>
#include <zstd.h>

#include "core/session/backend.h"
#include "tui/look/screen.h"

#include <uv.h> /* its MIN is ours then */

#ifndef CORDON_COMMIT
#define CORDON_COMMIT ""
#endif

/* Those that are loaded; of libgit2, which is opened when it is needed, the one that is wanted. */
static void print_libraries(void)
{
	const struct scmp_version *seccomp = seccomp_version();
	unsigned xxh = XXH_versionNumber();

	printf("libraries: glibc %s, libuv %s, %s, cJSON %s, zstd %s, utf8proc %s, libvterm %d.%d, "
	       "libseccomp %u.%u.%u, libfuse %s, xxhash %u.%u.%u, libgit2 %s\n",
	       gnu_get_libc_version(), uv_version_string(), screen_library(), cJSON_Version(),
	       ZSTD_versionString(), utf8proc_version(), VTERM_VERSION_MAJOR, VTERM_VERSION_MINOR,
	       seccomp->major, seccomp->minor, seccomp->micro, fuse_pkgversion(), xxh / 10000,
	       xxh / 100 % 100, xxh % 100, LIBGIT2_VERSION);
}

void version_print(void)
{
	printf("cordon %s%s%s%s\n", CORDON_VERSION, *CORDON_COMMIT ? " (" : "", CORDON_COMMIT,
	       *CORDON_COMMIT ? ")" : "");
	print_libraries();
	printf("backends:");
	for (size_t i = 0; backends[i]; i++)
		printf(" %s", backends[i]->name);
	printf("\nfeatures: network gate, read gate (FUSE, system calls), undo, recording, STDIO "
	       "API, "
	       "MCP, ACP\n");
}
