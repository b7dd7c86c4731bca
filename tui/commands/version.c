/* version - `cordon --version`: version, commit, libraries, built-in features. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/version.h"

#include <cjson/cJSON.h>
#include <git2/common.h> /* libgit2 1.9: version.h needs its macros */
#include <git2/version.h>
#include <stdio.h>
#include <string.h>
#include <utf8proc.h>
#include <vterm.h>
#include <xxhash.h>
#include <zstd.h>

#ifdef __linux__
#define FUSE_USE_VERSION 31
#include <fuse_lowlevel.h>
#include <gnu/libc-version.h>
#include <openssl/opensslv.h>
#include <seccomp.h>
#endif

#include "core/session/backend.h"
#include "tui/look/screen.h"

#include <uv.h> /* its MIN is ours */

#ifndef CORDON_COMMIT
#define CORDON_COMMIT ""
#endif

#ifdef __linux__
static void print_system(void)
{
	printf("glibc %s, ", gnu_get_libc_version());
}

static void print_confinement(void)
{
	const struct scmp_version *v = seccomp_version();

	printf("libseccomp %u.%u.%u, libfuse %s, OpenSSL %s, ", v->major, v->minor, v->micro,
	       fuse_pkgversion(), OPENSSL_VERSION_STR);
}
#else
static void print_system(void)
{
}
static void print_confinement(void)
{
}
#endif

/* Prints loaded libraries; for libgit2 and OpenSSL, which are opened on demand, the versions at
 * build time. */
static void print_libraries(void)
{
	unsigned xxh = XXH_versionNumber();

	printf("libraries: ");
	print_system();
	printf("libuv %s, %s, cJSON %s, zstd %s, utf8proc %s, libvterm %d.%d, ",
	       uv_version_string(), screen_library(), cJSON_Version(), ZSTD_versionString(),
	       utf8proc_version(), VTERM_VERSION_MAJOR, VTERM_VERSION_MINOR);
	print_confinement();
	printf("xxhash %u.%u.%u, libgit2 %s\n", xxh / 10000, xxh / 100 % 100, xxh % 100,
	       LIBGIT2_VERSION);
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
