/* cast - parses and formats lines of an asciicast. */
/* SPDX-License-Identifier: MIT */
#include "core/record/cast.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/base/text.h"

/* ---- reading --------------------------------------------------------------------------------- */

struct cursor {
	const char *p, *end;
};

static void skip_blanks(struct cursor *c)
{
	while (c->p < c->end && (*c->p == ' ' || *c->p == '\t' || *c->p == '\r'))
		c->p++;
}

static bool take(struct cursor *c, char what)
{
	skip_blanks(c);
	if (c->p == c->end || *c->p != what)
		return false;
	c->p++;
	return true;
}

/* Reads a number of seconds as microseconds: "1", "0.25", "1e-05", in any locale. */
static int read_time(struct cursor *c, int64_t *ret)
{
	double v = 0, scale = 1;
	int exponent = 0;
	bool any = false, negative = false;

	skip_blanks(c);
	negative = c->p < c->end && *c->p == '-';
	c->p += negative;
	for (; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++, any = true)
		v = v * 10 + (*c->p - '0');
	if (c->p < c->end && *c->p == '.')
		for (c->p++; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++, any = true)
			v += (*c->p - '0') * (scale /= 10);
	if (any && c->p < c->end && (*c->p == 'e' || *c->p == 'E')) {
		bool down = ++c->p < c->end && *c->p == '-';

		c->p += c->p < c->end && (*c->p == '-' || *c->p == '+');
		for (; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++)
			exponent = MIN(exponent * 10 + (*c->p - '0'), 400);
		for (; exponent > 0; exponent--)
			v = down ? v / 10 : v * 10;
	}
	v = v * 1e6 + 0.5;
	if (!any || !(v < (double)CAST_MAX_US))
		return -EBADMSG;
	*ret = negative ? 0 : (int64_t)v;
	return 0;
}

static int hex4(struct cursor *c, unsigned *ret)
{
	unsigned v = 0;

	if (c->end - c->p < 4)
		return -EBADMSG;
	for (int i = 0; i < 4; i++, c->p++) {
		unsigned char ch = (unsigned char)*c->p, low = ch | 0x20;

		if (ch >= '0' && ch <= '9')
			v = v << 4 | (ch - '0');
		else if (low >= 'a' && low <= 'f')
			v = v << 4 | (low - 'a' + 10u);
		else
			return -EBADMSG;
	}
	*ret = v;
	return 0;
}

static void add_cp(struct buf *out, unsigned cp)
{
	char s[4];
	size_t n = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
	static const unsigned char head[] = {0, 0, 0xc0, 0xe0, 0xf0};

	for (size_t i = n - 1; i > 0; i--, cp >>= 6)
		s[i] = (char)(0x80 | (cp & 0x3f));
	s[0] = (char)(head[n] | cp);
	buf_add(out, s, n);
}

/* Reads what follows "\u": a surrogate pair is one character, a lone U+DC80..U+DCFF a raw byte. */
static int read_unicode(struct cursor *c, struct buf *out)
{
	unsigned v, low;
	struct cursor ahead;

	if (hex4(c, &v) < 0)
		return -EBADMSG;
	if (v >= 0xdc80 && v <= 0xdcff) {
		buf_ch(out, (char)(v & 0xff));
		return 0;
	}
	if (v >= 0xd800 && v < 0xdc00) {
		ahead = *c;
		if (ahead.end - ahead.p >= 6 && ahead.p[0] == '\\' && ahead.p[1] == 'u') {
			ahead.p += 2;
			if (hex4(&ahead, &low) == 0 && low >= 0xdc00 && low < 0xe000) {
				*c = ahead;
				add_cp(out, 0x10000 + ((v - 0xd800) << 10) + (low - 0xdc00));
				return 0;
			}
		}
	}
	add_cp(out, v >= 0xd800 && v < 0xe000 ? 0xfffd : v);
	return 0;
}

static int read_escape(struct cursor *c, struct buf *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *known;

	if (c->p == c->end)
		return -EBADMSG;
	if (*c->p == 'u') {
		c->p++;
		return read_unicode(c, out);
	}
	known = *c->p ? strchr(from, *c->p) : NULL;
	if (!known)
		return -EBADMSG;
	buf_ch(out, to[known - from]);
	c->p++;
	return 0;
}

static int read_string(struct cursor *c, struct buf *out)
{
	if (!take(c, '"'))
		return -EBADMSG;
	for (;;) {
		const char *run = c->p;

		while (c->p < c->end && *c->p != '"' && *c->p != '\\')
			c->p++;
		buf_add(out, run, (size_t)(c->p - run));
		if (c->p == c->end)
			return -EBADMSG;
		if (*c->p++ == '"')
			return 0;
		if (read_escape(c, out) < 0)
			return -EBADMSG;
	}
}

static int read_head(struct cursor *c, int64_t *ret_us, char *ret_code)
{
	if (!take(c, '[') || read_time(c, ret_us) < 0 || !take(c, ',') || !take(c, '"') ||
	    c->p == c->end || *c->p == '"' || *c->p == '\\')
		return -EBADMSG;
	*ret_code = *c->p;
	/* A code of several letters is unknown. */
	if (c->end - c->p > 1 && c->p[1] != '"')
		*ret_code = '?';
	while (c->p < c->end && *c->p != '"')
		c->p++;
	return take(c, '"') && take(c, ',') ? 0 : -EBADMSG;
}

int cast_peek(const char *line, size_t len, int64_t *ret_us, char *ret_code)
{
	struct cursor c = {line, line + len};

	return read_head(&c, ret_us, ret_code);
}

int cast_parse(const char *line, size_t len, struct buf *text, struct cast_event *ret)
{
	struct cursor c = {line, line + len};

	buf_clear(text);
	if (read_head(&c, &ret->t_us, &ret->code) < 0 || read_string(&c, text) < 0 ||
	    !take(&c, ']'))
		return -EBADMSG;
	skip_blanks(&c);
	ret->data = (struct span){text->data, text->len};
	return c.p == c.end ? 0 : -EBADMSG;
}

bool cast_size(const char *s, size_t len, int *ret_cols, int *ret_rows)
{
	int v[2] = {0, 0};
	size_t i = 0;

	for (int k = 0; k < 2; k++) {
		size_t from = i;

		for (; i < len && s[i] >= '0' && s[i] <= '9' && v[k] <= 1000; i++)
			v[k] = v[k] * 10 + (s[i] - '0');
		if (i == from || v[k] < 1 || v[k] > 1000)
			return false;
		if (k == 0 && (i == len || s[i++] != 'x'))
			return false;
	}
	*ret_cols = v[0];
	*ret_rows = v[1];
	return i == len;
}

/* ---- writing --------------------------------------------------------------------------------- */

size_t cast_partial(const char *s, size_t len)
{
	for (size_t back = 1; back <= MIN(len, (size_t)3); back++) {
		unsigned char c = (unsigned char)s[len - back];
		size_t whole = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc2 ? 2 : 0;

		if ((c & 0xc0) == 0x80)
			continue;
		return whole > back && c <= 0xf4 ? back : 0;
	}
	return 0;
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* Writes a control character, a quote or a backslash. */
static void quote_control(struct buf *out, unsigned char c)
{
	static const char digits[] = "0123456789abcdef";
	const char escape[] = {'\\', 'u', '0', '0', digits[c >> 4 & 15], digits[c & 15]};
	char word = c == '\n' ? 'n' : c == '\r' ? 'r' : c == '\t' ? 't' : c >= 0x20 ? (char)c : 0;

	if (c >= 0x7f || !word) {
		buf_add(out, escape, sizeof(escape));
		return;
	}
	buf_ch(out, '\\');
	buf_ch(out, word);
}

void cast_quote(struct buf *out, const char *s, size_t len)
{
	buf_ch(out, '"');
	for (size_t i = 0; i < len;) {
		size_t run = i, n;
		int32_t cp;

		while (i < len && is_plain((unsigned char)s[i]))
			i++;
		buf_add(out, s + run, i - run);
		if (i == len)
			break;
		if ((unsigned char)s[i] < 0x80) {
			quote_control(out, (unsigned char)s[i++]);
			continue;
		}
		n = text_decode(s + i, len - i, &cp);
		if (cp < 0)
			buf_str(out, "\xef\xbf\xbd");
		else if (cp < 0xa0) /* a terminal would obey it */
			quote_control(out, (unsigned char)cp);
		else
			buf_add(out, s + i, n);
		i += n;
	}
	buf_ch(out, '"');
}

void cast_format(struct buf *out, int64_t t_us, char code, const char *data, size_t len)
{
	char head[48];
	int n = snprintf(head, sizeof(head), "[%" PRId64 ".%06d, \"%c\", ", t_us / 1000000,
			 (int)(t_us % 1000000), code);

	buf_add(out, head, (size_t)n);
	cast_quote(out, data, len);
	buf_add(out, "]\n", 2);
}
