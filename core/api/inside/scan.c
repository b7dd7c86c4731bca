/* scan - lists the names in a folder that are not possible on another system or file system. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <string.h>
#include <unistd.h>
#include <utf8proc.h>

#include "core/api/inside/inside_priv.h"
#include "core/base/hash.h"
#include "core/base/io.h"
#include "core/base/json.h"

#define NAMES_MAX 200000 /* most names that are looked at */

struct seen { /* a path as a file system that ignores case would have it */
	char *folded, *path;
	UT_hash_handle hh;
};

static struct {
	struct seen *seen;
	size_t looked, told, most;
	bool cut;
	const char *root;
} scan;

static void tell(const char *kind, const char *path, const char *other)
{
	AUTO_BUF struct buf line = BUF_INIT;

	if (scan.told++ >= scan.most) {
		scan.cut = true;
		return;
	}
	buf_fmt(&line, "{\"kind\":\"%s\"", kind);
	json_member(&line, "path", path);
	if (other)
		json_member(&line, "other", other);
	buf_str(&line, "}\n");
	(void)!io_write_all(1, line.data, line.len);
}

/* Returns the path composed and case-folded; heap. NULL: it is not UTF-8. */
static char *fold(const char *path)
{
	utf8proc_uint8_t *out = NULL;

	if (utf8proc_map((const utf8proc_uint8_t *)path, 0, &out,
			 UTF8PROC_NULLTERM | UTF8PROC_STABLE | UTF8PROC_COMPOSE |
				 UTF8PROC_CASEFOLD) < 0)
		return NULL;
	return (char *)out;
}

static void check_case(const char *path)
{
	char *folded = fold(path);
	struct seen *s = NULL;

	if (!folded) {
		tell("not_utf8", path, NULL);
		return;
	}
	HASH_FIND_STR(scan.seen, folded, s);
	if (s) {
		tell("case_collision", path, s->path);
		free(folded);
		return;
	}
	s = xcalloc(1, sizeof(*s));
	s->folded = folded;
	s->path = xstrdup(path);
	HASH_ADD_KEYPTR(hh, scan.seen, s->folded, strlen(s->folded), s);
}

static bool is_windows_device(const char *name)
{
	static const char *const names[] = {"con", "prn", "aux", "nul"};
	size_t len = strcspn(name, ".");

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (len == 3 && strncasecmp(name, names[i], 3) == 0)
			return true;
	return len == 4 && name[3] >= '1' && name[3] <= '9' &&
	       (strncasecmp(name, "com", 3) == 0 || strncasecmp(name, "lpt", 3) == 0);
}

static void check_name(const char *path, const char *name)
{
	size_t len = strlen(name);

	if (strpbrk(name, "<>:\"\\|?*") || is_windows_device(name) ||
	    (len && (name[len - 1] == '.' || name[len - 1] == ' ')))
		tell("reserved_name", path, NULL);
}

static void check_link(const char *path, const char *full)
{
	AUTO_FREE char *real = realpath(full, NULL);
	size_t len = strlen(scan.root);

	if (!real)
		tell("dangling_symlink", path, NULL);
	else if (strncmp(real, scan.root, len) != 0 || (real[len] && real[len] != '/'))
		tell("symlink_leaves", path, real);
}

static void look_at(FTS *fts, FTSENT *e)
{
	const char *path = e->fts_path + strlen(scan.root);

	while (*path == '/')
		path++;
	if (!*path || e->fts_info == FTS_DP)
		return;
	if (e->fts_info == FTS_DNR) { /* besides FTS_D */
		tell("unreadable", path, NULL);
		return;
	}
	if (scan.looked++ >= NAMES_MAX) {
		scan.cut = true;
		return;
	}
	if (e->fts_info == FTS_D && str_eq(e->fts_name, ".git")) {
		fts_set(fts, e, FTS_SKIP);
		return;
	}
	check_case(path);
	check_name(path, e->fts_name);
	if (e->fts_info == FTS_SL || e->fts_info == FTS_SLNONE)
		check_link(path, e->fts_path);
}

int scan_run(const char *path, size_t most)
{
	AUTO_FREE char *root = realpath(path, NULL);
	char *top[] = {root, NULL};
	FTSENT *e;
	FTS *fts;

	if (!root)
		return files_fail(errno, "look through", path);
	scan.most = most;
	scan.root = root;
	fts = fts_open(top, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	if (!fts)
		return files_fail(errno, "look through", path);
	while (!scan.cut && (e = fts_read(fts)))
		look_at(fts, e);
	fts_close(fts);
	if (scan.cut)
		(void)!io_write_all(1, "{\"kind\":\"cut\",\"path\":\"\"}\n", 26);
	return 0; /* the process ends, which frees the list */
}
