/* git_settings - reads settings of git configurations, and pointers between git directories. */
/* SPDX-License-Identifier: MIT */
#include "core/policy/git/git_settings.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/io.h"
#include "core/base/path.h"

static const char *line_end(const char *s)
{
	return s + strcspn(s, "\n");
}

static const char *skip_blanks(const char *s)
{
	return s + strspn(s, " \t\r\f\v");
}

static void add_lower(struct buf *out, char c)
{
	buf_ch(out, (char)tolower((unsigned char)c));
}

/* Reads a section. s is after "["; returns the position after the section. */
static const char *read_section(struct buf *out, const char *s)
{
	buf_clear(out);
	for (; isalnum((unsigned char)*s) || *s == '-' || *s == '.'; s++)
		add_lower(out, *s);
	s = skip_blanks(s);
	if (*s == '"') {
		buf_ch(out, '.');
		for (s++; *s && *s != '"' && *s != '\n'; s++) {
			if (*s == '\\' && s[1] && s[1] != '\n')
				s++;
			buf_ch(out, *s);
		}
		s = *s == '"' ? skip_blanks(s + 1) : s;
	}
	if (*s == ']')
		return s + 1;
	buf_clear(out); /* an unknown section */
	return line_end(s);
}

/* Reads an escape. s is after the "\"; returns the position after the escape. */
static const char *read_escape(struct buf *out, const char *s)
{
	if (*s == '\r' && s[1] == '\n')
		s++;
	if (!*s)
		return s;
	if (*s == 'n')
		buf_ch(out, '\n');
	else if (*s == 't')
		buf_ch(out, '\t');
	else if (*s != '\n' && *s != 'b')
		buf_ch(out, *s);
	return s + 1;
}

/* Reads a value. s is after "="; returns the end of its last line. */
static const char *read_value(struct buf *out, const char *s)
{
	bool quoted = false;
	size_t kept = 0; /* length without trailing blanks */

	buf_clear(out);
	s = skip_blanks(s);
	while (*s && *s != '\n') {
		const bool blank = isspace((unsigned char)*s);

		if (!quoted && (*s == '#' || *s == ';')) {
			s = line_end(s);
			break;
		}
		if (*s == '\\') {
			s = read_escape(out, s + 1);
		} else {
			if (*s == '"')
				quoted = !quoted;
			else
				buf_ch(out, *s);
			s++;
		}
		if (!blank || quoted)
			kept = out->len;
	}
	buf_truncate(out, kept);
	return s;
}

void git_each_setting(const char *text,
		      void (*on)(void *data, const char *section, const char *name,
				 const char *value),
		      void *data)
{
	AUTO_BUF struct buf section = BUF_INIT;
	AUTO_BUF struct buf name = BUF_INIT;
	AUTO_BUF struct buf value = BUF_INIT;
	const char *s = str_starts(text, "\xef\xbb\xbf") ? text + 3 : text;

	for (; *s; s += *s == '\n') {
		s = skip_blanks(s);
		while (*s == '[')
			s = skip_blanks(read_section(&section, s + 1));
		if (!isalpha((unsigned char)*s)) {
			s = line_end(s);
			continue;
		}
		buf_clear(&name);
		for (; isalnum((unsigned char)*s) || *s == '-'; s++)
			add_lower(&name, *s);
		s = skip_blanks(s);
		if (*s == '=') {
			s = read_value(&value, s + 1);
			on(data, section.data, name.data, value.data);
		} else {
			s = line_end(s);
			on(data, section.data, name.data, NULL);
		}
	}
}

char *git_pointer(const char *dir, const char *name, const char *words)
{
	AUTO_FREE char *file = path_join(dir, name);
	AUTO_FREE char *text = NULL;
	const char *to;

	if (io_read_file(AT_FDCWD, file, PATH_MAX, &text, NULL) < 0 || !str_starts(text, words))
		return NULL;
	text[strcspn(text, "\r\n")] = '\0';
	to = text + strlen(words) + strspn(text + strlen(words), " ");
	return *to ? path_join(dir, to) : NULL;
}
