/* step_name - names a step without a command by its paths: "claude: edit a, b". */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/steps/step_name.h"

#include <string.h>

#include "core/base/path.h"
#include "core/keeper/state.h"
#include "core/keeper/steps/command.h"

#define PATHS_NAMED 3

void naming_init(struct naming *n, const struct keeper *k, const struct command *c)
{
	*n = (struct naming){.keeper = k,
			     .command = c,
			     .paths = BUF_INIT,
			     .temporary = BUF_INIT,
			     .places = BUF_INIT,
			     .saving = BUF_INIT,
			     .name = BUF_INIT};
	buf_add(&n->name, c->label.data, c->label.len);
}

void naming_done(struct naming *n)
{
	buf_done(&n->paths);
	buf_done(&n->temporary);
	buf_done(&n->places);
	buf_done(&n->saving);
	buf_done(&n->name);
	free(n->below);
}

/* Returns whether the name is one that programs use for saving: "x.tmp.123", ".tmpA1b2C3", vim's
 * "4913", ".x.swp". */
static bool is_temporary(const char *path)
{
	const char *name = path_base(path);
	size_t len = strlen(name);

	return strstr(name, ".tmp.") || str_ends(name, ".tmp") || str_starts(name, ".tmp") ||
	       str_eq(name, "4913") || (len > 1 && name[len - 1] == '~') ||
	       (*name == '.' && (str_ends(name, ".swp") || str_ends(name, ".swx")));
}

static void add(struct buf *to, size_t *n, const char *path)
{
	if ((*n)++ < PATHS_NAMED)
		buf_fmt(to, "%s%s", to->len ? ", " : "", path);
}

static void begin(void *data)
{
	struct naming *n = data;

	buf_clear(&n->paths);
	buf_clear(&n->temporary);
	buf_clear(&n->places);
	buf_clear(&n->saving);
	n->n_paths = n->n_places = 0;
	n->edits = n->deletes = n->renames = n->elsewhere = n->granted = false;
	free(take_ptr(&n->below));
}

static void note_kind(struct naming *n, const struct change *c)
{
	n->edits |= c->kind == CHANGE_CREATED || c->kind == CHANGE_MODIFIED;
	n->deletes |= c->kind == CHANGE_DELETED;
	n->renames |= c->kind == CHANGE_RENAMED;
}

/* Returns whether a new or removed directory above the path is named already. Paths come sorted. */
static bool is_covered(struct naming *n, const struct change *c, const char *path)
{
	bool dir = S_ISDIR(c->after.exists ? c->after.mode : c->before.mode);

	if (n->below && path_is_beneath(path, n->below))
		return true;
	free(take_ptr(&n->below));
	if (dir && c->kind != CHANGE_MODIFIED)
		n->below = xstrdup(path);
	return false;
}

/* Returns whether a change outside is more than the agent's own files, which its profile names: an
 * edit by its edit tool, which names an ambient step, is more. */
static bool is_granted(const struct naming *n, const char *path)
{
	const struct command *c = n->command;
	const struct policy *p = n->keeper->policy;

	return (c->kind == STEP_AMBIENT && c->named) || (p && !policy_is_of_profile(p, path));
}

static void change(void *data, const struct change *c)
{
	struct naming *n = data;
	AUTO_FREE char *path = c->base ? path_join(c->base, c->path) : xstrdup(c->path);
	const char *home = getenv("HOME"), *below = home ? path_below(path, home) : NULL;
	/* A directory "~" of the project is not the home. */
	const char *mark = below && c->root ? "~/" : *path == '~' ? "./" : "";
	AUTO_FREE char *shown = xasprintf("%s%s", mark, *mark == '~' ? below : path);

	if (!*c->path || is_covered(n, c, path))
		return;
	if (c->root) {
		n->granted = n->granted || is_granted(n, path);
		if (!is_temporary(path))
			add(&n->places, &n->n_places, shown);
		else if (!n->saving.len)
			buf_str(&n->saving, shown);
	} else if (is_temporary(path)) {
		if (!n->temporary.len)
			buf_str(&n->temporary, shown);
	} else {
		note_kind(n, c);
		add(&n->paths, &n->n_paths, shown);
	}
}

static const char *name(void *data)
{
	struct naming *n = data;
	const struct command *c = n->command;
	const char *who = c->shell ? "you" : n->keeper->agent_name.data;
	bool inside = n->paths.len || n->temporary.len;
	const char *verb = n->edits || (!n->deletes && !n->renames) ? "edit"
			   : n->renames				    ? "rename"
								    : "delete";
	bool saving = !inside && !n->places.len;
	const struct buf *what = n->paths.len ? &n->paths
				 : inside     ? &n->temporary
				 : saving     ? &n->saving
					      : &n->places;
	size_t all = n->paths.len ? n->n_paths : inside || saving ? 1 : n->n_places;

	n->elsewhere = !inside && (n->places.len || n->saving.len);
	if (!c->by_paths || c->named || !what->len)
		return NULL;
	buf_clear(&n->name);
	if (saving && path_saved_as(what->data)) {
		/* The user may be asked before the temporary file replaces the other. */
		buf_fmt(&n->name, "%s: begin to save %.*s", who, (int)path_saved_as(what->data),
			what->data);
		buf_truncate(&n->name, MIN(n->name.len, (size_t)LABEL_MAX));
		return n->name.data;
	}
	buf_fmt(&n->name, "%s: %s %s", who, verb, what->data);
	if (all > PATHS_NAMED)
		buf_fmt(&n->name, " and %zu more", all - PATHS_NAMED);
	if (n->name.len > LABEL_MAX)
		buf_truncate(&n->name, LABEL_MAX);
	return n->name.data;
}

static bool granted(void *data)
{
	return ((const struct naming *)data)->granted;
}

const struct step_witness naming_witness = {
	.begin = begin, .change = change, .name = name, .granted = granted};
