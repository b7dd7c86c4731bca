/* plain - reads configuration that all readers of git-config syntax understand alike. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/pages.h"
#include "core/config/config_priv.h"

/*
 * Opening libgit2 costs 10 ms of processor time (measured: half of it its OpenSSL starting up), two
 * thirds of what a whole start may take. Nearly every file is headers, plain settings and comments,
 * one a line: those are read here. Anything else - quotes, escapes, continued lines, a comment
 * behind a value, bad syntax - is libgit2's, from the first line on. fuzz_config.c holds
 * the two against each other.
 *
 * A file may hold ten thousand rules, and each start reads it: what few lines have is looked for in
 * the whole text at once, and bytes are taken one by one only in lines that may have it.
 */
#define SECTION_MAX 320 /* "section" or "section.subsection", with its NUL; so below */
#define KEY_MAX	    384
#define VALUE_MAX   1024
#define LINE_USUAL  32 /* most lines have at least this many bytes */

/* A setting as offsets in the text, or a header. */
struct found {
	uint32_t name, value; /* name 0: the same as before; value 0: there is only the key */
	uint16_t name_len;    /* 0: a header; name is its offset in plain.sections */
	uint16_t value_len;
	int line;
};

static const char marks[] = {'\\', '#', ';', '"'};

struct plain {
	char *text;
	const char *end;
	const char *next[sizeof(marks)]; /* of each mark; not before the current line */
	const char *first;		 /* the first one of `next` */
	bool odd;	     /* it has control characters other than tabs that begin a line */
	struct buf sections; /* spelled as in keys, with a NUL after each */
	bool in_section;
	const char *lead; /* "\tallow = ": start of the last line with a value; */
	size_t lead_len;  /* 0: there is none */
	struct found *list;
	size_t n, cap;
};

enum line_kind {
	LINE_UNUSUAL,
	LINE_NOTHING,
	LINE_SETTING,
};

/* What a byte can mean in a line. */
enum {
	BYTE_UNUSUAL = 1, /* control characters, `\` */
	BYTE_COMMENT = 2,
	BYTE_QUOTE = 4,
};
/* In names: turns letters into lower case, and leaves digits and the dash. */
#define LOWER_CASE 0x20
#define UNUSUAL_8(at)                                                                              \
	[at] = BYTE_UNUSUAL, [(at) + 1] = BYTE_UNUSUAL, [(at) + 2] = BYTE_UNUSUAL,                 \
	[(at) + 3] = BYTE_UNUSUAL, [(at) + 4] = BYTE_UNUSUAL, [(at) + 5] = BYTE_UNUSUAL,           \
	[(at) + 6] = BYTE_UNUSUAL, [(at) + 7] = BYTE_UNUSUAL
static const unsigned char meaning[256] = {
	UNUSUAL_8(1),	      [9] = BYTE_UNUSUAL,   [11] = BYTE_UNUSUAL,   UNUSUAL_8(12),
	UNUSUAL_8(20),	      [28] = BYTE_UNUSUAL,  [29] = BYTE_UNUSUAL,   [30] = BYTE_UNUSUAL,
	[31] = BYTE_UNUSUAL,  [127] = BYTE_UNUSUAL, ['\\'] = BYTE_UNUSUAL, ['#'] = BYTE_COMMENT,
	[';'] = BYTE_COMMENT, ['"'] = BYTE_QUOTE,
};

static void plain_done(struct plain *s)
{
	buf_done(&s->sections);
	free(s->list);
}

/* Letters, digits and the dash. */
#define NAME_8(at)                                                                                 \
	[at] = true, [(at) + 1] = true, [(at) + 2] = true, [(at) + 3] = true, [(at) + 4] = true,   \
	[(at) + 5] = true, [(at) + 6] = true, [(at) + 7] = true
static const bool is_name[256] = {
	['-'] = true, NAME_8('0'), ['8'] = true, ['9'] = true, NAME_8('A'),
	NAME_8('I'),  NAME_8('Q'), ['Y'] = true, ['Z'] = true, NAME_8('a'),
	NAME_8('i'),  NAME_8('q'), ['y'] = true, ['z'] = true,
};

/* Returns the length of a name, which the end of the line or text ends, too. */
static size_t name_length(const char *p)
{
	size_t n = 0;

	while (is_name[(unsigned char)p[n]])
		n++;
	return n;
}

/* Reserves room for the lines of a large text: growing would copy them, and fault in single
 * pages. */
static void make_room(struct plain *s)
{
	s->cap = (size_t)(s->end - s->text) / LINE_USUAL + 32;
	s->list = xmalloc(s->cap * sizeof(*s->list));
	pages_fill(s->list, s->cap * sizeof(*s->list));
}

static struct found *add_found(struct plain *s)
{
	if (s->n == s->cap) {
		s->cap *= 2;
		s->list = xrealloc(s->list, s->cap * sizeof(*s->list));
	}
	return &s->list[s->n++];
}

/* Reads [section] or [section "subsection"]. */
static enum line_kind read_header(struct plain *s, const char *p, const char *end)
{
	const struct found header = {.name = (uint32_t)s->sections.len};
	size_t n = name_length(++p), len;

	if (!n || n + 1 >= SECTION_MAX || end[-1] != ']')
		return LINE_UNUSUAL;
	for (size_t i = 0; i < n; i++)
		buf_ch(&s->sections, (char)(p[i] | LOWER_CASE));
	s->in_section = true;
	*add_found(s) = header;
	p += n;
	if (p + 1 == end) {
		buf_ch(&s->sections, '\0');
		return LINE_NOTHING;
	}
	if (*p++ != ' ' || *p++ != '"' || end - p < 3 || end[-2] != '"')
		return LINE_UNUSUAL;
	len = (size_t)(end - 2 - p);
	if (n + 1 + len >= SECTION_MAX || memchr(p, '"', len) || memchr(p, '[', len) ||
	    memchr(p, ']', len))
		return LINE_UNUSUAL;
	buf_ch(&s->sections, '.');
	buf_add(&s->sections, p, len);
	buf_ch(&s->sections, '\0');
	return LINE_NOTHING;
}

static enum line_kind read_setting(struct plain *s, const char *p, const char *end, int line)
{
	size_t n = name_length(p);
	struct found one = {.name = (uint32_t)(p - s->text), .name_len = (uint16_t)n, .line = line};

	if (n == 0 || n + SECTION_MAX >= KEY_MAX || *p == '-' || (*p >= '0' && *p <= '9') ||
	    !s->in_section)
		return LINE_UNUSUAL;
	p += n;
	while (p < end && *p == ' ')
		p++;
	if (p < end) {
		if (*p++ != '=')
			return LINE_UNUSUAL;
		while (p < end && *p == ' ')
			p++;
		if (p == end || end - p >= VALUE_MAX)
			return LINE_UNUSUAL;
		one.value = (uint32_t)(p - s->text);
		one.value_len = (uint16_t)(end - p);
	}
	*add_found(s) = one;
	return LINE_SETTING;
}

static const char *find(const struct plain *s, const char *from, char c)
{
	const char *at = memchr(from, c, (size_t)(s->end - from));

	return at ? at : s->end;
}

static void find_marks(struct plain *s, const char *from)
{
	s->first = s->end;
	for (size_t i = 0; i < sizeof(marks); i++) {
		if (s->next[i] < from)
			s->next[i] = find(s, from, marks[i]);
		s->first = MIN(s->first, s->next[i]);
	}
}

/* Returns what is in a line, byte by byte. */
static unsigned look(struct plain *s, const char *p, const char *end)
{
	unsigned seen = 0;

	for (; p < end; p++)
		seen |= meaning[(unsigned char)*p];
	find_marks(s, end);
	return seen;
}

static enum line_kind read_line(struct plain *s, const char *p, const char *end, int line)
{
	unsigned seen;

	while (*p == ' ' || *p == '\t')
		p++;
	seen = s->odd || s->first < end ? look(s, p, end) : 0;
	if (seen & BYTE_UNUSUAL)
		return LINE_UNUSUAL;
	while (end > p && end[-1] == ' ')
		end--;
	if (p == end || *p == '#' || *p == ';')
		return LINE_NOTHING;
	if ((seen & BYTE_COMMENT) || ((seen & BYTE_QUOTE) && *p != '['))
		return LINE_UNUSUAL;
	return *p == '[' ? read_header(s, p, end) : read_setting(s, p, end, line);
}

/* Reads a line that differs from the one before it only in its value; else returns false. */
static bool goes_on(struct plain *s, const char *p, const char *end, int line)
{
	const char *value;

	if (!s->lead_len || s->odd || s->first < end || (size_t)(end - p) <= s->lead_len ||
	    memcmp(p, s->lead, s->lead_len) != 0)
		return false;
	value = p + s->lead_len;
	if (*value == ' ' || end[-1] == ' ' || end - value >= VALUE_MAX)
		return false;
	*add_found(s) = (struct found){.value = (uint32_t)(value - s->text),
				       .name_len = 1,
				       .value_len = (uint16_t)(end - value),
				       .line = line};
	return true;
}

static void note_lead(struct plain *s, const char *p)
{
	const struct found *last = &s->list[s->n - 1];

	s->lead = p;
	s->lead_len = last->value ? (size_t)(s->text + last->value - p) : 0;
}

/* Returns whether c is a control character, except ends of lines and tabs at their start. Without
 * `&&`, so that the compiler can check many bytes at once. */
static unsigned char is_odd(unsigned char c, unsigned char before)
{
	const unsigned char is_tab = c == '\t', leads = (before == '\n') | (before == '\t');

	return ((c < ' ') & (c != '\n') & !(is_tab & leads)) | (c == 127);
}

#define BLOCK 64
static bool is_text_odd(const struct plain *s)
{
	const unsigned char *at = (const unsigned char *)s->text;
	size_t left = (size_t)(s->end - s->text);
	unsigned char odd = left ? is_odd(*at, '\n') : 0;

	for (; left > BLOCK; left -= BLOCK, at += BLOCK)
		for (int i = 1; i <= BLOCK; i++)
			odd |= is_odd(at[i], at[i - 1]);
	for (; left > 1; left--, at++)
		odd |= is_odd(at[1], at[0]);
	return odd;
}

/* Returns false if a line needs libgit2. */
static bool read_lines(struct plain *s)
{
	int line = 1;

	s->odd = is_text_odd(s);
	find_marks(s, s->text);
	make_room(s);
	for (const char *p = s->text, *end; p < s->end; p = end + 1, line++) {
		enum line_kind kind;

		end = find(s, p, '\n');
		if (goes_on(s, p, end, line))
			continue;
		kind = read_line(s, p, end, line);
		if (kind == LINE_UNUSUAL)
			return false;
		if (kind == LINE_SETTING)
			note_lead(s, p);
	}
	return true;
}

/* Returns the name; its NUL replaces the byte behind it, which was read before. */
static const char *name_of(const struct plain *s, const struct found *one)
{
	char *name = s->text + one->name;

	for (size_t i = 0; i < one->name_len; i++)
		name[i] = (char)(name[i] | LOWER_CASE);
	name[one->name_len] = '\0';
	return name;
}

static const char *value_of(const struct plain *s, const struct found *one)
{
	if (!one->value)
		return NULL;
	s->text[one->value + one->value_len] = '\0';
	return s->text + one->value;
}

static int tell(const struct plain *s, config_on_setting on, void *data)
{
	struct config_setting told = {.stays = true};
	int r = 0;

	for (size_t i = 0; r >= 0 && i < s->n; i++) {
		const struct found *one = &s->list[i];

		told.again = one->name_len && told.again;
		if (one->name_len) {
			told.name = one->name ? name_of(s, one) : told.name;
			told.value = value_of(s, one);
			told.line = one->line;
			told.left = s->n - i;
			r = on(data, &told);
			told.again = true;
		} else {
			told.section = s->sections.data + one->name;
		}
	}
	return MIN(r, 0);
}

int config_read_plain(char *text, config_on_setting on, void *data)
{
	size_t len = strlen(text);
	CLEANUP(plain_done)
	struct plain s = {.text = text, .end = text + len, .sections = BUF_INIT};

	if (len >= UINT32_MAX)
		return -ENOTSUP;
	return read_lines(&s) ? tell(&s, on, data) : -ENOTSUP;
}
