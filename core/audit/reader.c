/* reader - parses the lines of the audit log. */
/* SPDX-License-Identifier: MIT */
#include "core/audit/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

void audit_record_init(struct audit_record *r)
{
	r->bytes = (struct buf)BUF_INIT;
	r->n = 0;
}

void audit_record_done(struct audit_record *r)
{
	buf_done(&r->bytes);
}

static int hex4(const char *p, const char *end, unsigned *ret)
{
	unsigned v = 0;

	if (end - p < 4)
		return -EBADMSG;
	for (int i = 0; i < 4; i++) {
		char c = p[i];

		if (c >= '0' && c <= '9')
			v = v << 4 | (unsigned)(c - '0');
		else if (c >= 'a' && c <= 'f')
			v = v << 4 | (unsigned)(c - 'a' + 10);
		else
			return -EBADMSG;
	}
	*ret = v;
	return 0;
}

/* Reads what follows a backslash. Returns the number of characters used, or -EBADMSG. */
static int read_escape(struct buf *out, const char *p, const char *end)
{
	utf8proc_uint8_t utf8[4];
	unsigned v;

	if (p == end)
		return -EBADMSG;
	if (*p == '"' || *p == '\\') {
		buf_ch(out, *p);
		return 1;
	}
	if (*p != 'u' || hex4(p + 1, end, &v) < 0)
		return -EBADMSG;
	if (v >= 0xdc80 && v <= 0xdcff)
		buf_ch(out, (char)(v & 0xff));
	else if (v >= 0xd800 && v <= 0xdfff)
		return -EBADMSG;
	else
		buf_add(out, utf8, (size_t)utf8proc_encode_char((utf8proc_int32_t)v, utf8));
	return 5;
}

/* Reads a string at *p, with its quotes. */
static int read_string(struct buf *out, const char **p, const char *end)
{
	const char *s = *p;

	if (s == end || *s++ != '"')
		return -EBADMSG;
	for (;;) {
		const char *run = s;
		int n;

		while (s < end && *s != '"' && *s != '\\')
			s++;
		buf_add(out, run, (size_t)(s - run));
		if (s == end)
			return -EBADMSG;
		if (*s++ == '"')
			break;
		n = read_escape(out, s, end);
		if (n < 0)
			return n;
		s += n;
	}
	*p = s;
	return 0;
}

static int read_value(struct buf *out, const char **p, const char *end)
{
	const char *s = *p;

	if (s < end && *s == '"')
		return read_string(out, p, end);
	/* Numbers, and true, false and null as written. */
	while (s < end && ((*s >= '0' && *s <= '9') || *s == '-' || (*s >= 'a' && *s <= 'z')))
		s++;
	if (s == *p)
		return -EBADMSG;
	buf_add(out, *p, (size_t)(s - *p));
	*p = s;
	return 0;
}

int audit_record_parse(struct audit_record *r, const char *line, size_t len)
{
	const char *p = line, *end = line + len;
	char before = '{';

	buf_clear(&r->bytes);
	r->n = 0;
	while (p < end && *p == before && r->n < AUDIT_FIELDS) {
		p++;
		r->name[r->n] = r->bytes.len;
		if (read_string(&r->bytes, &p, end) < 0 || p == end || *p++ != ':')
			return -EBADMSG;
		buf_ch(&r->bytes, '\0');
		r->value[r->n] = r->bytes.len;
		if (read_value(&r->bytes, &p, end) < 0)
			return -EBADMSG;
		r->len[r->n] = r->bytes.len - r->value[r->n];
		buf_ch(&r->bytes, '\0');
		r->n++;
		before = ',';
	}
	return p + 1 == end && *p == '}' ? 0 : -EBADMSG;
}

const char *audit_record_get(const struct audit_record *r, const char *name, size_t *ret_len)
{
	for (size_t i = 0; i < r->n; i++) {
		if (!str_eq(r->bytes.data + r->name[i], name))
			continue;
		if (ret_len)
			*ret_len = r->len[i];
		return r->bytes.data + r->value[i];
	}
	return NULL;
}

const char *audit_record_text(const struct audit_record *r, const char *name)
{
	const char *text = audit_record_get(r, name, NULL);

	return text ? text : "";
}

static int read_file(const char *path, void (*on)(void *data, const struct audit_record *record),
		     void *data, struct err *err)
{
	AUTO_FILE FILE *f = fopen(path, "re");
	AUTO_FREE char *line = NULL;
	struct audit_record record;
	size_t cap = 0;
	ssize_t n;
	int r = 0;

	if (!f)
		return errno == ENOENT ? 0 : err_set(err, -errno, "read audit log %s", path);
	audit_record_init(&record);
	while (r == 0 && (n = getline(&line, &cap, f)) > 0 && line[n - 1] == '\n') {
		if (audit_record_parse(&record, line, (size_t)n - 1) < 0)
			r = err_say(err, -EBADMSG, "%s: run cordon audit verify", path);
		else
			on(data, &record);
	}
	audit_record_done(&record);
	return r;
}

int audit_read(const char *path, void (*on)(void *data, const struct audit_record *record),
	       void *data, struct err *err)
{
	AUTO_FREE char *aside = xasprintf("%s.1", path);
	int r = read_file(aside, on, data, err);

	return r < 0 ? r : read_file(path, on, data, err);
}
