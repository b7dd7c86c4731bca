/* lines - a tree's text line by line. */
/* SPDX-License-Identifier: MIT */
#include "tests/model/lines.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/util.h"

struct lines split(const char *tree)
{
	struct lines l = {.text = xstrdup(tree)};
	char *save = NULL;

	for (char *p = strtok_r(l.text, "\n", &save); p; p = strtok_r(NULL, "\n", &save)) {
		if (l.n % 64 == 0)
			l.list = xrealloc(l.list, (l.n + 64) * sizeof(*l.list));
		l.list[l.n++] = p;
	}
	return l;
}

void lines_done(struct lines *l)
{
	free(l->text);
	free(l->list);
}

size_t path_len(const char *line)
{
	return strcspn(line, " ");
}

const char *line_of(const struct lines *l, const char *path, size_t len)
{
	for (size_t i = 0; i < l->n; i++)
		if (path_len(l->list[i]) == len && memcmp(l->list[i], path, len) == 0)
			return l->list[i];
	return NULL;
}

const char *field(const char *line, int n)
{
	while (n-- && line) {
		line = strchr(line, ' ');
		line = line ? line + 1 : NULL;
	}
	return line ? line : "";
}

bool is_dir(const char *line)
{
	return strtoul(field(line, 1), NULL, 8) / 010000 == 4;
}

bool is_unseen(const char *line)
{
	return line && strtoul(field(line, 1), NULL, 8) == 0;
}

bool is_shut(const char *line)
{
	return line && is_dir(line) && geteuid() != 0 &&
	       !(strtoul(field(line, 1), NULL, 8) & S_IRUSR);
}

bool hides(const struct lines *l, const char *path, size_t len)
{
	for (; len; len--) {
		const char *line = NULL;

		if (path[len] == ' ' || path[len] == '/')
			line = line_of(l, path, len);
		if (is_unseen(line) || (path[len] == '/' && is_shut(line)))
			return true;
	}
	return false;
}

bool alike_but_time(const char *a, const char *b)
{
	const char *ta = field(a, 3), *tb = field(b, 3);

	return ta - a == tb - b && memcmp(a, b, (size_t)(ta - a)) == 0 &&
	       str_eq(ta + strcspn(ta, " "), tb + strcspn(tb, " "));
}

bool alike(const char *a, const char *b)
{
	if (!a || !b || str_eq(a, b))
		return a == b || (a && b);
	return is_dir(a) && is_dir(b) && alike_but_time(a, b);
}

char *bare(const char *line)
{
	const char *other = strstr(line, " same as "), *rest;

	if (!other)
		return xstrdup(line);
	rest = strchr(other + strlen(" same as "), ' ');
	return xasprintf("%.*s%s", (int)(other - line), line, rest ? rest : "");
}

bool same_work(const char *a, const char *b)
{
	AUTO_FREE char *x = NULL, *y = NULL;

	if (!a || !b || alike(a, b))
		return alike(a, b);
	x = bare(a);
	y = bare(b);
	return alike_but_time(x, y);
}

static bool is_path(const char *line, const char *path, size_t len)
{
	return path_len(line) == len && memcmp(line, path, len) == 0;
}

bool has_link(const struct lines *l, const char *path, size_t len)
{
	for (size_t i = 0; i < l->n; i++) {
		const char *other = strstr(l->list[i], " same as ");

		if (other && (is_path(l->list[i], path, len) ||
			      is_path(other + strlen(" same as "), path, len)))
			return true;
	}
	return false;
}

bool locks_a_dir(const struct lines *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (is_dir(l->list[i]) && (strtoul(field(l->list[i], 1), NULL, 8) & 0700) != 0700)
			return true;
	return false;
}
