/* git_vet_config - decides whether a git configuration of the agent's may take effect on the
 * host. */
/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "core/os/text.h"
#include "core/policy/policy_priv.h"

/*
 * A parser that understands less than git's, on purpose: one setting or header a line, no
 * continuation, no quotes or escapes in a value. Lines that it does not understand are not inert.
 * It runs in the keeper on the agent's bytes, keeps no state but the section, and allocates
 * nothing.
 */
#define VET_MAX_VALUE 4096

struct vet_reader vet_reader_of(const char *text, size_t len)
{
	const char *p = len ? text : "";

	return (struct vet_reader){.p = p, .end = p + len, .line = {p, 0}, .header = {p, 0}};
}

static struct span trim(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	while (end > p && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	return (struct span){p, (size_t)(end - p)};
}

/* Reads [section] or [section "sub"], with no other text on the line. */
static bool read_header(struct vet_reader *r, struct span l)
{
	const char *p = l.data + 1, *end = l.data + l.len - 1;
	size_t n = 0, m = 0;

	if (l.len < 3 || *end != ']')
		return false;
	for (; p < end && (isalnum((unsigned char)*p) || *p == '-') && n + 1 < VET_MAX_NAME; p++)
		r->section[n++] = (char)tolower((unsigned char)*p);
	r->section[n] = '\0';
	r->sub[0] = '\0';
	if (p == end)
		return n > 0;
	if (n == 0 || *p != ' ' || end - p < 4 || p[1] != '"' || end[-1] != '"')
		return false;
	for (p += 2; p < end - 1; p++) {
		if (*p == '"' || *p == '\\' || m + 1 >= VET_MAX_NAME)
			return false;
		r->sub[m++] = *p;
	}
	r->sub[m] = '\0';
	return m > 0;
}

static bool read_setting(const struct vet_reader *r, struct span l)
{
	char name[VET_MAX_NAME], value[VET_MAX_VALUE] = "true"; /* a bare key is true */
	const char *p = l.data, *end = l.data + l.len;
	struct span v;
	size_t n = 0;

	for (; p < end && (isalnum((unsigned char)*p) || *p == '-') && n + 1 < sizeof(name); p++)
		name[n++] = (char)tolower((unsigned char)*p);
	name[n] = '\0';
	v = trim(p, end);
	if (n == 0 || !isalpha((unsigned char)name[0]))
		return false;
	if (v.len) {
		if (*v.data != '=')
			return false;
		v = trim(v.data + 1, end);
		if (v.len >= sizeof(value))
			return false;
		for (size_t i = 0; i < v.len; i++)
			if (strchr("\"\\#;", v.data[i]) || (unsigned char)v.data[i] < 0x20 ||
			    v.data[i] == 0x7f)
				return false;
		memcpy(value, v.data, v.len);
		value[v.len] = '\0';
	}
	return vet_key_is_inert(r->section, r->sub, name, value);
}

enum line_kind vet_next(struct vet_reader *r)
{
	const char *nl;

	if (r->p == r->end)
		return LINE_NONE;
	nl = memchr(r->p, '\n', (size_t)(r->end - r->p));
	if (!nl)
		nl = r->end;
	r->line = trim(r->p, nl);
	r->p = nl == r->end ? nl : nl + 1;
	if (r->line.len == 0)
		return LINE_BLANK;
	/* "\" continues the line, and "\r" may precede the newline. */
	if (r->line.data[r->line.len - 1] == '\\' || memchr(r->line.data, '\r', r->line.len) ||
	    memchr(r->line.data, '\0', r->line.len))
		return LINE_BAD;
	if (*r->line.data == '#' || *r->line.data == ';')
		return LINE_BLANK;
	if (*r->line.data == '[') {
		if (read_header(r, r->line)) {
			r->header = r->line;
			return LINE_HEADER;
		}
		/* The following settings belong to an unknown section. */
		r->header = r->line;
		r->section[0] = '\0';
		return LINE_OTHER;
	}
	return read_setting(r, r->line) ? LINE_INERT : LINE_OTHER;
}

/* Returns the kind of the next line that may do harm: OTHER, BAD or NONE. */
static enum line_kind next_notable(struct vet_reader *r)
{
	enum line_kind k;

	do {
		k = vet_next(r);
	} while (k == LINE_BLANK || k == LINE_HEADER || k == LINE_INERT);
	return k;
}

static bool same(struct span a, struct span b)
{
	return a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

bool vet_git_config(const char *data, size_t len, const char *old, size_t old_len)
{
	struct vet_reader now = vet_reader_of(data, len), was = vet_reader_of(old, old_len);

	if (len > VET_MAX_BYTES || old_len > VET_MAX_BYTES)
		return false;
	if (len >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0)
		return false; /* a byte order mark, which git skips */
	for (;;) {
		enum line_kind k = next_notable(&now);

		if (k == LINE_BAD)
			return false;
		if (!old)
			return k == LINE_NONE;
		if (next_notable(&was) != k)
			return false;
		if (k == LINE_NONE)
			return true;
		/* A setting is the same only under the same header. */
		if (!same(now.line, was.line) || !same(now.header, was.header))
			return false;
	}
}

struct span vet_value(const struct vet_reader *r, const char *key)
{
	const struct span none = {r->line.data, 0};
	const char *p = r->line.data, *end = p + r->line.len;
	size_t n = strlen(key);
	struct span v;

	if (r->line.len <= n || strncasecmp(p, key, n) != 0)
		return none;
	v = trim(p + n, end);
	if (v.len == 0 || *v.data != '=')
		return none;
	v = trim(v.data + 1, end);
	if (v.len >= 2 && *v.data == '"' && v.data[v.len - 1] == '"')
		v = (struct span){v.data + 1, v.len - 2};
	return v;
}

/* Writes the setting as "section.name" if it makes git show less; else "". */
static void hiding(const struct vet_reader *r, struct buf *ret)
{
	static const struct {
		const char *section, *name;
		const char *but; /* values that show all; each between blanks */
	} table[] = {
		{"status", "showuntrackedfiles", " normal all true yes on 1 "},
		{"core", "filemode", " true yes on 1 "},
		{"core", "trustctime", " true yes on 1 "},
		{"core", "checkstat", " default "},
		{"core", "sparsecheckout", " false no off 0 "},
		{"submodule", "ignore", " none "},
	};

	buf_clear(ret);
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct span v = vet_value(r, table[i].name);
		AUTO_FREE char *word = xasprintf(" %.*s ", (int)v.len, v.data);

		if (v.len && str_eq(r->section, table[i].section) &&
		    !strcasestr(table[i].but, word))
			buf_fmt(ret, "%s.%s", table[i].section, table[i].name);
	}
}

/* Returns whether a line of the text makes git show less by that setting. */
static bool has_hiding(const char *text, size_t len, const char *setting)
{
	struct vet_reader r = vet_reader_of(text, len);
	AUTO_BUF struct buf found = BUF_INIT;
	enum line_kind k;

	while ((k = vet_next(&r)) != LINE_NONE) {
		if (k != LINE_INERT && k != LINE_OTHER)
			continue;
		hiding(&r, &found);
		if (str_eq(found.data, setting))
			return true;
	}
	return false;
}

void vet_config_hides(const char *data, size_t len, const char *old, size_t old_len,
		      struct buf *ret)
{
	struct vet_reader r = vet_reader_of(data, len);
	enum line_kind k;

	while ((k = vet_next(&r)) != LINE_NONE) {
		if (k != LINE_INERT && k != LINE_OTHER)
			continue;
		hiding(&r, ret);
		if (ret->len && !has_hiding(old, old ? old_len : 0, ret->data))
			return;
	}
	buf_clear(ret);
}

void vet_find_files(const char *data, size_t len, void (*on)(void *arg, const char *path),
		    void *arg)
{
	struct vet_reader r = vet_reader_of(data, len);
	enum line_kind k;

	while ((k = vet_next(&r)) != LINE_NONE) {
		AUTO_FREE char *path = NULL;
		struct span v = {r.line.data, 0};

		if (k != LINE_OTHER && k != LINE_INERT)
			continue;
		if (str_eq(r.section, "include") || str_eq(r.section, "includeif"))
			v = vet_value(&r, "path");
		else if (str_eq(r.section, "core") && !*r.sub)
			v = vet_value(&r, "excludesfile");
		if (!v.len && str_eq(r.section, "core") && !*r.sub)
			v = vet_value(&r, "attributesfile");
		if (!v.len)
			continue;
		path = xstrndup(v.data, v.len);
		on(arg, path);
	}
}
