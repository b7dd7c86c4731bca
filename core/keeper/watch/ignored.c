/* ignored - which external changes are not edits: patterns for the ends of paths. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/watch/ignored.h"

#include <errno.h>
#include <string.h>

#include "core/policy/rules/glob.h"

#define NAMES_MAX 16 /* in one pattern */

struct line {
	struct span names[NAMES_MAX]; /* of the pattern, the last one first */
	size_t n;
	bool below; /* and everything below */
};

struct ignored {
	char *text;
	struct line *list;
	size_t n;
};

/* Splits off the last name of *path. */
static struct span last_name(struct span *path)
{
	size_t at = path->len;
	struct span name;

	while (at && path->data[at - 1] != '/')
		at--;
	name = (struct span){path->data + at, path->len - at};
	path->len = at ? at - 1 : 0;
	return name;
}

static bool line_matches(const struct line *l, struct span path)
{
	for (size_t i = 0; i < l->n; i++) {
		struct span name = last_name(&path);

		if (!name.len ||
		    !glob_match(l->names[i].data, l->names[i].len, name.data, name.len))
			return false;
	}
	return true;
}

static bool line_has(const struct line *l, const char *path)
{
	struct span rest = {path, strlen(path)};

	if (!l->below)
		return line_matches(l, rest);
	for (last_name(&rest); rest.len; last_name(&rest))
		if (line_matches(l, rest))
			return true;
	return false;
}

bool ignored_has(const struct ignored *i, const char *path)
{
	for (size_t k = 0; i && k < i->n; k++)
		if (line_has(&i->list[k], path))
			return true;
	return false;
}

static int parse(struct line *l, char *text, int number, struct err *err)
{
	struct span rest = {text, strlen(text)};

	*l = (struct line){.below = str_ends(text, "/**")};
	if (l->below)
		rest.len -= 3;
	while (rest.len) {
		struct span name = last_name(&rest);
		AUTO_BUF struct buf literal = BUF_INIT;
		struct glob_shape shape = glob_look(name.data, name.len, &literal);

		if (!name.len)
			return err_say(err, -EINVAL, "line %d: '%s': a name is missing", number,
				       text);
		if (shape.form == GLOB_BAD)
			return err_say(err, -EINVAL, "line %d: '%s': %s", number, text, shape.bad);
		if (l->n == NAMES_MAX)
			return err_say(err, -EINVAL, "line %d: '%s': more than %d names", number,
				       text, NAMES_MAX);
		l->names[l->n++] = name;
	}
	return l->n ? 0 : err_say(err, -EINVAL, "line %d: '%s': names nothing", number, text);
}

int ignored_new(struct ignored **ret, const char *text, struct err *err)
{
	struct ignored *i = xcalloc(1, sizeof(*i));
	char *next, *line;
	int r = 0;

	i->text = xstrdup(text);
	next = i->text;
	for (int number = 1; r == 0 && (line = strsep(&next, "\n")); number++) {
		size_t len = strlen(line);

		while (len &&
		       (line[len - 1] == ' ' || line[len - 1] == '\t' || line[len - 1] == '\r'))
			line[--len] = '\0';
		if (!len || *line == '#')
			continue;
		i->list = xrealloc(i->list, (i->n + 1) * sizeof(*i->list));
		r = parse(&i->list[i->n], line, number, err);
		i->n += r == 0;
	}
	if (r < 0)
		ignored_free(i);
	else
		*ret = i;
	return r;
}

void ignored_free(struct ignored *i)
{
	if (!i)
		return;
	free(i->list);
	free(i->text);
	free(i);
}
