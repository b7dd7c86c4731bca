/* wire - parses and writes one line of JSON between the host and the guest's pid 1. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/shim/shim.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *words[2][LIST_LEN];

struct reader {
	char *p, *end;
	bool bad;
};

static void skip_blanks(struct reader *r)
{
	while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' || *r->p == '\r' || *r->p == '\n'))
		r->p++;
}

static bool take(struct reader *r, char c)
{
	skip_blanks(r);
	if (r->p >= r->end || *r->p != c)
		return false;
	r->p++;
	return true;
}

static unsigned hex4(struct reader *r)
{
	unsigned v = 0;

	for (int i = 0; i < 4; i++) {
		char c = r->p < r->end ? *r->p++ : '\0';

		if (c >= '0' && c <= '9')
			v = v * 16 + (unsigned)(c - '0');
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			v = v * 16 + (unsigned)((c | 32) - 'a') + 10;
		else
			r->bad = true;
	}
	return v;
}

static char *put_utf8(char *to, unsigned c)
{
	if (c < 0x80) {
		*to++ = (char)c;
	} else if (c >= 0xdc80 && c <= 0xdcff) {
		*to++ = (char)(c - 0xdc00); /* a byte that is not UTF-8: core/base/json.h */
	} else if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
		*to++ = (char)(0x80 | (c & 63));
	} else if (c < 0x10000) {
		*to++ = (char)(0xe0 | c >> 12);
		*to++ = (char)(0x80 | (c >> 6 & 63));
		*to++ = (char)(0x80 | (c & 63));
	} else {
		*to++ = (char)(0xf0 | c >> 18);
		*to++ = (char)(0x80 | (c >> 12 & 63));
		*to++ = (char)(0x80 | (c >> 6 & 63));
		*to++ = (char)(0x80 | (c & 63));
	}
	return to;
}

static char *escape(struct reader *r, char *to)
{
	static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
	char c = r->p < r->end ? *r->p++ : '\0';
	const char *at = c ? strchr(from, c) : NULL;
	unsigned high, low;

	if (at) {
		*to++ = into[at - from];
		return to;
	}
	if (c != 'u') {
		r->bad = true;
		return to;
	}
	high = hex4(r);
	if (high >= 0xd800 && high < 0xdc00 && r->end - r->p > 2 && r->p[0] == '\\' &&
	    r->p[1] == 'u') {
		r->p += 2;
		low = hex4(r);
		return put_utf8(to, 0x10000 + ((high & 0x3ff) << 10) + (low & 0x3ff));
	}
	return put_utf8(to, high);
}

/* Decodes a string in place and ends it with NUL. The result is never longer. */
static char *read_string(struct reader *r, size_t *len)
{
	char *start, *to;

	if (!take(r, '"')) {
		r->bad = true;
		return NULL;
	}
	start = to = r->p;
	while (!r->bad && r->p < r->end && *r->p != '"') {
		if (*r->p == '\\') {
			r->p++;
			to = escape(r, to);
		} else {
			*to++ = *r->p++;
		}
	}
	if (r->bad || r->p >= r->end) {
		r->bad = true;
		return NULL;
	}
	r->p++;
	*to = '\0';
	if (len)
		*len = (size_t)(to - start);
	return start;
}

static char **read_list(struct reader *r, char *list[LIST_LEN])
{
	size_t n = 0;

	if (!take(r, '['))
		r->bad = true;
	while (!r->bad && !take(r, ']')) {
		if (n == LIST_LEN - 1 || (n && !take(r, ',')))
			r->bad = true;
		else
			list[n++] = read_string(r, NULL);
	}
	list[n] = NULL;
	return list;
}

static long read_number(struct reader *r)
{
	char *end = r->p;
	long v;

	skip_blanks(r);
	if (r->end - r->p >= 4 && memcmp(r->p, "true", 4) == 0) {
		r->p += 4;
		return 1;
	}
	if (r->end - r->p >= 5 && memcmp(r->p, "false", 5) == 0) {
		r->p += 5;
		return 0;
	}
	v = strtol(r->p, &end, 10); /* the line ends with NUL */
	if (end == r->p || end > r->end)
		r->bad = true;
	r->p = end;
	return v;
}

static int base64_value(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static size_t decode_base64(char *s)
{
	uint32_t bits = 0;
	size_t n = 0;
	int have = 0;

	for (const char *p = s; base64_value(*p) >= 0; p++) {
		bits = bits << 6 | (uint32_t)base64_value(*p);
		have += 6;
		if (have >= 8) {
			have -= 8;
			s[n++] = (char)(bits >> have & 0xff);
		}
	}
	return n;
}

static void read_value(struct reader *r, struct message *m, const char *key)
{
	const struct {
		const char *key;
		long *to;
	} numbers[] = {{"id", &m->id},		 {"sig", &m->sig},
		       {"rows", &m->rows},	 {"cols", &m->cols},
		       {"uid", &m->uid},	 {"gid", &m->gid},
		       {"step_id", &m->step_id}, {"processes", &m->processes},
		       {"memory", &m->memory},	 {"files", &m->files},
		       {"seconds", &m->seconds}};

	if (strcmp(key, "type") == 0) {
		m->type = read_string(r, NULL);
	} else if (strcmp(key, "cwd") == 0) {
		m->cwd = read_string(r, NULL);
	} else if (strcmp(key, "data") == 0) {
		m->data = read_string(r, &m->data_len);
	} else if (strcmp(key, "data64") == 0) {
		m->data = read_string(r, NULL);
		m->data_len = m->data ? decode_base64(m->data) : 0;
	} else if (strcmp(key, "argv") == 0) {
		m->argv = read_list(r, words[0]);
	} else if (strcmp(key, "env") == 0) {
		m->env = read_list(r, words[1]);
	} else if (strcmp(key, "tty") == 0) {
		m->tty = read_number(r);
	} else if (strcmp(key, "end") == 0) {
		m->end = read_number(r);
	} else {
		for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
			if (strcmp(key, numbers[i].key) == 0) {
				*numbers[i].to = read_number(r);
				return;
			}
		}
		r->bad = true; /* unknown key: host and shim are of one build */
	}
}

bool wire_parse(struct message *m, char *line, size_t len)
{
	struct reader r = {.p = line, .end = line + len};
	bool first = true;

	*m = (struct message){0};
	if (!take(&r, '{'))
		return false;
	while (!r.bad && !take(&r, '}')) {
		const char *key;

		if (!first && !take(&r, ','))
			return false;
		first = false;
		key = read_string(&r, NULL);
		if (!key || !take(&r, ':'))
			return false;
		read_value(&r, m, key);
	}
	return !r.bad && m->type;
}

/* Returns the length of the UTF-8 sequence at p; 0 if it is invalid, truncated or NUL. */
static size_t utf8_len(const unsigned char *p, size_t len)
{
	size_t n = *p < 0x80 ? 1 : *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : 2;

	if (*p == 0 || (*p >= 0x80 && *p < 0xc2) || *p > 0xf4 || n > len)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) ||
	    (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

static bool is_text(const unsigned char *data, size_t len)
{
	for (size_t i = 0, n; i < len; i += n) {
		n = utf8_len(data + i, len - i);
		if (!n)
			return false;
	}
	return true;
}

static char *put_text(char *to, const unsigned char *data, size_t len)
{
	static const char hex[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		if (data[i] == '"' || data[i] == '\\') {
			*to++ = '\\';
			*to++ = (char)data[i];
		} else if (data[i] >= 0x20) {
			*to++ = (char)data[i];
		} else {
			to = stpcpy(to, "\\u00");
			*to++ = hex[data[i] >> 4];
			*to++ = hex[data[i] & 15];
		}
	}
	return to;
}

static char *put_base64(char *to, const unsigned char *data, size_t len)
{
	static const char set[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < len; i += 3) {
		size_t n = len - i < 3 ? len - i : 3;
		uint32_t v = (uint32_t)data[i] << 16 | (n > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
			     (n > 2 ? data[i + 2] : 0);

		*to++ = set[v >> 18];
		*to++ = set[v >> 12 & 63];
		*to++ = n > 1 ? set[v >> 6 & 63] : '=';
		*to++ = n > 2 ? set[v & 63] : '=';
	}
	return to;
}

static char *put_data(char *to, const unsigned char *data, size_t len)
{
	bool text = is_text(data, len);

	to = stpcpy(to, text ? "\"data\":\"" : "\"data64\":\"");
	to = text ? put_text(to, data, len) : put_base64(to, data, len);
	return stpcpy(to, "\"}\n");
}

size_t wire_process(char *out, const char *type, const struct told *t)
{
	char *to = out + sprintf(out,
				 "{\"type\":\"%s\",\"id\":%d,\"parent\":%d,\"group\":%d,"
				 "\"age\":%lld,\"execed\":%s,\"exe\":\"",
				 type, t->pid, t->parent, t->group, t->age_us,
				 t->execed ? "true" : "false");

	if (is_text(t->exe, t->exe_len))
		to = put_text(to, t->exe, t->exe_len);
	to = stpcpy(to, "\",");
	return (size_t)(put_data(to, t->argv, t->argv_len) - out);
}

size_t wire_step(char *out, long id, int pid, const unsigned char *data, size_t len)
{
	char *to = out + sprintf(out, "{\"type\":\"step\",\"id\":%ld,\"pid\":%d,", id, pid);

	return (size_t)(put_data(to, data, len) - out);
}

size_t wire_output(char *out, long id, const char *stream, const unsigned char *data, size_t len)
{
	char *to = out +
		   sprintf(out, "{\"type\":\"output\",\"id\":%ld,\"stream\":\"%s\",", id, stream);

	return (size_t)(put_data(to, data, len) - out);
}
