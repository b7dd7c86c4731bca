/* diff_words - marks the words in which a changed line differs from the line that it replaces. */
/* SPDX-License-Identifier: MIT */
#include "tui/console/views/diff_words.h"

#include <ctype.h>
#include <string.h>

#include "core/base/util.h"

struct word {
	uint32_t at, len;
};

struct words {
	const char *text;
	struct word list[WORDS_MAX];
	size_t n, end; /* end: of the last word, in bytes */
};

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Splits a line into words, runs of blanks, and single signs. */
static void split(struct words *w, const char *text, size_t len)
{
	w->text = text;
	w->n = w->end = 0;
	while (w->end < len && w->n < WORDS_MAX) {
		size_t from = w->end, to = from + 1;

		while (to < len && ((is_letter(text[from]) && is_letter(text[to])) ||
				    (is_blank(text[from]) && is_blank(text[to]))))
			to++;
		w->list[w->n++] = (struct word){(uint32_t)from, (uint32_t)(to - from)};
		w->end = to;
	}
}

static bool equal(const struct words *a, size_t i, const struct words *b, size_t k)
{
	return a->list[i].len == b->list[k].len &&
	       memcmp(a->text + a->list[i].at, b->text + b->list[k].at, a->list[i].len) == 0;
}

/* Fills table[i][k]: weight of the longest common subsequence from words i and k on. */
static void fill(const struct words *a, const struct words *b, uint16_t *table)
{
	size_t row = b->n + 1;

	for (size_t i = a->n; i-- > 0;) {
		for (size_t k = b->n; k-- > 0;) {
			uint16_t weight = is_blank(a->text[a->list[i].at]) ? 1 : 2;
			uint16_t skip = MAX(table[(i + 1) * row + k], table[i * row + k + 1]);

			if (equal(a, i, b, k))
				skip = MAX(skip, (uint16_t)(table[(i + 1) * row + k + 1] + weight));
			table[i * row + k] = skip;
		}
	}
}

static void mark(uint8_t *marks, const struct word *w)
{
	memset(marks + w->at, 1, w->len);
}

bool diff_words(const char *old, size_t old_len, const char *new, size_t new_len,
		uint8_t *old_marks, uint8_t *new_marks)
{
	struct words a, b;
	AUTO_FREE uint16_t *table = NULL;
	size_t i = 0, k = 0, common = 0;

	split(&a, old, old_len);
	split(&b, new, new_len);
	table = xcalloc((a.n + 1) * (b.n + 1), sizeof(*table));
	fill(&a, &b, table);
	memset(old_marks, 0, old_len);
	memset(new_marks, 0, new_len);
	while (i < a.n && k < b.n) {
		if (equal(&a, i, &b, k)) {
			common += is_blank(a.text[a.list[i].at]) ? 0 : a.list[i].len;
			i++, k++;
		} else if (table[(i + 1) * (b.n + 1) + k] >= table[i * (b.n + 1) + k + 1]) {
			mark(old_marks, &a.list[i++]);
		} else {
			mark(new_marks, &b.list[k++]);
		}
	}
	while (i < a.n)
		mark(old_marks, &a.list[i++]);
	while (k < b.n)
		mark(new_marks, &b.list[k++]);
	memset(old_marks + a.end, 1, old_len - a.end);
	memset(new_marks + b.end, 1, new_len - b.end);
	if (common * 4 >= MAX(old_len, new_len))
		return true;
	memset(old_marks, 0, old_len);
	memset(new_marks, 0, new_len);
	return false;
}

bool diff_same_blank(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t i = 0, k = 0;

	for (;;) {
		while (i < a_len && is_blank(a[i]))
			i++;
		while (k < b_len && is_blank(b[k]))
			k++;
		if (i == a_len || k == b_len)
			return i == a_len && k == b_len;
		if (a[i++] != b[k++])
			return false;
	}
}
