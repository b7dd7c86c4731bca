/* file - reads one configuration file, and checks its owner and mode. */
/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/git2.h"
#include "core/base/io.h"
#include "core/base/pages.h"
#include "core/config/config_priv.h"
#include "core/os/file.h"

/* ---- lines ----------------------------------------------------------------------------------- */

/* Writes "[section]" or "[section "subsection"]" at the start of a line to out, spelled as in
 * keys. */
static void read_header(const char *p, char *out, size_t size)
{
	size_t n = 0;

	if (*p++ != '[')
		return;
	while (*p == ' ' || *p == '\t')
		p++;
	while ((isalnum((unsigned char)*p) || *p == '-' || *p == '.') && n + 1 < size)
		out[n++] = (char)tolower((unsigned char)*p++);
	while (*p == ' ' || *p == '\t')
		p++;
	if (*p == '"' && n + 1 < size) {
		out[n++] = '.';
		for (p++; *p && *p != '"' && *p != '\n' && n + 1 < size; p++) {
			p += *p == '\\' && p[1] && p[1] != '\n';
			out[n++] = *p;
		}
	}
	out[n] = '\0';
}

/* Returns what follows a header on the same line, or the line. */
static const char *skip_header(const char *p)
{
	bool quoted = false;

	if (*p != '[')
		return p;
	for (; *p && *p != '\n'; p++) {
		if (*p == '\\' && p[1] && p[1] != '\n')
			p++;
		else if (*p == '"')
			quoted = !quoted;
		else if (*p == ']' && !quoted)
			return p + 1;
	}
	return p;
}

/* Finds the lines of settings in a text, in order. */
struct config_lines {
	const char *at;
	int line;
	char section[320];
};

/* Returns whether the line, or what follows its header, begins with this key's name. */
static bool has_name(const char *p, const char *name)
{
	size_t n = strlen(name);

	p = skip_header(p);
	p += strspn(p, " \t");
	return strncasecmp(p, name, n) == 0 && !isalnum((unsigned char)p[n]) && p[n] != '-';
}

/* Returns the line, from 1, of the next "section.name", "section.subsection.name", or "name" before
 * any section; 0: there is no other. Start with {text, 1, ""}. */
static int config_next_line(struct config_lines *l, const char *key)
{
	struct config_lines at = *l;
	const char *dot = strrchr(key, '.');

	while (*at.at) {
		const char *s = at.at + strspn(at.at, " \t");
		size_t n = dot ? (size_t)(dot - key) : 0;
		int line = at.line++;

		read_header(s, at.section, sizeof(at.section));
		at.at += strcspn(at.at, "\n");
		at.at += *at.at == '\n';
		if (strlen(at.section) == n && memcmp(at.section, key, n) == 0 &&
		    has_name(s, dot ? dot + 1 : key)) {
			*l = at;
			return line;
		}
	}
	return 0;
}

/*
 * Finds a line that may be an [include] or [includeIf] header. libgit2 follows these while it
 * parses, so a file with such a line is refused. A value that only looks like one is refused, too,
 * which is harmless.
 */
static int find_include(const char *text)
{
	const char *p = text;
	int line = 1;

	while ((p = strchr(p, '[')) &&
	       strncasecmp(p + 1 + strspn(p + 1, " \t\r\""), "include", 7) != 0)
		p++;
	if (!p)
		return 0;
	for (const char *at = text; at < p; at++)
		line += *at == '\n';
	return line;
}

/* ---- reading --------------------------------------------------------------------------------- */

static int check_writers(enum config_level level, const struct stat *st, const char *path,
			 const struct config_spec *spec, struct err *err)
{
	struct stat home;

	if (st->st_mode & S_IWOTH)
		return err_say(err, -EINVAL, "%s: everybody may write to it: chmod o-w it", path);
	if (level == CONFIG_ORG && (st->st_uid != 0 || (st->st_mode & S_IWGRP)))
		return err_say(err, -EINVAL,
			       "%s: only root may be able to write to it: chown and "
			       "chmod it",
			       path);
	if (st->st_uid == 0 || st->st_uid == geteuid())
		return 0;
	if (stat(spec->home, &home) == 0 && home.st_uid == st->st_uid)
		return 0;
	return err_say(err, -EINVAL, "%s: it belongs to another user: chown it", path);
}

/* Reads all of a file that had this size just before. */
static int read_at_once(int fd, size_t size, size_t max, char **ret, size_t *ret_len)
{
	AUTO_FREE char *text = xmalloc(MIN(size, max) + 2);
	ssize_t n;

	pages_fill(text, MIN(size, max) + 2);
	n = io_read_full(fd, text, MIN(size, max) + 1);
	if (n < 0)
		return (int)n;
	if ((size_t)n > max)
		return -EFBIG;
	if ((size_t)n > size) /* it has grown */
		return lseek(fd, 0, SEEK_SET) < 0 ? -errno : io_read_all(fd, max, ret, ret_len);
	text[n] = '\0';
	*ret_len = (size_t)n;
	*ret = take_ptr(&text);
	return 0;
}

/* Reads a file. spec: says whose file it must be; NULL: it is not trusted in any case, and may be a
 * link to anything. -ENOENT: it does not exist; err is not set. */
static int read_text(const char *path, enum config_level level, const struct config_spec *spec,
		     char **ret, size_t *ret_len, struct err *err)
{
	AUTO_CLOSE int fd = -1;
	struct stat st;
	int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (spec ? 0 : O_NOFOLLOW);
	size_t max = spec ? CONFIG_OWN_BYTES : CONFIG_MAX_BYTES;
	int r;

	fd = open(path, flags);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return -ENOENT;
	if (fd < 0)
		return err_set(err, -errno, "read configuration %s", path);
	if (fstat(fd, &st) < 0)
		return err_set(err, -errno, "read configuration %s", path);
	if (!S_ISREG(st.st_mode))
		return err_say(err, -EINVAL, "%s: not a plain file", path);
	r = spec ? check_writers(level, &st, path, spec, err) : 0;
	if (r < 0)
		return r;
	r = read_at_once(fd, (size_t)MAX(st.st_size, 0), max, ret, ret_len);
	if (r == -EFBIG)
		return err_say(err, -EINVAL, "%s: larger than %zu KiB", path, max >> 10);
	return r < 0 ? err_set(err, r, "read configuration %s", path) : 0;
}

int config_project_text(const char *path, char **ret, size_t *ret_len, struct err *err)
{
	return read_text(path, CONFIG_PROJECT, NULL, ret, ret_len, err);
}

int config_own_text(const char *path, const struct config_spec *spec, char **ret, size_t *ret_len,
		    struct err *err)
{
	return read_text(path, CONFIG_USER, spec, ret, ret_len, err);
}

static int check_text(const char *path, const char *text, size_t len, struct err *err)
{
	int line;

	if (memchr(text, '\0', len))
		return err_say(err, -EINVAL, "%s: holds a NUL byte", path);
	line = find_include(text);
	if (line)
		return err_say(err, -EINVAL,
			       "%s:%d: [include] is not supported: copy the settings here", path,
			       line);
	return 0;
}

/* Returns the text as a file in memory: libgit2 only reads files, and this parses what was
 * checked. */
static int to_memfd(const char *text, size_t len, struct err *err)
{
	int fd = os_memory_file("config");
	int r;

	if (fd < 0)
		return err_set(err, fd, "make a file in memory");
	r = io_write_all(fd, text, len);
	if (r < 0) {
		close(fd);
		return err_set(err, r, "copy configuration to memory");
	}
	return fd;
}

/* Turns libgit2's "... (in /proc/self/fd/5:3, column 0)" into FILE:3. */
static int parse_failed(const struct git2 *g, const char *name, const char *path, struct err *err)
{
	const git_error *last = g->git_error_last();
	const char *words = last && last->message ? last->message : "not in git-config syntax";
	const char *at = strstr(words, path);
	int line = at && at[strlen(path)] == ':' ? atoi(at + strlen(path) + 1) : 0;

	if (line > 0)
		return err_say(err, -EINVAL, "%s:%d: not in git-config syntax", name, line);
	return err_say(err, -EINVAL, "%s: %s", name, words);
}

/* Calls on() for each setting, with its line. libgit2 keeps the order of the file, but not the
 * lines. */
static int each_entry(const struct git2 *g, git_config *cfg, const char *text, const char *name,
		      config_on_setting on, void *data, struct err *err)
{
	struct config_lines lines = {text, 1, ""};
	git_config_iterator *it = NULL;
	git_config_entry *e;
	int r = 0;

	if (g->git_config_iterator_new(&it, cfg) < 0)
		return git2_fail(g, err, "%s", name);
	while (r == 0 && g->git_config_next(&e, it) == 0) {
		AUTO_FREE char *section = xstrdup(e->name);
		char *dot = strrchr(section, '.');

		if (dot)
			*dot = '\0';
		r = on(data, &(struct config_setting){.section = dot ? section : "",
						      .name = dot ? dot + 1 : section,
						      .value = e->value,
						      .line = config_next_line(&lines, e->name)});
	}
	g->git_config_iterator_free(it);
	return r;
}

int config_read_git(const char *text, size_t len, const char *name, config_on_setting on,
		    void *data, struct err *err)
{
	const struct git2 *g = git2_get(err);
	AUTO_CLOSE int fd = -1;
	git_config *cfg = NULL;
	char path[OS_FD_PATH];
	int r;

	if (!g)
		return err_wrap(err, -ENOENT, "read configuration %s", name);
	fd = to_memfd(text, len, err);
	if (fd < 0)
		return fd;
	os_fd_path(path, fd);
	if (g->git_config_open_ondisk(&cfg, path) < 0)
		return parse_failed(g, name, path, err);
	r = each_entry(g, cfg, text, name, on, data, err);
	g->git_config_free(cfg);
	return r;
}

/* ---- into the configuration ------------------------------------------------------------------ */

struct target {
	struct config *c;
	struct config_source src;
	struct err *err;
};

static int on_setting(void *data, const struct config_setting *s)
{
	struct target *t = data;

	t->src.line = s->line;
	return config_set(t->c, &t->src, s, t->err);
}

int config_read_text(char *text, size_t len, const char *name, config_on_setting on, void *data,
		     struct err *err)
{
	int r = check_text(name, text, len, err);

	if (r < 0)
		return r;
	r = config_read_plain(text, on, data);
	return r == -ENOTSUP ? config_read_git(text, len, name, on, data, err) : r;
}

/* Reads a text that the configuration takes over. */
static int take_text(struct target *to, char *text, size_t len)
{
	config_keep(to->c, text);
	return config_read_text(text, len, to->src.file, on_setting, to, to->err);
}

int config_read_file(struct config *c, enum config_level level, const char *path,
		     const struct config_spec *spec, struct err *err)
{
	struct target to = {.c = c, .src = {.level = level, .file = path}, .err = err};
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	int r = read_text(path, level, spec, &text, &len, err);

	if (r == -ENOENT && level != CONFIG_FILE)
		return 0;
	if (r == -ENOENT)
		return err_set(err, r, "read configuration %s", path);
	if (r < 0)
		return r;
	assert(text);
	return take_text(&to, take_ptr(&text), len);
}

int config_read_project(struct config *c, const char *path, const struct config_spec *spec,
			struct err *err)
{
	struct target to = {.c = c,
			    .src = {.level = CONFIG_PROJECT, .file = path, .base = spec->folder},
			    .err = err};
	AUTO_FREE char *text = NULL;
	enum config_trust trust;
	size_t len = 0;
	int r = config_project_text(path, &text, &len, err);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	assert(text);
	trust = config_trust_of(spec->state_dir, spec->folder, text, len);
	config_set_trust(c, trust);
	to.src.untrusted = trust != TRUST_GIVEN;
	return take_text(&to, take_ptr(&text), len);
}
