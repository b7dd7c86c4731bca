/* source - finds the text of a theme or keymap. */
/* SPDX-License-Identifier: MIT */
#include "tui/look/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "core/base/builtin.h"
#include "core/os/file.h"
#include "tui/look/ini.h"

#define LIST_MAX  16384 /* bytes of listed names */
#define NAMES_MAX 1000	/* entries read of a directory */

static const char *extension(const char *kind)
{
	return str_eq(kind, "theme") ? "theme" : "keys";
}

/* Follows links (users keep their settings in a repository): the target's place is checked. */
static int read_own(const char *path, const struct look_where *where, char **ret, size_t *ret_len,
		    struct err *err)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char real[PATH_MAX];
	struct stat st;
	ssize_t n;
	int r;

	if (fd < 0)
		return err_set(err, -errno, "%s", path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return err_say(err, -EINVAL, "%s: not a file", path);
	n = os_fd_name(fd, real, sizeof(real));
	if (n < 0)
		return err_set(err, (int)n, "%s", path);
	for (size_t i = 0; where->folders && where->folders[i]; i++) {
		if (path_is_beneath(real, where->folders[i]))
			return err_say(
				err, -EPERM,
				"%s: lies in a working folder, where the agent can write: move it "
				"to %s",
				path, where->dir ? where->dir : "your settings");
	}
	r = io_read_all(fd, INI_MAX, ret, ret_len);
	return r < 0 ? err_set(err, r, "%s", path) : 0;
}

static int try_own(char *path, const struct look_where *where, char **ret, size_t *ret_len,
		   char **ret_file, struct err *err)
{
	int r = read_own(path, where, ret, ret_len, err);

	if (r == 0)
		*ret_file = path;
	else
		free(path);
	return r;
}

/* Lists the shipped names: "default, dark, light". */
static void list_builtin(const char *kind, char *out, size_t size)
{
	AUTO_BUF struct buf b = BUF_INIT;
	size_t ext = strlen(extension(kind)) + 1;

	for (const struct builtin_file *f = builtin_files; f->name; f++) {
		if (str_ends(f->name, extension(kind)))
			buf_fmt(&b, "%s%.*s", b.len ? ", " : "", (int)(strlen(f->name) - ext),
				f->name);
	}
	snprintf(out, size, "%s", b.data);
}

static bool has_line(const struct buf *b, const char *name, size_t len)
{
	for (const char *at = b->data; *at; at += strcspn(at, "\n") + 1)
		if (strncmp(at, name, len) == 0 && at[len] == '\n')
			return true;
	return false;
}

static void add_name(const char *kind, const char *file, struct buf *out)
{
	size_t ext = strlen(extension(kind)) + 1, len = strlen(file);

	if (len <= ext || *file == '.' || file[len - ext] != '.' || strchr(file, '\n') ||
	    !str_ends(file, extension(kind)) || has_line(out, file, len - ext))
		return;
	buf_add(out, file, len - ext);
	buf_ch(out, '\n');
}

void look_list(const char *kind, const struct look_where *where, struct buf *out)
{
	AUTO_FREE char *dir = where && where->dir ? xasprintf("%s/%ss", where->dir, kind) : NULL;
	DIR *d = dir ? opendir(dir) : NULL;
	const struct dirent *e;

	for (const struct builtin_file *f = builtin_files; f->name; f++)
		add_name(kind, f->name, out);
	while (d && (e = readdir(d)) && out->len < LIST_MAX)
		add_name(kind, e->d_name, out);
	if (d)
		closedir(d);
}

uint64_t look_signature(const struct look_where *where)
{
	static const char *const kinds[] = {"theme", "keymap"};
	uint64_t sum = 0;

	for (size_t i = 0; where->dir && i < 2 * ARRAY_LEN(kinds); i++) {
		AUTO_FREE char *dir =
			i < 2 ? xasprintf("%s/%ss", where->dir, kinds[i]) : xstrdup(where->dir);
		const char *ext = extension(kinds[i % 2]);
		DIR *d = opendir(dir);
		const struct dirent *e;
		struct stat st;

		for (size_t n = 0; d && (e = readdir(d)) && n < NAMES_MAX; n++) {
			if (!str_ends(e->d_name, ext) || fstatat(dirfd(d), e->d_name, &st, 0) < 0)
				continue;
			sum += (uint64_t)OS_MTIME(&st).tv_sec * 1000003 +
			       (uint64_t)OS_MTIME(&st).tv_nsec + (uint64_t)st.st_size * 31 +
			       (uint64_t)st.st_ino * 7;
		}
		if (d)
			closedir(d);
	}
	return sum;
}

int look_source(const char *kind, const char *name, const struct look_where *where, char **ret,
		size_t *ret_len, char **ret_file, struct err *err)
{
	static const struct look_where nowhere = {0};
	AUTO_FREE char *base = xasprintf("%s.%s", name, extension(kind));
	const char *builtin;
	char safe[64], known[256];
	int r = -ENOENT;

	if (!where)
		where = &nowhere;
	if (strchr(name, '/'))
		return try_own(xstrdup(name), where, ret, ret_len, ret_file, err);
	if (where->dir)
		r = try_own(xasprintf("%s/%ss/%s", where->dir, kind, base), where, ret, ret_len,
			    ret_file, err);
	if (where->dir && r == -ENOENT)
		r = try_own(xasprintf("%s/%s", where->dir, base), where, ret, ret_len, ret_file,
			    err);
	if (r != -ENOENT)
		return r;
	builtin = builtin_find(base);
	if (builtin) {
		if (err)
			*err = (struct err){0};
		*ret = xstrdup(builtin);
		*ret_len = strlen(builtin);
		*ret_file = take_ptr(&base);
		return 0;
	}
	text_escape_into(safe, sizeof(safe), name, strlen(name));
	list_builtin(kind, known, sizeof(known));
	return err_say(err, -ENOENT, "there is no %s '%s': built in are %s%s%s", kind, safe, known,
		       where->dir ? "; your own go to " : "", where->dir ? where->dir : "");
}
