/* tree - makes a source tree of the size and texture of a C project such as git: tree DIR. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/buf.h"

/* Each run makes the same bytes. Words come from a vocabulary with the frequencies of a language
 * (few are common), so that the text compresses about as well as sources do, and not a
 * hundredfold. */
#define WORDS 5000
#define DIRS  210

struct kind {
	const char *ext;
	int files;
	size_t least, most; /* bytes */
};

/* 4333 files, 50 MB; 600 C files of 20 KB on average. */
static const struct kind kinds[] = {
	{".c", 600, 4 << 10, 36 << 10},	   {".h", 350, 1 << 10, 9 << 10},
	{".sh", 1000, 2 << 10, 18 << 10},  {".txt", 900, 1 << 10, 13 << 10},
	{".po", 25, 300 << 10, 700 << 10}, {".data", 1458, 1 << 10, 9 << 10},
};

static uint64_t seed = 88172645463325252u;
static char words[WORDS][24];

static uint64_t rnd(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 11) % below;
}

static void make_words(void)
{
	static const char *const parts[] = {"re",   "buf",  "in",   "get", "to",  "st",	 "er",
					    "path", "al",   "on",   "ref", "com", "mit", "o",
					    "b",    "ject", "tree", "ent", "ry",  "le",	 "is",
					    "ch",   "pack", "w",    "ing", "x"};

	for (size_t i = 0; i < WORDS; i++) {
		int n = 1 + (int)rnd(3) + (i > 200);

		for (int k = 0; k < n; k++) {
			size_t len = strlen(words[i]);

			snprintf(words[i] + len, sizeof(words[i]) - len, "%s%s",
				 k && rnd(4) == 0 ? "_" : "", parts[rnd(ARRAY_LEN(parts))]);
		}
	}
}

/* Common words come first, and recent words are likely to be repeated. */
static const char *word(void)
{
	static const char *recent[16];
	uint64_t u = rnd(1 << 10);
	const char **slot = &recent[rnd(ARRAY_LEN(recent))];

	if (!*slot || rnd(6) == 0)
		*slot = words[(u * u * u * WORDS) >> 30];
	return *slot;
}

static void add_line(struct buf *b, int *depth)
{
	for (int i = 0; i < *depth; i++)
		buf_ch(b, '\t');
	switch (rnd(10)) {
	case 0:
		buf_fmt(b, "if (%s->%s == %s(%s)) {\n", word(), word(), word(), word());
		*depth = MIN(*depth + 1, 4);
		return;
	case 1:
		*depth = MAX(*depth - 1, 0);
		buf_str(b, "}\n\n");
		return;
	case 2:
		buf_fmt(b, "%s = %s[%d] + 0x%x;\n", word(), word(), (int)rnd(100),
			(unsigned)rnd(256));
		return;
	case 3:
		buf_fmt(b, "/* %s %s %s %s the %s of a %s */\n", word(), word(), word(), word(),
			word(), word());
		return;
	case 4:
		buf_fmt(b, "return %s(\"%s %s: %s\", %s);\n", word(), word(), word(), word(),
			word());
		return;
	default:
		buf_fmt(b, "%s(%s, &%s.%s, %s);\n", word(), word(), word(), word(), word());
	}
}

static int make_file(const char *dir, const struct kind *kind, int number)
{
	AUTO_FREE char *sub = xasprintf("%s/dir%d", dir, number % 15);
	AUTO_FREE char *leaf = xasprintf("%s/sub%d", sub, number % DIRS);
	AUTO_FREE char *path = xasprintf("%s/%s%d%s", leaf, word(), number, kind->ext);
	AUTO_BUF struct buf b = BUF_INIT;
	size_t size = kind->least + rnd(kind->most - kind->least);
	int depth = 0, r = 0;
	FILE *f;

	mkdir(sub, 0755);
	mkdir(leaf, 0755);
	f = fopen(path, "we");
	if (!f)
		return -1;
	while (b.len < size)
		add_line(&b, &depth);
	if (fwrite(b.data, 1, b.len, f) != b.len)
		r = -1;
	return fclose(f) == 0 ? r : -1;
}

int main(int argc, char **argv)
{
	int number = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: tree DIR\n");
		return 125;
	}
	mkdir(argv[1], 0755);
	make_words();
	for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
		for (int i = 0; i < kinds[k].files; i++)
			if (make_file(argv[1], &kinds[k], number++) < 0) {
				fprintf(stderr, "tree: %s: %s\n", argv[1], strerror(errno));
				return 1;
			}
	return 0;
}
