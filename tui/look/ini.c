/* ini - parses git-config syntax without git: for themes and keymaps, which every start reads. */
/* SPDX-License-Identifier: MIT */
#include "tui/look/ini.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "core/base/buf.h"

struct reader {
	const char *p, *end;
	struct ini_line at;
	struct buf section, sub, name, value;
};

int ini_error(struct err *err, const struct ini_line *line, const char *fmt, ...)
{
	AUTO_BUF struct buf b = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vfmt(&b, fmt, ap);
	va_end(ap);
	return err_say(err, -EINVAL, "%s:%d: %s", line->file, line->line, b.data);
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '.';
}

static void skip_blanks(struct reader *r)
{
	while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' || *r->p == '\r'))
		r->p++;
}

static void skip_line(struct reader *r)
{
	while (r->p < r->end && *r->p != '\n')
		r->p++;
}

static void read_name(struct reader *r, struct buf *out)
{
	buf_clear(out);
	while (r->p < r->end && is_name(*r->p))
		buf_ch(out, (char)tolower((unsigned char)*r->p++));
}

static int read_section(struct reader *r, struct err *err)
{
	r->p++;
	read_name(r, &r->section);
	buf_clear(&r->sub);
	skip_blanks(r);
	if (r->p < r->end && *r->p == '"') {
		for (r->p++; r->p < r->end && *r->p != '"' && *r->p != '\n'; r->p++) {
			if (*r->p == '\\' && r->p + 1 < r->end && r->p[1] != '\n')
				r->p++;
			buf_ch(&r->sub, *r->p);
		}
		if (r->p == r->end || *r->p != '"')
			return ini_error(err, &r->at, "this section name is not closed");
		r->p++;
	}
	if (r->section.len == 0 || r->p == r->end || *r->p != ']')
		return ini_error(err, &r->at, "a section looks like [name] or [name \"part\"]");
	r->p++;
	return 0;
}

/* Reads an escaped character of a value; a backslash at the end of a line joins the next line. */
static int read_escape(struct reader *r, struct err *err)
{
	r->p++;
	if (r->p == r->end)
		return 0;
	switch (*r->p) {
	case '\n':
		r->at.line++;
		break;
	case 'n':
		buf_ch(&r->value, '\n');
		break;
	case 't':
		buf_ch(&r->value, '\t');
		break;
	case '"':
	case '\\':
		buf_ch(&r->value, *r->p);
		break;
	default:
		return ini_error(err, &r->at, "unknown escape '\\%c'",
				 isprint((unsigned char)*r->p) ? *r->p : '?');
	}
	r->p++;
	return 0;
}

static int read_value(struct reader *r, struct err *err)
{
	bool quoted = false;
	size_t keep = 0; /* blanks at the end are kept up to here: quotes */
	int k;

	buf_clear(&r->value);
	while (r->p < r->end && *r->p != '\n') {
		if (*r->p == '\\') {
			k = read_escape(r, err);
			if (k < 0)
				return k;
			keep = r->value.len;
			continue;
		}
		if (*r->p == '"') {
			quoted = !quoted;
			keep = r->value.len;
		} else if (!quoted && (*r->p == ';' || *r->p == '#')) {
			skip_line(r);
			break;
		} else if (*r->p != '\r') {
			buf_ch(&r->value, *r->p);
		}
		r->p++;
	}
	if (quoted)
		return ini_error(err, &r->at, "this quote is not closed");
	while (r->value.len > keep && isblank((unsigned char)r->value.data[r->value.len - 1]))
		buf_truncate(&r->value, r->value.len - 1);
	return 0;
}

static int read_setting(struct reader *r, ini_on_line on, void *data, struct err *err)
{
	int line = r->at.line, k;

	if (r->section.len == 0)
		return ini_error(err, &r->at, "a setting before any [section]");
	read_name(r, &r->name);
	if (r->name.len == 0)
		return ini_error(err, &r->at, "expected 'name = value'");
	skip_blanks(r);
	buf_clear(&r->value);
	if (r->p < r->end && *r->p == '=') {
		r->p++;
		skip_blanks(r);
		k = read_value(r, err);
		if (k < 0)
			return k;
	} else if (r->p < r->end && !strchr("\n;#", *r->p)) {
		return ini_error(err, &r->at, "expected '=' after '%s'", r->name.data);
	}
	r->at.section = r->section.data;
	r->at.sub = r->sub.data;
	r->at.name = r->name.data;
	r->at.value = r->value.data;
	line = r->at.line;
	k = on(data, &r->at, err);
	r->at.line = line;
	return k;
}

int ini_parse(const char *file, const char *text, size_t len, ini_on_line on, void *data,
	      struct err *err)
{
	struct reader r = {.p = text,
			   .end = text + len,
			   .at = {.file = file, .line = 1},
			   .section = BUF_INIT,
			   .sub = BUF_INIT,
			   .name = BUF_INIT,
			   .value = BUF_INIT};
	int k = 0;

	if (len > INI_MAX)
		k = err_say(err, -EFBIG, "%s: larger than %u KiB", file, INI_MAX >> 10);
	else if (memchr(text, '\0', len))
		k = err_say(err, -EINVAL, "%s: not a text file", file);
	while (k == 0 && r.p < r.end) {
		skip_blanks(&r);
		if (r.p == r.end)
			break;
		if (*r.p == '\n') {
			r.at.line++;
			r.p++;
		} else if (*r.p == ';' || *r.p == '#') {
			skip_line(&r);
		} else if (*r.p == '[') {
			k = read_section(&r, err);
		} else {
			k = read_setting(&r, on, data, err);
		}
	}
	buf_done(&r.section);
	buf_done(&r.sub);
	buf_done(&r.name);
	buf_done(&r.value);
	return k;
}
