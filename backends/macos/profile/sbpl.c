/* sbpl - writes the Sandbox Profile Language: rules, filters, strings of any bytes. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/profile/sbpl.h"

#include <string.h>

void sbpl_done(struct sbpl *s)
{
	buf_done(&s->text);
	for (size_t i = 0; i < s->n_params; i++)
		free(s->params[i]);
	free(s->params);
	*s = (struct sbpl)SBPL_INIT;
}

/* ---- strings --------------------------------------------------------------------------------- */

static bool is_plain(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~' || *text == '"' || *text == '\\')
			return false;
	return true;
}

/* Appends text in quotes, escaped. */
static void sbpl_quote(struct buf *out, const char *text, size_t len)
{
	buf_ch(out, '"');
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '"' || c == '\\')
			buf_fmt(out, "\\%c", c);
		else if (c < ' ' || c > '~')
			buf_fmt(out, "\\x%02x", c);
		else
			buf_ch(out, (char)c);
	}
	buf_ch(out, '"');
}

/* Writes the parameter that has this value. Equal values share one. */
static void put_param(struct sbpl *s, const char *value)
{
	size_t i = 0;

	while (i < s->n_params && !str_eq(s->params[i + 1], value))
		i += 2;
	if (i == s->n_params) {
		util_list_push(&s->params, &s->n_params, xasprintf("P%zu", s->n_params / 2));
		util_list_push(&s->params, &s->n_params, xstrdup(value));
	}
	buf_fmt(&s->text, "(param \"%s\")", s->params[i]);
}

static void put_string(struct sbpl *s, const char *value)
{
	if (is_plain(value))
		buf_fmt(&s->text, "\"%s\"", value);
	else
		put_param(s, value);
}

/* ---- rules ----------------------------------------------------------------------------------- */

void sbpl_comment(struct sbpl *s, const char *words)
{
	buf_fmt(&s->text, "%s; %s\n", s->text.len ? "\n" : "", words);
}

void sbpl_allow(struct sbpl *s, const char *operations)
{
	buf_fmt(&s->text, "(allow %s", operations);
}

void sbpl_deny(struct sbpl *s, const char *operations)
{
	buf_fmt(&s->text, "(deny %s", operations);
}

void sbpl_end(struct sbpl *s)
{
	buf_str(&s->text, ")\n");
}

void sbpl_allow_all(struct sbpl *s, const char *operations)
{
	sbpl_allow(s, operations);
	sbpl_end(s);
}

/* ---- filters --------------------------------------------------------------------------------- */

void sbpl_open(struct sbpl *s, const char *what)
{
	buf_fmt(&s->text, " (%s", what);
}

void sbpl_close(struct sbpl *s)
{
	buf_ch(&s->text, ')');
}

void sbpl_filter(struct sbpl *s, const char *name, const char *text)
{
	buf_fmt(&s->text, " (%s ", name);
	put_string(s, text);
	buf_ch(&s->text, ')');
}

void sbpl_word(struct sbpl *s, const char *name, const char *word)
{
	buf_fmt(&s->text, " (%s %s)", name, word);
}

void sbpl_subpath(struct sbpl *s, const char *path)
{
	sbpl_filter(s, "subpath", path);
}

void sbpl_literal(struct sbpl *s, const char *path)
{
	sbpl_filter(s, "literal", path);
}

/* Writes a regular expression, as #"..." if no byte of it could end that raw form. */
void sbpl_regex(struct sbpl *s, const char *regex)
{
	bool raw = true;

	for (const char *c = regex; *c; c++)
		raw = raw && *c >= ' ' && *c <= '~' && *c != '"';
	buf_str(&s->text, " (regex ");
	if (raw)
		buf_fmt(&s->text, "#\"%s\"", regex);
	else
		sbpl_quote(&s->text, regex, strlen(regex));
	buf_ch(&s->text, ')');
}
