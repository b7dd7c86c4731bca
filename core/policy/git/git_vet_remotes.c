/* git_vet_remotes - lets a git configuration add remotes, but not change existing ones. */
/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "core/base/hash.h"
#include "core/base/path.h"
#include "core/os/text.h"
#include "core/policy/policy_priv.h"

/*
 * `git push` sends the user's commits to the configured address, and runs the hooks of a repository
 * on this machine. So the address of an existing remote belongs to the user: an agent may add
 * remotes, and set their address freely, until the session ends. The state of the file when the
 * session first saw it decides: removing a remote and adding it again does not evade this. Nor may
 * the next fetch from an existing remote remove more (prune), or the next push to it send more.
 *
 * A remembered line has a kind, its subject, a tab, and the value.
 */
#define REMEMBERED_MAX 10000	  /* configurations */
#define BYTES_MAX      (8u << 20) /* remembered in total */

enum kind {
	URL = 'u',
	PUSH_URL = 'p',
	UPSTREAM = 'b',	   /* branch.X.remote */
	PUSH_REMOTE = 'B', /* branch.X.pushRemote */
	PUSH_DEFAULT = 'd',
	FETCH = 'f', /* refs of a fetch below refs/remotes/, not below its own name */
	WIDER = 'w', /* removals by a fetch, sending by a push; of a remote, or "" for any */
};

struct first {
	char *path;
	char *lines;
	bool missing; /* the file did not exist */
	UT_hash_handle hh;
};

struct remotes {
	struct first *all;
	size_t bytes;
};

/* ---- reading --------------------------------------------------------------------------------- */

static void note(struct buf *out, enum kind kind, const char *about, struct span value)
{
	if (!value.len)
		return;
	buf_ch(out, (char)kind);
	buf_str(out, about);
	buf_ch(out, '\t');
	buf_add(out, value.data, value.len);
	buf_ch(out, '\n');
}

/* Settings that make a fetch or a push do more, except with the values of `but`. */
static const struct wider {
	const char *section;
	bool sub;
	const char *name;
	const char *but; /* each between blanks */
} wider[] = {
	{"fetch", false, "prune", " false no off 0 "},
	{"fetch", false, "prunetags", " false no off 0 "},
	{"push", false, "default", " simple current nothing "},
	{"push", false, "followtags", " false no off 0 "},
	{"push", false, "recursesubmodules", " check no false off 0 "},
	{"remote", true, "prune", " false no off 0 "},
	{"remote", true, "prunetags", " false no off 0 "},
	{"remote", true, "push", " "},
	{"submodule", false, "recurse", " false no off 0 "},
};

/* Returns whether the line is `name`, or `name = value`; ret_len 0: the bare key. */
static bool sets(const struct vet_reader *r, const char *name, struct span *ret)
{
	const size_t n = strlen(name);

	*ret = vet_value(r, name);
	if (ret->len)
		return true;
	*ret = r->line;
	return r->line.len == n && strncasecmp(r->line.data, name, n) == 0;
}

static void note_wider(struct buf *out, const struct vet_reader *r)
{
	for (size_t i = 0; i < ARRAY_LEN(wider); i++) {
		const struct wider *w = &wider[i];
		AUTO_FREE char *word = NULL;
		struct span value;

		if (w->sub != (*r->sub != '\0') || !str_eq(r->section, w->section) ||
		    !sets(r, w->name, &value))
			continue;
		word = xasprintf(" %.*s ", (int)value.len, value.data);
		/* With its name, because two settings may have the same value. */
		if (!strcasestr(w->but, word)) {
			AUTO_FREE char *named =
				xasprintf("%s %.*s", w->name, (int)value.len, value.data);

			note(out, WIDER, r->sub, (struct span){named, strlen(named)});
		}
	}
}

static void note_fetch(struct buf *out, const struct vet_reader *r)
{
	static const char remotes[] = ":refs/remotes/";
	struct span value = vet_value(r, "fetch");
	const char *to = value.len ? memmem(value.data, value.len, remotes, strlen(remotes)) : NULL;
	const size_t n = strlen(r->sub);

	if (!to)
		return;
	to += strlen(remotes);
	value = (struct span){to, value.len - (size_t)(to - value.data)};
	if (value.len <= n || memcmp(to, r->sub, n) != 0 || to[n] != '/')
		note(out, FETCH, r->sub, value);
}

static void note_line(struct buf *out, const struct vet_reader *r)
{
	note_wider(out, r);
	if (str_eq(r->section, "remote") && *r->sub) {
		note(out, URL, r->sub, vet_value(r, "url"));
		note(out, PUSH_URL, r->sub, vet_value(r, "pushurl"));
		note_fetch(out, r);
	} else if (str_eq(r->section, "remote")) {
		note(out, PUSH_DEFAULT, "", vet_value(r, "pushdefault"));
	} else if (str_eq(r->section, "branch") && *r->sub) {
		note(out, UPSTREAM, r->sub, vet_value(r, "remote"));
		note(out, PUSH_REMOTE, r->sub, vet_value(r, "pushremote"));
	}
}

static void collect(struct buf *out, const char *text, size_t len)
{
	struct vet_reader r = vet_reader_of(text, len);
	enum line_kind k;

	while ((k = vet_next(&r)) != LINE_NONE)
		if (k == LINE_INERT || k == LINE_OTHER)
			note_line(out, &r);
}

/* ---- searching ------------------------------------------------------------------------------- */

/* Returns the next line, or NULL after the last. */
static const char *line_after(const char *line)
{
	const char *nl = strchr(line, '\n');

	return nl && nl[1] ? nl + 1 : NULL;
}

static size_t line_length(const char *line)
{
	return strcspn(line, "\n");
}

static bool has_line(const char *lines, const char *line)
{
	size_t n = line_length(line);

	for (const char *l = *lines ? lines : NULL; l; l = line_after(l))
		if (line_length(l) == n && memcmp(l, line, n) == 0)
			return true;
	return false;
}

/* Returns whether there is a line of that kind about the same subject, with any value. */
static bool has_about(const char *lines, enum kind kind, const char *about, size_t len)
{
	for (const char *l = *lines ? lines : NULL; l; l = line_after(l))
		if (*l == (char)kind && strncmp(l + 1, about, len) == 0 && l[1 + len] == '\t')
			return true;
	return false;
}

static bool has_kind(const char *lines, enum kind kind)
{
	for (const char *l = *lines ? lines : NULL; l; l = line_after(l))
		if (*l == (char)kind)
			return true;
	return false;
}

/* Returns whether the address is a path of this machine: neither "scheme://" nor "host:path". */
static bool is_local(const char *value, size_t len)
{
	const char *colon = memchr(value, ':', len);
	size_t n = colon ? (size_t)(colon - value) : 0;

	if (!colon || memchr(value, '/', n))
		return true;
	return n == 4 && strncasecmp(value, "file", 4) == 0;
}

/* ---- verdicts -------------------------------------------------------------------------------- */

struct about {
	const char *first, *old, *now;
	bool fresh;   /* this session made the file */
	bool overlay; /* config.worktree: overrides another file */
};

static bool may_be_upstream(const struct about *a, const char *line, const char *value, size_t len)
{
	if (len == 1 && *value == '.')
		return true;
	if (has_about(a->first, (enum kind) * line, line + 1, (size_t)(value - line) - 2))
		return false;
	if (has_about(a->first, URL, value, len))
		return true;
	return !has_kind(a->first, URL) && has_about(a->now, URL, value, len);
}

/* Returns whether a fetch may write these refs. The user's remote-tracking refs are written by
 * their own remote only: `origin/main` is origin's last known state. */
static bool may_be_written(const struct about *a, const char *value, size_t len)
{
	const char *star = memchr(value, '*', len);
	const size_t n = star ? (size_t)(star - value) : len;

	for (const char *l = *a->first ? a->first : NULL; l; l = line_after(l)) {
		const size_t name = strcspn(l + 1, "\t");

		if (*l == URL && memcmp(l + 1, value, MIN(n, name)) == 0 &&
		    (n <= name || value[name] == '/'))
			return false;
	}
	return true;
}

static bool may_be_new(const struct about *a, const char *line)
{
	const char *value = strchr(line, '\t') + 1;
	size_t len = line_length(value);

	if (a->overlay)
		return false;
	switch ((enum kind) * line) {
	case URL:
		if (has_about(a->first, URL, line + 1, (size_t)(value - line) - 2))
			return false;
		return a->fresh || !is_local(value, len);
	case PUSH_URL:
		return false;
	case FETCH:
		return may_be_written(a, value, len);
	case WIDER:
		return line[1] == '\t'
			       ? !has_kind(a->first, URL)
			       : !has_about(a->first, URL, line + 1, (size_t)(value - line) - 2);
	case UPSTREAM:
	case PUSH_REMOTE:
	case PUSH_DEFAULT:
		break;
	}
	return may_be_upstream(a, line, value, len);
}

static bool may(const struct about *a)
{
	for (const char *l = *a->now ? a->now : NULL; l; l = line_after(l))
		if (!has_line(a->first, l) && !has_line(a->old, l) && !may_be_new(a, l))
			return false;
	/* An existing remote must stay: another could take its name. */
	for (const char *l = *a->first ? a->first : NULL; l; l = line_after(l))
		if (*l == URL && has_line(a->old, l) && !has_line(a->now, l))
			return false;
	return true;
}

/* ---- the first state of each file ------------------------------------------------------------ */

static struct first *find(struct policy *p, const char *path)
{
	struct first *f = NULL;

	if (p->remotes)
		HASH_FIND_STR(p->remotes->all, path, f);
	return f;
}

bool remotes_note(struct policy *p, const char *path, const char *old, size_t old_len)
{
	AUTO_BUF struct buf lines = BUF_INIT;
	struct first *f = find(p, path);

	if (f)
		return true;
	if (!p->remotes)
		p->remotes = xcalloc(1, sizeof(*p->remotes));
	if (old)
		collect(&lines, old, old_len);
	if (HASH_COUNT(p->remotes->all) >= REMEMBERED_MAX || p->remotes->bytes > BYTES_MAX)
		return false;
	f = xcalloc(1, sizeof(*f));
	f->path = xstrdup(path);
	f->lines = xstrdup(lines.data);
	f->missing = !old;
	p->remotes->bytes += strlen(path) + lines.len;
	HASH_ADD_KEYPTR(hh, p->remotes->all, f->path, strlen(f->path), f);
	return true;
}

bool remotes_may(struct policy *p, const char *path, const char *old, size_t old_len,
		 const char *data, size_t len)
{
	AUTO_BUF struct buf was = BUF_INIT;
	AUTO_BUF struct buf now = BUF_INIT;
	const struct first *f;

	collect(&now, data, len);
	if (!remotes_note(p, path, old, old_len))
		return now.len == 0;
	f = find(p, path);
	if (old)
		collect(&was, old, old_len);
	return may(&(struct about){.first = f->lines,
				   .old = was.data,
				   .now = now.data,
				   .fresh = f->missing,
				   .overlay = strcasecmp(path_base(path), "config.worktree") == 0});
}

bool shallow_may(struct policy *p, const char *path, const char *old, size_t old_len,
		 const char *data, size_t len)
{
	AUTO_FREE char *dir = path_dir(path);
	AUTO_FREE char *config = path_join(dir, "config");
	AUTO_FREE char *was = xstrndup(old ? old : "", old ? old_len : 0);
	AUTO_FREE char *now = xstrndup(data, len);
	const struct first *f = find(p, config);

	if (f && f->missing)
		return true;
	for (const char *l = *now ? now : NULL; l; l = line_after(l))
		if (!has_line(was, l))
			return false;
	return strlen(now) == len;
}

void remotes_free(struct remotes *r)
{
	struct first *f, *next;

	if (!r)
		return;
	HASH_ITER (hh, r->all, f, next) {
		HASH_DEL(r->all, f);
		free(f->path);
		free(f->lines);
		free(f);
	}
	free(r);
}
