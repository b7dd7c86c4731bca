/* git2 - libgit2, opened when needed. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <git2.h>

#include "core/base/err.h"

/*
 * libgit2 and its libraries cost 3 ms of a start and 4 MB, and most runs never need them. So it is
 * opened with dlopen() and called through this table. LIBGIT2_SONAME names the version of the
 * headers in this build: structures differ between versions.
 *
 * Life:    the first git2_get() opens it; it stays until the process ends.
 * Threads: any. Two threads must not use the same libgit2 object.
 * Safety:  the search paths of system, global, xdg and programdata configuration are emptied, so
 *          it reads only data that the caller passes.
 */
#define GIT2_FUNCTIONS(X)                                                                          \
	X(git_libgit2_init)                                                                        \
	X(git_libgit2_opts)                                                                        \
	X(git_error_last)                                                                          \
	X(git_config_open_ondisk)                                                                  \
	X(git_config_free)                                                                         \
	X(git_config_iterator_new)                                                                 \
	X(git_config_iterator_free)                                                                \
	X(git_config_next)                                                                         \
	X(git_diff_options_init)                                                                   \
	X(git_patch_from_buffers)                                                                  \
	X(git_patch_free)                                                                          \
	X(git_patch_num_hunks)                                                                     \
	X(git_patch_get_hunk)                                                                      \
	X(git_patch_num_lines_in_hunk)                                                             \
	X(git_patch_get_line_in_hunk)                                                              \
	X(git_patch_line_stats)                                                                    \
	X(git_merge_file_options_init)                                                             \
	X(git_merge_file_input_init)                                                               \
	X(git_merge_file)                                                                          \
	X(git_merge_file_result_free)                                                              \
	X(git_odb_open)                                                                            \
	X(git_repository_wrap_odb)                                                                 \
	X(git_oid_fromstrp)                                                                        \
	X(git_oid_cmp)                                                                             \
	X(git_object_lookup)                                                                       \
	X(git_object_peel)                                                                         \
	X(git_object_id)                                                                           \
	X(git_object_free)                                                                         \
	X(git_graph_descendant_of)                                                                 \
	X(git_diff_tree_to_tree)                                                                   \
	X(git_diff_num_deltas)                                                                     \
	X(git_diff_get_delta)                                                                      \
	X(git_diff_free)

struct git2 {
#define X(name) __typeof__(name) *name;
	GIT2_FUNCTIONS(X)
#undef X
};

/* Returns the table. NULL, with *err: the library is missing, or another version. */
const struct git2 *git2_get(struct err *err) MUST_USE;
/* Sets err to libgit2's last error in this thread: "<formatted>: <words>". Returns -EIO. */
int git2_fail(const struct git2 *g, struct err *err, const char *fmt, ...) PRINTF_LIKE(3, 4);
