/* refused - summarises the refusals of a run without a user, and proposes rules. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/refused.h"

#include <errno.h>
#include <string.h>

#include "core/base/path.h"
#include "core/base/text.h"
#include "core/policy/rules/glob.h"
#include "core/policy/policy.h"
#include "core/policy/rules/rules.h"

/* Directories below $HOME that contain many programs' folders, secret ones too. */
static const char *const shared[] = {".cache", ".config", ".local/share", ".local/state", ".local"};

static size_t components(const char *path, size_t n)
{
	const char *at = path;

	for (; n > 0 && *at; n--) {
		at += *at == '/';
		at += strcspn(at, "/");
	}
	return (size_t)(at - path);
}

/* Returns a pattern for this path, whose special characters are quoted. Heap. */
static char *quoted(bool in_home, const char *path, size_t len, const char *tail)
{
	AUTO_FREE char *part = xstrndup(path, len);
	struct buf b = BUF_INIT;

	buf_str(&b, in_home ? "~/" : "");
	glob_quote(&b, part);
	buf_str(&b, tail);
	return buf_take(&b);
}

/* Returns what to grant: a project or a program's folder, never a whole home or disk. Heap. */
static char *pattern_of(const char *path, const char *home)
{
	const char *rest = path_below(path, home);
	bool in_home = rest && *rest;
	const char *from = in_home ? rest : path;
	size_t len = components(from, in_home ? 1 : 2);

	if (!in_home && len < strlen(path) && strncmp(home, path, len) == 0 &&
	    (home[len] == '/' || !home[len]))
		len = strlen(path);
	for (size_t i = 0; in_home && i < ARRAY_LEN(shared); i++)
		if (path_is_beneath(from, shared[i])) {
			len = components(from,
					 components(shared[i], 1) < strlen(shared[i]) ? 3 : 2);
			break;
		}
	return quoted(in_home, from, len, from[len] ? "/**" : "");
}

static bool is_ungranted(const struct row *row)
{
	return row->result == -EROFS && str_eq(row->more, policy_ungranted);
}

/* Returns the pattern for a refused write. Protected files and those that a profile asks about are
 * allowed singly, so that the user sees what may run them; a wider rule would not apply to them. */
static char *write_pattern_of(const struct row *row, const char *home)
{
	const char *below = path_below(row->text, home);

	if (is_ungranted(row))
		return pattern_of(row->text, home);
	if (below && *below)
		return quoted(true, below, strlen(below), "");
	return quoted(false, row->text, strlen(row->text), "");
}

/* ---- proposals ------------------------------------------------------------------------------- */

static char *exact(const struct refused *r, const char *path)
{
	const char *below = path_below(path, r->home);

	if (below && *below)
		return quoted(true, below, strlen(below), "");
	return quoted(false, path, strlen(path), "");
}

/* Returns "/a/b" for "/a/b/c"; heap. */
static char *parent_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return xstrndup(path, slash > path ? (size_t)(slash - path) : 1);
}

/* Returns whether a rule about everything below dir covers no more than one program's files. */
static bool is_narrow(const struct refused *r, const char *dir)
{
	AUTO_FREE char *beside_home = parent_of(r->home), *above = parent_of(dir);
	const char *below = path_below(dir, r->home);

	for (const char *const *f = r->folders; f && *f; f++)
		if (path_is_beneath(*f, dir))
			return false;
	for (size_t i = 0; below && i < ARRAY_LEN(shared); i++)
		if (str_eq(below, shared[i]))
			return false;
	if (below) /* "~/.tool" or "~/a/b" */
		return *below && (*below == '.' || strchr(below, '/'));
	return !path_is_beneath(r->home, dir) && !str_eq(above, beside_home) && !str_eq(above, "/");
}

/* Returns whether a name looks temporary, like `_tmp_206_374e6a27`: eight hexadecimal digits in a
 * row. */
static bool is_random(const char *path)
{
	static const char hex[] = "0123456789abcdef";
	const char *name = path_base(path);

	for (size_t n; *name; name += MAX(n, (size_t)1)) {
		n = strspn(name, hex);
		if (n >= 8 && strcspn(name, "0123456789") < n && strcspn(name, "abcdef") < n)
			return true;
	}
	return false;
}

/* Returns the deepest directory that contains both; heap. */
static char *common_of(const char *a, const char *b)
{
	size_t at = 0;

	for (size_t i = 0; a[i] == b[i] && a[i]; i++)
		if (a[i + 1] == '/' && b[i + 1] == '/')
			at = i + 1;
	return xstrndup(a, MAX(at, (size_t)1));
}

static char *tree_pattern(const struct refused *r, const char *dir)
{
	AUTO_FREE char *at = exact(r, dir);

	return xasprintf("%s/**", at);
}

/* Returns the directory that a rule may cover, or NULL; heap. */
static char *directory_of(const struct refused *r, const struct refused_tree *t)
{
	AUTO_FREE char *dir = t->common ? xstrdup(t->common) : NULL;

	if (!dir && t->why)
		dir = parent_of(t->paths[0]);
	return dir && is_narrow(r, dir) ? take_ptr(&dir) : NULL;
}

static void note_path(const struct refused *r, struct refused_tree *t, const char *path)
{
	for (size_t i = 0; i < t->n_paths; i++)
		if (str_eq(t->paths[i], path))
			return;
	if (t->n_paths) {
		AUTO_FREE char *dir = t->common ? xasprintf("%s/", t->common) : NULL;
		char *common = common_of(dir ? dir : t->paths[0], path);

		free(t->common);
		t->common = common;
	}
	if (t->n_paths == (r->whole ? REFUSED_ALL : REFUSED_PATHS))
		return;
	t->paths = xrealloc(t->paths, (t->n_paths + 1) * sizeof(*t->paths));
	t->paths[t->n_paths++] = xstrdup(path);
}

/* ---- counting -------------------------------------------------------------------------------- */

static bool is_same(const struct refused_tree *t, const char *pattern, const char *why)
{
	return str_eq(t->pattern, pattern) && !t->why == !why;
}

/* Returns NULL if there are REFUSED_MAX already. */
static struct refused_tree *new_tree(struct refused *r, const char *pattern, const char *why)
{
	struct refused_tree *t;

	if (r->n == (r->whole ? REFUSED_ALL : REFUSED_MAX)) {
		r->beyond++;
		return NULL;
	}
	r->list = xrealloc(r->list, (r->n + 1) * sizeof(*r->list));
	t = &r->list[r->n++];
	*t = (struct refused_tree){.pattern = xstrdup(pattern), .why = why ? xstrdup(why) : NULL};
	return t;
}

/* Counts a refusal. why: the reason of a refused write; borrowed. Takes the pattern over. */
static void count(struct refused *r, char *pattern, const struct row *row, const char *why,
		  bool runs)
{
	struct refused_tree *t;
	size_t i = 0;

	while (i < r->n && !is_same(&r->list[i], pattern, why))
		i++;
	t = i < r->n ? &r->list[i] : new_tree(r, pattern, why);
	free(pattern);
	if (!t)
		return;
	t->places++;
	t->runs |= runs;
	t->exact = why && !is_ungranted(row);
	note_path(r, t, row->text);
}

/* Counts a host. A name that was looked up and then connected to is reported once: with the port,
 * if known. kind: static. */
static void count_host(struct refused *r, const struct row *row, const char *kind)
{
	size_t len = strlen(row->text);
	struct refused_tree *t;

	for (size_t i = 0; i < r->n; i++) {
		t = &r->list[i];
		if (str_eq(t->host, kind) && strncmp(t->pattern, row->text, len) == 0 &&
		    (!t->pattern[len] || t->pattern[len] == ':')) {
			t->places++;
			return;
		}
	}
	t = new_tree(r, row->text, row->more ? row->more : "");
	if (t) {
		t->places = 1;
		t->host = kind;
	}
}

/* Returns the kind of rule about this host; NULL for a path. Static. */
static const char *host_kind(const struct row *row)
{
	static const char *const kinds[] = {"connect", "credentials", "sign"};

	for (size_t i = 0; i < ARRAY_LEN(kinds) && row->text[0] != '/'; i++)
		if (str_eq(row->op, kinds[i]))
			return kinds[i];
	return NULL;
}

/* Listening is never asked about. */
static bool is_listening(const struct row *row)
{
	return (str_eq(row->op, "bind") || str_eq(row->op, "listen")) && *row->text &&
	       row->text[0] != '/' && row->more;
}

void refused_add(struct refused *r, const struct row *row)
{
	const char *home = r->home;

	if (row->kind != ROW_DENY)
		return;
	if (is_listening(row))
		count_host(r, row, "bind");
	else if (row->unasked && host_kind(row))
		count_host(r, row, host_kind(row));
	else if (row->unasked)
		count(r, write_pattern_of(row, home), row, row->more ? row->more : "", false);
	else if (str_eq(row->more, policy_ungranted) &&
		 (str_eq(row->op, "read") || str_eq(row->op, "exec")))
		count(r, pattern_of(row->text, home), row, NULL, str_eq(row->op, "exec"));
}

void refused_note(struct refused *r, const struct model *m, const char *home)
{
	size_t i = m->row_count;
	const struct row *row;

	r->home = home;
	while (i > 0 && model_row(m, i - 1)->seq > r->seen)
		i--;
	for (; (row = model_row(m, i)); i++) {
		r->seen = row->seq;
		refused_add(r, row);
	}
}

static const char *host_words(const char *kind)
{
	for (int k = RULE_PLACES; k < RULE_KINDS; k++)
		if (str_eq(kind, rule_kind_words[k]))
			return rule_kind_gerunds[k];
	return rule_kind_gerunds[RULE_CONNECT];
}

static void tell(const struct refused *r, const struct refused_tree *t, struct buf *out)
{
	AUTO_BUF struct buf shown = BUF_INIT, why = BUF_INIT, one = BUF_INIT;
	AUTO_FREE char *first = t->n_paths ? exact(r, t->paths[0]) : NULL;
	const char *what = first && !t->common ? first : t->pattern;

	text_escape(&shown, what, strlen(what));
	if (t->common && first) {
		buf_str(&one, ", like ");
		text_escape(&one, first, strlen(first));
	}
	if (t->why)
		text_escape(&why, t->why, strcspn(t->why, ";"));
	if (str_eq(t->host, "bind")) {
		buf_fmt(out, "cordon: listening at %s was refused: %s\n", shown.data, why.data);
		return;
	}
	if (t->host) {
		buf_fmt(out, "cordon: %s %s was refused: %s (a headless run cannot ask)\n",
			host_words(t->host), shown.data, why.data);
		return;
	}
	buf_fmt(out, "cordon: %s %s was refused (%zu place%s%s): %s (a headless run cannot ask)\n",
		t->why ? "writing" : "reading", shown.data, t->places, t->places == 1 ? "" : "s",
		one.data, t->why ? why.data : "no rule grants it");
}

/* Returns whether the pattern has no control character, which a settings file cannot contain and a
 * terminal would obey. */
static bool can_be_said(const char *pattern)
{
	AUTO_BUF struct buf shown = BUF_INIT;

	text_escape(&shown, pattern, strlen(pattern));
	return str_eq(shown.data, pattern);
}

static bool add_rule(const struct refused_tree *t, const char *pattern, struct buf *out)
{
	const char *kinds = t->host ? t->host : t->why ? "write" : t->runs ? "read,exec" : "read";
	AUTO_BUF struct buf value = BUF_INIT;

	if (!can_be_said(pattern))
		return false;
	buf_fmt(&value, "%s %s", kinds, pattern);
	rules_line(out, "allow", value.data);
	return true;
}

static bool add_rules(const struct refused *r, const struct refused_tree *t, struct buf *out)
{
	AUTO_FREE char *dir = t->host || t->exact ? NULL : directory_of(r, t);
	AUTO_FREE char *tree = dir ? tree_pattern(r, dir) : NULL;
	bool any = false;

	if (tree || t->host)
		return add_rule(t, tree ? tree : t->pattern, out);
	for (size_t i = 0; i < t->n_paths; i++) {
		AUTO_FREE char *one = exact(r, t->paths[i]);

		any |= !is_random(t->paths[i]) && add_rule(t, one, out);
	}
	return any;
}

bool refused_rules(const struct refused *r, struct buf *out)
{
	bool any = false;

	for (size_t i = 0; i < r->n; i++)
		any |= add_rules(r, &r->list[i], out);
	return any;
}

void refused_words(const struct refused *r, struct buf *out)
{
	AUTO_BUF struct buf rules = BUF_INIT;

	for (size_t i = 0; i < r->n; i++)
		tell(r, &r->list[i], out);
	if (r->beyond)
		buf_fmt(out, "cordon: %zu more places were refused: see cordon audit\n", r->beyond);
	if (refused_rules(r, &rules))
		buf_fmt(out,
			"cordon: `cordon learn --last` writes rules for all of it after a look; or "
			"paste into ~/.config/cordon/config:\n[rule \"refused before\"]\n%s",
			rules.data);
}

static void tree_done(struct refused_tree *t)
{
	free(t->pattern);
	free(t->why);
	free(t->common);
	for (size_t i = 0; i < t->n_paths; i++)
		free(t->paths[i]);
	free(t->paths);
}

void refused_done(struct refused *r)
{
	for (size_t i = 0; i < r->n; i++)
		tree_done(&r->list[i]);
	free(r->list);
	*r = (struct refused){0};
}
