/* text - escapes hostile text, and measures the width of text. */
/* SPDX-License-Identifier: MIT */
#include "core/base/text.h"

#include <string.h>
#include <utf8proc.h>

size_t text_decode(const char *s, size_t len, int32_t *cp)
{
	utf8proc_int32_t c;
	utf8proc_ssize_t n =
		utf8proc_iterate((const utf8proc_uint8_t *)s, (utf8proc_ssize_t)len, &c);

	if (n <= 0) {
		*cp = -1;
		return 1;
	}
	*cp = c;
	return (size_t)n;
}

bool text_is_deceptive(int32_t cp)
{
	switch ((int)utf8proc_category(cp)) {
	case UTF8PROC_CATEGORY_CC:
	case UTF8PROC_CATEGORY_CF:
	case UTF8PROC_CATEGORY_CS:
	case UTF8PROC_CATEGORY_CO:
	case UTF8PROC_CATEGORY_CN:
	case UTF8PROC_CATEGORY_ZL:
	case UTF8PROC_CATEGORY_ZP:
		return true;
	default:
		/* Fillers and variation selectors are invisible. */
		return cp == 0x115f || cp == 0x1160 || cp == 0x3164 || cp == 0xffa0 ||
		       cp == 0x034f || (cp >= 0xfe00 && cp <= 0xfe0f) ||
		       (cp >= 0xe0100 && cp <= 0xe01ef);
	}
}

static bool only_ascii;

void text_escape_to_ascii(void)
{
	only_ascii = true;
}

/* One escaped unit at s; returns bytes consumed, fills out (at least 16 bytes). */
static size_t escape_one(const char *s, size_t len, char *out, size_t size)
{
	int32_t cp;
	size_t n = text_decode(s, len, &cp);

	if (cp == '\n')
		snprintf(out, size, "\\n");
	else if (cp == '\t')
		snprintf(out, size, "\\t");
	else if (cp == '\r')
		snprintf(out, size, "\\r");
	else if (cp < 0)
		snprintf(out, size, "\\x%02x", (unsigned char)*s);
	else if (cp < 0x80 && text_is_deceptive(cp))
		snprintf(out, size, "\\x%02x", (unsigned)cp);
	else if (cp >= 0x80 && (only_ascii || text_is_deceptive(cp)))
		snprintf(out, size, "\\u{%x}", (unsigned)cp);
	else
		snprintf(out, size, "%.*s", (int)n, s);
	return n;
}

void text_escape(struct buf *out, const char *s, size_t len)
{
	char one[16];

	for (size_t i = 0, n = 0; i < len; n = 0) {
		while (i + n < len && s[i + n] >= ' ' && s[i + n] < 0x7f)
			n++;
		if (n) {
			buf_add(out, s + i, n);
			i += n;
			continue;
		}
		i += escape_one(s + i, len - i, one, sizeof(one));
		buf_str(out, one);
	}
}

void text_escape_into(char *out, size_t size, const char *s, size_t len)
{
	char one[16];
	size_t used = 0;

	for (size_t i = 0; i < len;) {
		size_t n;

		i += escape_one(s + i, len - i, one, sizeof(one));
		n = strlen(one);
		if (used + n >= size)
			break;
		memcpy(out + used, one, n);
		used += n;
	}
	out[used] = '\0';
}

int text_cp_width(int32_t cp)
{
	if (cp < 0x20 || (cp >= 0x7f && cp < 0xa0))
		return -1;
	if (cp < 0x7f)
		return 1;
	/* Vowel signs of Hindi, Tamil ...: terminals and wcwidth(3) give them a column. */
	if (utf8proc_category(cp) == UTF8PROC_CATEGORY_MC)
		return 1;
	return utf8proc_charwidth(cp);
}

int text_width(const char *s)
{
	size_t len = strlen(s);
	int cols = 0;

	for (size_t i = 0; i < len;) {
		int32_t cp;

		i += text_decode(s + i, len - i, &cp);
		cols += cp < 0 ? 1 : MAX(0, text_cp_width(cp));
	}
	return cols;
}

/* Returns the bytes of the longest beginning of s that fits into cols columns. */
static size_t head_bytes(const char *s, int cols)
{
	size_t len = strlen(s), i = 0;

	while (i < len) {
		int32_t cp;
		size_t n = text_decode(s + i, len - i, &cp);
		int w = cp < 0 ? 1 : MAX(0, text_cp_width(cp));

		if (w > cols)
			break;
		cols -= w;
		i += n;
	}
	return i;
}

/* Returns the start of the longest end of s that fits into cols columns. */
static const char *tail_start(const char *s, int cols)
{
	int drop = text_width(s) - cols;
	size_t len = strlen(s), i = 0;

	while (i < len && drop > 0) {
		int32_t cp;

		i += text_decode(s + i, len - i, &cp);
		drop -= cp < 0 ? 1 : MAX(0, text_cp_width(cp));
	}
	return s + i;
}

static int cols_of(const char *s, size_t len)
{
	AUTO_FREE char *part = xstrndup(s, len);

	return text_width(part);
}

/* Fits a path, perhaps with words before it, by removing whole directories from its middle. Returns
 * false if the words and the last name have no room. */
static bool fit_path(struct buf *out, const char *s, int cols)
{
	const char *slash = strchr(s, '/'), *tail = strrchr(s, '/'), *begin = slash;
	size_t head;
	int words;

	while (begin && begin > s && begin[-1] != ' ')
		begin--;
	if (!slash || !tail || tail == begin)
		return false;
	head = (size_t)(begin - s);
	words = cols_of(s, head);
	if (words + 1 + text_width(tail) > cols)
		return false;
	for (; slash && slash < tail; slash = strchr(slash + 1, '/')) {
		int w = cols_of(s, (size_t)(slash - s) + 1);

		if (w > words + (cols - words) / 3 || w + 1 + text_width(tail) > cols)
			break;
		head = (size_t)(slash - s) + 1;
	}
	buf_add(out, s, head);
	buf_str(out, "…");
	cols -= cols_of(s, head) + 1;
	slash = tail;
	while (slash > s + head && text_width(slash) <= cols) {
		tail = slash--;
		while (slash > s + head && *slash != '/')
			slash--;
	}
	buf_str(out, tail);
	return true;
}

void text_fit_middle(struct buf *out, const char *s, int cols)
{
	int head;

	if (cols <= 0)
		return;
	if (text_width(s) <= cols) {
		buf_str(out, s);
		return;
	}
	if (fit_path(out, s, cols))
		return;
	head = (cols - 1) / 3;
	buf_add(out, s, head_bytes(s, head));
	buf_str(out, "…");
	buf_str(out, tail_start(s, cols - 1 - head));
}

void text_fit_end(struct buf *out, const char *s, int cols)
{
	if (cols <= 0)
		return;
	if (text_width(s) <= cols) {
		buf_str(out, s);
		return;
	}
	buf_add(out, s, head_bytes(s, cols - 1));
	buf_str(out, "…");
}

void text_size(char *out, size_t size, uint64_t bytes)
{
	static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
	double v = (double)bytes;
	size_t u = 0;

	while (v >= 1024 && u + 1 < ARRAY_LEN(unit)) {
		v /= 1024;
		u++;
	}
	snprintf(out, size, u && v < 100 ? "%.1f %s" : "%.0f %s", v, unit[u]);
}

static void put_quoted(struct buf *out, const char *word)
{
	buf_ch(out, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			buf_str(out, "'\\''");
		else
			buf_ch(out, *word);
	}
	buf_ch(out, '\'');
}

void text_shell_word(struct buf *out, const char *word)
{
	static const char plain[] = "%+,-./0123456789:=@ABCDEFGHIJKLMNOPQRSTUVWXYZ_"
				    "abcdefghijklmnopqrstuvwxyz";

	if (*word && !word[strspn(word, plain)])
		buf_str(out, word);
	else
		put_quoted(out, word);
}

bool text_is_reserved(const char *word)
{
	static const char *const words[] = {"if",     "then",	"elif",	    "else", "fi",   "do",
					    "done",   "while",	"until",    "for",  "case", "esac",
					    "select", "time",	"function", "!",    "{",    "}",
					    "[[",     "coproc", NULL};

	return str_one_of(word, words);
}

void text_shell_command(struct buf *out, const char *word)
{
	if (text_is_reserved(word))
		put_quoted(out, word);
	else
		text_shell_word(out, word);
}
