/* manual - writes the tables of the manual's pages from the program's tables: `make man`, `make
 * lint`. */
/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/io.h"
#include "core/config/config.h"
#include "tui/commands/options.h"
#include "tui/look/keymap.h"

/*
 * usage: manual [--check] PAGE...  A page has lines .\" table: NAME and .\" end of table, between
 * which the text is replaced. --check writes nothing and exits with 1 if a page differs.
 */
#define BEGIN "\n.\\\" table: "
#define END   "\n.\\\" end of table"

/* Appends text of a macro line or of a paragraph, escaped for roff. */
static void add_text(struct buf *out, const char *text)
{
	if (*text == '.' || *text == '\'')
		buf_str(out, "\\&");
	for (; *text; text++)
		if (*text == '\\')
			buf_str(out, "\\e");
		else if (*text == '-')
			buf_str(out, "\\-");
		else
			buf_ch(out, *text);
}

/* Appends an argument of a macro: in quotes, with quotes doubled. */
static void add_argument(struct buf *out, const char *text)
{
	buf_str(out, " \"\\&");
	for (const char *p = text; *p; p++)
		if (*p == '"')
			buf_str(out, "\"\"");
		else if (*p == '\\')
			buf_str(out, "\\e");
		else
			buf_ch(out, *p);
	buf_ch(out, '"');
}

static void add_settings(struct buf *out)
{
	size_t n;
	const struct config_key *keys = config_keys(&n);

	buf_str(out, ".Bl -tag -width Ds\n");
	for (size_t i = 0; i < n; i++) {
		const struct config_key *k = &keys[i];

		buf_fmt(out, ".It Li %s", k->name);
		if (k->words)
			buf_fmt(out, " No = %s", k->words);
		buf_ch(out, '\n');
		add_text(out, k->help);
		if (k->value)
			buf_fmt(out, "\n.Pq default: %s", k->value);
		buf_ch(out, '\n');
	}
	buf_str(out, ".El\n");
}

/* Makes an entry of "--rw PATH" and its description. */
static void add_option(void *data, const char *option, const char *help)
{
	struct buf *out = data;
	AUTO_FREE char *words = xstrdup(option);

	buf_str(out, ".It");
	for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
		size_t len = strcspn(word, ",");

		if (*word == '-')
			buf_fmt(out, " Fl %s%.*s%s", word[1] == '-' ? "-" : "",
				(int)(len - 1 - (word[1] == '-')), word + 1 + (word[1] == '-'),
				word[len] ? " ," : "");
		else
			buf_fmt(out, " Ar %s", word);
	}
	buf_ch(out, '\n');
	add_text(out, help);
	buf_ch(out, '\n');
}

static void add_options(struct buf *out)
{
	buf_str(out, ".Bl -tag -width Ds -compact\n");
	run_options_each(false, add_option, out);
	buf_str(out, ".El\n");
}

/* Returns whether the action has the same keys everywhere, and is listed there. */
static bool is_common(enum place place, enum action a)
{
	return place != PLACE_GLOBAL && (a == ACTION_BACK || a == ACTION_COPY);
}

/* Appends the keys of an action and its help, as a row of columns or as an entry of a list. */
static void add_action(struct buf *out, const struct keymap *km, enum place place, enum action a,
		       bool columns)
{
	AUTO_BUF struct buf all = BUF_INIT;

	for (size_t i = 0; i < km->n; i++) {
		char keys[64];

		if (km->list[i].place != place || km->list[i].action != a)
			continue;
		keys_format(&km->list[i].keys, keys, sizeof(keys));
		buf_fmt(&all, "%s%s", all.len ? "  " : "", keys);
	}
	if (!all.len || is_common(place, a))
		return;
	buf_str(out, ".It Li");
	add_argument(out, all.data);
	if (columns) {
		buf_str(out, " Ta");
		add_argument(out, action_help(a));
	} else {
		buf_ch(out, '\n');
		add_text(out, action_help(a));
	}
	buf_ch(out, '\n');
}

static void add_place(struct buf *out, const struct keymap *km, enum place place)
{
	size_t before = out->len, empty;

	buf_fmt(out, ".It Sy \"%s:\"\n", place_title(place));
	empty = out->len;
	for (int a = ACTION_NONE + 1; a < ACTION_COUNT; a++)
		add_action(out, km, place, (enum action)a, false);
	if (out->len == empty)
		buf_truncate(out, before);
}

static struct keymap *load_keymap(void)
{
	struct keymap *km;
	struct err err = {0};

	if (keymap_load(&km, "default", NULL, &err) < 0) {
		fprintf(stderr, "manual: %s\n", err.text);
		exit(1);
	}
	return km;
}

static void add_places(struct buf *out, enum place from, enum place to)
{
	struct keymap *km = load_keymap();

	buf_str(out, ".Bl -tag -width \"C-] C-]  PageUp\" -compact\n");
	for (int p = (int)from; p <= (int)to; p++)
		add_place(out, km, (enum place)p);
	buf_str(out, ".El\n");
	keymap_free(km);
}

static void add_keys(struct buf *out)
{
	add_places(out, PLACE_GLOBAL, PLACE_LEAVE);
}

static void add_common_keys(struct buf *out)
{
	struct keymap *km = load_keymap();

	buf_str(out, ".Bl -column \"PageDown  Space  C-f\" \"\"\n");
	for (int a = ACTION_NONE + 1; a < ACTION_COUNT; a++)
		add_action(out, km, PLACE_GLOBAL, (enum action)a, true);
	buf_str(out, ".El\n");
	keymap_free(km);
}

static void add_replay_keys(struct buf *out)
{
	add_places(out, PLACE_REPLAY, PLACE_REPLAY);
}

static const struct {
	const char *name;
	void (*add)(struct buf *out);
} tables[] = {{"keys", add_keys},
	      {"common-keys", add_common_keys},
	      {"replay-keys", add_replay_keys},
	      {"options", add_options},
	      {"settings", add_settings}};

static void add_table(struct buf *out, const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		if (strlen(tables[i].name) == len && memcmp(tables[i].name, name, len) == 0) {
			tables[i].add(out);
			return;
		}
	fprintf(stderr, "manual: no table is called %.*s\n", (int)len, name);
	exit(1);
}

/* Writes or checks a page. Returns whether it was right. */
static bool look_at(const char *page, bool check)
{
	AUTO_FREE char *text = NULL;
	AUTO_BUF struct buf out = BUF_INIT;
	FILE *f = fopen(page, "r+");
	const char *from, *begin, *end;
	bool same;

	if (!f || getdelim(&text, &(size_t){0}, '\0', f) < 0) {
		perror(page);
		exit(1);
	}
	for (from = text; (begin = strstr(from, BEGIN)); from = end) {
		const char *name = begin + strlen(BEGIN);
		const char *line = name + strcspn(name, "\n");

		end = strstr(line, END);
		if (!end) {
			fprintf(stderr, "manual: %s: a table has no end\n", page);
			exit(1);
		}
		end++; /* its line break belongs to the table */
		buf_add(&out, from, (size_t)(line + 1 - from));
		add_table(&out, name, (size_t)(line - name));
	}
	buf_str(&out, from);
	same = strcmp(out.data, text) == 0;
	if (!same && !check) {
		rewind(f);
		if (fwrite(out.data, 1, out.len, f) != out.len ||
		    ftruncate(fileno(f), (off_t)out.len) < 0)
			perror(page);
	}
	fclose(f);
	return same || !check;
}

int main(int argc, char **argv)
{
	bool check = argc > 1 && strcmp(argv[1], "--check") == 0;
	int r = 0;

	for (int i = 1 + check; i < argc; i++)
		if (!look_at(argv[i], check)) {
			fprintf(stderr, "lint: a table of %s is old: make man\n", argv[i]);
			r = 1;
		}
	return r;
}
